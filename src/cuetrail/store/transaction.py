"""The primitives of one write transaction. Each engine implements them; the rules in `store.shared` call them, first of
all `store.shared.write_order`.

A partition is what one user keeps privately or shares with one team, given by its number. A node is stored under a
number, its key. Edges, facts and notes are stored under a handle of the engine's own choice. All calls take many
records at once; an empty call costs nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from cuetrail.model import Edge, Fact, Life, Link, Node, Note, SourceFile, Tombstone, Version
from cuetrail.store.vector_space import VectorKind, VectorSpace

Handle = Any
"""A number or a string under which an engine stores a record."""

Kind = Literal["node", "edge", "fact", "note"]

Topic = tuple[int, int, str]
"""A partition, the key of a subject, and a predicate."""


class StoredNode(NamedTuple):
    """The fields of a stored node that decide what a correction keeps of it."""

    key: int
    kind: str
    name: str | None
    text: str
    source: str | None
    seq: int
    created: int
    life: Life


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A fact and where it is stored, with the keys of its ends. The handle is None for a fact that is new."""

    handle: Handle
    partition: int
    subject: int
    object: int | None
    fact: Fact


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """An edge and where it is stored, with the keys of its ends."""

    handle: Handle
    partition: int
    src: int
    dst: int
    edge: Edge


class TombstoneTable(Protocol):
    """The tombstones of one user. `partition` is the one written to, None while it does not exist."""

    partition: int | None

    def exist(self) -> bool:
        """True if the user has any tombstones."""

    def find(self, hashes: Collection[str]) -> Iterable[tuple[str, int]]:
        """The tombstones of the user with these hashes, as (hash, partition)."""

    def stored(self, ids: Collection[str]) -> dict[str, tuple[str | None, str]]:
        """Name and text of the nodes with these ids in the partition, by id."""

    def put(self, partition: int, tombstones: Sequence[Tombstone]) -> None:
        """Stores tombstones in a partition. A hash that is there keeps its time."""

    def remove(self, hashes: Collection[str]) -> None:
        """Removes these hashes from all partitions of the user."""


class NodeTable(Protocol):
    """Nodes with their labels, names and usage."""

    def before(self, ids: Sequence[str]) -> dict[str, StoredNode]:
        """The nodes with these ids in the partition written to, by id."""

    def last_positions(self, sources: Collection[str]) -> dict[str, int]:
        """The largest `seq` of each source in the partition written to; sources without nodes are absent."""

    def put(self, nodes: Sequence[Node], before: Mapping[str, StoredNode]) -> dict[str, int]:
        """Inserts nodes, or replaces those of `before`; returns the keys by id."""

    def remove(self, keys: Sequence[int]) -> list[Topic]:
        """Removes nodes with everything that refers to them.

        Returns the topics of other subjects in which a removed fact had kept others from being valid.
        """

    def read(self, keys: Sequence[int]) -> list[tuple[int, Node]]:
        """Nodes by key, each with its partition and under its plain id."""

    def texts(self, keys: Sequence[int]) -> dict[int, str]:
        """The stored texts by key."""


class EdgeTable(Protocol):
    """Edges with their adjacency and tags."""

    def put(self, edges: Sequence[Edge], ends: Mapping[str, int]) -> None:
        """Inserts or replaces edges in the partition; `ends` gives the keys of their nodes by id.

        A replaced edge keeps its creation time and notes, and its vector if its text stays.
        """

    def remove(self, handles: Sequence[Handle]) -> None:
        """Removes edges with their notes and vectors."""

    def stated(self, keys: Sequence[int]) -> list[StoredEdge]:
        """The edges at these nodes that callers made, under plain ids. Edges made by a rule are left out."""

    def taken(self, ids: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        """Which of these (partition, id) exist."""

    def move(self, moves: Sequence[tuple[StoredEdge, StoredEdge]]) -> None:
        """Gives edges other ids and ends: from the first of each pair to the second."""


class FactTable(Protocol):
    """Facts, under the plain ids of their ends."""

    def with_ids(self, ids: Sequence[str]) -> list[StoredFact]:
        """The facts with these ids in the partition written to."""

    def with_handles(self, handles: Sequence[Handle]) -> list[StoredFact]:
        """The facts under these handles."""

    def same_value(self, facts: Sequence[StoredFact]) -> list[StoredFact]:
        """All facts that share partition, subject, predicate and value with one of these. May return a few more."""

    def of_topics(self, topics: Sequence[Topic]) -> list[StoredFact]:
        """All facts of these topics."""

    def of_nodes(self, keys: Sequence[int]) -> list[StoredFact]:
        """All facts with one of these nodes as subject or object, whoever stated them."""

    def topics_of(self, predicate: str) -> list[Topic]:
        """The topics of the user's facts with this predicate."""

    def declared(self, partition: int) -> Mapping[str, str]:
        """The predicates that the owner of a partition declared, as the settings of the memory hold them."""

    def taken(self, ids: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        """Which of these (partition, id) exist."""

    def put(self, facts: Sequence[StoredFact]) -> None:
        """Inserts facts. One with a handle, or with the id of another in its partition, replaces that."""

    def change(self, changes: Sequence[tuple[StoredFact, Fact | None]]) -> None:
        """Replaces the content of facts; None removes one. Use that was counted meanwhile is kept."""

    def move(self, moves: Sequence[tuple[StoredFact, StoredFact]]) -> None:
        """Gives facts other ids and ends: from the first of each pair to the second. References to ids follow."""

    def remove_extracted(self, refs: Sequence[str]) -> tuple[list[Topic], set[int]]:
        """Removes the user's facts that were extracted from these nodes, given by plain id.

        Returns the topics in which they had kept others from being valid, and the keys of the nodes they were about.
        """

    def idle(self, keys: Collection[int]) -> list[int]:
        """Which of these nodes were made for a fact and have no facts, notes or stated edges left."""


class WriteTransaction(Protocol):
    """One transaction that writes to `partition`, with all that it changes so far."""

    @property
    def partition(self) -> int: ...
    @property
    def tombstones(self) -> TombstoneTable: ...
    @property
    def nodes(self) -> NodeTable: ...
    @property
    def edges(self) -> EdgeTable: ...
    @property
    def facts(self) -> FactTable: ...

    def find(self, ids: Iterable[str], kind: Kind = "node") -> dict[str, Handle]:
        """Returns the record that each of these ids means in the scope, in the order given. Unknown ids are absent."""

    def find_own(self, ids: Iterable[str], kind: Kind = "node") -> dict[str, Handle]:
        """The same among the records that the user owns and may change."""

    def earlier_texts(self, partition: int, ids: Sequence[str]) -> list[tuple[str, str]]:
        """The earlier texts, or names where there was no text, of these nodes, as (id, text)."""

    def last_versions(self, ids: Sequence[str]) -> dict[str, int]:
        """When the last earlier version of each node in the partition ended; those without one are absent."""

    def put_versions(self, versions: Sequence[Version]) -> None:
        """Stores earlier versions of nodes of the partition."""

    def remove_versions(self, partition: int, ids: Sequence[str]) -> None:
        """Removes all earlier versions of these nodes."""

    def put_notes(self, on: Literal["node", "edge"], notes: Sequence[tuple[Note, Handle]]) -> None:
        """Inserts or replaces notes, each on the record of the handle. A replaced note keeps its vector if it can."""

    def remove_notes(self, handles: Sequence[Handle]) -> None:
        """Removes notes with their vectors."""

    def move_notes(self, moves: Mapping[int, int]) -> None:
        """Moves all notes on a node to another, given by key."""

    def put_mentions(self, mentions: Mapping[tuple[int, int], int]) -> None:
        """Stores when a source mentioned a node, by the keys of both."""

    def put_links(self, links: Sequence[tuple[int, Link]]) -> None:
        """Stores links, each with the key of the node that has it."""

    def find_here(self, ids: Iterable[str]) -> dict[str, int]:
        """The keys of nodes in the partition written to."""

    def vector_space(self) -> VectorSpace | None:
        """The model whose vectors the memory holds."""

    def put_vectors(self, kind: VectorKind, space: VectorSpace, vectors: Mapping[Handle, bytes]) -> None:
        """Stores vectors by handle. Raises InputError for a wrong length, EmbedderMismatch for another model."""

    def drop_vectors(self, keys: Sequence[int]) -> None:
        """Removes the vectors of nodes."""

    def put_sources(self, files: Sequence[SourceFile]) -> None:
        """Stores what is known of ingested files."""

    def sources_of(self, keys: Sequence[int]) -> set[tuple[int, str]]:
        """The files that these nodes came from, as (partition, path)."""

    def remove_empty_sources(self, files: Collection[tuple[int, str]]) -> None:
        """Removes files, given as (partition, path), from which no node is left."""

    def put_roots(self, roots: Mapping[str, str], removed: Sequence[str]) -> None:
        """Stores where ingested folders are, by short name, and removes names."""
