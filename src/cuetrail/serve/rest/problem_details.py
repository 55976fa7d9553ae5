"""Errors as HTTP responses: the status of each kind of error, and its body, problem details (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    507: "No room",
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
