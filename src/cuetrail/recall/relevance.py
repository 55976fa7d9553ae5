"""Which words of the cue a text has, and how much of the cue these are: the rarer a word, the more."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from cuetrail.text.analyser import terms_of

# The stem of a shorter word begins too many others.
SHORTEST_STEM = 4


@dataclass(frozen=True, slots=True)
class Wording:
    """The stems of the cue's words by memory, the weight of each, and the words they stand for."""

    weights: Mapping[str, float]
    has: Mapping[str, frozenset[str]]
    said: Mapping[str, str]

    def words(self, stems: Collection[str]) -> list[str]:
        """The words of the cue that have these stems."""
        return [word for stem, word in self.said.items() if stem in stems]

    def share(self, words: Iterable[str], among: Collection[str] | None = None) -> float:
        """How much these words are of the cue, or of some of its words, which they are among."""
        part = self._sum(words)
        return part / self._sum(self.weights if among is None else among) if part else 0.0

    def _sum(self, words: Iterable[str]) -> float:
        # Sets have another order in every process; this sum has none.
        return math.fsum([self.weights[word] for word in words])

    def missing(self, id_: str) -> frozenset[str]:
        """What of the cue a memory does not say."""
        return frozenset(self.weights) - self.has[id_]


def worded(words: str, texts: Mapping[str, str]) -> Wording:
    """Which of the words each text has; texts are spelt, with a space at both ends.

    >>> found = worded("tuning antennas", {"a": " the antenna hums ", "b": " tuned antennas ", "c": " tune "})
    >>> [sorted(found.has[id_]) for id_ in "abc"], found.share(found.has["c"]) > found.share(found.has["a"])
    ([['antenna'], ['antenna', 'tune'], ['tune']], False)
    """
    stems = {stem: word for word in words.split() for stem in terms_of(word)}
    holders = {stem: _holders(stem, texts) for stem in stems}
    weights = {stem: math.log((len(texts) + 1) / (len(ids) + 0.5)) for stem, ids in holders.items()}
    has: dict[str, set[str]] = {id_: set() for id_ in texts}
    for stem, ids in holders.items():
        for id_ in ids:
            has[id_].add(stem)
    return Wording(weights, {id_: frozenset(some) for id_, some in has.items()}, stems)


def _holders(stem: str, texts: Mapping[str, str]) -> set[str]:
    """Whose text has a word with this stem."""
    if len(stem) >= SHORTEST_STEM:
        # The stem of "happy" is "happi".
        begin = f" {stem.removesuffix('i')}"
        return {id_ for id_, text in texts.items() if begin in text}
    one, many = f" {stem} ", f" {stem}s "
    return {id_ for id_, text in texts.items() if one in text or many in text}
