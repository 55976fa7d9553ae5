"""Embedders, which turn texts into unit vectors, and the vectors of an open memory.

    embedder = open_embedder("static")
    vectors = embedder.embed(["a note", "another note"])     # (2, 256) float32, unit rows
    cue = embedder.embed_query("which note?")                # (256,)
    scores = vectors @ cue

The default embedder is static, offline and never downloads anything. Every embedder loads its model at its first use,
may be shared by threads and returns a zero row for a blank text. Local embedders give a text the same vector whichever
texts it is embedded with; a server may not.

May import: errors, model, store, text.
"""

from cuetrail.embed.embedder import Embedder as Embedder
from cuetrail.embed.embedder import StaticEmbedder
from cuetrail.embed.fastembed import DEFAULT_MODEL, FastEmbedEmbedder
from cuetrail.embed.onnx import OnnxEmbedder
from cuetrail.embed.openai import OpenAIEmbedder
from cuetrail.errors import EmbedderError

FORMS = "static, none, onnx:/path/to/folder, fastembed[:model], openai:https://host/v1#model-name"


def open_embedder(spec: str, *, api_key: str | None = None) -> Embedder | None:
    """Returns the embedder a spec names, not yet loaded; None for "none". Raises EmbedderError for unknown specs."""
    kind, _, rest = spec.partition(":")
    if spec == "none":
        return None
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
