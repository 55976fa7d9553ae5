"""Cache of narratives: an entry is valid for a minute, as long as nothing was written in its scope.

The store has a version number for each scope that changes with every write of any process, so writes need not clear
anything. Access counts also change scores; the caller of the cache checks these.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from cuetrail.model import Scope
from cuetrail.store.shared.fact_validity import EVER

LIFETIME_SECONDS = 60
MOST_ENTRIES = 1_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CacheKey:
    """The scope, the words of the cue in normal form, and all other parameters of a narrative."""

    scope: Scope
    words: Hashable
    parameters: Hashable


class VersionedCache(Generic[T]):
    """The latest entries, each with the version its scope had before the entry was made. Thread-safe."""

    def __init__(self, seconds: int = LIFETIME_SECONDS, most: int = MOST_ENTRIES) -> None:
        self._lifetime = seconds * 1000
        self._most = most
        self._entries: OrderedDict[CacheKey, tuple[Hashable, range, T]] = OrderedDict()
        self._counts: Counter[tuple[Scope, str]] = Counter()
        self._lock = threading.Lock()

    def get(self, key: CacheKey, version: Hashable, now: int) -> T | None:
        """Returns the entry of this version, None if there is none or it has expired."""
        with self._lock:
            found = self._entries.get(key)
            if found is not None and found[0] == version and now in found[1]:
                self._entries.move_to_end(key)
                self._counts[key.scope, "hits"] += 1
                return found[2]
            self._entries.pop(key, None)
            self._counts[key.scope, "misses"] += 1
            return None

    def put(self, key: CacheKey, version: Hashable, now: int, entry: T, until: int = EVER) -> None:
        """Stores an entry that is valid before `until`; drops the oldest if there are too many."""
        with self._lock:
            self._entries[key] = (version, range(now, min(now + self._lifetime, until)), entry)
            self._entries.move_to_end(key)
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)

    def renew(self, key: CacheKey, version: Hashable, entry: T) -> None:
        """Replaces an entry of the same version; it expires when the old one would have."""
        with self._lock:
            found = self._entries.get(key)
            if found is not None and found[0] == version:
                self._entries[key] = (version, found[1], entry)

    def counts(self, scope: Scope) -> dict[str, int]:
        """Returns the hits and misses in this scope, and how many entries it has."""
        with self._lock:
            kept = sum(key.scope == scope for key in self._entries)
            return {"hits": self._counts[scope, "hits"], "misses": self._counts[scope, "misses"], "kept": kept}
