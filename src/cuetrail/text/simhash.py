"""64-bit SimHash (Charikar 2002): similar texts have hashes that differ in few bits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
import xxhash

_WORD = re.compile(r"\w+")
# Most texts are ASCII, and this pattern is a third faster.
_ASCII_WORD = re.compile(r"\w+", re.ASCII)
# Texts with fewer words get no hash, because any two of them would count as similar.
FEWEST_WORDS = 8
# The number of words hashed in one batch. Each takes half a kilobyte of memory.
MOST_WORDS = 20_000


def simhash(text: str) -> int | None:
    """Returns the hash of the text's words, or None if it has fewer than FEWEST_WORDS different words."""
    return simhashes([text])[0]


def simhashes(texts: Sequence[str]) -> list[int | None]:
    """Returns the hash of each text, None if it has too few different words. Works in batches."""
    words = [set((_ASCII_WORD if text.isascii() else _WORD).findall(text.lower())) for text in texts]
    long = [number for number, found in enumerate(words) if len(found) >= FEWEST_WORDS]
    hashes: list[int | None] = [None] * len(texts)
    for batch in _batches(long, words):
        for number, value in zip(batch, _hashed([words[number] for number in batch]), strict=True):
            hashes[number] = value
    return hashes


def _batches(numbers: Sequence[int], words: Sequence[set[str]]) -> Iterator[list[int]]:
    """Splits text indices into batches of at most MOST_WORDS words; a longer text is a batch of its own."""
    batch: list[int] = []
    room = MOST_WORDS
    for number in numbers:
        if batch and len(words[number]) > room:
            yield batch
            batch, room = [], MOST_WORDS
        batch.append(number)
        room -= len(words[number])
    if batch:
        yield batch


def _hashed(texts: Sequence[set[str]]) -> list[int]:
    """Returns the SimHash of each set of words: a bit is set if more than half of the words' hashes have it."""
    digests = b"".join([_digest(word) for words in texts for word in words])
    bits = np.unpackbits(np.frombuffer(digests, np.uint8).reshape(-1, 8), axis=1)
    sizes = np.array([len(words) for words in texts])
    counts = np.add.reduceat(bits, np.cumsum(sizes) - sizes, axis=0, dtype=np.int64)
    packed: list[int] = np.packbits(2 * counts > sizes[:, None], axis=1).view(">u8").ravel().tolist()
    return packed


@lru_cache(maxsize=65536)
def _digest(word: str) -> bytes:
    return xxhash.xxh3_64_digest(word.encode())
