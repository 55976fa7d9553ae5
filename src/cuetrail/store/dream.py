"""The dream port: how a dream pass reads what changed in one partition and writes its results.

A dream is a background run of several passes, such as `mentions` or `episodes`. A partition holds the memories that one
user keeps privately or shares with one team. A pass works in one partition at a time and sees nothing of others, so
nothing it derives crosses from one into another. Quarantined nodes are left out. Each pass records what it has made in
the ledger, so that the next dream can update that. The ledger consists of books, which are tables of four numbers.

`DreamPass` is the same for both engines. An engine gives it the texts of its queries (`PassQueries`) and a few
functions (`PassEngine`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import partial
from operator import itemgetter
from typing import Any, Literal, NamedTuple, Protocol, Self, TypeVar

from cuetrail.model import STORYLINE_KINDS, Edge, Fact, Life, Mention, Node, Scope, Tag
from cuetrail.model.ids import ledger_hash
from cuetrail.store.read import Record
from cuetrail.store.write import Batch
from cuetrail.text.normalise import KNOWN_AS, is_findable

T = TypeVar("T")
Runs = list[tuple[int, int]]
"""Ranges of node keys, each as (first key, last key), both included."""

DREAM_KINDS = ("episode", *STORYLINE_KINDS)
"""Kinds of nodes that only dreams make. Texts do not mention them by name."""

DREAM_PROPS = ("summary", "keywords", KNOWN_AS)
"""The properties that dreams give: two to source nodes of files, and to texts the names that others use for them."""

NOTHING = -1
"""Stands for "no change processed yet" where a `Mark` holds the number of a change."""


class Book(IntEnum):
    """The books (tables) of the ledger. The comment at each says what the four numbers of its rows mean. The values are
    stored: never change them.
    """

    PROPOSED = 1  # atom, hash of the phrase
    TAG_WORDS = 2  # hash of the words, hash of the tag, hash of its display, 1 while texts are updated for the words
    NAME_WORDS = 3  # hash of the words, node they name, 0, 1 while texts are updated for the words
    ATOM_NAMES = 4  # atom, node it names, source of the atom, how often
    SOURCE_NAMES = 5  # source, node it names, by how many of its atoms, the source's time
    RECOUNT = 6  # node whose co-occurrences are to be counted again
    CO_OCCURS = 7  # node, node it is often named with, share in millionths, how often
    TIMELINE = 8  # atom, its time, number of its episode or 0
    CHANGED_TIME = 9  # number of the episode that atoms left or 0, time at which atoms were added or removed
    CHANGED_MENTION = 10  # atom, node that it newly names or no longer names
    NAME_FORMS = 11  # atom, hash of a name that others may use for it, whether it is known by that name anyway
    NAME_USES = 12  # atom, hash of a name that its text contains and another may be called by
    UNPLACED = 20  # source in no storyline yet, node it names, the source's time, 1 if several storylines fit equally
    STALE_STORY = 21  # source, node it no longer names; or number of a storyline whose summary is to be rewritten, 0
    PLACED = 22  # source, number of its storyline, anchor of that, the source's time
    STORY = 23  # number of a storyline, its anchor, time of its last source, whether it is open
    SUMMARISED = 24  # atom, source whose summary it is part of
    IMPORTED = 30  # random number of an import or copy that brought records made by dreams in another memory


class Entry(NamedTuple):
    """A row of a book of the ledger. `Book` says what its four numbers mean. The first two are the key of the row; rows
    can be looked up by either of them.
    """

    first: int
    second: int = 0
    third: int = 0
    fourth: int = 0


class Atom(NamedTuple):
    """An atom as a pass reads it, with the engine's own key.

    `borrowed` are the names of tags copied from near duplicates. `row` is the stored form, which only the engine uses:
    to write the atom back, and to notice changes made since it was read. `is_day` is true if `at` is a date without a
    time of day.
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
    """A node and one of its normalised names. `found` is true if the node is an entity that a rule made, not a user."""

    norm: str
    key: int
    id: str
    kind: str
    name: str | None
    found: bool


class NodeOutline(NamedTuple):
    """The few fields of a node that a pass needs to connect it: id, kind, time and file."""

    id: str
    kind: str
    at: int
    source: str | None


class Living(NamedTuple):
    """A node with its usage record (`life`) and the engine's own key. Nodes never used nor decayed have no record."""

    key: int
    id: str
    kind: str
    created: int
    life: Life


class Mark(NamedTuple):
    """The progress of a pass. All changes up to number `done` are processed (-1: none). Of the changes after `done` up
    to `upto`, the nodes with keys up to `after` are processed too.

    `done_mark` and `upto_mark` are the random numbers logged with these two changes. They differ if the change log is
    from another history of the memory, such as a restored backup.
    """

    version: str
    done: int
    done_mark: int
    upto: int
    upto_mark: int
    after: int


def unbegun(version: str) -> Mark:
    """Returns the mark (stored progress) of a pass that has processed nothing yet."""
    return Mark(version, NOTHING, 0, NOTHING, 0, 0)


@dataclass(frozen=True, slots=True)
class Slice:
    """The next atoms to process, in the order of their keys.

    `runs` are the key ranges they come from; a key in there without an atom was deleted, or belongs to no atom that the
    pass may read (another kind of node, another partition, quarantined). `mark` is the progress after this slice, to be
    saved together with the results of the pass; `left` estimates how many keys remain.
    """

    atoms: list[Atom]
    runs: list[tuple[int, int]]
    mark: Mark
    left: int


@dataclass(slots=True)
class Writes:
    """The changes a pass makes in one transaction. `drop` and `put` are rows of the ledger, the pass's own records: the
    former are deleted by their first two numbers, then the latter are added.

    `relabelled` are atoms with their new tags; those that changed since they were read are skipped, and the next dream
    reads them again. `lives` are nodes with their new usage records; nodes used since they were read are skipped.
    Nodes of the batch whose atom in `unchanged` changed since it was read are skipped, too.
    """

    mark: Mark | None = None
    relabelled: list[tuple[Atom, tuple[Tag, ...]]] = field(default_factory=list)
    batch: Batch = field(default_factory=Batch)
    unchanged: list[Atom] = field(default_factory=list)
    remove_mentions: list[tuple[str, str]] = field(default_factory=list)
    lives: list[tuple[Living, Life]] = field(default_factory=list)
    drop: list[tuple[Book, Entry]] = field(default_factory=list)
    put: list[tuple[Book, Entry]] = field(default_factory=list)

    def batch_without(self, changed: Collection[str]) -> Batch:
        """Returns the batch without the nodes with these ids."""
        if not changed:
            return self.batch
        nodes = [node for node in self.batch.nodes if node.id not in changed]
        vectors = {id_: vector for id_, vector in self.batch.vectors.items() if id_ not in changed}
        return replace(self.batch, nodes=nodes, vectors=vectors)


class Saved(NamedTuple):
    """The result of `save`: the number of atoms whose tags changed, of tags added and of tags dropped."""

    atoms: int
    added: int
    dropped: int


def is_dreamt(record: Record) -> bool:
    """True if a dream, not a user or a text, made this record."""
    if isinstance(record, Edge):
        return record.via is not None and record.via.startswith("dream:")
    return isinstance(record, Mention) or (isinstance(record, Node) and record.kind in DREAM_KINDS)


@dataclass(frozen=True, slots=True)
class PassQueries:
    """The queries of one engine, as texts. Each has the number of the partition as the parameter `part`.

    Queries on a book of the ledger also have `book`, and return the four numbers of its rows unless the method of
    `DreamPass` that runs them says otherwise. Most other queries have `keys`, a list.
    """

    mark: str
    marks: str
    head: str
    oldest_change: str
    mark_of_change: str
    changes: str
    newest_key: str
    count: str
    texts: str
    atoms: str
    atoms_between: str
    names: str
    given_tags: str
    all_tags: str
    tagged: str
    nodes: str
    keys: str
    sources: str
    linked: str
    used: str
    active: str
    expired_notes: str
    ageing_facts: str
    ledger: str
    by_first: str
    by_second: str
    first_between: str
    second_between: str
    firsts: str
    beside: str
    seconds_up: str
    seconds_down: str


class RunQuery(Protocol):
    """A function that runs a query inside an open transaction and returns its rows."""

    def __call__(self, query: str, /, **given: object) -> list[Any]: ...


class PassEngine(Protocol):
    """The parts of a dream pass that differ by engine: its queries, its transactions, and how it stores records."""

    @property
    def queries(self) -> PassQueries: ...

    def reading(self, work: Callable[[RunQuery], T]) -> T:
        """Runs `work` in one read transaction and returns its result."""

    def writing(self, work: Callable[[RunQuery], T]) -> T:
        """Runs `work` in one write transaction and returns its result."""

    def partition(self, run: RunQuery, scope: Scope) -> int:
        """Returns the number of the partition a scope writes to; before it exists, a number that no partition has."""

    def stored_ids(self, part: int, ids: Sequence[str]) -> list[str]:
        """Returns ids of a partition in the form in which the engine stores them, for the query `PassQueries.keys`."""

    def atoms(self, rows: Iterable[Any]) -> list[Atom]:
        """Converts rows of the queries `atoms` and `atoms_between` to atoms."""

    def names(self, rows: Iterable[Any]) -> Iterable[Named]:
        """Converts rows of the query `names`; a node has one result for each of its names."""

    def facts(self, rows: Iterable[Any]) -> list[Fact]:
        """Converts rows of the query `ageing_facts` to facts."""

    def containing(self, part: int, seen: int, words: Collection[str]) -> set[int] | None:
        """Returns the keys of atoms that contain one of these words, as `DreamPass.containing`, by the text index. None
        if the index cannot tell, or does not yet contain the change number `seen`.
        """

    def put_mark(self, run: RunQuery, part: int, name: str, mark: Mark) -> None:
        """Stores the progress of the dream pass with this name in a partition."""

    def save(self, scope: Scope, part: int, name: str, writes: Writes) -> Saved:
        """Writes the changes of the pass `name` in one transaction, and returns counts of the changed tags."""


CHUNK = 1_000
# Above every number of rows.
_ALL = 2**40
# Make tuples without a Python-level call.
_as_row: Callable[[Iterable[int]], Entry] = partial(tuple.__new__, Entry)
_as_pair: Callable[[Iterable[int]], tuple[int, int]] = partial(tuple.__new__, tuple)


class DreamPass:
    """One pass at work in one partition. It sees the changes logged before it began, not later ones."""

    def __init__(self, engine: PassEngine, scope: Scope, name: str) -> None:
        self.engine = engine
        self.scope = scope
        self.name = name
        self._changed: tuple[Mark, Runs] | None = None
        self.part, self.head = engine.reading(lambda run: (engine.partition(run, scope), self._head(run)))
        found = self._rows(engine.queries.mark, name=name)
        self.seen: int = Mark(*found[0]).upto if found else NOTHING

    def _rows(self, query: str, **given: object) -> list[Any]:
        return self.engine.reading(lambda run: run(query, part=self.part, **given))

    def _of_keys(self, query: str, keys: Collection[Any], **given: object) -> Iterator[Any]:
        """Runs a query for many keys, in chunks, and yields its rows in the order of the keys."""
        ordered = sorted(set(keys))
        for start in range(0, len(ordered), CHUNK):
            yield from self._rows(query, keys=ordered[start : start + CHUNK], **given)

    # --- what changed

    def state(self, version: str) -> Literal["new", "behind", "idle"]:
        """Returns "new" if this version of the pass has processed nothing here, "idle" if nothing has changed in the
        memory since it finished, else "behind".
        """
        mark = self._mark(version)
        if mark.upto == NOTHING:
            return "new"
        last, last_mark = self.head
        # The mark of the last change is 0 if the log was read by all passes and deleted.
        return "idle" if (mark.done, mark.after) == (last, 0) and last_mark in (0, mark.done_mark) else "behind"

    def slice(self, version: str, limit: int, listens: Sequence[str] = (), behind: Mark | None = None) -> Slice | None:
        """Returns the next atoms that changed since the pass last ran, at most about `limit`; None if there are none.

        Changes made by dreams count only if they come from a pass named in `listens`. `behind` is the mark of the
        previous slice, if that is not saved yet.
        """
        mark = behind or self._mark(version)
        continued = mark.upto > mark.done
        if not continued:
            if mark.done == self.head[0]:
                return None
            mark = mark._replace(upto=self.head[0], upto_mark=self.head[1])
        runs = self._remaining(mark, listens)
        if not runs and not continued:
            return None
        atoms, covered = self.engine.reading(lambda run: self._read(run, runs, limit))
        if covered == runs:
            mark = Mark(version, mark.upto, mark.upto_mark, mark.upto, mark.upto_mark, 0)
        else:
            mark = mark._replace(after=covered[-1][1])
        return Slice(atoms, covered, mark, _size(runs) - _size(covered))

    def _remaining(self, mark: Mark, listens: Sequence[str]) -> Runs:
        """Returns the ranges of changed keys that are not processed yet; all keys if the change log cannot tell."""
        stage = mark._replace(after=0)
        if self._changed is None or self._changed[0] != stage:
            runs = self.engine.reading(lambda run: self._logged(run, mark, listens))
            if runs is None:
                runs = [(1, self._rows(self.engine.queries.newest_key)[0][0] or 0)]
            self._changed = (stage, runs)
        return [(max(low, mark.after + 1), high) for low, high in self._changed[1] if high > mark.after]

    def _read(self, run: RunQuery, runs: Runs, limit: int) -> tuple[list[Atom], Runs]:
        """Returns up to `limit` atoms of these key ranges, and the part of the ranges that was read."""
        if _size(runs) <= min(limit, CHUNK):
            keys = [key for low, high in runs for key in range(low, high + 1)]
            return self.engine.atoms(run(self.engine.queries.atoms, part=self.part, keys=keys)), runs
        atoms: list[Atom] = []
        covered: Runs = []
        for low, high in runs:
            room = limit - len(atoms)
            if room <= 0:
                break
            rows = run(self.engine.queries.atoms_between, part=self.part, low=low, high=high, limit=room)
            atoms += self.engine.atoms(rows)
            covered.append((low, atoms[-1].key if len(rows) == room else high))
        return atoms, covered

    def _head(self, run: RunQuery) -> tuple[int, int]:
        """Returns the number of the last logged change, and its random mark (0 if it is no longer in the log)."""
        found = run(self.engine.queries.head)
        return (found[0][0], found[0][1] or 0) if found else (0, 0)

    def _mark(self, version: str) -> Mark:
        """Returns the stored progress of the pass; if it never ran in this version, that of a pass that did nothing."""
        found = self._rows(self.engine.queries.mark, name=self.name)
        return Mark(*found[0]) if found and found[0][0] == version else unbegun(version)

    def _logged(self, run: RunQuery, mark: Mark, listens: Sequence[str]) -> Runs | None:
        """Returns the ranges of keys that the log names for the changes after `done` up to `upto`, merged.

        Returns None if the log no longer reaches back to `done`, or if its random marks show another history of the
        memory.
        """
        queries = self.engine.queries
        oldest = run(queries.oldest_change)[0][0]
        if mark.done == NOTHING or oldest is None or oldest > mark.done + 1:
            return None if mark.done < mark.upto else []
        for seq, known in ((mark.done, mark.done_mark), (mark.upto, mark.upto_mark)):
            if any(there != known for (there,) in run(queries.mark_of_change, seq=seq)):
                return None
        return joined(run(queries.changes, done=mark.done, upto=mark.upto, listens=list(listens)))

    def skip_dreamt(self, listens: Mapping[str, Sequence[str]]) -> None:
        """Advances the marks of finished passes over changes that dreams made here, so that the next dream need not
        read them.

        A mark stays if the pass must process one of the changes: those of users, and those of the passes that `listens`
        gives under its name.
        """

        def work(run: RunQuery) -> None:
            last, last_mark = self._head(run)
            for row in run(self.engine.queries.marks, part=self.part):
                name, mark = row[0], Mark(*row[1:])
                now = Mark(mark.version, last, last_mark, last, last_mark, 0)
                since = now._replace(done=mark.done, done_mark=mark.done_mark)
                if mark.done == mark.upto < last and self._logged(run, since, listens.get(name, ())) == []:
                    self.engine.put_mark(run, self.part, name, now)

        self.engine.writing(work)

    # --- nodes

    def count(self) -> int:
        """Returns the number of atoms in the partition, for progress reports."""
        return int(self._rows(self.engine.queries.count)[0][0])

    def texts(self, after: int, limit: int) -> list[tuple[int, str]]:
        """Returns (key, text) of the next `limit` atoms with keys above `after`, by key."""
        return [(key, text) for key, text in self._rows(self.engine.queries.texts, after=after, limit=limit)]

    def containing(self, words: Collection[str]) -> set[int] | None:
        """Returns the keys of atoms that contain one of these names as whole words, and possibly of a few others; None
        if the text index cannot tell. Atoms that changed since the last run of the pass may be missing.
        """
        return self.engine.containing(self.part, self.seen, words) if all(map(is_findable, words)) else None

    def atoms(self, keys: Collection[int]) -> list[Atom]:
        """Returns the atoms with these keys, by key."""
        return self.engine.atoms(self._of_keys(self.engine.queries.atoms, keys))

    def names(self) -> list[Named]:
        """Returns every name of every node in the partition, by name and id, except of nodes that only dreams make."""
        return sorted(self.engine.names(self._rows(self.engine.queries.names)), key=itemgetter(0, 2))

    def tags(self) -> list[str]:
        """Returns, sorted, the names of the tags that people, files or rules gave to nodes of the partition; without
        temporal tags, tags that dreams spread, and the tags of quarantined nodes.
        """
        return sorted(name for (name,) in self._rows(self.engine.queries.given_tags))

    def tagged(self, hashes: Collection[int]) -> list[int]:
        """Returns the keys of atoms with a tag whose name has one of these hashes (`ledger_hash`)."""
        tags = self._rows(self.engine.queries.all_tags) if hashes else []
        found = [tag for tag, name in tags if ledger_hash(name) in hashes]
        return sorted({key for (key,) in self._of_keys(self.engine.queries.tagged, found)})

    def nodes(self, keys: Collection[int]) -> dict[int, NodeOutline]:
        """Returns the nodes of this partition with these keys, by key. Unknown keys are absent."""
        return {row[0]: NodeOutline(*row[1:]) for row in self._of_keys(self.engine.queries.nodes, keys)}

    def keys(self, ids: Collection[str]) -> dict[str, int]:
        """Returns the keys of the nodes in this partition with these ids, by id. Unknown ids are absent."""
        return dict(self._of_keys(self.engine.queries.keys, self.engine.stored_ids(self.part, sorted(ids))))

    def sources(self, keys: Collection[int]) -> dict[int, int]:
        """Returns, by the key of each atom that came from a file, the key of that file's source node."""
        return dict(self._of_keys(self.engine.queries.sources, keys))

    def linked(self, keys: Collection[int]) -> set[tuple[int, int]]:
        """Returns the keys (atom, node) of each edge that a write, not a dream, made from one of these atoms to a node
        because the text of the atom names it: in a wikilink or in its words.
        """
        return set(map(_as_pair, self._of_keys(self.engine.queries.linked, keys)))

    def used(self, before: int, after: int, limit: int) -> list[Living]:
        """Returns the next `limit` nodes above the key `after` that have a usage record and were neither used nor
        decayed since the time `before`, each with that record, in the order of their keys.
        """
        found = self._rows(self.engine.queries.used, before=before, after=after, limit=limit)
        return [Living(row[0], row[1], row[2], row[3], Life(*row[4:])) for row in found]

    def active_in(self, book: Book) -> list[int]:
        """Returns the keys of people, concepts and entities in the state active or core that are the second number of a
        row in a ledger book.
        """
        return sorted(key for (key,) in self._rows(self.engine.queries.active, book=int(book)))

    def expired_notes(self, now: int, limit: int) -> list[str]:
        """Returns the ids of up to `limit` notes that expired at `now` or before, those that expired first in front."""
        return [id_ for (id_,) in self._rows(self.engine.queries.expired_notes, now=now, limit=limit)]

    def ageing_facts(self, before: int, after: str, limit: int) -> list[Fact]:
        """Returns the next `limit` staged or confirmed facts with ids above `after` that may change by age: staged and
        used at least three times, of confidence below 0.2, or unused since `before`.
        """
        return self.engine.facts(self._rows(self.engine.queries.ageing_facts, before=before, after=after, limit=limit))

    # --- the ledger

    def all(self, book: Book, limit: int | None = None) -> list[Entry]:
        """Returns the rows of a ledger book (table), sorted by first and second number; at most `limit`."""
        found = self._rows(self.engine.queries.ledger, book=int(book), limit=_ALL if limit is None else limit)
        return list(map(_as_row, found))

    def by_first(self, book: Book, firsts: Collection[int]) -> list[Entry]:
        """Returns the rows of a ledger book (table) whose first number is one of these."""
        return list(map(_as_row, self._of_keys(self.engine.queries.by_first, firsts, book=int(book))))

    def by_second(self, book: Book, seconds: Collection[int], each: int | None = None) -> list[Entry]:
        """Returns the rows of a ledger book (table) whose second number is one of these; at most `each` per number."""
        most = _ALL if each is None else each
        return list(map(_as_row, self._of_keys(self.engine.queries.by_second, seconds, book=int(book), limit=most)))

    def within(self, book: Book, runs: Collection[tuple[int, int]]) -> list[Entry]:
        """Returns the rows of a ledger book (table) whose first number lies in one of these ranges, ends included."""
        return list(map(_as_row, self._of_keys(self.engine.queries.first_between, runs, book=int(book))))

    def between(self, book: Book, low: int, high: int) -> list[Entry]:
        """Returns the rows of a ledger book whose second number is from `low` to `high`, by second and first number."""
        return list(map(_as_row, self._rows(self.engine.queries.second_between, book=int(book), low=low, high=high)))

    def firsts(self, book: Book, seconds: Collection[int]) -> dict[int, list[int]]:
        """Returns, by second number, the first numbers of all rows of a ledger book that have one of these second
        numbers. Second numbers without a row are absent.
        """
        # A list per number rather than a row per pair: common names have hundreds of rows. SQLite returns it as JSON.
        found = self._of_keys(self.engine.queries.firsts, seconds, book=int(book))
        return {second: json.loads(some) if isinstance(some, str) else some for second, some in found}

    def beside(self, book: Book, seconds: Collection[int]) -> list[tuple[int, int]]:
        """Returns (first, second) of the rows of a ledger book that share their first number with a row that has one of
        these second numbers.

        In the book ATOM_NAMES this gives, for some nodes, every node that is named in the same atoms.
        """
        return list(map(_as_pair, self._rows(self.engine.queries.beside, book=int(book), keys=sorted(seconds))))

    def seconds(self, book: Book, start: int, backwards: bool, limit: int) -> list[int]:
        """Returns distinct second numbers of a ledger book's rows, from `start` upwards or (`backwards`) downwards."""
        query = self.engine.queries.seconds_down if backwards else self.engine.queries.seconds_up
        return [second for (second,) in self._rows(query, book=int(book), start=start, limit=limit)]

    def save(self, writes: Writes) -> Saved:
        """Writes all changes of the pass in one transaction, and returns counts of the changed tags."""
        return self.engine.save(self.scope, self.part, self.name, writes)


def joined(runs: Iterable[tuple[int, int]]) -> Runs:
    """Returns the key ranges in order; ranges that touch or overlap are merged."""
    found: Runs = []
    for low, high in sorted(map(_as_pair, runs)):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return found


def _size(runs: Runs) -> int:
    return sum(high - low + 1 for low, high in runs)


class Dreams(Protocol):
    """The part of the engine protocol that dreams use."""

    def single_dream(self, dry_run: bool = False) -> AbstractContextManager[Self | None]:
        """Takes the dream lock and yields the store for a dream; yields None if another dream runs.

        In a dry run, the yielded store is a copy or a transaction, and none of its changes is kept. The lock of a
        process that was killed is released.
        """

    def partitions(self, scope: Scope | None) -> list[Scope]:
        """Returns the partitions of this user, or of all users (None), each as the scope that writes to it."""

    def dream_pass(self, scope: Scope, name: str) -> DreamPass:
        """Returns the pass of this name, to run in the partition that the scope writes to."""
