"""Embedders, which turn texts into unit vectors, and the vectors of an open memory.

    embedder = open_embedder("static")
    vectors = embedder.embed(["a note", "another note"])     # (2, 256) float32, unit rows
    cue = embedder.embed_query("which note?")                # (256,)
    scores = vectors @ cue

The default embedder is static, offline and never downloads anything. Every embedder loads its model at its first use,
may be shared by threads and returns a zero row for a blank text. Local embedders give a text the same vector whichever
texts it is embedded with; a server may not.

May import: errors, http_post, model, model_files, store, text.
"""

from cuetrail.embed.embedder import Embedder as Embedder
from cuetrail.embed.fastembed import FastEmbedEmbedder as FastEmbedEmbedder
from cuetrail.embed.onnx import OnnxEmbedder as OnnxEmbedder
from cuetrail.embed.openai import OpenAIEmbedder as OpenAIEmbedder
from cuetrail.embed.registry import open_embedder as open_embedder
from cuetrail.embed.static import StaticEmbedder as StaticEmbedder
