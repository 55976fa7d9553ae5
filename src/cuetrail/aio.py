"""The async memory: each verb of `Memory` as a coroutine that runs it in a thread.

async with AsyncMemory("notes/") as m:
    found = await m.recall("what did we decide?")
    async for one in m.activate("silent receiver"):
        print(one.seed, one.reason)
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial, wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypedDict, TypeVar, Unpack

from cuetrail.embed.embedder import Embedder
from cuetrail.errors import InputError
from cuetrail.extract.facts_by_rules import FactReader
from cuetrail.memory import Memory
from cuetrail.model import Activation, Scope
from cuetrail.recall.spread.activation import Stream
from cuetrail.rerank import Reranker
from cuetrail.store.ports import Store
from cuetrail.validation.arguments import check

P = ParamSpec("P")
T = TypeVar("T")

THREADS = 8


class OpenOptions(TypedDict, total=False):
    """The options of `Memory(address, ...)`."""

    scope: Scope | None
    embedder: Embedder | str | None
    api_key: str | None
    extractor: FactReader | str | None
    reranker: Reranker | str | None
    rerank_ms: int


def _in_thread(
    verb: Callable[Concatenate[Memory, P], T],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, T]]:
    """Returns a verb of `Memory` as a coroutine function with the same arguments."""

    @wraps(verb)
    async def awaited(self: AsyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._run(verb, self._memory, *args, **kwargs)

    return awaited


def _streamed(
    verb: Callable[Concatenate[Memory, P], Stream],
) -> Callable[Concatenate[AsyncMemory, P], AsyncGenerator[Activation, None]]:
    """Returns a verb of `Memory` that yields activations as an async generator. Closing it cancels the rest.

    Leaving an `async for` early does not close it at once; `contextlib.aclosing` does.
    """

    @wraps(verb)
    async def streamed(self: AsyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[Activation, None]:
        given: Any = kwargs.get("stop")
        if given is not None:
            check("stop", given)
        stop = _Stop(given)
        kwargs["stop"] = stop
        stream = await self._run(verb, self._memory, *args, **kwargs)
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
            await self._run(_close, step, stream)

    return streamed


class AsyncMemory:
    """Every verb of `Memory` with the same arguments, to be awaited; `activate` is an async iterator.

    Open it with `async with` or `await open()`. The arguments are those of `Memory`.
    """

    def __init__(self, address: str | Path, **options: Unpack[OpenOptions]) -> None:
        self._make = partial(Memory, address, **options)
        self._opened: Memory | None = None
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="cuetrail")

    async def open(self) -> AsyncMemory:
        """Open the memory and return itself."""
        if self._opened is None:
            self._opened = await self._run(self._make)
        return self

    async def close(self) -> None:
        """Release files and connections, after all running calls have ended."""
        if self._opened is not None:
            await self._run(self._opened.close)
        await asyncio.get_running_loop().run_in_executor(None, self._pool.shutdown)

    async def __aenter__(self) -> AsyncMemory:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def address(self) -> str:
        """The address without a password."""
        return self._memory.address

    @property
    def scope(self) -> Scope:
        """The tenant, user and teams as which the memory is used."""
        return self._memory.scope

    @property
    def store(self) -> Store:
        """The engine that stores the memory."""
        return self._memory.store

    @property
    def _memory(self) -> Memory:
        if self._opened is None:
            raise InputError("this memory is not open: use `async with AsyncMemory(...) as m`, or await m.open()")
        return self._opened

    async def _run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, partial(work, *args, **kwargs))

    activate = _streamed(Memory.activate)
    add = _in_thread(Memory.add)
    add_many = _in_thread(Memory.add_many)
    backup = _in_thread(Memory.backup)
    bench = _in_thread(Memory.bench)
    brief = _in_thread(Memory.brief)
    chat = _in_thread(Memory.chat)
    confirm = _in_thread(Memory.confirm)
    declare = _in_thread(Memory.declare)
    doctor = _in_thread(Memory.doctor)
    doomed = _in_thread(Memory.doomed)
    dream = _in_thread(Memory.dream)
    dreams = _in_thread(Memory.dreams)
    edge = _in_thread(Memory.edge)
    edit = _in_thread(Memory.edit)
    end_mirror = _in_thread(Memory.end_mirror)
    explore = _in_thread(Memory.explore)
    export = _in_thread(Memory.export)
    fact = _in_thread(Memory.fact)
    fact_history = _in_thread(Memory.fact_history)
    fact_ids = _in_thread(Memory.fact_ids)
    facts = _in_thread(Memory.facts)
    forget = _in_thread(Memory.forget)
    get = _in_thread(Memory.get)
    has_traces = _in_thread(Memory.has_traces)
    history = _in_thread(Memory.history)
    ids = _in_thread(Memory.ids)
    import_ = _in_thread(Memory.import_)
    ingest = _in_thread(Memory.ingest)
    ingest_bytes = _in_thread(Memory.ingest_bytes)
    ingest_text = _in_thread(Memory.ingest_text)
    labels = _in_thread(Memory.labels)
    link = _in_thread(Memory.link)
    mirror = _in_thread(Memory.mirror)
    mirrors = _in_thread(Memory.mirrors)
    narrate = _in_thread(Memory.narrate)
    neighbours = _in_thread(Memory.neighbours)
    nodes = _in_thread(Memory.nodes)
    note = _in_thread(Memory.note)
    prewarm = _in_thread(Memory.prewarm)
    quarantine = _in_thread(Memory.quarantine)
    recall = _in_thread(Memory.recall)
    reembed = _in_thread(Memory.reembed)
    refresh = _in_thread(Memory.refresh)
    relate = _in_thread(Memory.relate)
    retract = _in_thread(Memory.retract)
    scoped = _in_thread(Memory.scoped)
    stats = _in_thread(Memory.stats)
    tag_walk = _in_thread(Memory.tag_walk)
    timeline = _in_thread(Memory.timeline)
    traverse = _in_thread(Memory.traverse)
    unlink = _in_thread(Memory.unlink)


class _Stop(threading.Event):
    """An event that counts as set if it is set itself or the caller's event is. It stops an activation."""

    def __init__(self, given: threading.Event | None) -> None:
        super().__init__()
        self._given = given

    def is_set(self) -> bool:
        return super().is_set() or (self._given is not None and self._given.is_set())


def _close(step: Future[Activation | None], stream: Stream) -> None:
    """Waits until the last step of a stream, which runs in another thread, has ended, then closes the stream."""
    wait([step])
    stream.close()
