"""64-bit SimHash (Charikar 2002): near-equal texts have hashes that differ in few bits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import xxhash

_WORD = re.compile(r"\w+")
# Most texts are ASCII, and it is found a third faster there.
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
# Shorter texts say too little: any two of them would count as near.
FEWEST_WORDS = 8
# Words that are looked at together; each takes half a kilobyte then.
MOST_WORDS = 20_000


def simhash(text: str) -> int | None:
    """The hash over the text's words, None for a text of fewer than FEWEST_WORDS different ones."""
    return simhashes([text])[0]


def simhashes(texts: Sequence[str]) -> list[int | None]:
    """The hash of each text. Many at once: numpy's price for a call is then paid once."""
    words = [set((_ASCII_WORD if text.isascii() else _WORD).findall(text.lower())) for text in texts]
    long = [number for number, found in enumerate(words) if len(found) >= FEWEST_WORDS]
    hashes: list[int | None] = [None] * len(texts)
    for some in _portions(long, words):
        for number, value in zip(some, _hashed([words[number] for number in some]), strict=True):
            hashes[number] = value
    return hashes


def _portions(numbers: Sequence[int], words: Sequence[set[str]]) -> Iterator[list[int]]:
    """The numbers in order, cut where the texts have so many words together that their bits take much memory."""
    some: list[int] = []
    room = MOST_WORDS
    for number in numbers:
        if some and len(words[number]) > room:
            yield some
            some, room = [], MOST_WORDS
        some.append(number)
        room -= len(words[number])
    if some:
        yield some


def _hashed(texts: Sequence[set[str]]) -> list[int]:
    """For each bit whether it is set in the hashes of more than half of a text's words."""
    digests = b"".join([_digest(word) for words in texts for word in words])
    bits = np.unpackbits(np.frombuffer(digests, np.uint8).reshape(-1, 8), axis=1)
    sizes = np.array([len(words) for words in texts])
    counts = np.add.reduceat(bits, np.cumsum(sizes) - sizes, axis=0, dtype=np.int64)
    packed: list[int] = np.packbits(2 * counts > sizes[:, None], axis=1).view(">u8").ravel().tolist()
    return packed


@lru_cache(maxsize=65536)
def _digest(word: str) -> bytes:
    return xxhash.xxh3_64_digest(word.encode())
