"""Vector spaces: the embedding models whose vectors a memory holds. Vectors of two models are never compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from cuetrail.errors import EmbedderMismatch
from cuetrail.model import Edge, Node, Note

VectorKind = Literal["node", "edge", "note"]
"""The kinds of records that have vectors: nodes, described relationships, and notes on relationships."""


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """An embedding model, identified by its name and the dimension of its vectors."""

    model: str
    dim: int

    def __str__(self) -> str:
        return f"{self.model!r} ({self.dim}-d)"


NO_VECTORS = VectorSpace("none", 0)
"""The space of a memory that is searched by words alone."""


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector of a query, and the model that made it. `contextual`: the model reads words in their context."""

    vector: bytes
    space: VectorSpace
    contextual: bool = False


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A record of any user that needs a vector and has none, with the engine's own key for it."""

    key: int | str
    record: Node | Edge | Note


class VectorSpaces(Protocol):
    """The models of a memory: `held` is the one whose vectors searches use, `next` that of an unfinished change-over.

    Both are as they were when this object was made. During a change-over the vectors of the next model are stored
    beside the old ones, which searches use until `finish`.
    """

    held: VectorSpace | None
    next: VectorSpace | None

    def start(self, space: VectorSpace, change_over: bool = False) -> VectorSpace:
        """Makes this the model of a memory that holds no vectors, and returns the model the memory holds.

        With `change_over`, a memory that holds another model's vectors begins to store this model's too. An unfinished
        change-over to the same model continues, one to another model is dropped. Naming the held model only drops.
        """

    def finish(self, space: VectorSpace) -> bool:
        """Ends a change-over: searches use this model's vectors from now on, and all others are deleted. Returns False,
        and changes nothing, while some records have no vector of this model.

        Raises EmbedderMismatch if the change-over was dropped meanwhile.
        """

    def missing(self, space: VectorSpace, limit: int, after: Unembedded | None = None) -> list[Unembedded]:
        """Returns up to `limit` records of all users, behind `after`, that need a vector of this model and lack it."""

    def put(self, space: VectorSpace, made: Sequence[tuple[Unembedded, bytes]]) -> int:
        """Stores vectors and returns how many. Records that changed since they were read are skipped."""


def mismatch(held: VectorSpace | None, other: str) -> EmbedderMismatch:
    """Returns the error to raise for vectors of the model `other`, which the memory does not hold."""
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
    """Returns the name and text of a record. If either changes, the record's vector is out of date."""
    return record.name if isinstance(record, Node) else None, record.text
