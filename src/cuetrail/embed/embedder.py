"""The protocol of embedders, and the steps that all of them share."""

from __future__ import annotations

import importlib
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cuetrail.errors import EmbedderError

Vectors = NDArray[np.float32]

MAX_TOKENS = 512
# A token of running text has 3 to 5 characters, so texts are cut behind the last token used. A tokenizer would read the
# whole text, however long, before it truncates.
LOCAL_CHARS = 8 * MAX_TOKENS
BGE_PREFIX = "Represent this sentence for searching relevant passages: "

T = TypeVar("T")


class Embedder(Protocol):
    """Turns texts into vectors. Any object with these members can be passed to `Memory`."""

    @property
    def model(self) -> str:
        """Returns the name stored with the vectors. Vectors of different models are never compared."""

    @property
    def dim(self) -> int:
        """Returns the length of a vector. May load the model; raises EmbedderError if that fails."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Returns unit rows of shape (len(texts), dim) in the order given. A blank text gives a zero row.

        Raises EmbedderError if the model cannot be loaded or does not answer.
        """

    def embed_query(self, text: str) -> Vectors:
        """Returns one unit vector of shape (dim,), prefixed as the model needs for queries. Raises as `embed` does."""


def to_blob(vectors: Vectors) -> list[bytes]:
    """Returns each row as little-endian float16 bytes, as a memory stores it."""
    return [row.tobytes() for row in np.asarray(vectors).astype("<f2")]


def from_blob(blob: bytes) -> Vectors:
    """Returns the vector that `to_blob` stored. Raises EmbedderError if the bytes are no float16 numbers."""
    if len(blob) % 2:
        raise EmbedderError(f"a stored vector has {len(blob)} bytes, an odd number; run doctor, then reembed")
    return np.frombuffer(blob, dtype="<f2").astype(np.float32)


class Lazy(Generic[T]):
    """A value that the first call creates. It is created once, even if several threads call at the same time."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: list[T] = []
        self._lock = threading.Lock()

    def __call__(self) -> T:
        if not self._made:
            with self._lock:
                if not self._made:
                    self._made.append(self._make())
        return self._made[0]


def import_library(module: str, install: str) -> Any:
    """Returns the imported module. Raises EmbedderError with the pip command if it is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise EmbedderError(f"this embedder needs {module}, which cannot be imported; pip install {install}") from error


def embeddable(text: str, limit: int) -> str:
    """Returns at most `limit` characters of a text, without lone surrogates; "" for a blank text."""
    text = text[:limit]
    if not text.isascii():
        text = text.encode("utf-8", "ignore").decode()
    return "" if text.isspace() else text


def unit_rows(rows: Vectors) -> Vectors:
    """Returns the rows scaled to length 1; zero rows stay zero. Raises EmbedderError if a number is not finite."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all():
        raise EmbedderError("the model gave numbers that are not finite; use another model")
    unit: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit


def family_prefixes(name: str) -> tuple[str, str]:
    """Returns the query prefix and the text prefix of the model family in a name, such as bge or e5."""
    name = name.lower()
    if "bge" in name and not re.search(r"m3|zh", name):  # these two were trained without the prefix
        return BGE_PREFIX, ""
    if re.search(r"(^|[-_/])e5[-_]", name):
        return "query: ", "passage: "
    return "", ""
