"""Cross-encoders of the fastembed catalogue, which downloads them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from cuetrail.embed.embedder import embeddable
from cuetrail.errors import RerankerError
from cuetrail.model_files.lazy_loading import Lazy, import_library
from cuetrail.rerank.excerpt import excerpt
from cuetrail.rerank.onnx import CHARS_PER_TOKEN, MAX_TOKENS


class FastEmbedReranker:
    """Runs a cross-encoder of the fastembed catalogue. The first use downloads it, so a user must choose it by name."""

    def __init__(self, model: str) -> None:
        self.name = f"fastembed:{model}"
        self._engine = Lazy(lambda: _load_fastembed(model))

    def scores(self, query: str, texts: Sequence[str], deadline: float | None) -> list[float] | None:
        """See Reranker."""
        started = time.monotonic()
        engine = self._engine()
        if deadline is not None:
            deadline += time.monotonic() - started
        read = [excerpt(query, text) for text in texts]
        clean = [embeddable(text, CHARS_PER_TOKEN * MAX_TOKENS) for text in (query, *read)]
        made: list[float] = []
        if not texts:
            return made
        try:
            # batch_size=1 for the reason given in OnnxReranker.scores.
            for score in engine.rerank(clean[0], clean[1:], batch_size=1):
                if deadline is not None and time.monotonic() > deadline:
                    return None
                made.append(float(score))
        except Exception as error:  # the engine may raise anything; callers expect RerankerError
            raise RerankerError(f"{self.name} failed: {error}; try another model or the reranker none") from error
        return made


def _load_fastembed(model: str) -> Any:
    engine = import_library("fastembed.rerank.cross_encoder", "'cuetrail[fastembed]'", RerankerError)
    try:
        return engine.TextCrossEncoder(model_name=model)
    except Exception as error:  # it raises ValueError for unknown names and failed downloads, and more
        raise RerankerError(
            f"fastembed cannot load {model}: {error}; check the name and the network, or use onnx:/path/to/folder"
        ) from error
