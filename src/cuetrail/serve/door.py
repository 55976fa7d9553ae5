"""Who comes in over HTTP, and what is written down of it: Host and Origin, how many at once, counts, a log line."""

from __future__ import annotations

import logging
import time
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Asked

from cuetrail.errors import CuetrailError
from cuetrail.serve.problems import Problem, problem_of, told

log = logging.getLogger("cuetrail.rest")

LOOPBACK = ("127.0.0.1", "::1", "localhost")
MOST_BYTES, MOST_UPLOADED = 10 * 2**20, 64 * 2**20
WAITING = 64
PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Rules:
    """Whom a server lets in: names it is called by, whether tokens are needed even here, and how much it takes.

    `patience` is how many seconds a request may take to arrive.
    """

    hosts: tuple[str, ...] = LOOPBACK
    tokens: bool = False
    most_bytes: int = MOST_BYTES
    most_uploaded: int = MOST_UPLOADED
    waiting: int = WAITING
    patience: float = PATIENCE


@dataclass(slots=True)
class Counts:
    """How often and for how long each thing was asked, for Prometheus."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=dict)
    under_way: int = 0

    def add(self, name: str, status: int, seconds: float) -> None:
        """Count one request that is over."""
        self.requests[name, status] += 1
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def text(self) -> str:
        """All counts in the format of Prometheus."""
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


ASKED, TOKEN = "cuetrail.asked", "cuetrail.token"
"""Under these names whoever answers says what was asked, by a name of ours, and the id of the token."""


class Door:
    """The outermost part of the server: each request is let in or not, answered or told why not, and logged once."""

    def __init__(self, app: ASGIApp, rules: Rules, counts: Counts) -> None:
        self._app, self._rules, self._counts = app, rules, counts

    async def __call__(self, scope: Asked, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._counts.under_way += 1
        try:
            problem = await self._passed(scope, receive, sending)
            # Of what goes wrong in the middle of an answer, the broken connection tells.
            if problem is not None and not status:
                await told(problem)(scope, receive, sending)
        finally:
            self._counts.under_way -= 1
            self._write_down(scope, status, time.perf_counter() - begun)

    async def _passed(self, scope: Asked, receive: Receive, send: Send) -> Problem | None:
        """Let a request in; the problem where that is not possible."""
        try:
            let_in(Request(scope), self._rules.hosts)
            if self._counts.under_way > self._rules.waiting and scope["path"] != "/health":
                raise Problem(429, "too many requests wait already: try again in a moment")
            await self._app(scope, receive, send)
        except Problem as problem:
            return problem
        except CuetrailError as error:
            return problem_of(error)
        except Exception:
            name = scope.get(ASKED, "unknown")
            log.exception("%s failed", name)
            return Problem(500, f"{name} failed unexpectedly: the server's log says how")
        return None

    def _write_down(self, scope: Asked, status: int, taken: float) -> None:
        name = scope.get(ASKED, "unknown")
        self._counts.add(name, status, taken)
        log.info({"verb": name, "status": status, "ms": round(1000 * taken, 1), "token": scope.get(TOKEN, "")})


def let_in(request: Request, hosts: tuple[str, ...]) -> None:
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
