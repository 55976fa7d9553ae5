"""Answers that may be given again: for a minute, as long as nothing was written in the scope they are of.

Whether anything was, in this process or in another, the store's version of the scope tells; so a write needs to drop
nothing by hand, and an answer that a write came in between is never given. What changes with use is for who asks to
look at: see `Believing.narrate`.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from cuetrail.model import Scope
from cuetrail.store.shared.fact_validity import EVER

SECONDS = 60
MOST = 1_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """What an answer is to: whose, in which words (in their normal form), and with which parameters."""

    scope: Scope
    words: Hashable
    parameters: Hashable


class Answers(Generic[T]):
    """The latest answers, each with the version of its scope before it was made. Threads may share it."""

    def __init__(self, seconds: int = SECONDS, most: int = MOST) -> None:
        self._life = seconds * 1000
        self._most = most
        self._kept: OrderedDict[Question, tuple[Hashable, range, T]] = OrderedDict()
        self._counts: Counter[tuple[Scope, str]] = Counter()
        self._lock = threading.Lock()

    def get(self, question: Question, version: Hashable, now: int) -> T | None:
        """The answer, None where there is none, or none that still holds."""
        with self._lock:
            found = self._kept.get(question)
            if found is not None and found[0] == version and now in found[1]:
                self._kept.move_to_end(question)
                self._counts[question.scope, "hits"] += 1
                return found[2]
            self._kept.pop(question, None)
            self._counts[question.scope, "misses"] += 1
            return None

    def put(self, question: Question, version: Hashable, now: int, answer: T, until: int = EVER) -> None:
        """Keep an answer that was made of a version, to be given before `until`; the oldest goes where there are too
        many.
        """
        with self._lock:
            self._kept[question] = (version, range(now, min(now + self._life, until)), answer)
            self._kept.move_to_end(question)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def renew(self, question: Question, version: Hashable, answer: T) -> None:
        """Put another answer in the place of a kept one, for the rest of its time."""
        with self._lock:
            found = self._kept.get(question)
            if found is not None and found[0] == version:
                self._kept[question] = (version, found[1], answer)

    def counts(self, scope: Scope) -> dict[str, int]:
        """How often an answer could be given again in this scope, how often not, and how many are kept."""
        with self._lock:
            kept = sum(question.scope == scope for question in self._kept)
            return {"hits": self._counts[scope, "hits"], "misses": self._counts[scope, "misses"], "kept": kept}
