"""The text analyser that index and query share in all engines, and the rule for equal scores."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import TypeVar

import tantivy

from cuetrail.text.normalise import analysable, clean

LONGEST_TOKEN = 255
LABEL_BOOST = 2.0
# The score of every match of a search that has filters but no words.
FILTER_SCORE = 1.0
# The order in which an index sums single-precision scores varies, so equal documents may differ in the last bit.
# Scores that agree in five digits count as equal.
TIE = 1e-5
# The index has stems, and no stem begins with "runnin". A prefix without matches is retried with up to 4 letters less.
ENDING = 4
SHORTEST_STEM = 3
FUZZY_SHARE = 0.5
# Typo search is slow, and a text in another language has many unknown words, so only this many are corrected.
MOST_MENDED = 12
SHORTEST_MENDED = 4

# Results of case folding that the analyser treats as different letters: ς becomes σ, the sign µ becomes μ. Rare ones
# (nine old Cyrillic letters, ﬅ for st) are left out, because many names have the letters they fold to.
_FOLDED_TO = re.compile("[βεθικμπρσφեինխւ\u02bc\u02be\u0307ṡ]")
# A word begins with its stem, except for the last letters of a stem that ends like this: die, dying; happi, happy;
# probabl, probability; sky, skies. The number says how many letters may differ.
_ALTERED = {"e": 2, "i": 1, "l": 1, "y": 1}
_PUNCTUATION_TO_SPACE = {code: " " for code in range(128) if not chr(code).isalnum()}

K = TypeVar("K")


def make_analyser() -> tantivy.TextAnalyzer:
    """Returns the analyser of index and query: Unicode words, lower case, accents removed, English stems."""
    return _whole_words().filter(tantivy.Filter.stemmer("english")).build()


def _whole_words() -> tantivy.TextAnalyzerBuilder:
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    for step in (
        tantivy.Filter.remove_long(LONGEST_TOKEN),
        tantivy.Filter.lowercase(),
        tantivy.Filter.ascii_fold(),
    ):
        builder = builder.filter(step)
    return builder


@cache
def _analysers() -> tuple[tantivy.TextAnalyzer, tantivy.TextAnalyzer]:
    return make_analyser(), _whole_words().build()


def terms_of(text: str) -> list[str]:
    """Returns the index terms of a text in order, with repeats."""
    return _analysers()[0].analyze(analysable(clean(text)))


def unstemmed(text: str) -> list[str]:
    """Returns the words of a text analysed like index terms, but without stemming."""
    return _analysers()[1].analyze(analysable(clean(text)))


class Terms:
    """Query terms to look for in texts. A fast check of word beginnings rules out most texts that lack them.

    >>> die_cast, texts = Terms(["die", "cast"]), ("Dying birds", "They cast it, and died.", "An indie forecast")
    >>> [(die_cast.any_in(text), die_cast.all_in(text)) for text in texts]
    [(True, False), (True, True), (False, False)]
    """

    __slots__ = ("_starts", "_terms")

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = frozenset(terms)
        self._starts = [f" {term[: len(term) - _ALTERED.get(term[-1], 0)]}" for term in self._terms]

    def any_in(self, text: str) -> bool:
        """True if the text contains at least one of the terms."""
        return self._may_be_in(text, any) and not self._terms.isdisjoint(terms_of(text))

    def all_in(self, text: str) -> bool:
        """True if the text contains every term."""
        return self._may_be_in(text, all) and self._terms.issubset(terms_of(text))

    def _may_be_in(self, text: str, enough: Callable[[Iterable[bool]], bool]) -> bool:
        # Analysing a text takes ten times as long as this check. Texts with accents are left to the analyser.
        if not text.isascii():
            return True
        words = f" {text.lower().translate(_PUNCTUATION_TO_SPACE)}"
        return enough([start in words for start in self._starts])


def is_findable(norm: str) -> bool:
    """True if a search for the terms of this normalised name finds every text that contains the name as whole words.

    >>> is_findable("ada lovelace"), is_findable("josé"), is_findable("東京"), is_findable("λογοσ")
    (True, True, True, False)
    """
    return norm.isascii() or _FOLDED_TO.search(norm) is None


def edits(word: str) -> int:
    """Returns how many typos are tolerated in a word."""
    return 1 if len(word) < 8 else 2


def searchable_text(name: str | None, aliases: Collection[str], text: str) -> str:
    """Returns the text under which a node is indexed: its name, its aliases and its text, one per line."""
    if not name and not aliases:
        return text
    return "\n".join([*([name] if name else []), *aliases, *([text] if text else [])])


def top_with_ties(scores: Mapping[K, float], limit: int) -> list[tuple[float, K]]:
    """Returns (score, key) of the `limit` best and of all that tie with the last of them. Tied ones get equal scores.

    A tie is measured from the best of the tied scores. Rounding could separate two equal documents.
    """
    kept: list[tuple[float, K]] = []
    level = math.inf
    for key, score in sorted(scores.items(), key=lambda pair: -pair[1]):
        if score < level * (1 - TIE):
            if len(kept) >= limit:
                break
            level = score
        kept.append((level, key))
    return kept
