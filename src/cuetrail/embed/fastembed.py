"""Runs embedding models of the fastembed catalogue. The library fastembed downloads a model when it is first used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cuetrail.embed.embedder import (
    LOCAL_CHARS,
    FloatArray,
    embeddable,
    family_prefixes,
    unit_rows,
)
from cuetrail.errors import EmbedderError
from cuetrail.model_files.lazy_loading import Lazy, import_library

DEFAULT_MODEL = "BAAI/bge-small-en-v1.5"


class FastEmbedEmbedder:
    """Runs a model of the fastembed catalogue. The first use downloads it, so a user must choose it by name."""

    contextual = True

    def __init__(self, model: str = DEFAULT_MODEL) -> None:
        self.model = f"fastembed:{model}"
        self._query_prefix, self._text_prefix = family_prefixes(model)
        self._engine = Lazy(lambda: _load_fastembed(model))
        self._size = Lazy(lambda: len(self._vectors("embed", ["size"])[0]))

    @property
    def dim(self) -> int:
        """Returns the length of a vector. Loads the model."""
        return self._size()

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """See Embedder. Raises EmbedderError if fastembed is missing or cannot download the model."""
        clean = [embeddable(text, LOCAL_CHARS) for text in texts]
        filled = [at for at, text in enumerate(clean) if text]
        rows = np.zeros((len(clean), self.dim), dtype=np.float32)
        if filled:
            rows[filled] = self._vectors("embed", [self._text_prefix + clean[at] for at in filled])
        return unit_rows(rows)

    def embed_query(self, text: str) -> FloatArray:
        """See Embedder. Adds the query prefix of the model family, because fastembed adds none."""
        text = embeddable(text, LOCAL_CHARS)
        if not text:
            return np.zeros(self.dim, dtype=np.float32)
        return unit_rows(self._vectors("query_embed", [self._query_prefix + text])).ravel()

    def _vectors(self, method: str, texts: list[str]) -> FloatArray:
        engine = self._engine()
        try:
            # batch_size=1 for the reason given in OnnxEmbedder._embed: most of the catalogue is quantised.
            return np.array(list(getattr(engine, method)(texts, batch_size=1)), dtype=np.float32)
        except Exception as error:  # the engine may raise anything; callers expect EmbedderError
            raise EmbedderError(f"{self.model} failed: {error}; try another model or the embedder static") from error


def _load_fastembed(model: str) -> Any:
    fastembed = import_library("fastembed", "'cuetrail[fastembed]'", EmbedderError)
    try:
        return fastembed.TextEmbedding(model_name=model)
    except Exception as error:  # it raises ValueError for unknown names and failed downloads, and more
        raise EmbedderError(
            f"fastembed cannot load {model}: {error}; check the name and the network, or use onnx:/path/to/folder"
        ) from error
