"""Passes the writes of all processes of a server on to the one that writes, and keeps their keys and metrics."""

from __future__ import annotations

import asyncio
import itertools
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cuetrail.serve.rest.idempotency import Once
from cuetrail.serve.rest.metrics import Metrics
from cuetrail.serve.rest.problem_details import Problem
from cuetrail.serve.workers.process_messages import Line, Outcome, outcome_of_error
from cuetrail.serve.workers.shared_counts import SharedCounts
from cuetrail.serve.write_queue import Key

WRITER_SECONDS = 20.0
"""How long a write waits for the writer to start."""
FLUSH_SECONDS = 1.0
"""How long `/metrics` waits for the counts of busy readers."""
_LOST = (
    "the writing process ended while this was at work: look whether it was done, or repeat it (with its "
    "Idempotency-Key if it had one)"
)


@dataclass(slots=True)
class _Pending:
    """A write that the writer carries out: the future of its outcome, and a function for its progress."""

    outcome: asyncio.Future[Outcome]
    progress: Callable[[str, int, int], None] | None


class Hub:
    """Passes writes to the writer, once per key, and adds up the counts of the readers."""

    def __init__(self, shared_counts: SharedCounts) -> None:
        self._shared_counts = shared_counts
        self._once = Once()
        self._metrics = Metrics()
        self._readers: dict[int, Line] = {}
        self._writer: Line | None = None
        self._writer_ready = asyncio.Event()
        self._pending: dict[int, _Pending] = {}
        self._flushes: dict[int, asyncio.Future[Metrics]] = {}
        self._ids = itertools.count()
        self._tasks = set[asyncio.Task[None]]()

    # --- processes that come and go

    def reader_began(self, number: int, line: Line) -> None:
        """Records the line to a reader that is ready."""
        self._readers[number] = line

    def reader_ended(self, number: int) -> None:
        """Forgets a reader; its writes are carried out all the same."""
        self._readers.pop(number, None)

    def writer_began(self, line: Line) -> None:
        """Records the line to the writer: from now on it gets the writes that wait."""
        self._writer = line
        self._writer_ready.set()

    def writer_ended(self) -> None:
        """Answers the writes that the writer had begun with a problem. Later ones wait for the next writer."""
        self._writer = None
        self._writer_ready.clear()
        for one in self._pending.values():
            if not one.outcome.done():
                one.outcome.set_result(outcome_of_error(Problem(503, _LOST)))
        self._pending.clear()

    # --- messages

    def from_reader(self, number: int, message: tuple[Any, ...]) -> None:
        """Handles a message from a reader: a write to carry out, accesses for the writer (dropped if there is none),
        metrics to add up, or a request for the metrics of all readers.
        """
        match message:
            case ("write", id_, name, key, payload):
                self._start(self._write(self._readers[number], id_, name, key, payload))
            case ("accesses", _):
                if self._writer is not None:
                    self._writer.send(*message)
            case ("metrics", metrics):
                self._metrics.add_all(metrics)
            case ("metrics text", id_):
                self._start(self._metrics_text(number, id_))
            case ("flushed", id_, metrics):
                future = self._flushes.pop(id_, None)
                if future is None or future.done():
                    self._metrics.add_all(metrics)
                else:
                    future.set_result(metrics)

    def from_writer(self, message: tuple[Any, ...]) -> None:
        """Handles a message from the writer: the outcome of a write, or how far a write is."""
        match message:
            case ("outcome", id_, outcome):
                one = self._pending.pop(id_, None)
                if one is not None and not one.outcome.done():
                    one.outcome.set_result(outcome)
            case ("progress", id_, step, done, total):
                one = self._pending.get(id_)
                if one is not None and one.progress is not None:
                    one.progress(step, done, total)

    def _start(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _write(self, reader: Line, id_: int, name: str, key: Key | None, payload: bytes) -> None:
        """Has a write carried out, once per key, and sends its outcome to the reader."""

        def progress(step: str, done: int, total: int) -> None:
            reader.send("progress", id_, step, done, total)

        async def make() -> bytes:
            kind, value = await self._forward(payload, progress)
            if kind != "result":
                raise _Failed((kind, value))
            result: bytes = value
            return result

        try:
            reader.send("outcome", id_, ("result", await self._once.run(name, key, make)))
        except _Failed as failed:
            reader.send("outcome", id_, failed.outcome)
        except Problem as problem:
            reader.send("outcome", id_, outcome_of_error(problem))

    async def _forward(self, payload: bytes, progress: Callable[[str, int, int], None]) -> Outcome:
        """Sends a write to the writer and returns its outcome. That is a problem if the writer ends meanwhile, or does
        not start within WRITER_SECONDS.
        """
        try:
            # Does not give way to other writes if the writer is there, so writes stay in order.
            await asyncio.wait_for(self._writer_ready.wait(), WRITER_SECONDS) if self._writer is None else None
        except TimeoutError:
            return outcome_of_error(Problem(503, "the writing process does not start: the server's log says why"))
        assert self._writer is not None
        id_ = next(self._ids)
        one = self._pending[id_] = _Pending(asyncio.get_running_loop().create_future(), progress)
        self._writer.send("write", id_, payload)
        return await one.outcome

    async def _metrics_text(self, number: int, id_: int) -> None:
        """Sends a reader the metrics of all readers. A busy one that does not answer within FLUSH_SECONDS counts as it
        last reported.
        """
        waiting = []
        for reader in self._readers.values():
            flush = next(self._ids)
            self._flushes[flush] = asyncio.get_running_loop().create_future()
            waiting.append(self._flushes[flush])
            reader.send("flush", flush)
        if waiting:
            done, _ = await asyncio.wait(waiting, timeout=FLUSH_SECONDS)
            for future in done:
                self._metrics.add_all(future.result())
            for future in set(waiting) - done:
                future.cancel()
        text = self._metrics.text(self._shared_counts.requests())
        if number in self._readers:
            self._readers[number].send("outcome", id_, ("result", pickle.dumps(text)))


class _Failed(Exception):
    """The outcome of a failed write as an exception, so that it passes the cache, which stores results only."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome
