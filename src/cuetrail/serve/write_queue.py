"""The queue of writes of a server: in order, those that arrive together in one transaction, each with its own result.

A write is a value that another process can carry out too: `Write.work` is picklable.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import anyio
import anyio.to_thread

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Scope
    from cuetrail.serve.memory_access import LazyMemory

LONG_VERBS = frozenset(
    {
        "activate", "add_many", "backup", "bench", "chat", "doctor", "dream", "explore", "export", "import", "ingest",
        "ingest_text", "reembed", "traverse",
    }
)  # fmt: skip
"""Verbs that may take long. They have a queue of their own, so that the others do not wait for them."""
GROUPED = frozenset(
    {
        "add", "confirm", "declare", "edit", "fact", "link", "mem0", "note", "quarantine", "relate", "retract",
        "unlink",
    }
)  # fmt: skip
"""Short writes that search nothing: those that wait at the same time are one transaction."""

LONG_AT_ONCE, REMOTE_AT_ONCE = 2, 8
"""How many long writes run at a time, and how many short ones if a database server carries them out."""
MOST_IN_GROUP, GROUP_SECONDS = 64, 0.05
"""A group ends after so many writes, or when they took so long, because other writers of the memory wait for it."""

Emit = Callable[[str, int, int], None]
"""Called with the progress of a write: (name of the step, steps done, steps in total)."""
Key = tuple[str, str, str, str]
"""Token id, Idempotency-Key, a fingerprint of the request, and the memory's mark of what was forgotten last."""


@dataclass(frozen=True, slots=True)
class Write:
    """A request that changes a memory. `name` is its verb, `scope` that of its token (None: the server's own).

    `work` takes the memory, and a function for its progress or None, and returns the result.
    """

    name: str
    scope: Scope | None
    work: Callable[[Memory, Emit | None], Any]


class Writes(Protocol):
    """Carries out the writes of a server."""

    async def run(self, write: Write, key: Key | None = None, emit: Emit | None = None) -> Any:
        """Carries out a write and returns its result; with a key at most once. Raises what the write raises."""


@dataclass(slots=True)
class _Waiting:
    """A write in the queue, and the future of its result."""

    write: Write
    emit: Emit | None
    result: asyncio.Future[Any]


@dataclass(frozen=True, slots=True)
class Pace:
    """When a group of writes may begin: while `busy()`, `seconds` after the last one began, else at once.

    A search after a group brings the indexes up to date, which costs more than the group. With `follow` the group does
    it instead, before its writes are acknowledged.
    """

    busy: Callable[[], bool]
    seconds: float
    follow: bool = False


class WriteQueue:
    """Carries out writes on a memory in this process. A write that has begun runs to its end, whoever waits for it."""

    def __init__(self, memory: LazyMemory, pace: Pace, turn: AbstractAsyncContextManager[Any]) -> None:
        """`turn` is held while a group is carried out."""
        self._memory, self._pace, self._turn = memory, pace, turn
        self._long = anyio.CapacityLimiter(LONG_AT_ONCE)
        self._remote = anyio.CapacityLimiter(REMOTE_AT_ONCE)
        self._waiting: deque[_Waiting] = deque()
        self._running: asyncio.Task[None] | None = None
        self._begun = -1e9

    async def run(self, write: Write, key: Key | None = None, emit: Emit | None = None) -> Any:
        """Carries out a write and returns its result, or raises what it raises. Keys are ignored here."""
        del key
        if write.name in LONG_VERBS or self._memory.remote:
            limiter = self._long if write.name in LONG_VERBS else self._remote
            return await self._memory.run(lambda memory: write.work(memory, emit), limiter, write.scope)
        one = _Waiting(write, emit, asyncio.get_running_loop().create_future())
        self._waiting.append(one)
        if self._running is None or self._running.done():
            self._running = asyncio.get_running_loop().create_task(self._work_off())
        return await asyncio.shield(one.result)

    async def _work_off(self) -> None:
        while self._waiting:
            if self._pace.busy():
                await anyio.sleep(max(0.0, self._begun + self._pace.seconds - time.monotonic()))
            async with self._turn:
                self._begun = time.monotonic()
                group = self._next_group()
                await self._carry_out(group)

    def _next_group(self) -> list[_Waiting]:
        """Takes the first waiting writes: as many as may be one transaction, else one."""
        group = [self._waiting.popleft()]
        while (
            self._waiting
            and len(group) < MOST_IN_GROUP
            and group[0].write.name in GROUPED
            and self._waiting[0].write.name in GROUPED
        ):
            group.append(self._waiting.popleft())
        return group

    async def _carry_out(self, group: list[_Waiting]) -> None:
        follow = self._pace.follow and self._pace.busy()
        try:
            outcomes = await anyio.to_thread.run_sync(_outcomes, self._memory, group, follow)
        except Exception as error:  # noqa: BLE001  # the memory could not be opened, or a group not be committed
            outcomes = [error] * len(group)
        # A group may end early.
        self._waiting.extendleft(reversed(group[len(outcomes) :]))
        for one, outcome in zip(group, outcomes, strict=False):
            if one.result.cancelled():
                continue
            if isinstance(outcome, BaseException):
                one.result.set_exception(outcome)
                # Its client may have gone: then nobody reads the exception.
                one.result.exception()
            else:
                one.result.set_result(outcome)


def _outcomes(memory: LazyMemory, group: list[_Waiting], follow: bool) -> list[Any]:
    """Carries out the first writes of a group; returns the result or the error of each. Raises if none was stored."""
    opened = memory.get()
    if group[0].write.name not in GROUPED:
        return [_outcome(opened, group[0])]
    outcomes: list[Any] = []
    with opened.store.bulk("indexed" if follow else "joined"):
        end = time.monotonic() + GROUP_SECONDS
        for one in group:
            outcomes.append(_outcome(opened, one))
            if time.monotonic() > end:
                break
    return outcomes


def _outcome(memory: Memory, one: _Waiting) -> Any:
    write = one.write
    try:
        return write.work(memory.scoped(write.scope) if write.scope else memory, one.emit)
    except Exception as error:  # noqa: BLE001  # it belongs to this write alone
        return error
