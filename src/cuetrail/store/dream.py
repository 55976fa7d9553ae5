"""The dream port: the changes of one partition since a pass last ran, and a ledger in which passes keep their state.

A partition is what one user keeps privately or shares with one team. A pass works in one partition at a time and sees
nothing of others, so nothing it derives crosses from one into another. Quarantined nodes are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, Protocol, Self

from cuetrail.model import DERIVED, Edge, Fact, Life, Mention, Node, Scope, Tag
from cuetrail.store.read import Record
from cuetrail.store.write import Batch

DREAMT = ("episode", *DERIVED)
"""Kinds of nodes that only dreams make. Texts do not mention them by name."""

NOTHING = -1
"""The number of the last change seen by a pass that has never run."""


class Book(IntEnum):
    """The books of the ledger, each with the meaning of the four numbers of its rows. The values are stored: never
    change them.
    """

    PROPOSED = 1  # atom, hash of the phrase
    INFECTS = 2  # hash of the words, hash of the tag, hash of its display, whether texts are being settled by it
    MEANS = 3  # hash of the words, node they name, 0, whether texts are being settled by it
    OCCURS = 4  # atom, node it names, source of the atom, how often
    NAMED = 5  # source, node it names, by how many of its atoms, the source's time
    TOUCHED = 6  # node whose company is to be counted
    TOGETHER = 7  # node, node it is often named with, share in millionths, how often
    TIMELINE = 8  # atom, its time, number of its episode or 0
    MOVED = 9  # number of the episode they left or 0, time at which atoms came or went
    TURNED = 10  # atom, node it names since or no longer
    LOOSE = 20  # source in no storyline yet, node it names, the source's time, whether it stands between several
    UNTOLD = 21  # source, node it no longer names; or number of a storyline that is to be told anew, 0
    PLACED = 22  # source, number of its storyline, anchor of that, the source's time
    STORY = 23  # number of a storyline, its anchor, time of its last source, whether it is open
    SUMMED = 24  # atom, source whose summary it is part of
    BROUGHT = 30  # random number of an import or copy that brought what dreams made elsewhere


class Row(NamedTuple):
    """A row of one ledger table (`Book`), which defines the meaning of the four numbers. The first two are the key;
    rows can be looked up by either.
    """

    first: int
    second: int = 0
    third: int = 0
    fourth: int = 0


class Atom(NamedTuple):
    """An atom as a pass reads it, with the engine's own key.

    `borrowed` are tags copied from near duplicates. `row` belongs to the engine: it writes the atom back with it and
    detects changes made meanwhile. `is_day` is true if its time is a date without a time of day.
    """

    key: int
    id: str
    text: str
    at: int
    source: str | None
    tags: tuple[Tag, ...]
    borrowed: frozenset[str]
    row: Any
    is_day: bool = False


class Named(NamedTuple):
    """A node and one of its normalised names. `found` is true if a rule made the node from a shared name."""

    norm: str
    key: int
    id: str
    kind: str
    name: str | None
    found: bool


class Brief(NamedTuple):
    """The fields of a node that edges and mentions need."""

    id: str
    kind: str
    at: int
    source: str | None


class Living(NamedTuple):
    """A node whose usage state differs from that of a new node, with the engine's own key."""

    key: int
    id: str
    kind: str
    created: int
    life: Life


class Mark(NamedTuple):
    """The progress of a pass. All changes up to `done` are processed (-1: none), and of the changes from there to
    `upto` the nodes up to the key `after`. The random marks tell two histories with the same numbers apart.
    """

    version: str
    done: int
    done_mark: int
    upto: int
    upto_mark: int
    after: int


def unbegun(version: str) -> Mark:
    """Returns the mark of a pass that has processed nothing."""
    return Mark(version, NOTHING, 0, NOTHING, 0, 0)


@dataclass(frozen=True, slots=True)
class Slice:
    """The next atoms to process, by key.

    `runs` are the key ranges they come from: a key in there without an atom belongs to a deleted one. `mark` is saved
    together with the results of the pass; `left` estimates how many keys remain.
    """

    atoms: list[Atom]
    runs: list[tuple[int, int]]
    mark: Mark
    left: int


@dataclass(slots=True)
class Writes:
    """The changes a pass makes in one transaction. Rows of `drop` are deleted by their first two numbers, then `put` is
    added.

    Atoms of `relabelled` that changed since they were read are skipped and come again with the next dream. So are
    `lives` of nodes that were used since.
    """

    mark: Mark | None = None
    relabelled: list[tuple[Atom, tuple[Tag, ...]]] = field(default_factory=list)
    batch: Batch = field(default_factory=Batch)
    remove_mentions: list[tuple[str, str]] = field(default_factory=list)
    lives: list[tuple[Living, Life]] = field(default_factory=list)
    drop: list[tuple[Book, Row]] = field(default_factory=list)
    put: list[tuple[Book, Row]] = field(default_factory=list)


class Saved(NamedTuple):
    """The number of atoms whose tags changed, and of tags added and dropped."""

    atoms: int
    added: int
    dropped: int


def is_dreamt(record: Record) -> bool:
    """True if a dream made this record."""
    if isinstance(record, Edge):
        return record.via is not None and record.via.startswith("dream:")
    return isinstance(record, Mention) or (isinstance(record, Node) and record.kind in DREAMT)


class Dreaming(Protocol):
    """One pass at work in one partition. It sees the changes that were there when it began; later ones wait for the
    next dream.
    """

    def begun(self, version: str) -> bool: ...
    def idle(self, version: str) -> bool: ...
    def slice(
        self, version: str, limit: int, listens: Sequence[str] = (), behind: Mark | None = None
    ) -> Slice | None: ...
    def count(self) -> int: ...
    def texts(self, after: int, limit: int) -> list[tuple[int, str]]: ...
    def holding(self, names: Collection[str]) -> set[int] | None: ...
    def atoms(self, keys: Collection[int]) -> list[Atom]: ...
    def names(self) -> list[Named]: ...
    def tags(self) -> list[str]: ...
    def carriers(self, tags: Collection[int]) -> list[int]: ...
    def nodes(self, keys: Collection[int]) -> dict[int, Brief]: ...
    def keys(self, ids: Collection[str]) -> dict[str, int]: ...
    def sources(self, keys: Collection[int]) -> dict[int, int]: ...
    def joined(self, keys: Collection[int]) -> set[tuple[int, int]]: ...
    def lives(self, before: int, after: int, limit: int) -> list[Living]: ...
    def awake(self, book: Book) -> list[int]: ...
    def expired(self, now: int, limit: int) -> list[str]: ...
    def ageing(self, before: int, after: str, limit: int) -> list[Fact]: ...

    # the ledger
    def by_first(self, book: Book, firsts: Collection[int]) -> list[Row]: ...
    def by_second(self, book: Book, seconds: Collection[int], each: int | None = None) -> list[Row]: ...
    def firsts(self, book: Book, seconds: Collection[int]) -> Mapping[int, list[int]]: ...
    def beside(self, book: Book, seconds: Collection[int]) -> list[tuple[int, int]]: ...
    def within(self, book: Book, runs: Sequence[tuple[int, int]]) -> list[Row]: ...
    def between(self, book: Book, low: int, high: int) -> list[Row]: ...
    def seconds(self, book: Book, start: int, backwards: bool, limit: int) -> list[int]: ...
    def all(self, book: Book, limit: int | None = None) -> list[Row]: ...

    def save(self, writes: Writes) -> Saved: ...
    def rest(self, listens: Mapping[str, Sequence[str]]) -> None: ...


class Dreams(Protocol):
    """Access for dreams: a lock, a copy for dry runs, the partitions, and the passes at work in them."""

    def single_dream(self) -> AbstractContextManager[bool]: ...
    def rehearsal(self) -> AbstractContextManager[Self]: ...
    def partitions(self, scope: Scope | None) -> list[Scope]: ...
    def dreaming(self, scope: Scope, name: str) -> Dreaming: ...
