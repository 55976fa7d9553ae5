"""The HTTP application: its routes, `POST /v1/VERB` for every verb, `/health`, `/metrics`, `/openapi.json`, `/mcp`.

No request names a file on the server: files are uploaded and downloaded. The rights of a request come from its token.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

import cuetrail
from cuetrail.serve.rest.file_routes import FILE_VERBS
from cuetrail.serve.rest.limits import RequestRules
from cuetrail.serve.rest.mem0_routes import mem0_routes
from cuetrail.serve.rest.metrics import VERB_KEY
from cuetrail.serve.rest.middleware import RequestMiddleware
from cuetrail.serve.rest.openapi import openapi_document
from cuetrail.serve.rest.problems import Problem, problem_response
from cuetrail.serve.rest.request_body import json_arguments
from cuetrail.serve.rest.service import Service
from cuetrail.serve.rest.web_page import page_routes
from cuetrail.serve.tool import checked_arguments
from cuetrail.serve.verb_effects import EFFECTS
from cuetrail.serve.verb_tools import verb_job, verb_tool

if TYPE_CHECKING:
    from cuetrail.serve.lazy_memory import LazyMemory

VERBS = {name.rstrip("_"): effect for name, effect in EFFECTS.items() if not effect.paths}
EMBEDDERS = ("none", "static")
"""Embedders a request may choose. Others name folders and servers, for which this server may have keys."""


def make_app(memory: LazyMemory, rules: RequestRules) -> Starlette:
    """Returns the server as an ASGI application. It closes the memory when it stops."""
    service = Service(memory, rules)
    mcp = _McpRoute(service)

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        # Imported here: the MCP SDK takes a second to load, and describing the server does not need it.
        from cuetrail.serve.mcp.server import over_http

        try:
            async with over_http(memory, cuetrail.__version__, service.queues.limiter) as mcp.app:
                yield
        finally:
            await anyio.to_thread.run_sync(memory.close)

    async def health(request: Request) -> Response:
        request.scope[VERB_KEY] = "health"
        await memory.run(lambda opened: opened.store.kept("token:"))
        return JSONResponse({"status": "ok"})

    async def metrics(request: Request) -> Response:
        request.scope[VERB_KEY] = "metrics"
        await service.authorize(request, "read")
        return PlainTextResponse(service.metrics.text(), media_type="text/plain; version=0.0.4")

    async def openapi(request: Request) -> Response:
        request.scope[VERB_KEY] = "openapi"
        return JSONResponse(await anyio.to_thread.run_sync(openapi_document))

    routes = [
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
    middleware = Middleware(RequestMiddleware, rules=rules, metrics=service.metrics)
    app = Starlette(routes=routes, middleware=[middleware], exception_handlers=handlers, lifespan=lifespan)
    # Many clients do not follow redirects of a POST; all understand 404.
    app.router.redirect_slashes = False
    return app


async def _not_found(request: Request, _error: Exception) -> Response:
    return problem_response(
        Problem(404, f"there is nothing at {request.url.path:.80}: /openapi.json tells what there is")
    )


async def _wrong_method(request: Request, error: Exception) -> Response:
    allowed = (getattr(error, "headers", None) or {}).get("Allow", "")
    detail = f"{request.method:.20} is not for {request.url.path:.80}: use {allowed}"
    return problem_response(Problem(405, detail, headers={"Allow": allowed}))


class _McpRoute:
    """The MCP server at `/mcp`, behind the same checks. It streams its own responses."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.app: ASGIApp | None = None

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        from cuetrail.serve.mcp.server import CALLER_KEY, Caller

        assert self.app is not None
        request = Request(scope, receive)
        scope[VERB_KEY] = "mcp"
        allowed = await self._service.authorize(request, "read")
        scope[CALLER_KEY] = Caller(allowed, getattr(request.state, "access", "write") != "read")
        await self.app(scope, receive, send)


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
