"""Stored responses: a repeated request with the same `Idempotency-Key` gets the response of the first one.

Responses are stored in one process only, for an hour: a file of responses could contain forgotten texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

from cuetrail.serve.rest.problem_details import Problem
from cuetrail.serve.writes import Emit, Key, Write, Writes

SECONDS, MAX_RESPONSES, MAX_KEY_LENGTH = 3600.0, 1000, 255


FORGETTING = ("forget", "mem0-delete")
"""Writes after which no stored response may stay: one may contain a forgotten text."""


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


class Once:
    """Carries out each write with a key once, and returns the same result for a repeated one."""

    def __init__(self) -> None:
        self._cache = IdempotencyCache()

    async def run(self, name: str, key: Key | None, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Returns the result of `make`, or the one stored for the key. `name` is that of the write.

        Raises what `make` raises, and Problem for a key that came with a different request or whose first request
        still runs.
        """

        async def run() -> bytes:
            try:
                return await make()
            finally:
                if name in FORGETTING:
                    self._cache.clear()

        return await (run() if key is None else self._cache.get(*key, run))


class OnceWrites:
    """The writes of a server that is one process, each with a key carried out once."""

    def __init__(self, writes: Writes) -> None:
        self._writes, self._once = writes, Once()

    async def run(self, write: Write, key: Key | None = None, emit: Emit | None = None) -> Any:
        """Carries out a write, or returns the stored result. Raises what the write raises, and Problem for a key."""
        return await self._once.run(write.name, key, lambda: self._writes.run(write, None, emit))


def _stored_response(entry: _Entry, fingerprint: bytes) -> bytes:
    if entry.fingerprint != fingerprint:
        raise Problem(422, "this Idempotency-Key came with another request: use a new one for each")
    if entry.response is None:
        raise Problem(409, "the first request with this Idempotency-Key is still at work: try again in a moment")
    return entry.response
