"""The write port: one batch, or one forgetting, is one transaction. If it raises, nothing was changed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from cuetrail.model import Edge, Fact, Link, Mention, Node, Note, Scope, SourceFile, Tombstone, Version
from cuetrail.model.ids import fact_id
from cuetrail.store.vector_space import VectorKind, VectorSpace

Progress = Callable[[str, int, int], None]
"""Called to report progress, with (name of the task, steps done, steps in total); a total of 0 is unknown."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A fact to be merged with the facts already stored: it may repeat, replace or contradict one of them.

    `single`: its predicate has one value at a time, so a new value ends the old one. `words` is the text by which the
    object was named; a stored fact that has this text as its value is the same fact. `settled`: it comes from another
    memory, and stored facts win over it. `gone` are the ids of removed texts; it replaces an equal fact that was
    extracted from one of them.
    """

    fact: Fact
    single: bool = False
    words: str | None = None
    settled: bool = False
    gone: frozenset[str] = frozenset()

    @property
    def by_user(self) -> bool:
        """True if a user states the fact now, so that it wins over stored facts."""
        return self.fact.source == "user_edit" and not self.settled

    @property
    def ids(self) -> Iterator[str]:
        """Yields all ids under which the same fact may be stored already."""
        yield self.fact.id
        yield fact_id(self.fact.subject, self.fact.predicate, self.fact.object, self.fact.value)
        if self.fact.object is not None and self.words is not None:
            yield fact_id(self.fact.subject, self.fact.predicate, None, self.words)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Confirms or retracts the stored fact with the id `fact`, at the time `at`.

    `of` says what else is retracted. "value": all facts with the same subject, predicate and value. "statement": this
    fact only, because the text it was extracted from is gone. "topic": also the facts of its subject and predicate
    that it had superseded.
    """

    fact: str
    status: Literal["confirmed", "retracted"]
    at: int
    of: Literal["value", "statement", "topic"] = "value"


@dataclass(slots=True)
class Batch:
    """Everything one transaction changes. Removals happen first, then nodes, then the records that refer to them.

    `nodes` are inserted, or replaced if the id exists. `vectors` maps node ids to unit vectors as little-endian float16
    bytes, `edge_vectors` and `note_vectors` likewise for described relationships and notes on edges; all are of the
    model `space` (None: the one the memory holds). `roots` maps short names of ingested folders to their paths.

    `facts` are written unchanged; `stated` facts are fitted into the known ones, and `verdicts` confirm or retract
    known facts. `declared` predicates have one value at a time from now on, or (False) many.

    `successors` come last: statements about the first node of a pair move to the second, and the first is removed.
    Edges made by rules do not move, and nothing moves to a node that a tombstone keeps out. For `fact_successors` only
    the facts move, and both nodes stay. `remove_sources` removes the records of those files that have no node left; it
    removes no nodes.

    Nodes in `overwritten` replace the stored ones as they are: what these said is not kept as history, nor their usage,
    and those that tombstones keep out are removed. `remove_facts` and `remove_versions` leave nothing behind.

    With `allow_again`, tombstones in the way of the nodes are removed. With `refuse_forgotten`, nothing is written and
    Forgotten is raised if any part of the nodes was forgotten; otherwise forgotten nodes and sentences are left out.
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
    fact_successors: dict[str, str] = field(default_factory=dict)
    remove_nodes: list[str] = field(default_factory=list)
    remove_edges: list[str] = field(default_factory=list)
    remove_notes: list[str] = field(default_factory=list)
    remove_facts: list[str] = field(default_factory=list)
    remove_versions: list[Version] = field(default_factory=list)
    remove_sources: list[str] = field(default_factory=list)
    remove_roots: list[str] = field(default_factory=list)
    overwritten: set[str] = field(default_factory=set)
    allow_again: bool = False
    refuse_forgotten: bool = False

    def vectors_of(self, what: VectorKind) -> dict[str, bytes]:
        """Returns the vectors of the batch's nodes, edges or notes, by id."""
        return {"node": self.vectors, "edge": self.edge_vectors, "note": self.note_vectors}[what]


@dataclass(frozen=True, slots=True)
class Forgetting:
    """How nodes are forgotten. `purge` rewrites the text index at once, so that no forgotten word is left in it.

    Forgotten nodes leave tombstones: hashes of their ids, texts and paragraphs that keep them from coming back.
    `id_only` nodes leave one of their id only, because other nodes say the same. Paragraphs in `shared`, given as bare
    words, leave none, because other files contain them. The batches of `along` are written afterwards in the same
    transaction, each to its scope.
    """

    purge: bool = False
    progress: Progress | None = None
    along: Mapping[Scope, Batch] = field(default_factory=dict)
    id_only: Collection[str] = ()
    shared: Collection[str] = ()


FORGETTING = Forgetting()


@dataclass(frozen=True, slots=True)
class Written:
    """The result of a write: numbers of nodes added, replaced and removed, and of edges.

    `forgotten` are the ids of nodes that tombstones kept out, `cut` those from whose text they removed sentences.
    """

    added: int = 0
    replaced: int = 0
    removed: int = 0
    edges: int = 0
    forgotten: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()

    def plus(self, other: Written) -> Written:
        """Returns the result of two writes together."""
        return Written(
            self.added + other.added,
            self.replaced + other.replaced,
            self.removed + other.removed,
            self.edges + other.edges,
            self.forgotten + other.forgotten,
            self.cut + other.cut,
        )


BulkMode = Literal["separate", "joined", "indexed"]
"""How the writes of a bulk are stored (see `Writing.bulk`)."""


class Writing(Protocol):
    """The write part of the engine protocol. Methods write to the partition of a scope.

    `forward_accesses`: if it is set, `touch` calls it with its arguments and counts nothing, because another process
    does.
    """

    forward_accesses: Callable[[Scope, Sequence[str], int, Sequence[str]], None] | None

    def write(self, scope: Scope, /, batch: Batch) -> Written:
        """Writes a batch in one transaction and returns what it did. Searches that begin later see it.

        Raises the errors of `store.shared.write_order.write_batch`; then nothing is changed.
        """

    def bulk(self, how: BulkMode = "separate") -> AbstractContextManager[None]:
        """Makes many writes of this thread in the block cheaper.

        - "separate": each write is a transaction, and the text index is updated with it, not at the next search.
        - "joined": the writes are one transaction where the engine can; else each is one. The block must not search. A
          write that raises is undone alone, and the block may go on after it. Nothing may be acknowledged before the
          block has ended.
        - "indexed": as "joined", but the block ends when the indexes contain the writes. Searches elsewhere do not wait
          for that: they leave out what nobody has acknowledged.
        """

    def forget(self, scope: Scope, /, ids: Sequence[str], now: int, how: Forgetting = FORGETTING) -> list[str]:
        """Removes those of these nodes that the user owns for good, leaves tombstones, and returns their ids.

        A large text index may contain the forgotten words, where no search finds them, until it is rewritten.
        """

    def touch(self, scope: Scope, /, ids: Sequence[str], now: int, facts: Sequence[str] = ()) -> None:
        """Counts one access of each node and one use of each fact, also of a teammate's.

        A reader never waits for a writer, nor fails because of one: its accesses of nodes are then counted later, its
        uses of facts not at all.
        """
