"""64-bit SimHash (Charikar 2002): near-equal texts have hashes that differ in few bits."""

from __future__ import annotations

import re

import numpy as np
import xxhash

_WORD = re.compile(r"\w+")
# Shorter texts say too little: any two of them would count as near.
FEWEST_WORDS = 8


def simhash(text: str) -> int | None:
    """The hash over the text's words, None for a text of fewer than FEWEST_WORDS different ones."""
    words = set(_WORD.findall(text.lower()))
    if len(words) < FEWEST_WORDS:
        return None
    hashes = b"".join([xxhash.xxh3_64_digest(word.encode()) for word in words])
    bits = np.unpackbits(np.frombuffer(hashes, np.uint8).reshape(-1, 8), axis=1)
    return int.from_bytes(np.packbits(2 * bits.sum(axis=0) > len(words)).tobytes(), "big")
