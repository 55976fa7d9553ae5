"""The outermost layer of the HTTP server: checks each request, turns errors into problem details, logs and counts."""

from __future__ import annotations

import logging
import time

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as AsgiScope

from cuetrail.errors import CuetrailError
from cuetrail.serve.rest.auth import TOKEN_KEY, check_host_and_origin
from cuetrail.serve.rest.metrics import Metrics
from cuetrail.serve.rest.open_requests import Load
from cuetrail.serve.rest.problem_details import Problem, problem_from, problem_response
from cuetrail.serve.rest.request_log import loggable_path
from cuetrail.serve.rest.requests import LOOPBACK, RequestRules

VERB_KEY = "cuetrail.verb"
"""The key of an ASGI scope under which a route stores the name that the request is counted and logged by."""


log = logging.getLogger("cuetrail.rest")


class RequestMiddleware:
    """Passes allowed requests on, and answers all others with an HTTP error. Each request is logged once."""

    def __init__(self, app: ASGIApp, rules: RequestRules, load: Load, metrics: Metrics) -> None:
        self._app, self._rules, self._load, self._metrics = app, rules, load, metrics

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 0
        address = scope["client"][0] if scope.get("client") else ""

        async def send_and_note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        ticket = self._load.enter(address)
        try:
            problem = await self._handle(scope, receive, send_and_note_status, address)
            # After the response has begun, a broken connection is the only way to report an error.
            if problem is not None and not status:
                await problem_response(problem)(scope, receive, send_and_note_status)
        finally:
            self._load.leave(address, ticket)
            self._record(scope, status, time.perf_counter() - begun)

    async def _handle(self, scope: AsgiScope, receive: Receive, send: Send, address: str) -> Problem | None:
        """Handles a request; returns the problem if it is refused or fails."""
        try:
            check_host_and_origin(Request(scope), self._rules.hosts)
            if scope["path"] != "/health":
                self._check_load(address)
            await self._app(scope, receive, send)
        except Problem as problem:
            return problem
        except CuetrailError as error:
            return problem_from(error)
        except Exception:
            verb = scope.get(VERB_KEY, "unknown")
            log.exception("%s failed", verb)
            return Problem(500, f"{verb} failed unexpectedly: the server's log says how")
        return None

    def _check_load(self, address: str) -> None:
        """Raises Problem if too many requests run or wait, of this client or in all."""
        if self._load.in_progress() > self._rules.max_waiting:
            raise Problem(429, "too many requests wait already: try again in a moment")
        if address not in LOOPBACK and self._load.of_client(address) > self._rules.max_waiting_per_address:
            raise Problem(429, "too many of your requests wait already: try again when some are answered")

    def _record(self, scope: AsgiScope, status: int, taken: float) -> None:
        verb = scope.get(VERB_KEY, "unknown")
        self._metrics.add(verb, status, taken)
        request = {"method": f"{scope['method']:.20}", "path": loggable_path(scope["path"])}
        done = {"status": status, "ms": round(1000 * taken, 1), "token": scope.get(TOKEN_KEY, "")}
        log.info({"verb": verb, **request, **done})
