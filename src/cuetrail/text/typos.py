"""Typos in queries: which words are searched for with other spellings too, and how many typos each may have."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from cuetrail.text.normalise import unstemmed

# Typo search is slow, and a text in another language has many unknown words, so only this many are corrected.
MOST_MENDED = 12
SHORTEST_MENDED = 4
# The score of a match that differs from the query's word in a letter or two.
FUZZY_SHARE = 0.5


def words_to_correct(
    terms: Iterable[str], text: str, most: int | None, unknown: Callable[[list[str]], Iterable[str]]
) -> list[str]:
    """Returns the terms of a query and the words of its text that are searched for with other spellings too.

    They are the first `most` that are long enough. If `most` is None, they are the first few of those that `unknown`
    returns, which selects the words that no text has.
    """
    words = [word for word in dict.fromkeys([*terms, *unstemmed(text)]) if len(word) >= SHORTEST_MENDED]
    return list(itertools.islice(unknown(words), MOST_MENDED)) if most is None else words[:most]


def edits(word: str) -> int:
    """Returns how many typos are tolerated in a word: 1, or 2 from 8 letters on."""
    return 1 if len(word) < 8 else 2
