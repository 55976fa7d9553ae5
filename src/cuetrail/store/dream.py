"""What dreaming asks of an engine, beside the store protocol: the changes of one place, and a ledger to keep books in.

A place is what one user keeps for himself or for one team. A pass dreams in one place at a time and sees nothing of any
other, so what a rule finds in one place is never carried into another. Quarantined nodes take no part.
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
"""Kinds of nodes that only dreams make. No text names them."""

NOTHING = -1
"""The change up to which a pass is that has not begun."""


class Book(IntEnum):
    """The books of the ledger, with what the four numbers of a row are. The numbers of the books are stored."""

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
    """A line of a book. The first two numbers are its key; it is found by either."""

    first: int
    second: int = 0
    third: int = 0
    fourth: int = 0


class Atom(NamedTuple):
    """An atom as a pass reads it, under the engine's own number for it.

    `borrowed` are tags that near duplicates lent it. `row` is the engine's: what it needs to write the atom back, and
    to see whether somebody changed it meanwhile. `is_day`: its time is a date that was given without a time.
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
    """A node by one of the names that lead to it. `found`: a rule made it of a shared name, nobody stated it."""

    norm: str
    key: int
    id: str
    kind: str
    name: str | None
    found: bool


class Brief(NamedTuple):
    """The little of a node that edges and mentions need."""

    id: str
    kind: str
    at: int
    source: str | None


class Living(NamedTuple):
    """A node whose life is another than a newborn's, under the engine's own number for it."""

    key: int
    id: str
    kind: str
    created: int
    life: Life


class Mark(NamedTuple):
    """How far a pass is. Everything up to the change `done` is settled (-1: nothing is); of what changed from there to
    `upto`, the nodes up to the key `after`. The random marks tell two histories with the same numbers apart.
    """

    version: str
    done: int
    done_mark: int
    upto: int
    upto_mark: int
    after: int


def unbegun(version: str) -> Mark:
    """The mark of a pass that has settled nothing."""
    return Mark(version, NOTHING, 0, NOTHING, 0, 0)


@dataclass(frozen=True, slots=True)
class Slice:
    """The next atoms to look at, by key.

    `runs` are the runs of keys they were taken from: a key in there that is no atom's is of one that is gone. `mark`
    is to be saved with what the pass makes of them; `left` says about how many keys are still to come.
    """

    atoms: list[Atom]
    runs: list[tuple[int, int]]
    mark: Mark
    left: int


@dataclass(slots=True)
class Writes:
    """What a pass changes in one transaction. Rows of `drop` go by their first two numbers, then those of `put` come.

    An atom of `relabelled` that somebody changed since it was read is left alone: it comes again with the next dream.
    So is one of `lives` that somebody used since.
    """

    mark: Mark | None = None
    relabelled: list[tuple[Atom, tuple[Tag, ...]]] = field(default_factory=list)
    batch: Batch = field(default_factory=Batch)
    remove_mentions: list[tuple[str, str]] = field(default_factory=list)
    lives: list[tuple[Living, Life]] = field(default_factory=list)
    drop: list[tuple[Book, Row]] = field(default_factory=list)
    put: list[tuple[Book, Row]] = field(default_factory=list)


class Saved(NamedTuple):
    """How many atoms have other tags now, and how many tags came and went."""

    atoms: int
    added: int
    dropped: int


def is_dreamt(record: Record) -> bool:
    """Whether a dream made this record."""
    if isinstance(record, Edge):
        return record.via is not None and record.via.startswith("dream:")
    return isinstance(record, Mention) or (isinstance(record, Node) and record.kind in DREAMT)


class Dreaming(Protocol):
    """One pass at work in one place. It knows the changes that were there when it began; later ones wait."""

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
    """What the nightly passes need beside the other ports."""

    def single_dream(self) -> AbstractContextManager[bool]: ...
    def rehearsal(self) -> AbstractContextManager[Self]: ...
    def partitions(self, scope: Scope | None) -> list[Scope]: ...
    def dreaming(self, scope: Scope, name: str) -> Dreaming: ...
