"""The embedders by name. To add one, write a module with a class that follows `Embedder`, and name it here."""

from __future__ import annotations

from cuetrail.embed.embedder import Embedder
from cuetrail.embed.fastembed import DEFAULT_MODEL, FastEmbedEmbedder
from cuetrail.embed.onnx import OnnxEmbedder
from cuetrail.embed.openai import OpenAIEmbedder
from cuetrail.embed.static import StaticEmbedder
from cuetrail.errors import EmbedderError
from cuetrail.model_files.catalogue import strongest_first

FORMS = "static, auto, none, onnx:/path/to/folder, fastembed[:model], openai:https://host/v1#model-name"


def open_embedder(spec: str, *, api_key: str | None = None, held: str | None = None) -> Embedder | None:
    """Returns the embedder with this name, such as "static" or "onnx:/path"; its model is not loaded yet. None for
    "none". Raises EmbedderError for an unknown name or a missing file.

    "auto" is the embedder on this machine whose model is `held`, that of the vectors a memory has, else the strongest.
    """
    kind, _, rest = spec.partition(":")
    if spec == "none":
        return None
    if spec == "auto":
        there = [found for one in strongest_first() if (found := open_embedder(one)) is not None]
        return next((one for one in there if one.model == held), there[0])
    if spec == "static":
        return StaticEmbedder()
    if kind == "onnx" and rest:
        return OnnxEmbedder(rest)
    if spec == "fastembed" or (kind == "fastembed" and rest):
        return FastEmbedEmbedder(rest or DEFAULT_MODEL)
    base_url, _, model = rest.partition("#")
    if kind == "openai" and base_url and model:
        return OpenAIEmbedder(base_url, model, api_key)
    raise EmbedderError(f"no embedder is called {spec!r}; use one of: {FORMS}")
