"""The read port: records by id, name, source or time, as one scope sees them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from cuetrail.model import (
    Direction,
    Edge,
    Fact,
    Link,
    Mention,
    Node,
    Note,
    Provenance,
    Scope,
    SourceFile,
    Stats,
    Tombstone,
    Version,
    Where,
)
from cuetrail.store.vector_space import VectorKind, VectorSpace

Record = Node | Edge | Fact | Note | Mention | Link | SourceFile | Tombstone | Version
"""Everything that a memory stores and a scan yields."""

Band = tuple[int, int]
"""One of the three bands of a SimHash, as (number of the band, its value); see `formulas.bands`."""

FactKey = Literal["subject", "id", "source_ref"]
"""Facts are found by their subject, by their own id, or by the node they were extracted from."""

LinkKey = Literal["atom", "name"]
"""Links are found by the atom that makes them, or by the normalised name they lead to."""

Side = Literal["source", "node"]
"""Mentions are found by the source that makes them, or by the node that is mentioned."""


class ScopeVersion(NamedTuple):
    """`writes` differs after every write to what a scope sees, `uses` after every use of it, in any process."""

    writes: Hashable
    uses: Hashable


class Spot(NamedTuple):
    """The position of a node in a list: its time, then the engine's own number for it, which is never reused.

    A list continues after a position even if the node that was there is gone.
    """

    at: int
    key: int


@dataclass(frozen=True, slots=True)
class Page:
    """Asks for the next `limit` nodes, newest first, that come after the position `after` and pass all filters.

    With `provenance`, only nodes of that provenance.
    """

    limit: int
    where: Where = field(default_factory=Where)
    provenance: Provenance | None = None
    after: Spot | None = None


class Listed(NamedTuple):
    """A listed node and its position."""

    spot: Spot
    node: Node


@dataclass(frozen=True, slots=True)
class Labelled:
    """A tag or bucket, and the number of nodes that have it."""

    name: str
    nodes: int


@dataclass(frozen=True, slots=True)
class Content:
    """The number of atoms of a file, and a digest that differs if any of them changes."""

    atoms: int
    digest: int


class Placed(NamedTuple):
    """The file, tags and buckets of an atom, with the engine's own key for it; `check` differs if the atom changes."""

    key: int
    source: str | None
    tags: Sequence[str]
    buckets: Sequence[str]
    check: int


class Said(NamedTuple):
    """The id, name and text of an atom, as the scope sees it."""

    id: str
    name: str | None
    text: str


class Snapshot(Protocol):
    """One consistent view of the visible atoms of a scope: neither quarantined nor archived."""

    epoch: str

    def sources(self) -> dict[str | None, Content]: ...
    def placed(self, files: Sequence[str | None]) -> Iterator[Placed]: ...
    def said(self, keys: Sequence[int]) -> dict[int, Said]: ...


class Reads(Protocol):
    """Reads of what one scope sees. Ids that nothing visible has are absent from the answer."""

    def get(self, scope: Scope, /, ids: Sequence[str]) -> dict[str, Node]: ...
    def edges(self, scope: Scope, /, ids: Sequence[str]) -> dict[str, Edge]: ...
    def facts(self, scope: Scope, /, keys: Sequence[str], by: FactKey = "subject") -> dict[str, list[Fact]]: ...
    def beliefs(
        self, scope: Scope, /, ids: Sequence[str], at: int, limit: int, direction: Direction
    ) -> dict[str, list[Fact]]: ...
    def next_belief(self, scope: Scope, /, after: int) -> int | None: ...
    def most_used(self, scope: Scope, /, limit: int) -> list[str]: ...
    def core(self, scope: Scope, /, kinds: Sequence[str], limit: int) -> list[Node]: ...
    def ids(self, scope: Scope, /, prefix: str, limit: int, of: Literal["node", "fact"] = "node") -> list[str]: ...
    def named(self, scope: Scope, /, norms: Sequence[str], qualified: int = 0) -> dict[str, list[str]]: ...
    def notes(
        self, scope: Scope, /, targets: Sequence[str], on: Literal["node", "edge"], now: int, each: int
    ) -> dict[str, list[Note]]: ...
    def mentions(self, scope: Scope, /, ids: Sequence[str], by: Side, each: int) -> dict[str, list[Mention]]: ...
    def history(self, scope: Scope, /, id_: str) -> list[Version]: ...
    def links(self, scope: Scope, /, keys: Sequence[str], by: LinkKey = "atom") -> dict[str, list[Link]]: ...
    def edges_via(self, scope: Scope, /, norms: Sequence[str]) -> dict[str, list[Edge]]: ...
    def roots(self, scope: Scope, /) -> dict[str, str]: ...
    def source_files(self, scope: Scope, /, under: str) -> dict[str, SourceFile]: ...
    def atoms_of(self, scope: Scope, /, sources: Sequence[str], everywhere: bool = False) -> dict[str, list[Node]]: ...
    def simhash_bands(
        self, scope: Scope, /, wanted: Collection[Band], limit: int
    ) -> dict[Band, list[tuple[str, int]]]: ...
    def copies(self, scope: Scope, /, nodes: Sequence[Node]) -> list[Node]: ...
    def redacted_texts(self, scope: Scope, /, nodes: Sequence[Node]) -> dict[str, str]: ...
    def page(self, scope: Scope, /, query: Page) -> list[Listed]: ...
    def labels(self, scope: Scope, /, what: Literal["tag", "bucket"], prefix: str, limit: int) -> list[Labelled]: ...
    def stats(self, scope: Scope, /) -> Stats: ...
    def version(self, scope: Scope, /) -> ScopeVersion: ...
    def scan(self, scope: Scope, /) -> Iterator[tuple[str | None, Record]]: ...
    def snapshot(self, scope: Scope, /) -> AbstractContextManager[Snapshot]: ...
    def vectors(
        self, scope: Scope, /, ids: Sequence[str], space: VectorSpace | None = None, of: VectorKind = "node"
    ) -> dict[str, bytes]: ...


def by_ref(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    """Groups facts, in order of id, by the node they were extracted from."""
    found: dict[str, list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: fact.id):
        found.setdefault(fact.source_ref or "", []).append(fact)
    return found


def facts_by_id(store: Reads, scope: Scope, ids: Sequence[str]) -> dict[str, Fact]:
    """Returns the facts with these ids, whatever their status."""
    return {id_: fact for id_, (fact,) in store.facts(scope, ids, "id").items()}


def forgotten_ids(store: Reads, scope: Scope, nodes: Sequence[Node]) -> set[str]:
    """Returns the ids of the nodes that tombstones keep out as a whole."""
    return {id_ for id_, text in store.redacted_texts(scope, nodes).items() if not text}
