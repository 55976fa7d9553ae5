"""The memory over HTTP: `POST /v1/VERB` with the verb's arguments as JSON, for every verb that takes no path here.

A request is let in by its Host and Origin, then by its token; what it may do follows from the token alone.
"""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as StarletteScope

import cuetrail
from cuetrail.errors import CuetrailError
from cuetrail.model import Scope
from cuetrail.serve.openapi import document
from cuetrail.serve.problems import Problem, problem_of, told
from cuetrail.serve.shape import check_arguments
from cuetrail.serve.tokens import Access, Token, find, tokens
from cuetrail.serve.verbs import EFFECTS, Effect, result_of, verb_tool

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.mcp import Guest
    from cuetrail.serve.opening import Opener

log = logging.getLogger("cuetrail.rest")

LOOPBACK = ("127.0.0.1", "::1", "localhost")
MOST_BYTES = 10 * 2**20
AT_ONCE, WAITING = 8, 64
VERBS = {name.rstrip("_"): effect for name, effect in EFFECTS.items() if not effect.paths}


@dataclass(frozen=True, slots=True)
class Rules:
    """Whom a server lets in: names it is called by, whether tokens are needed even here, and how much it takes."""

    hosts: tuple[str, ...] = LOOPBACK
    tokens: bool = False
    most_bytes: int = MOST_BYTES
    waiting: int = WAITING


@dataclass(slots=True)
class Counts:
    """How often and for how long verbs were asked, for Prometheus."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    under_way: int = 0

    def text(self) -> str:
        lines = ["# TYPE cuetrail_requests_total counter"]
        lines += [
            f'cuetrail_requests_total{{verb="{verb}",status="{status}"}} {number}'
            for (verb, status), number in sorted(self.requests.items())
        ]
        lines.append("# TYPE cuetrail_request_seconds_total counter")
        lines += [
            f'cuetrail_request_seconds_total{{verb="{verb}"}} {taken:.6f}'
            for verb, taken in sorted(self.seconds.items())
        ]
        lines += ["# TYPE cuetrail_requests_under_way gauge", f"cuetrail_requests_under_way {self.under_way}"]
        return "\n".join(lines) + "\n"


def make_app(opener: Opener, rules: Rules) -> Starlette:
    """The server as an ASGI application."""
    door = _Door(opener, rules)

    @contextlib.asynccontextmanager
    async def living(_app: Starlette) -> AsyncIterator[None]:
        # Imported here: the SDK takes a second to load, which who only describes the server need not wait for.
        from cuetrail.serve.mcp import over_http

        try:
            async with over_http(opener, cuetrail.__version__) as door.mcp:
                yield
        finally:
            await anyio.to_thread.run_sync(opener.close)

    routes = [
        Route("/health", partial(door.guarded, "health", door.health), methods=["GET"]),
        Route("/metrics", partial(door.guarded, "metrics", door.metrics), methods=["GET"]),
        Route("/openapi.json", partial(door.guarded, "openapi", door.openapi), methods=["GET"]),
        Route("/mcp", _Mcp(door)),
        Route("/v1/{verb}", partial(door.guarded, "verb", door.verb), methods=["POST"]),
    ]
    handlers: dict[Any, Any] = {404: _nothing_there, 405: _wrong_method}
    return Starlette(routes=routes, exception_handlers=handlers, lifespan=living)


async def _nothing_there(request: Request, _error: Exception) -> Response:
    return told(Problem(404, f"there is nothing at {request.url.path:.80}: /openapi.json tells what there is"))


async def _wrong_method(request: Request, _error: Exception) -> Response:
    return told(Problem(405, f"{request.method} is not for {request.url.path:.80}: verbs are asked with POST"))


class _Mcp:
    """The MCP server behind the same door; it writes its answers itself, because it streams them."""

    def __init__(self, door: _Door) -> None:
        self._door = door

    async def __call__(self, scope: StarletteScope, receive: Receive, send: Send) -> None:
        from cuetrail.serve.mcp import GUEST

        assert self._door.mcp is not None
        try:
            scope[GUEST] = await self._door.guest(Request(scope, receive))
        except Problem as problem:
            await told(problem)(scope, receive, send)
        except CuetrailError as error:
            await told(problem_of(error))(scope, receive, send)
        else:
            await self._door.mcp(scope, receive, send)


class _Door:
    """What is done for each request."""

    def __init__(self, opener: Opener, rules: Rules) -> None:
        self._opener, self._rules, self.counts = opener, rules, Counts()
        self._turns = anyio.CapacityLimiter(AT_ONCE)
        self.mcp: ASGIApp | None = None

    async def guest(self, request: Request) -> Guest:
        """Who asks, for the MCP server. Raises Problem."""
        from cuetrail.serve.mcp import Guest

        _let_in(request, self._rules.hosts)
        scope = await self._allowed(request, "read")
        return Guest(scope, getattr(request.state, "access", "write") != "read")

    async def guarded(self, name: str, answer: Callable[[Request], Awaitable[Response]], request: Request) -> Response:
        """The answer to a request that may come in; else, and where it fails, the problem. Each is logged once."""
        begun, who = time.perf_counter(), ""
        verb = request.path_params.get("verb", "")
        name = (verb if verb in VERBS else "unknown") if name == "verb" else name
        self.counts.under_way += 1
        try:
            _let_in(request, self._rules.hosts)
            if self.counts.under_way > AT_ONCE + self._rules.waiting:
                raise Problem(429, "too many requests wait already: try again in a moment")
            response = await answer(request)
            who = getattr(request.state, "token", "")
        except Problem as problem:
            response = told(problem)
        except CuetrailError as error:
            response = told(problem_of(error))
        except Exception:
            log.exception("%s failed", name)
            response = told(Problem(500, f"{name} failed unexpectedly: the server's log says how"))
        finally:
            self.counts.under_way -= 1
        taken = time.perf_counter() - begun
        self.counts.requests[name, response.status_code] += 1
        self.counts.seconds[name] = self.counts.seconds.get(name, 0.0) + taken
        row = {"verb": name, "status": response.status_code, "ms": round(1000 * taken, 1), "token": who}
        log.info(json.dumps(row))
        return response

    async def health(self, _request: Request) -> Response:
        await self._use(lambda memory: memory.store.kept("token:"))
        return JSONResponse({"status": "ok"})

    async def metrics(self, request: Request) -> Response:
        await self._allowed(request, "read")
        return PlainTextResponse(self.counts.text(), media_type="text/plain; version=0.0.4")

    async def openapi(self, _request: Request) -> Response:
        return JSONResponse(await anyio.to_thread.run_sync(document))

    async def verb(self, request: Request) -> Response:
        name = request.path_params["verb"]
        effect = VERBS.get(name)
        if effect is None:
            raise Problem(404, f"there is no verb {name!r:.60}: /openapi.json tells which there are")
        # A token first: nobody is listened to who may not speak.
        scope = await self._allowed(request, _needed(effect))
        given = await _body(request, self._rules.most_bytes)
        if given.get("everyone"):
            await self._allowed(request, "admin")
        found = await self._use(lambda memory: _done(memory.scoped(scope) if scope else memory, name, given))
        return JSONResponse(found)

    async def _use(self, work: Callable[[Memory], Any]) -> Any:
        return await self._opener.use(work, self._turns)

    async def _allowed(self, request: Request, needed: Access) -> Scope | None:
        """The scope of the request's token; None for one that needs none. Raises Problem."""
        kind, _, text = request.headers.get("authorization", "").partition(" ")
        if not text:
            if self._rules.tokens or await self._use(tokens):
                raise Problem(401, "send a token, `Authorization: Bearer ct_...`; `cuetrail token add` makes one")
            return None
        token: Token | None = await self._use(lambda memory: find(memory, text.strip()))
        if kind.lower() != "bearer" or token is None:
            raise Problem(401, "this token is not known here: `cuetrail token list` shows which are")
        request.state.token, request.state.access = token.id, token.access
        if not token.may(needed):
            raise Problem(403, f"this token may only {token.access}; this needs one that may {needed}")
        return token.scope


def _needed(effect: Effect) -> Access:
    """How much a token must allow for this."""
    return "admin" if effect.whole else "write" if effect.writes else "read"


def _done(memory: Memory, name: str, given: dict[str, Any]) -> dict[str, Any]:
    verb = name if name in EFFECTS else f"{name}_"
    tool = verb_tool(verb)
    check_arguments(tool, given)
    return result_of(memory, verb, given)


def _let_in(request: Request, hosts: tuple[str, ...]) -> None:
    """Raises Problem for a request by a name that is not ours, or from a page of another site.

    A page that a browser shows could else reach a server on the same machine, by a name that leads to it.
    """
    host = _name(f"//{request.headers.get('host', '')}")
    if host not in hosts:
        raise Problem(
            421, f"this server is not called {host or '(no Host)':.80}: `cuetrail serve --allow-host` names it"
        )
    origin = request.headers.get("origin")
    if origin is not None and _name(origin) not in hosts:
        raise Problem(403, "pages of other sites may not use this memory")


def _name(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""


async def _body(request: Request, most: int) -> dict[str, Any]:
    """The arguments in a request. Raises Problem."""
    data = bytearray()
    async for piece in request.stream():
        data += piece
        if len(data) > most:
            raise Problem(413, f"a request may have {most} bytes: send less at a time")
    if not data.strip():
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Problem(415, "send JSON, with `Content-Type: application/json`")
    try:
        given = json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Problem(400, f"this is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise Problem(400, 'send an object with the arguments, such as {"cue": "what did we decide?"}')
    return {name: value for name, value in given.items() if value is not None}


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")
