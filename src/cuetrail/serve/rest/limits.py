"""Limits on requests: how many wait, how many run at a time, how large they are and how long they may take."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from cuetrail.serve.verb_effects import EFFECTS

LOOPBACK = ("127.0.0.1", "::1", "localhost")
MEGABYTE = 2**20

LONG_VERBS = frozenset(
    {
        "activate", "add_many", "backup", "bench", "doctor", "dream", "explore", "export", "import", "ingest",
        "ingest_text", "reembed", "traverse",
    }
)  # fmt: skip
"""Verbs that may take long. They have a queue of their own, so that the others do not wait for them."""
_SHORT_WRITES = frozenset(name for name, effect in EFFECTS.items() if effect.writes and not effect.paths) - LONG_VERBS
AT_ONCE, REMOTE_AT_ONCE, LONG_AT_ONCE = 1, 8, 2
"""How many verbs run at a time. Threads that read the same file compete for Python's lock at every row, so that each
takes twice the time; threads that wait for a database server do not.
"""
WRITE_INTERVAL = 0.25
"""The longest time in seconds that a write waits for other writes."""


@dataclass(frozen=True, slots=True)
class RequestRules:
    """The conditions a request must meet: the server's host names, a token, its size and its speed.

    `tokens_required`: also while the memory has no token. `max_waiting`: requests that run or wait at a time.
    `seconds_per_megabyte`: the time each megabyte of a body has to arrive.
    """

    hosts: tuple[str, ...] = LOOPBACK
    tokens_required: bool = False
    max_body_bytes: int = 10 * MEGABYTE
    max_upload_bytes: int = 64 * MEGABYTE
    max_waiting: int = 64
    seconds_per_megabyte: float = 30.0


class VerbQueues:
    """Limits how many verbs run at a time, with one queue for long verbs and one for all others."""

    def __init__(self, remote: bool) -> None:
        self._short = anyio.CapacityLimiter(REMOTE_AT_ONCE if remote else AT_ONCE)
        self._long = anyio.CapacityLimiter(LONG_AT_ONCE)

    def limiter(self, verb: str) -> anyio.CapacityLimiter:
        """Returns the limiter under which a verb runs."""
        return self._long if verb in LONG_VERBS else self._short

    async def group_writes(self, verb: str) -> None:
        """Delays a short write while other requests run, so that several writes follow each other.

        The first recall after a write updates the indexes; grouped writes cause one update instead of many.
        """
        if verb in _SHORT_WRITES and self._short.borrowed_tokens:
            await anyio.sleep(WRITE_INTERVAL - anyio.current_time() % WRITE_INTERVAL)
