"""Vector spaces: the embedding models whose vectors a memory holds. Vectors of two models are never compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cuetrail.errors import EmbedderMismatch
from cuetrail.model import Edge, Node, Note

VectorKind = Literal["node", "edge", "note"]
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


def vector_kind(record: object) -> tuple[VectorKind, str] | None:
    """Returns the kind and id under which a record's vector is stored; None for a record that is not embedded.

    >>> vector_kind(Edge("e", "a", "b", text="old friends")), vector_kind(Edge("e", "a", "b"))
    (('edge', 'e'), None)
    >>> vector_kind(Edge("e", "a", "b", text="by a rule", via="x")), vector_kind(Note("n", "a", "on a node"))
    (None, None)
    """
    if isinstance(record, Node) and (record.text or record.name):
        return "node", record.id
    if isinstance(record, Edge) and record.text and record.via is None:
        return "edge", record.id
    return ("note", record.id) if isinstance(record, Note) and record.on == "edge" and record.text else None


def embedded_fields(record: Node | Edge | Note) -> tuple[str | None, str]:
    """Returns the name and text a record's vector is made of. If either changes, the vector is out of date."""
    return record.name if isinstance(record, Node) else None, record.text
