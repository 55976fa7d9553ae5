"""64-bit SimHash (Charikar 2002): near-equal texts have hashes that differ in few bits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import xxhash

_WORD = re.compile(r"\w+")
# Most texts are ASCII, and it is found a third faster there.
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
# Shorter texts say too little: any two of them would count as near.
FEWEST_WORDS = 8


def simhash(text: str) -> int | None:
    """The hash over the text's words, None for a text of fewer than FEWEST_WORDS different ones."""
    return simhashes([text])[0]


def simhashes(texts: Sequence[str]) -> list[int | None]:
    """The hash of each text. Many at once: numpy's price for a call is then paid once."""
    words = [set((_ASCII_WORD if text.isascii() else _WORD).findall(text.lower())) for text in texts]
    long = [number for number, found in enumerate(words) if len(found) >= FEWEST_WORDS]
    hashes: list[int | None] = [None] * len(texts)
    if not long:
        return hashes
    digests = b"".join([_digest(word) for number in long for word in words[number]])
    bits = np.unpackbits(np.frombuffer(digests, np.uint8).reshape(-1, 8), axis=1)
    sizes = np.array([len(words[number]) for number in long])
    counts = np.add.reduceat(bits, np.cumsum(sizes) - sizes, axis=0, dtype=np.int64)
    packed = np.packbits(2 * counts > sizes[:, None], axis=1).view(">u8").ravel()
    for number, value in zip(long, packed.tolist(), strict=True):
        hashes[number] = value
    return hashes


@lru_cache(maxsize=65536)
def _digest(word: str) -> bytes:
    return xxhash.xxh3_64_digest(word.encode())
