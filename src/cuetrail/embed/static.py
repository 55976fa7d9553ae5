"""The default embedder, which works offline: static token vectors of wordllama."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cuetrail.embed.embedder import LOCAL_CHARS, MAX_TOKENS, FloatArray, embeddable, unit_rows
from cuetrail.errors import EmbedderError
from cuetrail.model_files.lazy_loading import Lazy, import_library

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
    load_file = import_library("safetensors.numpy", "safetensors", EmbedderError).load_file
    tokenizer = import_library("tokenizers", "tokenizers", EmbedderError).Tokenizer.from_file(str(vocabulary))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return load_file(weights)["embedding.weight"].astype(np.float32), tokenizer
