"""The state that all routes share, and how they run work on the memory: with a token, in a queue, once per key."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from cuetrail.model import Scope
from cuetrail.serve.memory_access import LazyMemory, last_forgotten
from cuetrail.serve.rest.auth import TOKEN_KEY, Access, authorize
from cuetrail.serve.rest.idempotency import OnceWrites
from cuetrail.serve.rest.metrics import Metrics
from cuetrail.serve.rest.open_requests import Load, LocalLoad
from cuetrail.serve.rest.problem_details import problem_body, problem_from
from cuetrail.serve.rest.requests import JSON, RequestRules, json_bytes
from cuetrail.serve.rest.server_sent_events import STREAM, Emit, EventResponse, in_thread
from cuetrail.serve.write_queue import LONG_AT_ONCE, LONG_VERBS, REMOTE_AT_ONCE, Key, Pace, Write, WriteQueue, Writes

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.verbs import Job


AT_ONCE = 1
"""How many short verbs run at a time in one process. Threads that read the same file compete for Python's lock at every
row, so that each takes twice the time; threads that wait for a database server do not.
"""
WRITE_INTERVAL = 0.25
"""The longest time in seconds that a write waits for other writes."""


class VerbQueues:
    """Limits how many verbs run at a time in this process: one queue for long verbs and one for all others."""

    def __init__(self, remote: bool) -> None:
        self.short = anyio.CapacityLimiter(REMOTE_AT_ONCE if remote else AT_ONCE)
        self._long = anyio.CapacityLimiter(LONG_AT_ONCE)

    def limiter(self, verb: str) -> anyio.CapacityLimiter:
        """Returns the limiter for a verb: that of long verbs, or that of all others."""
        return self._long if verb in LONG_VERBS else self.short


class Shared(Protocol):
    """The state that all processes of a server share: its writes, its open requests and its counts."""

    writes: Writes
    load: Load
    metrics: Metrics

    async def metrics_text(self) -> str:
        """Returns the metrics of the server in the text format of Prometheus."""


class OneProcess:
    """Implements `Shared` for a server that is one process: its writes, open requests and metrics are all in it."""

    def __init__(self, memory: LazyMemory, queues: VerbQueues) -> None:
        # The first recall after a write brings the indexes up to date, so writes wait for each other while others run.
        pace = Pace(lambda: queues.short.borrowed_tokens > 0, WRITE_INTERVAL)
        self.writes: Writes = OnceWrites(WriteQueue(memory, pace, queues.short))
        self.load: Load = LocalLoad()
        self.metrics = Metrics()

    async def metrics_text(self) -> str:
        """Returns the metrics of this process."""
        return self.metrics.text(self.load.in_progress())


T = TypeVar("T")
Progress = Callable[[str, int, int], None]
"""Called with the name of a step, how many parts of it are done, and of how many."""


class Service:
    """The state that all routes share: the memory, the conditions that a request must meet (host name, token,
    size, how fast its body arrives, how many wait), the queues by verb, and what all processes share.
    """

    def __init__(self, memory: LazyMemory, rules: RequestRules, shared: Shared | None = None) -> None:
        self.memory, self.rules = memory, rules
        self.queues = VerbQueues(memory.remote)
        self.shared: Shared = shared or OneProcess(memory, self.queues)

    async def authorize(self, request: Request, needed: Access) -> Scope | None:
        """Returns the scope of the request's token; None if none was sent and the server asks for none.

        Raises Problem for a missing, unknown or expired token, or one that does not allow what is `needed`.
        """
        return await authorize(request, self.memory, self.rules, needed)

    async def run(self, verb: str, scope: Scope | None, work: Callable[[Memory], T]) -> T:
        """Runs work that only reads, in the queue of its verb and within the scope, and returns its result."""
        return await self.memory.run(work, self.queues.limiter(verb), scope)

    async def respond_to_job(self, request: Request, job: Job, scope: Scope | None) -> ASGIApp:
        """Runs a job; the response is its result as JSON, or server-sent events if the request accepts them."""
        events = STREAM in request.headers.get("accept", "")
        if job.writes:
            write = Write(job.name, scope, JsonOfJob(job))
            key = await self.key(request, job.fingerprint)
            return self._events_of_write(write, key) if events else await self.respond_to_write(write, key)
        if events:
            work = in_thread(
                lambda emit, stop: job.run_with_events(self.memory.get(scope), emit, stop),
                self.queues.limiter(job.name),
            )
            return EventResponse(work, _problem_data)
        return await self.respond(job.name, scope, job.result)

    async def respond(self, verb: str, scope: Scope | None, work: Callable[[Memory], Any]) -> Response:
        """Runs work that only reads and returns its result as JSON."""
        return Response(await self.run(verb, scope, lambda memory: json_bytes(work(memory))), media_type=JSON)

    async def respond_to_write(self, write: Write, key: Key | None) -> Response:
        """Carries out a write, once per key, and returns its result as JSON."""
        return Response(await self.shared.writes.run(write, key), media_type=JSON)

    async def work_of_job(
        self, request: Request, job: Job, scope: Scope | None
    ) -> Callable[[Progress], Awaitable[bytes]]:
        """Returns work that carries out a job that writes, once per key, tells its progress, and returns its JSON."""
        write, key = Write(job.name, scope, JsonOfJob(job)), await self.key(request, job.fingerprint)

        async def work(progress: Progress) -> bytes:
            result: bytes = await self.shared.writes.run(write, key, progress)
            return result

        return work

    async def key(self, request: Request, fingerprint: Callable[[], str]) -> Key | None:
        """Returns the key of a request that writes, with a fingerprint of its arguments; None if it has none."""
        sent = request.headers.get("idempotency-key")
        if sent is None:
            return None
        # Read from the memory each time: others forget too, such as the command line.
        forgotten = await self.memory.run_quick(last_forgotten)
        return request.scope.get(TOKEN_KEY, ""), sent, fingerprint(), forgotten

    def _events_of_write(self, write: Write, key: Key | None) -> EventResponse:
        async def work(emit: Emit, _stop: threading.Event) -> bytes:
            result: bytes = await self.shared.writes.run(write, key, partial(_emit_progress, emit))
            return result

        return EventResponse(work, _problem_data)


def _emit_progress(emit: Emit, step: str, done: int, total: int) -> None:
    emit("progress", {"step": step, "done": done, "total": total})


def _problem_data(error: Exception) -> dict[str, Any]:
    return problem_body(problem_from(error))


@dataclass(frozen=True, slots=True)
class JsonOfJob:
    """The work of a write: runs a job and returns its result as JSON."""

    job: Job

    def __call__(self, memory: Memory, progress: Progress | None) -> bytes:
        return json_bytes(self.job.result(memory, progress))
