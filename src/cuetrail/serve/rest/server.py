"""The HTTP server: its routes and the socket it listens on. `request_log` writes its log.

`POST /v1/VERB` runs a verb; `/health`, `/metrics`, `/openapi.json` and `/mcp` are beside it. No request names a file on
the server: files are uploaded and downloaded. The rights of a request come from its token.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import math
import os
import socket
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope

import cuetrail
from cuetrail.errors import InputError
from cuetrail.serve.rest.auth import tokens
from cuetrail.serve.rest.connection_limits import (
    SHUTDOWN_SECONDS,
    ConnectionLimits,
    Connections,
    LimitedProtocol,
    OpenConnections,
)
from cuetrail.serve.rest.file_routes import FILE_VERBS
from cuetrail.serve.rest.mem0 import mem0_routes
from cuetrail.serve.rest.middleware import VERB_KEY, RequestMiddleware
from cuetrail.serve.rest.openapi import openapi_document
from cuetrail.serve.rest.problem_details import Problem, problem_response
from cuetrail.serve.rest.request_log import LogFormat, request_log
from cuetrail.serve.rest.requests import LOOPBACK, RequestRules, json_arguments, request_body
from cuetrail.serve.rest.service import Service, Shared
from cuetrail.serve.rest.web_page import page_routes
from cuetrail.serve.tool import checked_arguments
from cuetrail.serve.verbs import EFFECTS, verb_job, verb_tool

if TYPE_CHECKING:
    from cuetrail.serve.memory_access import LazyMemory

log = logging.getLogger("cuetrail.rest")

VERBS = {name.rstrip("_"): effect for name, effect in EFFECTS.items() if not effect.paths}
EMBEDDERS = ("none", "static")
"""Embedders a request may choose. Others name folders and servers, for which this server may have keys."""


def make_app(memory: LazyMemory, rules: RequestRules, shared: Shared | None = None) -> Starlette:
    """Returns the server as an ASGI application. It closes the memory when it stops.

    `shared` is the state that it shares with other processes of the server; without it there are none.
    """
    service = Service(memory, rules, shared)
    mcp = _McpRoute(service)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(mcp.run)
                yield
                tasks.cancel_scope.cancel()
        finally:
            await anyio.to_thread.run_sync(memory.close)

    async def health(request: Request) -> Response:
        request.scope[VERB_KEY] = "health"
        await memory.run(lambda opened: opened.store.settings.beginning_with("token:"))
        return JSONResponse({"status": "ok"})

    async def metrics(request: Request) -> Response:
        request.scope[VERB_KEY] = "metrics"
        await service.authorize(request, "read")
        return PlainTextResponse(await service.shared.metrics_text(), media_type="text/plain; version=0.0.4")

    async def openapi(request: Request) -> Response:
        request.scope[VERB_KEY] = "openapi"
        return JSONResponse(await anyio.to_thread.run_sync(openapi_document))

    routes = [
        # First, because most requests are for it: every route before it would be compared with the path.
        _VerbRoute("/v1/{verb}", partial(_answer_verb, service), methods=["POST"]),
        *page_routes(service),
        Route("/health", health, methods=["GET"]),
        Route("/metrics", metrics, methods=["GET"]),
        Route("/openapi.json", openapi, methods=["GET"]),
        # There are no sessions, so no GET to follow one and no DELETE to end one.
        Route("/mcp", mcp, methods=["POST"]),
        *mem0_routes(service),
        Route("/v1/{verb}", partial(_answer_verb, service), methods=["POST"]),
    ]
    handlers: dict[Any, Any] = {404: _not_found, 405: _wrong_method}
    middleware = Middleware(
        RequestMiddleware, rules=rules, load=service.shared.load, metrics=service.shared.metrics
    )  # fmt: skip
    app = Starlette(routes=routes, middleware=[middleware], exception_handlers=handlers, lifespan=lifespan)
    # Many clients do not follow redirects of a POST; all understand 404.
    app.router.redirect_slashes = False
    return app


class _VerbRoute(Route):
    """The route of verbs, which leaves every path that is not exactly one of them to other routes."""

    def matches(self, scope: AsgiScope) -> tuple[Match, AsgiScope]:
        """Returns how a request matches; no match if its path is not that of a verb."""
        path: str = scope["path"]
        known = path.startswith("/v1/") and (path[4:] in VERBS or path[4:] in FILE_VERBS)
        return super().matches(scope) if known else (Match.NONE, {})


async def _not_found(request: Request, _error: Exception) -> Response:
    return problem_response(
        Problem(404, f"there is nothing at {request.url.path:.80}: /openapi.json tells what there is")
    )


async def _wrong_method(request: Request, error: Exception) -> Response:
    allowed = (getattr(error, "headers", None) or {}).get("Allow", "")
    detail = f"{request.method:.20} is not for {request.url.path:.80}: use {allowed}"
    return problem_response(Problem(405, detail, headers={"Allow": allowed}))


class _McpRoute:
    """The route `/mcp`: checks the token and the size of a request, then passes it to the MCP server.

    The first request starts that server: its SDK takes a second to load, and most servers never need it.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._app: ASGIApp | None = None
        self._wanted = self._ready = anyio.Event()

    async def run(self) -> None:
        """Starts the MCP server when it is wanted, and runs it until this is cancelled."""
        # Made here: an event belongs to the loop in which it is used.
        self._wanted, self._ready = anyio.Event(), anyio.Event()
        await self._wanted.wait()
        try:
            over_http, queues = await anyio.to_thread.run_sync(self._load)
            async with over_http(self._service.memory, cuetrail.__version__, queues) as self._app:
                self._ready.set()
                await anyio.sleep_forever()
        except Exception:
            log.exception("mcp failed")
        finally:
            self._app = None
            self._ready.set()

    def _load(self) -> tuple[Any, Any]:
        from cuetrail.serve.mcp.server import Queues, over_http

        return over_http, Queues(self._service.queues.limiter, self._service.shared.writes)

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        scope[VERB_KEY] = "mcp"
        allowed = await self._service.authorize(request, "read")
        # The SDK reads a body of any size for any time.
        rules = self._service.rules
        body = await request_body(request, rules.max_body_bytes, rules.seconds_per_megabyte)
        self._wanted.set()
        await self._ready.wait()
        if self._app is None:
            raise Problem(503, "the MCP server could not be started: the server's log says why")
        from cuetrail.serve.mcp.server import CALLER_KEY, Caller

        scope[CALLER_KEY] = Caller(allowed, getattr(request.state, "access", "write") != "read")
        await self._app(scope, _replay(bytes(body), receive), send)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Returns an ASGI `receive` function that first returns the body, which was read before, then calls `receive`."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return messages.pop() if messages else await receive()

    return replayed


async def _answer_verb(service: Service, request: Request) -> ASGIApp:
    """Runs the verb named in the path; the response is its result, server-sent events, or a file. Raises Problem."""
    name = request.path_params["verb"]
    file_verb, effect = FILE_VERBS.get(name), VERBS.get(name)
    if file_verb is not None:
        request.scope[VERB_KEY] = name
        return await file_verb.respond(service, request, await service.authorize(request, file_verb.access))
    if effect is None:
        raise Problem(404, f"there is no verb {name!r:.60}: /openapi.json tells which there are")
    request.scope[VERB_KEY] = name
    # The token is checked before the body is read.
    scope = await service.authorize(request, "admin" if effect.all_users else "write" if effect.writes else "read")
    verb = name if name in EFFECTS else f"{name}_"
    arguments = checked_arguments(verb_tool(verb), await json_arguments(request, service.rules))
    if arguments.get("everyone"):
        await service.authorize(request, "admin")
    if arguments.get("embedder", "none") not in EMBEDDERS:
        raise Problem(403, "over HTTP the embedder may be static or none: choose others with `cuetrail reembed`")
    return await service.respond_to_job(request, verb_job(verb, arguments, name), scope)


BACKLOG = 128
THREAD_SECONDS = 2.0
"""The time that work in threads has to end after requests were cut off, when the server stops."""


def is_local(host: str) -> bool:
    """True if only programs on this machine can reach the address.

    >>> is_local("127.0.0.1"), is_local("::1"), is_local("localhost"), is_local("0.0.0.0"), is_local("10.0.0.1")
    (True, True, True, False, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextlib.contextmanager
def listening_socket(memory: LazyMemory, host: str, port: int) -> Iterator[tuple[socket.socket, str]]:
    """Yields a listening socket and its URL.

    Raises InputError if the address is public and there is no token, or if it cannot be bound.
    """
    if not is_local(host) and not tokens(memory.get()):
        memory.close()
        raise InputError(f"{host} can be reached from elsewhere: make a token first, `cuetrail token add NAME`")
    try:
        listener = _bind(host, port)
    except OSError as error:
        memory.close()
        raise InputError(
            f"nothing can listen on {host}:{port} ({error.strerror or error}): choose another --host or --port"
        ) from error
    with listener:
        shown = f"[{host}]" if ":" in host else host
        yield listener, f"http://{shown}:{listener.getsockname()[1]}"


def _bind(host: str, port: int) -> socket.socket:
    """Returns a socket that listens on the address. It must name TCP as its protocol, or asyncio sends each response
    40 ms late. Raises OSError.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if sys.platform != "win32":
            # A server can start right after another one stopped. On Windows two servers could share the port.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener


def serve_http(
    memory: LazyMemory, listener: socket.socket, names: tuple[str, ...], log_format: LogFormat = "json"
) -> None:
    """Serves in this process until it is stopped; running requests are answered first."""
    app = make_app(memory, request_rules(names))
    server = _EndingServer(http_config(app, OpenConnections(ConnectionLimits())))
    with request_log(log_format):
        try:
            server.run(sockets=[listener])
        finally:
            server.last_resort.cancel()


class _EndingServer(uvicorn.Server):
    """A server that ends its process by force if work in a thread goes on too long after it was told to stop."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.last_resort = threading.Timer(SHUTDOWN_SECONDS + THREAD_SECONDS, self._end)
        self.last_resort.daemon = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begins to stop, and starts the timer after which the process is ended."""
        if not self.should_exit:
            self.last_resort.start()
        super().handle_exit(sig, frame)

    def _end(self) -> None:
        log.warning({"event": "stopped while a request was at work; what was acknowledged is stored"})
        os._exit(1)


def request_rules(names: tuple[str, ...]) -> RequestRules:
    """Returns the rules of a server that listens on the first of these names and is known by all of them. Requests need
    a token unless that name is this machine's own.
    """
    hosts = (*LOOPBACK, *(name.lower() for name in names))
    return RequestRules(hosts, tokens_required=not is_local(names[0]))


def make_http_server(app: Starlette, opened: Connections) -> uvicorn.Server:
    """Returns the HTTP server, within limits for its connections. It is not started yet."""
    return uvicorn.Server(http_config(app, opened))


def http_config(app: Starlette, opened: Connections) -> uvicorn.Config:
    """Returns the configuration of the HTTP server, within limits for its connections."""
    protocol: Any = partial(LimitedProtocol, opened=opened)
    return uvicorn.Config(
        app, http=protocol, ws="none", log_config=None, access_log=False, server_header=False, lifespan="on",
        timeout_graceful_shutdown=SHUTDOWN_SECONDS, timeout_keep_alive=math.ceil(opened.limits.idle_seconds),
    )  # fmt: skip
