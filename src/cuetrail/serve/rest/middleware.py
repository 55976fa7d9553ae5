"""Who comes in over HTTP, and what is written down of it: Host and Origin, how many at once, counts, a log line."""

from __future__ import annotations

import logging
import time
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Asked

from cuetrail.errors import CuetrailError
from cuetrail.serve.rest.problems import Problem, problem_of, told

log = logging.getLogger("cuetrail.rest")

LOOPBACK = ("127.0.0.1", "::1", "localhost")
MOST_BYTES, MOST_UPLOADED = 10 * 2**20, 64 * 2**20
WAITING = 64
PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Rules:
    """Whom a server lets in: names it is called by, whether tokens are needed even here, and how much it takes.

    `patience` is how many seconds each megabyte of a request may take to arrive.
    """

    hosts: tuple[str, ...] = LOOPBACK
    tokens: bool = False
    most_bytes: int = MOST_BYTES
    most_uploaded: int = MOST_UPLOADED
    waiting: int = WAITING
    patience: float = PATIENCE


STEPS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds by which the times of requests are told apart in metrics."""


@dataclass(slots=True)
class Times:
    """How long requests took: how many up to each of STEPS, and all together."""

    up_to: list[int] = field(default_factory=lambda: [0] * len(STEPS))
    number: int = 0
    seconds: float = 0.0

    def add(self, taken: float) -> None:
        """Count one more."""
        self.number += 1
        self.seconds += taken
        for place in range(bisect_left(STEPS, taken), len(STEPS)):
            self.up_to[place] += 1


@dataclass(slots=True)
class Counts:
    """How often and for how long each thing was asked, for Prometheus."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    times: dict[str, Times] = field(default_factory=dict)
    under_way: int = 0

    def add(self, name: str, status: int, seconds: float) -> None:
        """Count one request that is over."""
        self.requests[name, status] += 1
        self.times.setdefault(name, Times()).add(seconds)

    def text(self) -> str:
        """All counts in the format of Prometheus."""
        lines = _headed("cuetrail_requests_total", "counter", "Requests that are over, by verb and status.")
        lines += [
            f'cuetrail_requests_total{{verb="{verb}",status="{status}"}} {number}'
            for (verb, status), number in sorted(self.requests.items())
        ]
        lines += _headed("cuetrail_request_seconds", "histogram", "How long requests took, by verb.")
        for verb, times in sorted(self.times.items()):
            steps = [(f"{step:g}", number) for step, number in zip(STEPS, times.up_to, strict=True)]
            lines += [
                f'cuetrail_request_seconds_bucket{{verb="{verb}",le="{step}"}} {number}'
                for step, number in (*steps, ("+Inf", times.number))
            ]
            lines.append(f'cuetrail_request_seconds_sum{{verb="{verb}"}} {times.seconds:.6f}')
            lines.append(f'cuetrail_request_seconds_count{{verb="{verb}"}} {times.number}')
        lines += _headed("cuetrail_requests_under_way", "gauge", "Requests that are being answered or wait for it.")
        return "\n".join([*lines, f"cuetrail_requests_under_way {self.under_way}"]) + "\n"


def _headed(name: str, kind: str, said: str) -> list[str]:
    return [f"# HELP {name} {said}", f"# TYPE {name} {kind}"]


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
    named = request.headers.getlist("host")
    host = _name(f"//{named[0]}") if len(named) == 1 else ""
    if host not in hosts:
        raise Problem(
            421, f"this server is not called {host or '(no Host)':.80}: `cuetrail serve --allow-host` names it"
        )
    origin = request.headers.get("origin")
    if origin is not None and not _is_ours(origin, request.headers.get("host", ""), hosts):
        raise Problem(403, "pages of other sites may not use this memory")


def _is_ours(origin: str, host: str, hosts: tuple[str, ...]) -> bool:
    """Whether a page is one of this server's. On this machine every port may be somebody else's server."""
    name = _name(origin)
    return name in hosts and (name not in LOOPBACK or _port(origin) == _port(f"{origin.partition(':')[0]}://{host}"))


def _port(url: str) -> int | None:
    try:
        found = urlsplit(url)
        return found.port or {"http": 80, "https": 443}.get(found.scheme)
    except ValueError:
        return None


def _name(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
