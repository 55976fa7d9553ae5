"""Sends JSON to a server that a user named, again if the server is busy. The API key goes to no other address."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from typing import Any, TypeVar
from urllib.error import HTTPError

T = TypeVar("T")
ATTEMPTS = 3


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects, because urllib would send the key to the new host."""

    def redirect_request(self, *_: Any) -> None:
        return None


def post_json(url: str, body: bytes, key: str | None, seconds: float) -> HTTPResponse:
    """Sends a POST request and returns the response, open for reading. `key` is sent as a bearer token.

    Raises OSError (also as URLError and HTTPError) and HTTPException.
    """
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")
    answer: HTTPResponse = urllib.request.build_opener(_NoRedirect).open(request, timeout=seconds)
    return answer


def is_temporary(error: BaseException) -> bool:
    """True if the request may succeed later: no answer came, or the server says that it is busy or broken."""
    if isinstance(error, HTTPError):
        return error.code in (408, 429) or error.code >= 500
    return isinstance(error, OSError | HTTPException)


def with_retries(
    ask: Callable[[], T], may_recover: Callable[[Exception], bool], pause: float, sleep: Callable[[float], object]
) -> T:
    """Returns what `ask` returns. If it raises an error for which `may_recover` is true, asks again, at most ATTEMPTS
    times in all.

    The first pause lasts `pause` seconds, each later one twice as long. Raises the error of the last attempt.
    """
    for attempt in range(ATTEMPTS - 1):
        try:
            return ask()
        except Exception as error:
            if not may_recover(error):
                raise
        sleep(pause * 2**attempt)
    return ask()
