"""Stored responses: a repeated request with the same `Idempotency-Key` gets the response of the first one.

Responses are stored in one process only, for an hour: a file of responses could contain forgotten texts. If
anyone forgets something they are dropped, and a repeated request is refused: it is never carried out twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

from cuetrail.serve.rest.problem_details import Problem
from cuetrail.serve.write_queue import Emit, Key, Write, Writes

SECONDS, MAX_RESPONSES, MAX_KEY_LENGTH = 3600.0, 1000, 255


FORGETTING = ("forget", "mem0-delete")
"""Writes after which no other stored response may stay: one may contain a forgotten text. Their own contain none."""


@dataclass(slots=True)
class _Entry:
    """The fingerprint of a request, its time, the mark of what was forgotten last when it came (None: it forgets, and
    its response may stay), and its response, which is None while the request runs and after it was dropped.
    """

    fingerprint: bytes
    at: float
    forgotten: str | None
    response: bytes | None = None
    dropped: bool = False

    def drop(self) -> None:
        """Removes the response, because it may contain a text that was forgotten since; the request counts as done."""
        if self.response is not None and self.forgotten is not None:
            self.response, self.dropped = None, True


class IdempotencyCache:
    """Responses to requests with an Idempotency-Key, by token id and key."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._entries = clock, dict[tuple[str, str], _Entry]()

    async def get(self, key: Key, make: Callable[[], Awaitable[bytes]], forgets: bool = False) -> bytes:
        """Returns the stored response for a token and key; else calls `make` and stores its result, unless it fails.

        Raises Problem if the key came with a different request, if the first request still runs, or if something was
        forgotten since then, unless that is what the request does (`forgets`).
        """
        token, name, fingerprint, forgotten = key
        if not 0 < len(name) <= MAX_KEY_LENGTH:
            raise Problem(400, f"an Idempotency-Key has 1 to {MAX_KEY_LENGTH} characters")
        digest, now = hashlib.sha256(fingerprint.encode("utf-8", "surrogatepass")).digest(), self._clock()
        found = self._entries.get((token, name))
        if found is not None and now - found.at < SECONDS:
            if found.forgotten != forgotten:
                found.drop()
            return _stored_response(found, digest)
        self._make_room(now)
        made = self._entries[token, name] = _Entry(digest, now, None if forgets else forgotten)
        try:
            made.response = await make()
        except BaseException:
            if self._entries.get((token, name)) is made:
                del self._entries[token, name]
            raise
        return made.response

    def _make_room(self, now: float) -> None:
        """Removes expired entries, then the oldest ones above the limit."""
        for key in [key for key, entry in self._entries.items() if now - entry.at >= SECONDS]:
            del self._entries[key]
        while len(self._entries) >= MAX_RESPONSES:
            del self._entries[next(iter(self._entries))]

    def drop_all(self) -> None:
        """Removes every stored response that may contain a forgotten text. Running requests stay."""
        for entry in self._entries.values():
            entry.drop()


class Once:
    """Carries out each write with a key once, and returns the same result for a repeated one."""

    def __init__(self) -> None:
        self._cache = IdempotencyCache()

    async def run(self, name: str, key: Key | None, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """Returns the result of `make`, or the one stored for the key. `name` is that of the write.

        Raises what `make` raises, and Problem for a key whose result cannot be returned (see `IdempotencyCache.get`).
        """
        forgets = name in FORGETTING

        async def run() -> bytes:
            try:
                return await make()
            finally:
                if forgets:
                    self._cache.drop_all()

        return await (run() if key is None else self._cache.get(key, run, forgets))


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
    if entry.dropped:
        raise Problem(
            409,
            "this request was carried out, but its answer was not kept, because memories were forgotten since then: "
            "read the memory to see what it holds now",
        )
    if entry.response is None:
        raise Problem(409, "the first request with this Idempotency-Key is still at work: try again in a moment")
    return entry.response
