"""The engine protocol: few, batched methods. Every engine passes the same contract suite (tests/contract).

Rules all engines keep:
- Every method takes a scope; rows outside it are neither read, changed nor counted.
- In a scope an id means one row: of the place the scope writes to, else of the user's other places, else of a teammate,
  by team and owner. The others are called `id@@owner/team`, or `id@@owner` where private. No id has `@@` in itself.
- `write` is one transaction: after it returns everything is there, if it raises nothing is. So is `forget`.
- Reads see every write that was acknowledged before them, in any process.
- Orders are total: score descending, then newer, then id.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, Self

from cuetrail.errors import EmbedderMismatch
from cuetrail.model import (
    Direction,
    Edge,
    Fact,
    Finding,
    Link,
    Mention,
    Neighbourhood,
    Node,
    Note,
    Scope,
    SearchHit,
    SourceFile,
    Stats,
    TextQuery,
    Tombstone,
    Version,
    Walk,
    WalkQuery,
    Where,
)
from cuetrail.store.shared.fact_validity import Stated, Verdict
from cuetrail.store.shared.ids import plain

if TYPE_CHECKING:
    from cuetrail.store.dream_port import Dreaming
    from cuetrail.store.edge_query import Side, Step, StepQuery
    from cuetrail.store.expansion import Expanded, Level
    from cuetrail.store.listing import Labelled, Listed, Page
    from cuetrail.store.relationship_query import RelationQuery

Progress = Callable[[str, int, int], None]
"""(what, done, total); total 0 means unknown."""

Band = tuple[int, int]
"""(which of the three bands of a SimHash, its value); see `formulas.bands`."""

Record = Node | Edge | Fact | Note | Mention | Link | SourceFile | Tombstone | Version

Meaning = Literal["node", "edge", "note"]
"""What may have a vector."""


@dataclass(frozen=True, slots=True)
class VectorSpace:
    """The model whose vectors a memory holds. Vectors of two models are never compared."""

    model: str
    dim: int

    def __str__(self) -> str:
        return f"{self.model!r} ({self.dim}-d)"


NO_VECTORS = VectorSpace("none", 0)
"""What a memory holds that is searched by words alone."""


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector of a query, and the model that made it."""

    vector: bytes
    space: VectorSpace


def mismatch(held: VectorSpace | None, other: str) -> EmbedderMismatch:
    """The error for vectors of another model than those a memory holds."""
    holds = "no vectors" if held is None or held == NO_VECTORS else f"vectors of {held}"
    return EmbedderMismatch(
        f"this memory holds {holds}, not of {other}: open it with that embedder (--embedder, CUETRAIL_EMBEDDER, or "
        "embedder in the memory's cuetrail.toml), or change over with `cuetrail reembed --embedder ...`"
    )


@dataclass(slots=True)
class Batch:
    """Everything one transaction changes. Removals happen first, then nodes, then what refers to them.

    `successors` come last: what anyone states of the first node of a pair is then stated of the second, and the first
    is removed. Edges made by a rule do not pass on, and nothing passes to a node that was kept out. Of the pairs of
    `heirs` the facts alone pass, and both stay.
    `nodes` are inserted, or replaced where the id exists. `vectors` maps node ids to unit vectors as little-endian
    float16 bytes; they are of the model `space` names (None: the one the memory holds), and so are `edge_vectors` and
    `note_vectors`, of described relationships and of notes on edges. `roots` maps the short names of ingested folders
    to where they are. `facts` are written as they are; those that are `stated` are fitted into what
    is known, and `verdicts` say what becomes of facts that are there; see `store.facts`. Facts of the `declared`
    predicates have one value at a time from now on, or (False) many.
    """

    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    stated: list[Stated] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    declared: dict[str, bool] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    vectors: dict[str, bytes] = field(default_factory=dict)
    edge_vectors: dict[str, bytes] = field(default_factory=dict)
    note_vectors: dict[str, bytes] = field(default_factory=dict)
    space: VectorSpace | None = None
    sources: list[SourceFile] = field(default_factory=list)
    tombstones: list[Tombstone] = field(default_factory=list)
    versions: list[Version] = field(default_factory=list)
    roots: dict[str, str] = field(default_factory=dict)
    successors: dict[str, str] = field(default_factory=dict)
    heirs: dict[str, str] = field(default_factory=dict)
    remove_nodes: list[str] = field(default_factory=list)
    remove_edges: list[str] = field(default_factory=list)
    remove_notes: list[str] = field(default_factory=list)
    remove_sources: list[str] = field(default_factory=list)
    remove_roots: list[str] = field(default_factory=list)
    allow_again: bool = False

    def vectors_of(self, what: Meaning) -> dict[str, bytes]:
        """The vectors of its nodes, edges or notes."""
        return {"node": self.vectors, "edge": self.edge_vectors, "note": self.note_vectors}[what]


NOTHING_ALONG: Mapping[Scope, Batch] = {}
"""Of a forgetting that changes nothing but what is forgotten."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a write did. `forgotten` are node ids a tombstone kept out; of `cut` it kept out some sentences."""

    added: int = 0
    replaced: int = 0
    removed: int = 0
    edges: int = 0
    forgotten: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()

    def plus(self, other: Written) -> Written:
        """What both did together."""
        return Written(
            self.added + other.added,
            self.replaced + other.replaced,
            self.removed + other.removed,
            self.edges + other.edges,
            self.forgotten + other.forgotten,
            self.cut + other.cut,
        )


@dataclass(frozen=True, slots=True)
class Unembedded:
    """What says something and has no vector, whoever owns it, under the engine's own handle for it."""

    key: int | str
    record: Node | Edge | Note


@dataclass(frozen=True, slots=True)
class Content:
    """How many atoms a file has, and a number that is another one when any of them is."""

    atoms: int
    digest: int


class Placed(NamedTuple):
    """An atom as far as its place goes, under the engine's own number for it; `check` is another when it is."""

    key: int
    source: str | None
    tags: Sequence[str]
    buckets: Sequence[str]
    check: int


class Said(NamedTuple):
    """What an atom says, under the id it has in the scope."""

    id: str
    name: str | None
    text: str


class Alike(NamedTuple):
    """A node that has some of the words it was looked for by in its names. `shared` says how many."""

    id: str
    kind: str
    name: str
    aliases: tuple[str, ...]
    shared: int
    owner: str = "me"


FactKey = Literal["subject", "id", "source_ref"]
"""Facts are found by their subject, by their own id, or by the node they were extracted from."""

LinkKey = Literal["atom", "name"]
"""Links are found by the atom that makes them, or by the normalised name they lead to."""


class ScopeVersion(NamedTuple):
    """`writes` differs after every write to what a scope sees, `uses` after every use of it, in any process."""

    writes: Hashable
    uses: Hashable


def by_ref(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    """Groups facts, in order of id, by the node they were extracted from."""
    found: dict[str, list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: fact.id):
        found.setdefault(fact.source_ref or "", []).append(fact)
    return found


class Snapshot(Protocol):
    """One consistent view of the atoms a scope may be shown: neither in quarantine nor archived."""

    epoch: str

    def sources(self) -> dict[str | None, Content]: ...
    def placed(self, files: Sequence[str | None]) -> Iterator[Placed]: ...
    def said(self, keys: Sequence[int]) -> dict[int, Said]: ...


class Moment(Protocol):
    """Everyone's memories as they were at one moment: what a copy is made of."""

    def partitions(self) -> list[Scope]: ...
    def space(self) -> VectorSpace | None: ...
    def scan(self, scope: Scope) -> Iterator[tuple[str | None, Record]]: ...
    def vectors(self, scope: Scope, ids: Sequence[str], of: Meaning = "node") -> dict[str, bytes]: ...
    def roots(self, scope: Scope) -> dict[str, str]: ...
    def kept(self) -> dict[str, str]: ...


class Store(Protocol):
    """One engine, opened on one memory."""

    def close(self) -> None: ...

    # writing
    def write(self, scope: Scope, /, batch: Batch) -> Written: ...
    def bulk(self) -> AbstractContextManager[None]: ...
    def forget(
        self,
        scope: Scope,
        /,
        ids: Sequence[str],
        now: int,
        purge: bool = False,
        progress: Progress | None = None,
        along: Mapping[Scope, Batch] = NOTHING_ALONG,
        unsaid: Collection[str] = (),
    ) -> list[str]: ...
    def has_traces(self) -> bool: ...
    def touch(self, scope: Scope, /, ids: Sequence[str], now: int, facts: Sequence[str] = ()) -> None: ...

    # reading
    def get(self, scope: Scope, /, ids: Sequence[str]) -> dict[str, Node]: ...
    def edges(self, scope: Scope, /, ids: Sequence[str]) -> dict[str, Edge]: ...
    def facts(self, scope: Scope, /, keys: Sequence[str], by: FactKey = "subject") -> dict[str, list[Fact]]: ...
    def beliefs(
        self, scope: Scope, /, ids: Sequence[str], at: int, limit: int, direction: Direction
    ) -> dict[str, list[Fact]]: ...
    def most_used(self, scope: Scope, /, limit: int) -> list[str]: ...
    def next_belief(self, scope: Scope, /, after: int) -> int | None: ...
    def version(self, scope: Scope, /) -> ScopeVersion: ...
    def ids(self, scope: Scope, /, prefix: str, limit: int, of: Literal["node", "fact"] = "node") -> list[str]: ...
    def named(self, scope: Scope, /, norms: Sequence[str], qualified: int = 0) -> dict[str, list[str]]: ...
    def named_like(
        self, scope: Scope, /, words: Collection[str], beginnings: Collection[str], limit: int
    ) -> list[Alike]: ...
    def text(
        self,
        scope: Scope,
        /,
        query: TextQuery,
        limit: int,
        where: Where,
        favour: tuple[float, float] = (1.0, 1.0),
        nodes: bool = False,
    ) -> list[SearchHit]: ...
    def vector(
        self,
        scope: Scope,
        /,
        vector: bytes,
        limit: int,
        where: Where,
        space: VectorSpace | None = None,
        named: bool = False,
    ) -> list[SearchHit]: ...
    def walk(self, scope: Scope, /, query: WalkQuery, limit: int, where: Where) -> Walk: ...
    def neighbours(self, scope: Scope, /, ids: Sequence[str], limit: int) -> dict[str, Neighbourhood]: ...
    def expand(self, scope: Scope, /, level: Level) -> Expanded: ...  # see store/energy.py
    def steps(self, scope: Scope, /, query: StepQuery) -> dict[str, list[Step]]: ...  # see store/steps.py
    def notes(
        self, scope: Scope, /, targets: Sequence[str], on: Literal["node", "edge"], now: int, each: int
    ) -> dict[str, list[Note]]: ...
    def mentions(self, scope: Scope, /, ids: Sequence[str], by: Side, each: int) -> dict[str, list[Mention]]: ...
    def relationships(self, scope: Scope, /, query: RelationQuery) -> list[Edge]: ...
    def core(self, scope: Scope, /, kinds: Sequence[str], limit: int) -> list[Node]: ...
    def page(self, scope: Scope, /, query: Page) -> list[Listed]: ...  # see store/browsing.py
    def labels(self, scope: Scope, /, what: Literal["tag", "bucket"], prefix: str, limit: int) -> list[Labelled]: ...
    def edge_tags(self, scope: Scope, /, names: Sequence[str] | None = None) -> list[str]: ...
    def history(self, scope: Scope, /, id_: str) -> list[Version]: ...
    def scan(self, scope: Scope, /) -> Iterator[tuple[str | None, Record]]: ...
    def snapshot(self, scope: Scope, /) -> AbstractContextManager[Snapshot]: ...
    def moment(self) -> AbstractContextManager[Moment]: ...
    def stats(self, scope: Scope, /) -> Stats: ...

    # what ingest asks
    def roots(self, scope: Scope, /) -> dict[str, str]: ...
    def source_files(self, scope: Scope, /, under: str) -> dict[str, SourceFile]: ...
    def atoms_of(self, scope: Scope, /, sources: Sequence[str], everywhere: bool = False) -> dict[str, list[Node]]: ...
    def links(self, scope: Scope, /, keys: Sequence[str], by: LinkKey = "atom") -> dict[str, list[Link]]: ...
    def edges_via(self, scope: Scope, /, norms: Sequence[str]) -> dict[str, list[Edge]]: ...
    def simhash_bands(
        self, scope: Scope, /, wanted: Collection[Band], limit: int
    ) -> dict[Band, list[tuple[str, int]]]: ...
    def redacted_texts(self, scope: Scope, /, nodes: Sequence[Node]) -> dict[str, str]: ...
    def copies(self, scope: Scope, /, nodes: Sequence[Node]) -> list[Node]: ...

    # what dreaming asks; see store/dreams.py
    def single_dream(self) -> AbstractContextManager[bool]: ...
    def rehearsal(self) -> AbstractContextManager[Self]: ...
    def partitions(self, scope: Scope | None) -> list[Scope]: ...
    def dreaming(self, scope: Scope, name: str) -> Dreaming: ...
    def dreamt(self, scope: Scope, listens: Mapping[str, Sequence[str]]) -> None: ...

    # vectors and upkeep
    def vector_space(self) -> VectorSpace | None: ...
    def next_space(self) -> VectorSpace | None: ...
    def start_vector_space(self, space: VectorSpace, change_over: bool = False) -> VectorSpace: ...
    def finish_change_over(self, space: VectorSpace) -> bool: ...
    def without_vector(self, space: VectorSpace, limit: int, after: Unembedded | None = None) -> list[Unembedded]: ...
    def put_vectors(self, space: VectorSpace, made: Sequence[tuple[Unembedded, bytes]]) -> int: ...
    def vectors(
        self, scope: Scope, /, ids: Sequence[str], space: VectorSpace | None = None, of: Meaning = "node"
    ) -> dict[str, bytes]: ...
    def kept(self, prefix: str) -> dict[str, str]: ...
    def keep(self, name: str, value: str | None) -> None: ...
    def backup(self, path: Path) -> None: ...
    def doctor(self, repair: bool, progress: Progress | None) -> list[Finding]: ...
    def refresh(self, progress: Progress | None) -> None: ...


def facts_by_id(store: Store, scope: Scope, ids: Sequence[str]) -> dict[str, Fact]:
    """Returns the facts with these ids, whatever their status."""
    return {id_: fact for id_, (fact,) in store.facts(scope, ids, "id").items()}


def forgotten_ids(store: Store, scope: Scope, nodes: Sequence[Node]) -> set[str]:
    """Returns the ids of the nodes that tombstones keep out as a whole."""
    return {id_ for id_, text in store.redacted_texts(scope, nodes).items() if not text}


def own_nodes(store: Store, scope: Scope, ids: Sequence[str]) -> dict[Scope, list[Node]]:
    """Returns the user's own nodes by the partition they are in, each with the id it has there."""
    found: dict[Scope, list[Node]] = {}
    for node in store.get(scope, ids).values():
        if node.owner == scope.user:
            found.setdefault(replace(scope, share=node.team), []).append(replace(node, id=plain(node.id)))
    return found
