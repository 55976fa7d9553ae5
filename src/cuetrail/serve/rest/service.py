"""The state that all routes share, and how they run work on the memory: with a token, in a queue, once per key."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from cuetrail.model import Scope
from cuetrail.serve.rest.auth import TOKEN_KEY, Access, authorize
from cuetrail.serve.rest.idempotency import IdempotencyCache
from cuetrail.serve.rest.requests import JSON, RequestRules, problem_body, problem_from
from cuetrail.serve.rest.server_sent_events import STREAM, EventResponse, RunOnce
from cuetrail.serve.verbs import EFFECTS

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.memory_access import LazyMemory
    from cuetrail.serve.verbs import Job


LONG_VERBS = frozenset(
    {
        "activate", "add_many", "backup", "bench", "doctor", "dream", "explore", "export", "import", "ingest",
        "ingest_text", "reembed", "traverse",
    }
)  # fmt: skip
"""Verbs that may take long. They have a queue of their own, so that the others do not wait for them."""
_SHORT_WRITES = frozenset(name for name, effect in EFFECTS.items() if effect.writes and not effect.paths) - LONG_VERBS
AT_ONCE, REMOTE_AT_ONCE, LONG_AT_ONCE = 1, 8, 2
"""How many verbs run at a time. Threads that read the same file compete for Python's lock at every row, so that each
takes twice the time; threads that wait for a database server do not.
"""
WRITE_INTERVAL = 0.25
"""The longest time in seconds that a write waits for other writes."""


class VerbQueues:
    """Limits how many verbs run at a time, with one queue for long verbs and one for all others."""

    def __init__(self, remote: bool) -> None:
        self._short = anyio.CapacityLimiter(REMOTE_AT_ONCE if remote else AT_ONCE)
        self._long = anyio.CapacityLimiter(LONG_AT_ONCE)

    def limiter(self, verb: str) -> anyio.CapacityLimiter:
        """Returns the limiter for a verb: that of long verbs, or that of all others."""
        return self._long if verb in LONG_VERBS else self._short

    async def group_writes(self, verb: str) -> None:
        """Delays a short write while other requests run, so that several writes follow each other.

        The first recall after a write updates the indexes; grouped writes cause one update instead of many.
        """
        if verb in _SHORT_WRITES and self._short.borrowed_tokens:
            await anyio.sleep(WRITE_INTERVAL - anyio.current_time() % WRITE_INTERVAL)


T = TypeVar("T")

FORGETTING = ("forget", "mem0-delete")


class Service:
    """The state that all routes share: the memory, the conditions that a request must meet (host name, token,
    size, how fast its body arrives, how many wait), the queues by verb, and the responses stored by Idempotency-Key.
    """

    def __init__(self, memory: LazyMemory, rules: RequestRules) -> None:
        self.memory, self.rules = memory, rules
        self.queues = VerbQueues(memory.remote)
        self._idempotency = IdempotencyCache()

    async def authorize(self, request: Request, needed: Access) -> Scope | None:
        """Returns the scope of the request's token; None if none was sent and the server asks for none.

        Raises Problem for a missing, unknown or expired token, or one that does not allow what is `needed`.
        """
        return await authorize(request, self.memory, self.rules, needed)

    async def run(self, verb: str, scope: Scope | None, work: Callable[[Memory], T]) -> T:
        """Runs work on the memory in the verb's queue, within the scope, and returns its result."""
        return await self.memory.run(work, self.queues.limiter(verb), scope)

    async def respond_to_job(self, request: Request, job: Job, scope: Scope | None) -> ASGIApp:
        """Runs a job; the response is its result as JSON, or server-sent events if the request accepts them."""
        sent = request.headers.get("idempotency-key") if job.writes else None
        key = None if sent is None else (sent, job.fingerprint())
        if STREAM in request.headers.get("accept", ""):
            return EventResponse(
                lambda emit, stop: job.run_with_events(self.memory.get(scope), emit, stop),
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
        """Returns a function that runs work and stores its response by token and `key` (Idempotency-Key and fingerprint
        of the request), or returns the stored one. With `key` None it always runs. Forgetting clears the stored
        responses, which may hold forgotten text.
        """

        async def run_once(make: Callable[[], Awaitable[bytes]]) -> bytes:
            async def run() -> bytes:
                try:
                    return await make()
                finally:
                    if verb in FORGETTING:
                        self._idempotency.clear()

            return await (run() if key is None else self._idempotency.get(request.scope.get(TOKEN_KEY, ""), *key, run))

        return run_once


def _json_bytes(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str).encode()
