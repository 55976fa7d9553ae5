"""A request that is sent again with the same `Idempotency-Key` is answered as before, and done once.

Answers are kept in this process alone, for an hour: what was forgotten must not be found in a file of answers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic

from cuetrail.serve.rest.problems import Problem

SECONDS, MOST, LONGEST = 3600.0, 1000, 255


@dataclass(slots=True)
class _Kept:
    """What was asked, when, and the answer; None while it is being made."""

    asked: bytes
    at: float
    answer: bytes | None = None


class Repeats:
    """The answers to requests that carried a key, by who sent them and the key."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._kept = clock, dict[tuple[str, str], _Kept]()

    async def once(self, who: str, key: str, asked: str, make: Callable[[], Awaitable[bytes]]) -> bytes:
        """The answer made for this key, now or before. What fails may be tried again. Raises Problem."""
        if not 0 < len(key) <= LONGEST:
            raise Problem(400, f"an Idempotency-Key has 1 to {LONGEST} characters")
        place, mark, now = (who, key), hashlib.sha256(asked.encode("utf-8", "surrogatepass")).digest(), self._clock()
        kept = self._kept.get(place)
        if kept is not None and now - kept.at < SECONDS:
            return _again(kept, mark)
        self._make_room(now)
        made = self._kept[place] = _Kept(mark, now)
        try:
            made.answer = await make()
        except BaseException:
            if self._kept.get(place) is made:
                del self._kept[place]
            raise
        return made.answer

    def _make_room(self, now: float) -> None:
        """Let go of what is old, then of the oldest."""
        for place in [place for place, kept in self._kept.items() if now - kept.at >= SECONDS]:
            del self._kept[place]
        while len(self._kept) >= MOST:
            del self._kept[next(iter(self._kept))]

    def clear(self) -> None:
        """Let go of every answer: something that may be in one was forgotten."""
        self._kept = {place: kept for place, kept in self._kept.items() if kept.answer is None}


def _again(kept: _Kept, asked: bytes) -> bytes:
    if kept.asked != asked:
        raise Problem(422, "this Idempotency-Key came with another request: use a new one for each")
    if kept.answer is None:
        raise Problem(409, "the first request with this Idempotency-Key is still at work: try again in a moment")
    return kept.answer
