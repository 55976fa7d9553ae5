"""The protocol of embedders, the steps that all of them share, and the offline default: token vectors of wordllama."""

from __future__ import annotations

import importlib
import importlib.util
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cuetrail.errors import EmbedderError

FloatArray = NDArray[np.float32]

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


# Enough texts to keep all cores of the tokenizer busy, few enough that their tokens do not fill the memory.
CHUNK = 1024


class StaticEmbedder:
    """Embeds a text as the mean of wordllama's token vectors (256 numbers), read from the installed package."""

    model = "wordllama:l2_supercat_256"
    dim = 256

    def __init__(self) -> None:
        self._parts = Lazy(_load_wordllama)

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """See Embedder. Raises EmbedderError if wordllama is not installed."""
        table, tokenizer = self._parts()
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for start in range(0, len(texts), CHUNK):
            clean = [embeddable(text, LOCAL_CHARS) for text in texts[start : start + CHUNK]]
            # Row by row: ten times faster than np.add.reduceat over all tokens at once, because a text's token vectors
            # stay in the processor's cache. The sum is enough: the mean has the same direction. Clipping unknown ids
            # is wordllama's own rule.
            for at, encoding in enumerate(tokenizer.encode_batch_fast(clean, add_special_tokens=False), start):
                ids = encoding.ids
                if ids:
                    table.take(ids, axis=0, mode="clip").sum(axis=0, out=rows[at])
        return unit_rows(rows)

    def embed_query(self, text: str) -> FloatArray:
        """See Embedder. A query is embedded like any text."""
        return self.embed([text]).ravel()


def _load_wordllama() -> tuple[FloatArray, Any]:
    """Returns the token vectors and the tokenizer. Raises EmbedderError if files are missing."""
    # The package is found, not imported: importing it configures logging and brings in an HTTP client.
    found = importlib.util.find_spec("wordllama")
    if found is None or not found.submodule_search_locations:
        raise EmbedderError("the static embedder needs the files of wordllama; pip install wordllama")
    folder = Path(found.submodule_search_locations[0])
    weights = folder / "weights" / "l2_supercat_256.safetensors"
    vocabulary = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
    if not (weights.is_file() and vocabulary.is_file()):
        raise EmbedderError(f"wordllama in {folder} lacks its model files; pip install --force-reinstall wordllama")
    load_file = import_library("safetensors.numpy", "safetensors").load_file
    tokenizer = import_library("tokenizers", "tokenizers").Tokenizer.from_file(str(vocabulary))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return load_file(weights)["embedding.weight"].astype(np.float32), tokenizer
