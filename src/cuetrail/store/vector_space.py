"""Vector spaces: the embedding models whose vectors a memory holds. Vectors of two models are never compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cuetrail.errors import EmbedderMismatch
from cuetrail.model import Edge, Node, Note

Meaning = Literal["node", "edge", "note"]
"""The kinds of records that have vectors: nodes, described relationships, and notes on relationships."""


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """An embedding model, by its name and the dimension of its vectors."""

    model: str
    dim: int

    def __str__(self) -> str:
        return f"{self.model!r} ({self.dim}-d)"


NO_VECTORS = VectorSpace("none", 0)
"""The space of a memory that is searched by words alone."""


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A query's vector and the model that made it."""

    vector: bytes
    space: VectorSpace


@dataclass(frozen=True, slots=True)
class VectorSpaces:
    """The model whose vectors searches use, and the one that an unfinished change-over makes vectors of."""

    held: VectorSpace | None = None
    next: VectorSpace | None = None


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A record of any user that needs a vector and has none, with the engine's own key for it."""

    key: int | str
    record: Node | Edge | Note


def mismatch(held: VectorSpace | None, other: str) -> EmbedderMismatch:
    """Returns the error for vectors of another model than the memory holds."""
    holds = "no vectors" if held is None or held == NO_VECTORS else f"vectors of {held}"
    return EmbedderMismatch(
        f"this memory holds {holds}, not of {other}: open it with that embedder (--embedder, CUETRAIL_EMBEDDER, or "
        "embedder in the memory's cuetrail.toml), or change over with `cuetrail reembed --embedder ...`"
    )
