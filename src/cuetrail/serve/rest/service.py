"""The shared state of all routes, and how they run work on the memory: authorized, queued, and once per key."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from cuetrail.model import Scope
from cuetrail.serve.rest.auth import TOKEN_KEY, authorize
from cuetrail.serve.rest.idempotency import IdempotencyCache
from cuetrail.serve.rest.limits import RequestRules, VerbQueues
from cuetrail.serve.rest.metrics import Metrics
from cuetrail.serve.rest.problems import problem_body, problem_from
from cuetrail.serve.rest.request_body import JSON
from cuetrail.serve.rest.server_sent_events import STREAM, EventResponse, RunOnce
from cuetrail.serve.tokens import Access

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.lazy_memory import LazyMemory
    from cuetrail.serve.verb_tools import Job

T = TypeVar("T")

FORGETTING = ("forget", "mem0-delete")


class Service:
    """The memory behind the HTTP server with its rules, metrics, queues and stored responses."""

    def __init__(self, memory: LazyMemory, rules: RequestRules) -> None:
        self.memory, self.rules, self.metrics = memory, rules, Metrics()
        self.queues = VerbQueues(memory.remote)
        self._idempotency = IdempotencyCache()

    async def authorize(self, request: Request, needed: Access) -> Scope | None:
        """Returns the scope of the request's token, or None for a request that needs no token. Raises Problem."""
        return await authorize(request, self.memory, self.rules, needed)

    async def run(self, verb: str, scope: Scope | None, work: Callable[[Memory], T]) -> T:
        """Runs work on the memory in the verb's queue, within the scope, and returns its result."""
        return await self.memory.run(lambda memory: work(_scoped(memory, scope)), self.queues.limiter(verb))

    async def respond_to_job(self, request: Request, job: Job, scope: Scope | None) -> ASGIApp:
        """Runs a job; the response is its result as JSON, or server-sent events if the request accepts them."""
        sent = request.headers.get("idempotency-key") if job.writes else None
        key = None if sent is None else (sent, job.fingerprint())
        if STREAM in request.headers.get("accept", ""):
            return EventResponse(
                lambda emit, stop: job.run_with_events(_scoped(self.memory.get(), scope), emit, stop),
                lambda error: problem_body(problem_from(error)), self.queues.limiter(job.name),
                self._run_once(request, job.name, key),
            )  # fmt: skip
        return await self.respond(request, job.name, scope, job.result, key)

    async def respond(
        self, request: Request, verb: str, scope: Scope | None, work: Callable[[Memory], Any],
        key: tuple[str, str] | None = None,
    ) -> Response:  # fmt: skip
        """Runs work and returns its result as JSON.

        `key` is the request's Idempotency-Key and a fingerprint of its arguments: a repeated request is answered from
        the cache.
        """

        async def make() -> bytes:
            await self.queues.group_writes(verb)
            return await self.run(verb, scope, lambda memory: _json_bytes(work(memory)))

        return Response(await self._run_once(request, verb, key)(make), media_type=JSON)

    def _run_once(self, request: Request, verb: str, key: tuple[str, str] | None) -> RunOnce:
        """Returns a function that runs work once per key. Forgetting clears the cache: it may hold forgotten text."""

        async def run_once(make: Callable[[], Awaitable[bytes]]) -> bytes:
            async def run() -> bytes:
                try:
                    return await make()
                finally:
                    if verb in FORGETTING:
                        self._idempotency.clear()

            return await (run() if key is None else self._idempotency.get(request.scope.get(TOKEN_KEY, ""), *key, run))

        return run_once


def _scoped(memory: Memory, scope: Scope | None) -> Memory:
    return memory.scoped(scope) if scope else memory


def _json_bytes(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str).encode()
