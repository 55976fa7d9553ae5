"""The primitives of one write transaction. Each engine implements them; the rules in `store.shared` call them, first of
all `store.shared.write_order`.

A partition holds what one user keeps privately or shares with one team, and is given by its number. "The partition" is
the one that the transaction writes to. A node is stored under a number, its key. Edges, facts and notes are stored
under a handle of the engine's own choice. A plain id is an id without the owner behind `@@`. All calls take many
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
    """The fields of a stored node that are needed when a new version replaces it."""

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
    """A fact, the handle and partition under which it is stored, and the keys of its subject and object. The handle is
    None for a fact that is not stored yet.
    """

    handle: Handle
    partition: int
    subject: int
    object: int | None
    fact: Fact


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """An edge, the handle and partition under which it is stored, and the keys of its two nodes."""

    handle: Handle
    partition: int
    src: int
    dst: int
    edge: Edge


class TombstoneTable(Protocol):
    """The tombstones of one user, which are hashes of forgotten ids and texts. `partition` is the one written to, None
    if it does not exist yet.
    """

    partition: int | None

    def exist(self) -> bool:
        """True if the user has any tombstones, which are hashes of forgotten ids and texts."""

    def find(self, hashes: Collection[str]) -> Iterable[tuple[str, int]]:
        """Returns the user's tombstones among these hashes, as (hash, partition)."""

    def stored(self, ids: Collection[str]) -> dict[str, tuple[str | None, str]]:
        """Returns (name, text) of the nodes with these ids in the partition, by id."""

    def put(self, partition: int, tombstones: Sequence[Tombstone]) -> None:
        """Stores tombstones in a partition. A hash that is stored there already keeps its time."""

    def remove(self, hashes: Collection[str]) -> None:
        """Removes the tombstones with these hashes from all partitions of the user."""


class NodeTable(Protocol):
    """Reads and writes nodes, with their labels, names and usage, inside a write transaction."""

    def before(self, ids: Sequence[str]) -> dict[str, StoredNode]:
        """Returns the nodes with these ids in the partition as they are stored now, by id. Unknown ids are absent."""

    def last_positions(self, sources: Collection[str]) -> dict[str, int]:
        """Returns the largest `seq` of each source in the partition; sources without nodes are absent."""

    def put(self, nodes: Sequence[Node], before: Mapping[str, StoredNode]) -> dict[str, int]:
        """Inserts nodes; those in `before` replace the stored ones. Returns the keys by id."""

    def remove(self, keys: Sequence[int]) -> list[Topic]:
        """Removes nodes with all records that refer to them.

        Returns the topics of other nodes in which a removed fact had superseded others. They are to be refitted.
        """

    def read(self, keys: Sequence[int]) -> list[tuple[int, Node]]:
        """Returns (partition, node) of the nodes with these keys, under their plain ids."""

    def texts(self, keys: Sequence[int]) -> dict[int, str]:
        """Returns the stored texts of nodes by key."""


class EdgeTable(Protocol):
    """Reads and writes edges, with the adjacency lists and tags derived from them, inside a write transaction."""

    def put(self, edges: Sequence[Edge], ends: Mapping[str, int]) -> None:
        """Inserts or replaces edges in the partition; `ends` gives the keys of their nodes by id.

        A replaced edge keeps its creation time and notes, and its vector if its text is unchanged.
        """

    def remove(self, handles: Sequence[Handle]) -> None:
        """Removes the edges with these handles, their notes and their vectors."""

    def stated(self, keys: Sequence[int]) -> list[StoredEdge]:
        """Returns the edges at these nodes that callers made, under plain ids; not those that a rule made."""

    def taken(self, ids: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        """Returns those of these (partition, id) under which an edge is stored."""

    def move(self, moves: Sequence[tuple[StoredEdge, StoredEdge]]) -> None:
        """Gives stored edges new ids and new ends. Each pair is the edge as it is now and as it shall be."""


class FactTable(Protocol):
    """Reads and writes facts inside a write transaction. The ids of their subjects and objects are plain."""

    def with_ids(self, ids: Sequence[str]) -> list[StoredFact]:
        """Returns the facts with these ids in the partition."""

    def with_handles(self, handles: Sequence[Handle]) -> list[StoredFact]:
        """Returns the facts stored under these handles."""

    def same_value(self, facts: Sequence[StoredFact]) -> list[StoredFact]:
        """Returns all facts that share partition, subject, predicate and value with one of these, and maybe others."""

    def of_topics(self, topics: Sequence[Topic]) -> list[StoredFact]:
        """Returns all facts of these topics, each given as (partition, key of the subject, predicate)."""

    def of_nodes(self, keys: Sequence[int]) -> list[StoredFact]:
        """Returns all facts, of any user, with one of these nodes as subject or object."""

    def topics_of(self, predicate: str) -> list[Topic]:
        """Returns the topics (partition, subject, predicate) of the user's facts with this predicate."""

    def declared(self, partition: int) -> Mapping[str, str]:
        """Returns which predicates the owner of a partition declared single- or multi-valued: the values of these
        settings, by setting name. `model.predicates.is_single` reads them.
        """

    def taken(self, ids: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        """Returns those of these (partition, id) under which a fact is stored."""

    def put(self, facts: Sequence[StoredFact]) -> None:
        """Inserts facts. A fact with a handle, or with the id of another one in its partition, replaces that one."""

    def change(self, changes: Sequence[tuple[StoredFact, Fact | None]]) -> None:
        """Replaces the content of stored facts; None removes a fact. Uses that were counted meanwhile are kept."""

    def move(self, moves: Sequence[tuple[StoredFact, StoredFact]]) -> None:
        """Gives stored facts new ids and new ends. Each pair is the fact as it is now and as it shall be.
        `superseded_by` of other facts is changed to the new ids.
        """

    def remove_extracted(self, refs: Sequence[str]) -> tuple[list[Topic], set[int]]:
        """Removes the user's facts that were extracted from these nodes, given by plain id.

        Returns the topics in which a removed fact had superseded others, and the keys of the removed facts' subjects
        and objects.
        """

    def idle(self, keys: Collection[int]) -> list[int]:
        """Returns those of these nodes that a rule made for a fact and that have no facts, notes or stated edges."""


class HistoryTable(Protocol):
    """Reads and writes the names and texts that nodes had before they were edited, inside a write transaction."""

    def texts(self, partition: int, ids: Sequence[str]) -> list[tuple[str, str]]:
        """Returns (id, text) for each earlier version of these nodes; its name if it had no text."""

    def last_times(self, ids: Sequence[str]) -> dict[str, int]:
        """Returns the time of the newest earlier version of each node, by id; nodes without one are absent."""

    def put(self, versions: Sequence[Version]) -> None:
        """Stores names and texts that nodes of the partition had before a correction."""

    def drop(self, versions: Sequence[Version]) -> None:
        """Removes these earlier versions of nodes of the partition."""

    def remove(self, partition: int, ids: Sequence[str]) -> None:
        """Removes all earlier versions of the nodes with these ids in a partition."""


class NoteTable(Protocol):
    """Writes notes on nodes and edges inside a write transaction."""

    def put(self, on: Literal["node", "edge"], notes: Sequence[tuple[Note, Handle]]) -> None:
        """Inserts or replaces notes, each on the node or edge that the handle names. A replaced note keeps its vector
        if its text is unchanged.
        """

    def remove(self, handles: Sequence[Handle]) -> None:
        """Removes the notes with these handles, and their vectors."""

    def move(self, moves: Mapping[int, int]) -> None:
        """Moves all notes on one node to another, for each pair of keys (old, new)."""


class LinkTable(Protocol):
    """Writes the links that texts contain, and mentions of nodes, inside a write transaction."""

    def put(self, links: Sequence[tuple[int, Link]]) -> None:
        """Stores links, each with the key of the atom whose text contains it. Without `display` it is removed."""

    def put_mentions(self, mentions: Mapping[tuple[int, int], int]) -> None:
        """Stores that sources mention nodes: the time of each mention, by (key of the source, key of the node)."""


class SourceTable(Protocol):
    """Writes ingested files and folders inside a write transaction."""

    def put(self, files: Sequence[SourceFile]) -> None:
        """Stores path, size, time and hash of ingested files."""

    def of_nodes(self, keys: Sequence[int]) -> set[tuple[int, str]]:
        """Returns the files that these nodes came from, as (partition, path)."""

    def remove_empty(self, files: Collection[tuple[int, str]]) -> None:
        """Removes the records of those files, given as (partition, path), from which no node is left."""

    def put_roots(self, roots: Mapping[str, str], removed: Sequence[str]) -> None:
        """Stores the paths of ingested folders by their short names, and removes the short names `removed`."""


class WriteTransaction(Protocol):
    """One open transaction that writes to `partition`."""

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
    @property
    def history(self) -> HistoryTable: ...
    @property
    def notes(self) -> NoteTable: ...
    @property
    def links(self) -> LinkTable: ...
    @property
    def sources(self) -> SourceTable: ...

    def find(self, ids: Iterable[str], kind: Kind = "node") -> dict[str, Handle]:
        """Returns, by id and in order, the key or handle of the record each id means here. Unknown ids are absent."""

    def find_own(self, ids: Iterable[str], kind: Kind = "node") -> dict[str, Handle]:
        """Returns the same as `find`, but only for records that the user owns and may change."""

    def find_here(self, ids: Iterable[str]) -> dict[str, int]:
        """Returns the keys of the nodes with these ids in the partition, by id. Unknown ids are absent."""

    def vector_space(self) -> VectorSpace | None:
        """Returns the model whose vectors the memory holds; None if that is not decided yet."""

    def put_vectors(self, kind: VectorKind, space: VectorSpace, vectors: Mapping[Handle, bytes]) -> None:
        """Stores vectors of nodes, edges or notes by handle. Raises InputError for a wrong length, EmbedderMismatch for
        a model that the memory does not hold.
        """

    def drop_vectors(self, keys: Sequence[int]) -> None:
        """Removes the vectors of the nodes with these keys."""
