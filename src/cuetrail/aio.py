"""A memory for programs that await. The work is done in threads by `Memory`; nothing is written twice.

async with AsyncMemory("notes/") as m:
    found = await m.recall("what did we decide?")
    async for one in m.activate("silent receiver"):
        print(one.seed, one.reason)
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from cuetrail.errors import InputError
from cuetrail.memory import Memory
from cuetrail.model import Activation
from cuetrail.recall.spread.activation import Stream
from cuetrail.validation.arguments import check

T = TypeVar("T")

THREADS = 8


class AsyncMemory:
    """Every verb of `Memory` with the same arguments, awaited; `activate` is an async iterator.

    It is opened by `async with` or by `await open()`. The arguments are those of `Memory`.
    """

    def __init__(self, address: str | Path, **options: Any) -> None:
        self._make = partial(Memory, address, **options)
        self._opened: Memory | None = None
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="cuetrail")

    async def open(self) -> AsyncMemory:
        """Open the memory; itself comes back."""
        if self._opened is None:
            self._opened = await self._run(self._make)
        return self

    async def close(self) -> None:
        """Release files and connections, when everything under way is done."""
        if self._opened is not None:
            await self._run(self._opened.close)
        await asyncio.get_running_loop().run_in_executor(None, self._pool.shutdown)

    async def __aenter__(self) -> AsyncMemory:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __getattr__(self, name: str) -> Any:
        """A verb of `Memory`, to be awaited, or what else it has."""
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._memory, name)
        if not callable(found):
            return found

        @wraps(found)
        async def verb(*given: Any, **options: Any) -> Any:
            return await self._run(found, *given, **options)

        return verb

    @property
    def _memory(self) -> Memory:
        if self._opened is None:
            raise InputError("this memory is not open: use `async with AsyncMemory(...) as m`, or await m.open()")
        return self._opened

    async def _run(self, work: Callable[..., T], *given: Any, **options: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(work, *given, **options))

    async def activate(
        self, seeds: str | Iterable[str | tuple[str, float]], **options: Any
    ) -> AsyncGenerator[Activation, None]:
        """Let energy flow from seeds along edges; see `Memory.activate`. Leaving the loop early cancels the rest.

        `async for` leaves a stream open when it is left early: `contextlib.aclosing` closes it at once.
        """
        if options.get("stop") is not None:
            check("stop", options["stop"])
        stop = _Stop(options.get("stop"))
        stream = await self._run(self._memory.activate, seeds, **{**options, "stop": stop})
        step: Future[Activation | None] = Future()
        step.set_result(None)
        try:
            while True:
                step = self._pool.submit(next, stream, None)
                found = await asyncio.wrap_future(step)
                if found is None:
                    return
                yield found
        finally:
            stop.set()
            await self._run(_closed, step, stream)


class _Stop(threading.Event):
    """An event of our own beside the caller's: either ends the walk."""

    def __init__(self, given: threading.Event | None) -> None:
        super().__init__()
        self._given = given

    def is_set(self) -> bool:
        return super().is_set() or (self._given is not None and self._given.is_set())


def _closed(step: Future[Activation | None], stream: Stream) -> None:
    """Close a stream once nobody is in it: the thread of a cancelled task goes on to the end of its level."""
    wait([step])
    stream.close()
