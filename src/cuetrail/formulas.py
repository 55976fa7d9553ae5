"""Every equation, pure, one per function, with worked examples as doctests."""

from __future__ import annotations

import math
from collections.abc import Sequence

BM25_K1 = 1.2
BM25_B = 0.75


def idf(documents: int, holding: int) -> float:
    """How much a term tells, by the number of documents and of those that hold it (Robertson and Zaragoza 2009).

    >>> round(idf(1000, 10), 4), round(idf(10, 10), 4)
    (4.5574, 0.0465)
    """
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))


def bm25(frequency: int, length: float, mean_length: float, idf: float) -> float:
    """What one term adds to a document's score.

    >>> round(bm25(1, 10, 10, 2.0), 4), round(bm25(3, 10, 10, 2.0), 4), bm25(0, 10, 10, 2.0)
    (2.0, 3.1429, 0.0)
    """
    norm = BM25_K1 * (1 - BM25_B + BM25_B * length / mean_length)
    return idf * (1 + BM25_K1) * frequency / (frequency + norm)


def blend(text: float, best_text: float, cosine: float, cosines: Sequence[float], text_share: float) -> float:
    """Text and vector evidence as one number: text over its best, cosine between the worst and best that were found.

    A weak list cannot drag a strong one down: each adds its share or nothing.

    >>> blend(4.0, 8.0, .5, [.2, .8], .7), blend(8.0, 8.0, 0.0, [], .7)
    (0.5, 0.7)
    """
    by_text = text / best_text if best_text > 0 else 0.0
    low, high = (min(cosines), max(cosines)) if cosines else (0.0, 0.0)
    by_vector = 0.0
    if cosines and cosine >= low:
        by_vector = (cosine - low) / (high - low) if high > low else 1.0
    return text_share * by_text + (1 - text_share) * by_vector


def estimated_tokens(text: str) -> int:
    """Tokens of a text where no tokenizer is given: one per 4 ASCII characters, one per other character, rounded up.

    >>> estimated_tokens("four"), estimated_tokens("hello"), estimated_tokens("日本"), estimated_tokens("")
    (1, 2, 2, 0)
    """
    other = 0 if text.isascii() else sum(not c.isascii() for c in text)
    return other + -(-(len(text) - other) // 4)


def bands(simhash: int) -> tuple[int, int, int]:
    """A 64-bit hash in three pieces. Two hashes that differ in at most two bits agree in one of them (Manku 2007).

    >>> bands(0b1 | 0b10 << 21 | 0b11 << 42)
    (1, 2, 3)
    """
    return simhash & 0x1FFFFF, simhash >> 21 & 0x1FFFFF, simhash >> 42
