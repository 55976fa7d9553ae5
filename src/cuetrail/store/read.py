"""The read port: records by id, name, source or time, as one scope sees them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol, get_args

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

FactKey = Literal["subject", "id", "source_ref", "value"]
"""Facts are found by their subject, by their own id, or by the node they were extracted from."""

EdgeKey = Literal["id", "via"]
"""Edges are found by their own id, or by the name through which a rule made them."""

LinkKey = Literal["atom", "name"]
"""Links are found by the atom that makes them, or by the normalised name they lead to."""

NameKey = Literal["name", "topic"]
"""Nodes are found by their name and aliases, or texts by their title and the names of what they are about."""

LabelKind = Literal["tag", "automatic", "bucket"]
"""Tags that people gave, tags that a rule gave, or buckets."""
LABEL_KINDS: tuple[LabelKind, ...] = get_args(LabelKind)

Side = Literal["source", "node"]
"""Mentions are found by the source that makes them, or by the node that is mentioned."""


class ScopeVersion(NamedTuple):
    """Values that show whether a scope's view of the memory changed. `writes` differs after every write to a record the
    scope sees, `uses` after every counted use of one, in any process.

    `next_fact` is the next time at which a fact becomes valid that was stated in advance, None if there is none.
    """

    writes: Hashable
    uses: Hashable
    next_fact: int | None = None


class PagePosition(NamedTuple):
    """The position of a node in a list: its time, then the engine's own number for it, which is never reused.

    A list continues after a position even if the node that was there is gone.
    """

    at: int
    key: int


@dataclass(frozen=True, slots=True)
class PageRequest:
    """Asks for the next `limit` nodes in an order. All but `limit` and `where.kinds` apply to the order "time" only.

    - "time": newest first, those that come after the position `after` and pass all filters. With `provenance`, only
      nodes of that provenance.
    - "salience": those in the state core, the most salient first, then newer, then by id.
    - "fact use": the entities by how often their most used fact was used, highest first; those without uses are absent.
    """

    limit: int
    where: Where = field(default_factory=Where)
    provenance: Provenance | None = None
    after: PagePosition | None = None
    order: Literal["time", "salience", "fact use"] = "time"


class Listed(NamedTuple):
    """A node of a list, and its position, from which the list can be continued."""

    spot: PagePosition
    node: Node


@dataclass(frozen=True, slots=True)
class Labelled:
    """A tag or bucket, and the number of nodes that have it from that hand: of people, or of a rule."""

    name: str
    nodes: int


class Ingested(NamedTuple):
    """The paths of ingested folders by their short names, and the ingested files by their paths."""

    roots: dict[str, str]
    files: dict[str, SourceFile]


class HeldAt(NamedTuple):
    """Asks for the facts of nodes that hold at a time: the `limit` most certain of each, then newer, then by id.

    `direction` is "out" for facts about the node, "in" for facts that have it as object, or "both".
    """

    at: int
    limit: int
    direction: Direction


class Around(NamedTuple):
    """Asks for the facts about nodes at a time and before: of each node the `limit` most certain that hold at the time,
    then the `limit` superseded or retracted ones that ended last before it.

    Also asks for the superseded and retracted facts extracted from the nodes `refs`, last ended first, on average at
    most `limit` of each. They are returned under the ids of these nodes.
    """

    at: int
    limit: int
    refs: tuple[str, ...] = ()


class FileDigest(NamedTuple):
    """The number of atoms of a file, and a digest that differs if any of them changes."""

    atoms: int
    digest: int


class AtomLabels(NamedTuple):
    """The file of an atom, the tags that people gave it, and its buckets, with the engine's own key for it.

    `check` differs if the atom changes.
    """

    key: int
    source: str | None
    tags: Sequence[str]
    buckets: Sequence[str]
    check: int


class AtomText(NamedTuple):
    """The name and text of an atom, and the id it has in the scope."""

    id: str
    name: str | None
    text: str


class Snapshot(Protocol):
    """One consistent view of the visible atoms of a scope: neither quarantined nor archived.

    `epoch` is the random name that tells this memory from any other.
    """

    epoch: str

    def sources(self) -> dict[str | None, FileDigest]:
        """Returns atom count and digest of every file that has atoms, by path; None stands for atoms without a file."""

    def atoms(self, files: Sequence[str | None]) -> Iterator[AtomLabels]:
        """Yields the atoms of these files, file by file in the given order, each by sequence, then time, then id."""

    def texts(self, keys: Sequence[int]) -> dict[int, AtomText]:
        """Returns the id, name and text of atoms (nodes of the kind `atom`: pieces of text) by key. Raises
        CorruptMemory if one does not match its checksum.
        """


class Reads(Protocol):
    """Reads of what one scope sees. Ids that nothing visible has are absent from the answer."""

    def get(self, scope: Scope, /, ids: Sequence[str]) -> dict[str, Node]:
        """Returns nodes by id, in the given order. Ids that no visible node has are absent."""

    def edges(self, scope: Scope, /, keys: Sequence[str], by: EdgeKey = "id") -> dict[str, list[Edge]]:
        """Returns, by id, the edge with each id; or, by name, the edges that rules made because of each name (`via`).

        Edges that lead to an invisible node are absent.
        """

    def facts(
        self, scope: Scope, /, keys: Sequence[str], by: FactKey = "subject", held: HeldAt | Around | None = None
    ) -> dict[str, list[Fact]]:
        """Returns the facts of each subject, the fact of each id, the user's facts extracted from each node, or the
        active facts with each value, which is given in lower case (`by`); at most FACTS_OF_VALUE of those.

        Facts of a subject are sorted as in `HeldAt`. With `held`, only facts that hold at its time are returned, or
        those that `Around` asks for.
        """

    def ids(self, scope: Scope, /, prefix: str, limit: int, of: Literal["node", "fact"] = "node") -> list[str]:
        """Returns the first `limit` ids of nodes or facts that begin with a prefix, in order."""

    def named(
        self, scope: Scope, /, norms: Sequence[str], qualified: int = 0, by: NameKey = "name"
    ) -> dict[str, list[str]]:
        """Returns, for each normalised name, the ids of the nodes with that name or alias, in order of id; by "topic",
        those of the texts that have it as a title or are about it.

        With `qualified`, up to so many ids follow of nodes whose name continues with a bracket or a comma, such as
        "agni (fire)" for "agni".
        """

    def beside(self, scope: Scope, /, ids: Sequence[str]) -> dict[str, list[str]]:
        """Returns, for each node of a file or conversation, the ids of the nodes directly before and after it there, by
        `seq`. Nodes without a position (`seq`) there, or alone there, are absent.
        """

    def notes(
        self, scope: Scope, /, targets: Sequence[str], on: Literal["node", "edge"], now: int, each: int
    ) -> dict[str, list[Note]]:
        """Returns, by target, the notes on nodes or edges (`on`) not expired at `now`, newest first, at most `each`."""

    def mentions(self, scope: Scope, /, ids: Sequence[str], by: Side, each: int) -> dict[str, list[Mention]]:
        """Returns, by id, the mentions that a source makes or (`by`) that a node gets, newest first, at most `each`."""

    def history(self, scope: Scope, /, id_: str) -> list[Version]:
        """Returns the earlier versions of a node the user owns, or of a removed one with this id, oldest first."""

    def links(self, scope: Scope, /, keys: Sequence[str], by: LinkKey = "atom") -> dict[str, list[Link]]:
        """Returns the links in these atoms' texts, by atom; or the own partition's links to these names, by name."""

    def ingested(self, scope: Scope, /, under: str | None = None) -> Ingested:
        """Returns the ingested folders, and the ingested files whose path is `under` or below it; no files if it is
        None.
        """

    def atoms_of(self, scope: Scope, /, sources: Sequence[str], everywhere: bool = False) -> dict[str, list[Node]]:
        """Returns for each file its nodes in the partition that the scope writes to, in sequence; a file's chats
        (`file#id`) count as the file.

        With `everywhere`, its nodes in all the user's partitions, sorted by id, under the ids they have in this scope.
        """

    def source_tokens(self, scope: Scope, /, sources: Sequence[str]) -> dict[str, int]:
        """Returns the estimated tokens of all visible texts of each source, by source. Unknown sources are absent."""

    def simhash_bands(self, scope: Scope, /, wanted: Collection[Band], limit: int) -> dict[Band, list[tuple[str, int]]]:
        """Returns, for each of these bands (one of the three parts of a SimHash), the nodes of the own partition that
        have it, as (id, SimHash); at most `limit` per band. Bands without nodes are absent.
        """

    def copies(self, scope: Scope, /, nodes: Sequence[Node]) -> list[Node]:
        """Returns the user's other nodes with the same text as one of these, ignoring case, spacing and markup."""

    def redacted_texts(self, scope: Scope, /, nodes: Sequence[Node]) -> dict[str, str]:
        """Returns what is left of the texts of nodes after removing what tombstones match, by id; an empty text for a
        node that is kept out as a whole. Nodes that no tombstone matches are absent.
        """

    def page(self, scope: Scope, /, query: PageRequest) -> list[Listed]:
        """Returns the next nodes of a list in the order the query asks for; of equal times, the last added first."""

    def labels(self, scope: Scope, /, what: LabelKind, prefix: str, limit: int) -> list[Labelled]:
        """Returns people's tags, automatic tags or buckets (`what`) whose names begin with a prefix: those of most
        nodes first, then by name.
        """

    def stats(self, scope: Scope, /) -> Stats:
        """Returns counts of the records that the scope sees."""

    def version(self, scope: Scope, /, now: int | None = None) -> ScopeVersion:
        """Returns values that differ after every write, and after every counted use, of a record the scope sees.

        If `now` is given, `next_fact` is the next time after it at which a fact that was stated in advance becomes
        valid; otherwise None.
        """

    def scan(self, scope: Scope, /, words: Collection[str] = ()) -> Iterator[tuple[str | None, Record]]:
        """Yields every record the user owns, with the team it is shared with (None: private), from one view.

        With `words`, in lower case, only the records that contain one of them in a field: nodes, in any field but
        their text, versions, edges, facts and notes. Case does not count.
        """

    def snapshot(self, scope: Scope, /) -> AbstractContextManager[Snapshot]:
        """Opens one consistent view of the atoms that a scope sees. It does not change while the block runs."""

    def vectors(
        self, scope: Scope, /, ids: Sequence[str], space: VectorSpace | None = None, of: VectorKind = "node"
    ) -> dict[str, bytes]:
        """Returns vectors of records by id; {} if the memory does not hold those of `space` (None: of any model)."""


def folder(under: str) -> str:
    """Returns the prefix of every path below a folder: its path with a slash; "" for all paths."""
    return under if not under or under.endswith("/") else under + "/"


FACTS_OF_VALUE = 1_000
"""The most facts that are read by their value: these have no index."""


def by_value(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    """Groups facts by their value in lower case; those of a value are in order of id."""
    found: dict[str, list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: fact.id):
        found.setdefault((fact.value or "").lower(), []).append(fact)
    return found


def by_ref(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    """Groups facts by the id of the node they were extracted from; those of a node are in order of id."""
    found: dict[str, list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: fact.id):
        found.setdefault(fact.source_ref or "", []).append(fact)
    return found


def facts_by_id(store: Reads, scope: Scope, ids: Sequence[str]) -> dict[str, Fact]:
    """Returns the visible facts with these ids, by id, whatever their status."""
    return {id_: fact for id_, (fact,) in store.facts(scope, ids, "id").items()}


def edges_by_id(store: Reads, scope: Scope, ids: Sequence[str]) -> dict[str, Edge]:
    """Returns the visible edges with these ids, by id, in the given order."""
    return {id_: edge for id_, (edge,) in store.edges(scope, ids).items()}


def forgotten_ids(store: Reads, scope: Scope, nodes: Sequence[Node]) -> set[str]:
    """Returns the ids of those nodes that may not be stored, because tombstones say that they were forgotten."""
    return {id_ for id_, text in store.redacted_texts(scope, nodes).items() if not text}
