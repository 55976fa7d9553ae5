"""Sends JSON to a server that a user named. The API key goes to no other address."""

from __future__ import annotations

import urllib.request
from http.client import HTTPResponse
from typing import Any


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
