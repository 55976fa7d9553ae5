"""The process of a server that writes: it carries out all writes, those that arrive together in one transaction."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pickle
import socket
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread

from cuetrail.errors import CuetrailError
from cuetrail.model import Scope
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.rest.problem_details import Problem
from cuetrail.serve.workers.process_messages import Line, Outcome, outcome_of_error
from cuetrail.serve.workers.shared_counts import SharedCounts
from cuetrail.serve.write_queue import Pace, Write, WriteQueue

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.workers.child_task import Task

log = logging.getLogger("cuetrail.rest")

GROUP_EVERY = 0.1
"""Seconds from the beginning of a group of writes to the next one, while others read."""
COUNT_EVERY = 1.0
"""Seconds between two times at which the accesses of readers are counted: every write makes readers read anew."""

Access = tuple[Scope, tuple[str, ...], int, tuple[str, ...]]
"""The arguments of `store.touch`."""


def run_writer(task: Task, sock: socket.socket, shared_counts: SharedCounts) -> None:
    """Carries out writes until the supervisor says stop."""
    asyncio.run(_run(task, sock, shared_counts))


async def _run(task: Task, sock: socket.socket, shared_counts: SharedCounts) -> None:
    line = await Line.open(sock)
    memory = LazyMemory(task.open_memory, remote=task.remote)
    writer = _Writer(line, memory, shared_counts)
    line.send("ready")
    counting = asyncio.get_running_loop().create_task(writer.count_accesses())
    while (message := await line.receive()) is not None and message[0] != "stop":
        writer.handle(message)
    counting.cancel()
    await writer.finish()
    await anyio.to_thread.run_sync(memory.close)


class _Writer:
    """Carries out the writes that arrive on a line."""

    def __init__(self, line: Line, memory: LazyMemory, shared_counts: SharedCounts) -> None:
        self._line, self._memory = line, memory
        self._queue = WriteQueue(
            memory, Pace(shared_counts.read_lately, GROUP_EVERY, follow=True), anyio.CapacityLimiter(1)
        )  # fmt: skip
        self._tasks = set[asyncio.Task[None]]()
        self._accesses: list[Access] = []

    def handle(self, message: tuple[Any, ...]) -> None:
        """Starts the write that a message asks for, or collects the accesses that it brings."""
        match message:
            case ("write", id_, payload):
                # Writes begin in the order in which they arrive, as tasks do.
                task = asyncio.get_running_loop().create_task(self._write(id_, payload))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            case ("accesses", accesses):
                self._accesses += accesses

    async def finish(self) -> None:
        """Waits for the writes that have begun, and counts the last accesses."""
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._count()

    async def count_accesses(self) -> None:
        """Counts the accesses that readers have sent, at intervals, for ever."""
        while True:
            await asyncio.sleep(COUNT_EVERY)
            await self._count()

    async def _count(self) -> None:
        accesses, self._accesses = self._accesses, []
        if accesses:
            with contextlib.suppress(CuetrailError):
                await self._memory.run(partial(_count, accesses))

    async def _write(self, id_: int, payload: bytes) -> None:
        self._line.send("outcome", id_, await self._outcome(id_, payload))

    async def _outcome(self, id_: int, payload: bytes) -> Outcome:
        loop = asyncio.get_running_loop()

        def progress(step: str, done: int, total: int) -> None:
            loop.call_soon_threadsafe(self._line.send, "progress", id_, step, done, total)

        name = "unknown"
        try:
            write: Write = pickle.loads(payload)  # from a reader of this server
            name = write.name
            return ("result", pickle.dumps(await self._queue.run(write, emit=progress)))
        except Exception as error:
            if not isinstance(error, CuetrailError | Problem):
                log.exception("%s failed", name)
            return outcome_of_error(error)


def _count(accesses: list[Access], memory: Memory) -> None:
    """Counts accesses; uses of facts in one transaction for each scope."""
    facts: dict[tuple[Scope, str], int] = {}
    for scope, ids, now, used in accesses:
        memory.store.touch(scope, ids, now)
        facts.update(((scope, fact), now) for fact in used)
    for scope in {one[0] for one in accesses}:
        # A read that returns usage makes the engine store what it has collected.
        memory.store.version(scope)
    for scope in {scope for scope, _ in facts}:
        these = {fact: now for (one, fact), now in facts.items() if one == scope}
        memory.store.touch(scope, (), max(these.values()), tuple(these))
