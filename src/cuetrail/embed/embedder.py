"""The protocol of embedders, and the steps that all of them share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cuetrail.errors import EmbedderError

FloatArray = NDArray[np.float32]

MAX_TOKENS = 512
# A token of running text has 3 to 5 characters, so texts are cut behind the last token used. A tokenizer would read the
# whole text, however long, before it truncates.
LOCAL_CHARS = 8 * MAX_TOKENS
BGE_PREFIX = "Represent this sentence for searching relevant passages: "


class Embedder(Protocol):
    """Turns texts into vectors. Any object with these members can be passed to `Memory`.

    One whose vectors depend on the order of words, as those of language models do, also has `contextual = True`: recall
    then gives the words of a cue less weight, and its meaning more.
    """

    @property
    def model(self) -> str:
        """Returns the name stored with the vectors. Vectors of different models are never compared."""

    @property
    def dim(self) -> int:
        """Returns the length of a vector. May load the model; raises EmbedderError if that fails."""

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Returns unit rows of shape (len(texts), dim) in the order given. A blank text gives a zero row.

        Raises EmbedderError if the model cannot be loaded or does not answer.
        """

    def embed_query(self, text: str) -> FloatArray:
        """Returns one unit vector of shape (dim,), prefixed as the model needs for queries. Raises as `embed` does."""


def to_blob(vectors: FloatArray) -> list[bytes]:
    """Returns each row as little-endian float16 bytes, as a memory stores it."""
    return [row.tobytes() for row in np.asarray(vectors).astype("<f2")]


def from_blob(blob: bytes) -> FloatArray:
    """Returns the vector that `to_blob` stored. Raises EmbedderError if the bytes are no float16 numbers."""
    if len(blob) % 2:
        raise EmbedderError(f"a stored vector has {len(blob)} bytes, an odd number; run doctor, then reembed")
    return np.frombuffer(blob, dtype="<f2").astype(np.float32)


def embeddable(text: str, limit: int) -> str:
    """Returns the first `limit` characters of a text, without characters that UTF-8 cannot encode; "" if blank."""
    text = text[:limit]
    if not text.isascii():
        text = text.encode("utf-8", "ignore").decode()
    return "" if text.isspace() else text


def unit_rows(rows: FloatArray) -> FloatArray:
    """Returns the rows scaled to length 1; zero rows stay zero. Raises EmbedderError if a number is not finite."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise EmbedderError("the model gave numbers that are not finite; use another model")
    unit: FloatArray = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit


def family_prefixes(name: str) -> tuple[str, str]:
    """Returns the prefixes that a model needs before queries and before texts, by the family (bge, e5) in its name."""
    name = name.lower()
    if "bge" in name and not re.search(r"m3|zh", name):  # these two were trained without the prefix
        return BGE_PREFIX, ""
    if re.search(r"(^|[-_/])e5[-_]", name):
        return "query: ", "passage: "
    return "", ""
