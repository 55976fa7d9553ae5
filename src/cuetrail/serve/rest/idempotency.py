"""Stored responses: a repeated request with the same `Idempotency-Key` gets the response of the first one.

Responses are stored in this process only, for an hour: a file of responses could contain forgotten texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic

from cuetrail.serve.rest.requests import Problem

SECONDS, MAX_RESPONSES, MAX_KEY_LENGTH = 3600.0, 1000, 255


@dataclass(slots=True)
class _Entry:
    """The fingerprint of a request, its time, and its response, which is None while the request runs."""

    fingerprint: bytes
    at: float
    response: bytes | None = None


class IdempotencyCache:
    """Responses to requests with an Idempotency-Key, by token id and key."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._entries = clock, dict[tuple[str, str], _Entry]()

    async def get(self, token: str, key: str, fingerprint: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Returns the stored response for a token and key; else calls `make` and stores its result, unless it fails.

        Raises Problem if the key came with a different request, or if the first request still runs.
        """
        if not 0 < len(key) <= MAX_KEY_LENGTH:
            raise Problem(400, f"an Idempotency-Key has 1 to {MAX_KEY_LENGTH} characters")
        digest, now = hashlib.sha256(fingerprint.encode("utf-8", "surrogatepass")).digest(), self._clock()
        found = self._entries.get((token, key))
        if found is not None and now - found.at < SECONDS:
            return _stored_response(found, digest)
        self._make_room(now)
        made = self._entries[token, key] = _Entry(digest, now)
        try:
            made.response = await make()
        except BaseException:
            if self._entries.get((token, key)) is made:
                del self._entries[token, key]
            raise
        return made.response

    def _make_room(self, now: float) -> None:
        """Removes expired entries, then the oldest ones above the limit."""
        for key in [key for key, entry in self._entries.items() if now - entry.at >= SECONDS]:
            del self._entries[key]
        while len(self._entries) >= MAX_RESPONSES:
            del self._entries[next(iter(self._entries))]

    def clear(self) -> None:
        """Removes every stored response, because one may contain a forgotten text. Running requests stay."""
        self._entries = {key: entry for key, entry in self._entries.items() if entry.response is None}


def _stored_response(entry: _Entry, fingerprint: bytes) -> bytes:
    if entry.fingerprint != fingerprint:
        raise Problem(422, "this Idempotency-Key came with another request: use a new one for each")
    if entry.response is None:
        raise Problem(409, "the first request with this Idempotency-Key is still at work: try again in a moment")
    return entry.response
