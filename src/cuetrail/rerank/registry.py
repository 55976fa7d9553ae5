"""The rerankers by name. To add one, write a module with a class that follows `Reranker`, and name it here."""

from __future__ import annotations

from cuetrail.errors import RerankerError
from cuetrail.rerank.fastembed import FastEmbedReranker
from cuetrail.rerank.onnx import OnnxReranker
from cuetrail.rerank.reranker import Reranker

FORMS = "none, onnx:/path/to/folder, fastembed:model"


def reranker_of(given: Reranker | str | None) -> Reranker | None:
    """Returns the reranker with this name, such as "onnx:/path"; its model is not loaded yet. None for "none" and None.
    An object is returned as it is. Raises RerankerError for an unknown name or a missing file.
    """
    if given is None or given == "none":
        return None
    if not isinstance(given, str):
        return given
    kind, _, rest = given.partition(":")
    if kind == "onnx" and rest:
        return OnnxReranker(rest)
    if kind == "fastembed" and rest:
        return FastEmbedReranker(rest)
    raise RerankerError(f"no reranker is called {given!r}; use one of: {FORMS}")
