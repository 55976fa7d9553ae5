"""Which words of a query each text contains, by their stems, and how much each of these words weighs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from cuetrail.text.normalise import terms_of

# A shorter stem must match a whole word: it begins too many others.
SHORTEST_STEM = 4


@dataclass(frozen=True, slots=True)
class TermCoverage:
    """Which query terms (stems) each text contains: `terms` by text id, and by term its `weights` and query `words`."""

    weights: Mapping[str, float]
    terms: Mapping[str, frozenset[str]]
    words: Mapping[str, str]

    def words_of(self, terms: Collection[str]) -> list[str]:
        """Returns the query words with these stems."""
        return [word for term, word in self.words.items() if term in terms]

    def share(self, terms: Iterable[str], among: Collection[str] | None = None) -> float:
        """Returns the weight of these terms as a share of the weight of all query terms, or of those in `among`."""
        part = self._sum(terms)
        return part / self._sum(self.weights if among is None else among) if part else 0.0

    def total(self) -> float:
        """Returns the weight of all query terms."""
        return self._sum(self.weights)

    def _sum(self, terms: Iterable[str]) -> float:
        # Sets have another order in every process; fsum gives the same sum in any order.
        return math.fsum([self.weights[term] for term in terms])

    def missing(self, id_: str) -> frozenset[str]:
        """Returns the query terms that a text does not contain."""
        return frozenset(self.weights) - self.terms[id_]


def term_coverage(words: str, texts: Mapping[str, str]) -> TermCoverage:
    """Returns which stems of the query words each text contains; a stem that fewer of the texts contain weighs more.

    The texts are in lower case, with a space before and behind each word.

    >>> found = term_coverage("tuning antennas", {"a": " the antenna hums ", "b": " tuned antennas ", "c": " tune "})
    >>> [sorted(found.terms[id_]) for id_ in "abc"], found.share(found.terms["c"]) > found.share(found.terms["a"])
    ([['antenna'], ['antenna', 'tune'], ['tune']], False)
    """
    stems = {stem: word for word in words.split() for stem in terms_of(word)}
    containing = {stem: _texts_with_stem(stem, texts) for stem in stems}
    weights = {stem: math.log((len(texts) + 1) / (len(ids) + 0.5)) for stem, ids in containing.items()}
    terms: dict[str, set[str]] = {id_: set() for id_ in texts}
    for stem, ids in containing.items():
        for id_ in ids:
            terms[id_].add(stem)
    return TermCoverage(weights, {id_: frozenset(some) for id_, some in terms.items()}, stems)


def _texts_with_stem(stem: str, texts: Mapping[str, str]) -> set[str]:
    forms = stem_forms(stem)
    return {id_ for id_, text in texts.items() if any(form in text for form in forms)}


def stem_forms(stem: str) -> tuple[str, ...]:
    """Returns what a folded text contains if it contains a word with this stem; short stems match whole words only.

    >>> stem_forms("happi"), stem_forms("owl")
    ((' happ',), (' owl ', ' owls '))
    """
    # The stem of "happy" is "happi".
    return (f" {stem.removesuffix('i')}",) if len(stem) >= SHORTEST_STEM else (f" {stem} ", f" {stem}s ")
