"""Rules of a text search, the same in both engines: the boost for labels, and the best hits with all that tie."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeVar

K = TypeVar("K")

# The factor for a match whose tags or buckets have a word of the query.
LABEL_BOOST = 2.0
# The score of every match of a search that has filters but no words.
FILTER_SCORE = 1.0
# The order in which an index sums single-precision scores varies, so equal documents may differ in the last bit.
# Scores that agree in five digits count as equal.
TIE = 1e-5


def sides_by_factor(factors: tuple[float, float]) -> list[tuple[bool | None, float]]:
    """Returns the searches into which a text search is split, each with the factor for its scores. If the factors for
    internal memories and for all others are equal, one of all memories (None); else one of internal memories (True)
    and one of the others (False).

    >>> sides_by_factor((1.0, 1.0)), sides_by_factor((1.0, 0.5))
    ([(None, 1.0)], [(True, 1.0), (False, 0.5)])
    """
    return [(None, factors[0])] if factors[0] == factors[1] else [(True, factors[0]), (False, factors[1])]


def top_with_ties(scores: Mapping[K, float], limit: int) -> list[tuple[float, K]]:
    """Returns (score, key) of the `limit` best and of all that tie with the last of them. Tied ones get equal scores.

    Scores within the share TIE below the best of them are tied, so that rounding does not separate equal documents.
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
