"""HTTP requests: the rules they must meet, reading their bodies, and errors as problem details (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse

from cuetrail.errors import Busy, CuetrailError, EmbedderError, Forgotten, InputError, MemoryError_, NotFound, ReadError

_STATUS: tuple[tuple[type[CuetrailError], int], ...] = (
    (NotFound, 404), (Forgotten, 409), (InputError, 400), (ReadError, 422), (Busy, 503), (MemoryError_, 503),
    (EmbedderError, 502),
)  # fmt: skip
TITLES = {
    400: "Bad request", 401: "A token is needed", 403: "Not allowed", 404: "Not found", 405: "Wrong method",
    408: "Too slow", 409: "Conflict", 413: "Too large", 415: "Not JSON", 421: "Wrong host", 422: "Cannot be used",
    429: "Too many requests", 500: "Failed", 502: "Embedder failed", 503: "Memory not available",
}  # fmt: skip
PROBLEM_JSON = "application/problem+json"


class Problem(Exception):  # an answer for the client, not a bug
    """Raised for a request that is refused or failed: the HTTP status and the reason for the error response."""

    def __init__(self, status: int, detail: str, kind: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.detail, self.kind, self.headers = status, detail, kind, dict(headers or {})


def problem_from(error: Exception) -> Problem:
    """Returns the problem for an error. The text of an error that is not cuetrail's own is not shown to the client."""
    if isinstance(error, Problem):
        return error
    if not isinstance(error, CuetrailError):
        return Problem(500, "this failed unexpectedly: the server's log says how")
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return Problem(status, " ".join(str(error).split()), type(error).__name__)


def problem_body(problem: Problem) -> dict[str, Any]:
    """Returns a problem as JSON data."""
    title = TITLES.get(problem.status, "Failed")
    body = {"type": "about:blank", "title": title, "status": problem.status, "detail": problem.detail}
    return {**body, "kind": problem.kind} if problem.kind else body


def problem_response(problem: Problem) -> JSONResponse:
    """Returns the HTTP response for a problem."""
    headers = problem.headers | ({"WWW-Authenticate": "Bearer"} if problem.status == 401 else {})
    headers |= {"Retry-After": "1"} if problem.status in (429, 503) else {}
    return JSONResponse(problem_body(problem), problem.status, headers, media_type=PROBLEM_JSON)


LOOPBACK = ("127.0.0.1", "::1", "localhost")
MEGABYTE = 2**20


@dataclass(frozen=True, slots=True)
class RequestRules:
    """The conditions a request must meet: the server's host names, a token, its size and its speed.

    `tokens_required`: also while the memory has no token. `max_waiting`: requests that run or wait at a time.
    `max_waiting_per_address`: those of one client; programs on this machine, such as a proxy, may have all.
    `seconds_per_megabyte`: the time each megabyte of a body has to arrive.
    """

    hosts: tuple[str, ...] = LOOPBACK
    tokens_required: bool = False
    max_body_bytes: int = 10 * MEGABYTE
    max_upload_bytes: int = 64 * MEGABYTE
    max_waiting: int = 64
    max_waiting_per_address: int = 32
    seconds_per_megabyte: float = 30.0


JSON = "application/json"


def json_bytes(data: Any) -> bytes:
    """Returns data as JSON without spaces. Raises ValueError for numbers that JSON does not have."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str).encode()


async def json_arguments(request: Request, rules: RequestRules) -> dict[str, Any]:
    """Returns the arguments in a JSON body without those that are null. Raises Problem."""
    data = await request_body(request, rules.max_body_bytes, rules.seconds_per_megabyte)
    if not data.strip():
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise Problem(415, f"send JSON, with `Content-Type: {JSON}`")
    try:
        given = json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Problem(400, f"this is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise Problem(400, 'send an object with the arguments, such as {"cue": "what did we decide?"}')
    return {name: value for name, value in given.items() if value is not None}


async def uploaded_file(request: Request, rules: RequestRules) -> bytes:
    """Returns the file in the body of a request. Raises Problem."""
    data = await request_body(request, rules.max_upload_bytes, rules.seconds_per_megabyte)
    if not data:
        raise Problem(400, "send the file as the body of the request, such as `curl --data-binary @notes.md`")
    return bytes(data)


async def request_body(request: Request, max_bytes: int, seconds_per_megabyte: float) -> bytearray:
    """Returns a whole body. Raises Problem if it is too large, too slow or incomplete."""
    too_large = Problem(413, f"a request may have {max_bytes} bytes: send less at a time")
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > max_bytes:
        raise too_large
    data, begun, more = bytearray(), anyio.current_time(), True
    while more:
        # Without a deadline, a client that sends a byte now and then could hold its place in the queue for ever.
        deadline = begun + seconds_per_megabyte * (1 + len(data) // MEGABYTE)
        with anyio.CancelScope(deadline=deadline) as waiting:
            # Not by `stream`, which makes each piece of a body wait twice.
            message = await request.receive()
        if waiting.cancelled_caught or anyio.current_time() > deadline:
            raise Problem(
                408,
                f"each megabyte of a request has {seconds_per_megabyte:g} seconds to arrive: send it faster, or less",
            )
        if message["type"] == "http.disconnect":
            raise Problem(400, "the request ended in the middle")
        data += message.get("body", b"")
        more = message.get("more_body", False)
        if len(data) > max_bytes:
            raise too_large
    return data


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is no number")
