"""The memory over HTTP: `POST /v1/VERB` with the verb's arguments as JSON; files are sent and fetched, never named.

A request is let in by its Host and Origin, then by its token; what it may do follows from the token alone.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as Asked

import cuetrail
from cuetrail.model import Scope
from cuetrail.serve.rest import file_routes
from cuetrail.serve.rest.idempotency import Repeats
from cuetrail.serve.rest.mem0_routes import aliases
from cuetrail.serve.rest.middleware import ASKED, TOKEN, Counts, Door, Rules
from cuetrail.serve.rest.openapi import document
from cuetrail.serve.rest.page_routes import front
from cuetrail.serve.rest.problems import Problem, body_of, problem_of, told
from cuetrail.serve.rest.request_body import JSON, arguments
from cuetrail.serve.rest.server_sent_events import STREAM, Events, Once
from cuetrail.serve.tokens import Access, Token, find, tokens
from cuetrail.serve.tool import checked_arguments
from cuetrail.serve.verb_tools import EFFECTS, Effect, Job, job_of, verb_tool

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.lazy_memory import Opener
    from cuetrail.serve.mcp.server import Guest

T = TypeVar("T")

VERBS = {name.rstrip("_"): effect for name, effect in EFFECTS.items() if not effect.paths}
LONG = frozenset(
    {
        "activate",
        "add_many",
        "bench",
        "doctor",
        "dream",
        "explore",
        "ingest_text",
        "reembed",
        "traverse",
        *file_routes.FILES,
    }
)
"""Verbs that may take long. They have turns of their own, so that the others need not wait for them."""
WRITING = frozenset(name for name, effect in VERBS.items() if effect.writes) - LONG
AT_ONCE, FAR_AT_ONCE, LONG_AT_ONCE = 1, 8, 2
"""How many are done at a time. Threads that read one file take Python's lock from each other at every row, so that each
takes twice the time; those that wait for a server do not.
"""
FORGETTING = ("forget", "mem0-delete")
EVERY = 0.25
"""Seconds that what is written may wait for more of its kind."""
EMBEDDERS = ("none", "static")
"""Embedders that may be chosen from outside: the others name places and servers, and this server has keys to these."""


def make_app(opener: Opener, rules: Rules) -> Starlette:
    """The server as an ASGI application."""
    desk = Desk(opener, rules)

    @contextlib.asynccontextmanager
    async def living(_app: Starlette) -> AsyncIterator[None]:
        # Imported here: the SDK takes a second to load, which who only describes the server need not wait for.
        from cuetrail.serve.mcp.server import over_http

        try:
            async with over_http(opener, cuetrail.__version__, desk.turns) as desk.mcp:
                yield
        finally:
            await anyio.to_thread.run_sync(opener.close)

    routes = [
        *front(desk),
        Route("/health", desk.health, methods=["GET"]),
        Route("/metrics", desk.metrics, methods=["GET"]),
        Route("/openapi.json", desk.openapi, methods=["GET"]),
        # Without sessions there is nothing to follow by GET nor to end by DELETE.
        Route("/mcp", _Mcp(desk), methods=["POST"]),
        *aliases(desk),
        Route("/v1/{verb}", desk.verb, methods=["POST"]),
    ]
    handlers: dict[Any, Any] = {404: _nothing_there, 405: _wrong_method}
    door = Middleware(Door, rules=rules, counts=desk.counts)
    app = Starlette(routes=routes, middleware=[door], exception_handlers=handlers, lifespan=living)
    # Many clients do not follow a request that is sent elsewhere; all understand that there is nothing.
    app.router.redirect_slashes = False
    return app


async def _nothing_there(request: Request, _error: Exception) -> Response:
    return told(Problem(404, f"there is nothing at {request.url.path:.80}: /openapi.json tells what there is"))


async def _wrong_method(request: Request, error: Exception) -> Response:
    allowed = (getattr(error, "headers", None) or {}).get("Allow", "")
    said = f"{request.method:.20} is not for {request.url.path:.80}: use {allowed}"
    return told(Problem(405, said, headers={"Allow": allowed}))


class _Mcp:
    """The MCP server behind the same door; it writes its answers itself, because it streams them."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def __call__(self, scope: Asked, receive: Receive, send: Send) -> None:
        from cuetrail.serve.mcp.server import GUEST

        assert self._desk.mcp is not None
        scope[GUEST] = await self._desk.guest(Request(scope, receive))
        await self._desk.mcp(scope, receive, send)


class Desk:
    """What is done for each request that was let in."""

    def __init__(self, opener: Opener, rules: Rules) -> None:
        self._opener, self.rules, self.counts = opener, rules, Counts()
        self._turns = anyio.CapacityLimiter(FAR_AT_ONCE if opener.far else AT_ONCE)
        self._long = anyio.CapacityLimiter(LONG_AT_ONCE)
        self._repeats = Repeats()
        self.mcp: ASGIApp | None = None

    async def guest(self, request: Request) -> Guest:
        """Who asks, for the MCP server. Raises Problem."""
        from cuetrail.serve.mcp.server import Guest

        request.scope[ASKED] = "mcp"
        scope = await self.allowed(request, "read")
        return Guest(scope, getattr(request.state, "access", "write") != "read")

    async def health(self, request: Request) -> Response:
        """Whether the memory can be read."""
        request.scope[ASKED] = "health"
        await self._opener.use(lambda memory: memory.store.kept("token:"))
        return JSONResponse({"status": "ok"})

    async def metrics(self, request: Request) -> Response:
        """Counts for Prometheus."""
        request.scope[ASKED] = "metrics"
        await self.allowed(request, "read")
        return PlainTextResponse(self.counts.text(), media_type="text/plain; version=0.0.4")

    async def openapi(self, request: Request) -> Response:
        """The description of everything here."""
        request.scope[ASKED] = "openapi"
        return JSONResponse(await anyio.to_thread.run_sync(document))

    async def verb(self, request: Request) -> ASGIApp:
        """The answer to a verb: its result, events as it goes, or a file."""
        name = request.path_params["verb"]
        file, effect = file_routes.FILES.get(name), VERBS.get(name)
        if file is not None:
            request.scope[ASKED] = name
            return await file.answer(self, request, await self.allowed(request, file.access))
        if effect is None:
            raise Problem(404, f"there is no verb {name!r:.60}: /openapi.json tells which there are")
        request.scope[ASKED] = name
        # A token first: nobody is listened to who may not speak.
        scope = await self.allowed(request, _needed(effect))
        given = checked_arguments(verb_tool(_verb(name)), await arguments(request, self.rules))
        if given.get("everyone"):
            await self.allowed(request, "admin")
        if given.get("embedder", "none") not in EMBEDDERS:
            raise Problem(403, "over HTTP the embedder may be static or none: choose others with `cuetrail reembed`")
        return await self.job(request, job_of(_verb(name), given, name), scope)

    async def job(self, request: Request, job: Job, scope: Scope | None) -> ASGIApp:
        """What a verb gives: its result, or events as it goes."""
        sent = request.headers.get("idempotency-key") if job.writes else None
        key = None if sent is None else (sent, job.mark())
        if STREAM in request.headers.get("accept", ""):
            return Events(
                lambda say, gone: job.tell(_seen(self._opener.get(), scope), say, gone),
                lambda error: body_of(problem_of(error)), self.turns(job.name), self._once(request, job.name, key),
            )  # fmt: skip
        return await self.answer(request, job.name, scope, job.result, key)

    async def answer(
        self, request: Request, name: str, scope: Scope | None, work: Callable[[Memory], Any],
        key: tuple[str, str] | None = None,
    ) -> Response:  # fmt: skip
        """What some work gives, as JSON; what was asked with the same key before is not done again."""

        async def make() -> bytes:
            await self._together(name)
            return await self.use(name, scope, lambda memory: _written(work(memory)))

        return Response(await self._once(request, name, key)(make), media_type=JSON)

    def _once(self, request: Request, name: str, key: tuple[str, str] | None) -> Once:
        """How work is done: once for each key, and so that no answer outlives what was forgotten."""

        async def once(make: Callable[[], Awaitable[bytes]]) -> bytes:
            async def done() -> bytes:
                try:
                    return await make()
                finally:
                    if name in FORGETTING:
                        self._repeats.clear()

            return await (done() if key is None else self._repeats.once(request.scope.get(TOKEN, ""), *key, done))

        return once

    async def use(self, name: str, scope: Scope | None, work: Callable[[Memory], T]) -> T:
        """What some work on the memory gives, as whoever asks sees it, when it is its turn."""
        return await self._opener.use(lambda memory: work(_seen(memory, scope)), self.turns(name))

    async def _together(self, name: str) -> None:
        """While others ask, let what writes wait for more of its kind, a moment at most.

        After anything is written the indexes are brought up before the next recall: rather once for all of them.
        """
        if name in WRITING and self._turns.borrowed_tokens:
            await anyio.sleep(EVERY - anyio.current_time() % EVERY)

    def turns(self, name: str) -> anyio.CapacityLimiter:
        """Where a verb waits until it is its turn."""
        return self._long if name in LONG else self._turns

    async def allowed(self, request: Request, needed: Access) -> Scope | None:
        """The scope of the request's token; None for one that needs none. Raises Problem."""
        text = _given_token(request)
        if not text:
            known = True if self.rules.tokens else await self._opener.glance(lambda memory: bool(tokens(memory)))
            if known:
                raise Problem(401, "send a token, `Authorization: Bearer ct_...`; `cuetrail token add` makes one")
            return None
        token: Token | None = await self._opener.glance(lambda memory: find(memory, text))
        if token is None:
            raise Problem(401, "this token is not known here: `cuetrail token list` shows which are")
        request.scope[TOKEN], request.state.access = token.id, token.access
        if not token.may(needed):
            raise Problem(403, f"this token may only {token.access}; this needs one that may {needed}")
        return token.scope


def _given_token(request: Request) -> str:
    """The token of a request, however clients send it: `Bearer`, mem0's `Token`, or `X-API-Key`."""
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    if not text:
        return request.headers.get("x-api-key", "").strip() or kind
    return text.strip() if kind.lower() in ("bearer", "token") else "?"


def _needed(effect: Effect) -> Access:
    """How much a token must allow for this."""
    return "admin" if effect.whole else "write" if effect.writes else "read"


def _verb(name: str) -> str:
    """The verb of this name as the library calls it."""
    return name if name in EFFECTS else f"{name}_"


def _seen(memory: Memory, scope: Scope | None) -> Memory:
    return memory.scoped(scope) if scope else memory


def _written(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str).encode()
