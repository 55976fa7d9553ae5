"""What the text searches of all engines share: one analyser for index and query, and when two scores are equal."""

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
# What a search for filters alone gives every match.
FILTER_SCORE = 1.0
# Scores are single precision sums in an order the index chooses: equal documents may differ in the last of 24 bits.
# Those that agree in five digits count as equal.
TIE = 1e-5
# An index holds stems: "runnin" begins none, so a prefix that finds nothing is tried again with up to this much less.
ENDING = 4
SHORTEST_STEM = 3
FUZZY_SHARE = 0.5
# To look for what is near a word takes a while; a text in another language has many that are unknown.
MOST_MENDED = 12
SHORTEST_MENDED = 4

# What other letters are folded to that the analyser keeps apart from these: ς is to σ, the sign µ to μ, ᾳ to αι. Nine
# old forms of Cyrillic letters are, too, and ﬅ to st; nobody writes those, and many names have these letters.
_FOLDED_TO = re.compile("[βεθικμπρσφեինխւ\u02bc\u02be\u0307ṡ]")
# A stem is how a word begins, but for its last letters where it ends like these, and how many these are: die, dying;
# happi, happy; probabl, probability; sky, skies.
_ALTERED = {"e": 2, "i": 1, "l": 1, "y": 1}
_APART = {code: " " for code in range(128) if not chr(code).isalnum()}

K = TypeVar("K")


def make_analyser() -> tantivy.TextAnalyzer:
    """Unicode words, lower case, accents folded, English stems. The same for index and query."""
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
    """The terms of a text as an index has them, in order, repeats kept."""
    return _analysers()[0].analyze(analysable(clean(text)))


def unstemmed(text: str) -> list[str]:
    """The words of a text as an index would have them, but whole."""
    return _analysers()[1].analyze(analysable(clean(text)))


class Terms:
    """Terms of a query, to be looked for in texts. Of most texts that lack them the beginnings of words tell.

    >>> die_cast, texts = Terms(["die", "cast"]), ("Dying birds", "They cast it, and died.", "An indie forecast")
    >>> [(die_cast.any_in(text), die_cast.all_in(text)) for text in texts]
    [(True, False), (True, True), (False, False)]
    """

    __slots__ = ("_starts", "_terms")

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = frozenset(terms)
        self._starts = [f" {term[: len(term) - _ALTERED.get(term[-1], 0)]}" for term in self._terms]

    def any_in(self, text: str) -> bool:
        """Whether a text holds one of the terms."""
        return self._may_be_in(text, any) and not self._terms.isdisjoint(terms_of(text))

    def all_in(self, text: str) -> bool:
        """Whether a text holds every term."""
        return self._may_be_in(text, all) and self._terms.issubset(terms_of(text))

    def _may_be_in(self, text: str, enough: Callable[[Iterable[bool]], bool]) -> bool:
        # To take a text apart into its terms takes ten times as long. Accents are for the analyser to fold.
        if not text.isascii():
            return True
        words = f" {text.lower().translate(_APART)}"
        return enough([start in words for start in self._starts])


def is_findable(norm: str) -> bool:
    """Whether every text in which this name stands, in its normal form and as whole words, holds the name's terms.

    >>> is_findable("ada lovelace"), is_findable("josé"), is_findable("東京"), is_findable("λογοσ")
    (True, True, True, False)
    """
    return norm.isascii() or _FOLDED_TO.search(norm) is None


def edits(word: str) -> int:
    """How many letters of a word may be wrong for it still to be meant."""
    return 1 if len(word) < 8 else 2


def searchable_text(name: str | None, aliases: Collection[str], text: str) -> str:
    """Returns the text under which a node is indexed: its name, its aliases and its text, one per line."""
    if not name and not aliases:
        return text
    return "\n".join([*([name] if name else []), *aliases, *([text] if text else [])])


def levelled(scores: Mapping[K, float], limit: int) -> list[tuple[float, K]]:
    """(score, key) of the `limit` best and all that tie with the last; those that tie have the score of the first.

    A tie is measured from a score, not by rounding, where two equal documents could fall on either side of a step.
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
