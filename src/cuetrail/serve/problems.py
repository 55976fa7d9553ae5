"""What goes wrong over HTTP, as problem details (RFC 9457)."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse

from cuetrail.errors import Busy, CuetrailError, EmbedderError, Forgotten, InputError, MemoryError_, NotFound

_STATUS: tuple[tuple[type[CuetrailError], int], ...] = (
    (NotFound, 404), (Forgotten, 409), (InputError, 400), (Busy, 503), (MemoryError_, 503), (EmbedderError, 502),
)  # fmt: skip
TITLES = {
    400: "Bad request", 401: "A token is needed", 403: "Not allowed", 404: "Not found", 405: "Wrong method",
    409: "Forgotten", 413: "Too large", 415: "Not JSON", 421: "Wrong host", 429: "Too many requests",
    500: "Failed", 502: "Embedder failed", 503: "Memory not available",
}  # fmt: skip


class Problem(Exception):  # it is what the client is told, not a bug
    """A request that is not answered: with which status, and why."""

    def __init__(self, status: int, detail: str, kind: str = "") -> None:
        super().__init__(detail)
        self.status, self.detail, self.kind = status, detail, kind


def problem_of(error: CuetrailError) -> Problem:
    """An error of the memory as the client is told of it."""
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
    return Problem(status, " ".join(str(error).split()), type(error).__name__)


def told(problem: Problem) -> JSONResponse:
    """The response to a request that is not answered."""
    body: dict[str, Any] = {
        "type": "about:blank", "title": TITLES.get(problem.status, "Failed"), "status": problem.status,
        "detail": problem.detail,
    }  # fmt: skip
    if problem.kind:
        body["kind"] = problem.kind
    headers = {"WWW-Authenticate": "Bearer"} if problem.status == 401 else {}
    headers |= {"Retry-After": "1"} if problem.status in (429, 503) else {}
    return JSONResponse(body, problem.status, headers, media_type="application/problem+json")
