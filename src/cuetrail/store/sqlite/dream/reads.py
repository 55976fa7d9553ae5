"""The dream pass on SQLite: changes of one partition since the pass last ran, what passes read, and their ledger."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from cuetrail.model import DATE_ONLY, Fact, Scope, Tag, Where
from cuetrail.model.ids import ledger_hash
from cuetrail.model.lifecycle import SEMANTIC_KINDS
from cuetrail.store.dream import (
    DREAMT,
    NOTHING,
    Atom,
    Book,
    Brief,
    Living,
    Mark,
    Named,
    Row,
    Saved,
    Slice,
    Writes,
    unbegun,
)
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.changelog import head, joined, mark_of
from cuetrail.store.sqlite.connection import CHUNK, Database, chunks, marks, own_part
from cuetrail.store.sqlite.dream import writes as dreamwrite
from cuetrail.store.sqlite.index.text.text_index import TextIndex
from cuetrail.store.sqlite.index.text.text_search import TextSearch
from cuetrail.store.sqlite.read import facts
from cuetrail.store.sqlite.schema import IS_FOUND, IS_NAMED
from cuetrail.store.sqlite.write import usage
from cuetrail.text.normalise import is_findable, names_of

Runs = list[tuple[int, int]]

# Above every key.
END = 2**62
_NONE = frozenset[str]()
# Dreams leave out quarantined nodes.
_ATOMS = "n.part = ? AND n.kind = 'atom' AND n.provenance <> 'quarantine'"
# The columns of a node in the order of its checksum, and the path of its file.
_ROWS = "SELECT n.*, s.path FROM nodes n LEFT JOIN sources s ON s.source = n.source"
_LEDGER = "SELECT first, second, third, fourth FROM ledger WHERE part = ? AND book = ?"
# Without the hint SQLite would read the whole book from the table.
_BY_SECOND = _LEDGER.replace("ledger", "ledger INDEXED BY ledger_by_second")
# Makes a row of four numbers without a Python-level call.
_as_row: Callable[[Iterable[int]], Row] = partial(tuple.__new__, Row)
_as_named: Callable[[Iterable[Any]], Named] = partial(tuple.__new__, Named)
# In the terms of the index, which covers the query: no row of the table is read.
NAMED = (
    f"SELECT key, id, kind, name, aliases, {IS_FOUND} FROM nodes INDEXED BY nodes_named"
    f" WHERE part + 0 = ? AND {IS_NAMED} AND provenance <> 'quarantine' AND kind NOT IN ({marks(len(DREAMT))})"
)


class LocalDreaming:
    """One dream pass in one partition."""

    def __init__(self, db: Database, index: TextIndex, scope: Scope, name: str) -> None:
        self.db = db
        self.index = index
        self.scope = scope
        self.name = name
        self._tags: dict[str, Tag] = {}
        self._runs: tuple[Mark, Runs] | None = None
        with db.reading() as view:
            found = view.execute(
                "SELECT part FROM parts WHERE tenant = ? AND owner = ? AND team = ?",
                (scope.tenant, scope.user, scope.share or ""),
            ).fetchone()
            # No partition has this number, so nothing is read before the first write.
            self.part: int = found[0] if found else -1
            self.head = head(view)
            self.head_mark = mark_of(view, self.head) or 0
            seen = view.execute("SELECT upto FROM dreams WHERE part = ? AND pass = ?", (self.part, name)).fetchone()
            self.seen: int = seen[0] if seen else NOTHING

    def rest(self, listens: Mapping[str, Sequence[str]]) -> None:
        """Lets finished passes count the changes that dreams made here as seen, except those that `listens` names."""
        with self.db.writing() as db:
            _rest(db, self.scope, listens)

    # --- what changed

    def begun(self, version: str) -> bool:
        """True if this version of the pass has processed anything here."""
        with self.db.reading() as db:
            return _mark(db, self.part, self.name, version).upto != NOTHING

    def idle(self, version: str) -> bool:
        """True if nothing has changed in this memory since the pass finished."""
        with self.db.reading() as db:
            mark = _mark(db, self.part, self.name, version)
        # The mark is unknown if the log was read by all passes and deleted.
        return (mark.done, mark.after) == (self.head, 0) and self.head_mark in (0, mark.done_mark)

    def slice(self, version: str, limit: int, listens: Sequence[str] = (), behind: Mark | None = None) -> Slice | None:
        """Returns the next atoms that changed since the pass last ran, None if there are none.

        Changes made by dreams count only if they come from a pass that this one `listens` to. `behind` is the mark of
        the previous slice if that is not saved yet.
        """
        with self.db.reading() as db:
            mark = behind or _mark(db, self.part, self.name, version)
            continued = mark.upto > mark.done
            if not continued:
                if mark.done == self.head:
                    return None
                mark = mark._replace(upto=self.head, upto_mark=self.head_mark)
            runs = self._changed(db, mark, listens)
            if not runs and not continued:
                return None
            atoms, covered = self._read(db, runs, limit)
        left = sum(high - low + 1 for low, high in runs) - sum(high - low + 1 for low, high in covered)
        if covered == runs:
            mark = Mark(version, mark.upto, mark.upto_mark, mark.upto, mark.upto_mark, 0)
        else:
            mark = mark._replace(after=covered[-1][1])
        return Slice(atoms, covered, mark, left)

    def _changed(self, db: sqlite3.Connection, mark: Mark, listens: Sequence[str]) -> Runs:
        """Returns the ranges of keys that remain to be processed."""
        stage = mark._replace(after=0)
        if self._runs is None or self._runs[0] != stage:
            newest = db.execute("SELECT max(key) FROM nodes").fetchone()[0] or 0
            known = _logged(db, mark, listens)
            self._runs = (stage, [(1, newest)] if known is None else known)
        return [(max(low, mark.after + 1), high) for low, high in self._runs[1] if high > mark.after]

    def _read(self, db: sqlite3.Connection, runs: Runs, limit: int) -> tuple[list[Atom], Runs]:
        """Returns up to `limit` atoms of these ranges, and the ranges as far as they were read."""
        if sum(high - low + 1 for low, high in runs) <= min(limit, CHUNK):
            keys = [key for low, high in runs for key in range(low, high + 1)]
            query = f"{_ROWS} WHERE {_ATOMS} AND n.key IN ({marks(len(keys))}) ORDER BY n.key"
            return [self._atom(row) for row in db.execute(query, (self.part, *keys))], runs
        atoms: list[Atom] = []
        covered: Runs = []
        query = f"{_ROWS} WHERE {_ATOMS} AND n.key BETWEEN ? AND ? ORDER BY n.key LIMIT ?"
        for low, high in runs:
            room = limit - len(atoms)
            if room <= 0:
                break
            found = [self._atom(row) for row in db.execute(query, (self.part, low, high, room))]
            atoms += found
            covered.append((low, found[-1].key if len(found) == room else high))
        return atoms, covered

    # --- nodes

    def count(self) -> int:
        """Returns the approximate number of atoms, for progress reports."""
        with self.db.reading() as db:
            return int(db.execute(f"SELECT count(*) FROM nodes n WHERE {_ATOMS}", (self.part,)).fetchone()[0])

    def texts(self, after: int, limit: int) -> list[tuple[int, str]]:
        """Returns (key, text) of the next atoms after a key."""
        query = f"SELECT n.key, n.text FROM nodes n WHERE {_ATOMS} AND n.key > ? ORDER BY n.key LIMIT ?"
        with self.db.reading() as db:
            return db.execute(query, (self.part, after, limit)).fetchall()

    def holding(self, names: Collection[str]) -> set[int] | None:
        """Returns the keys of atoms that contained one of these names as whole words when the pass last ran, and
        possibly of a few others; None if the index cannot tell.
        """
        view = self.index.at_hand(self.seen)
        if view is None or not all(map(is_findable, names)):
            return None
        where = Where(kinds=("atom",), quarantined=True, archived=True)
        return TextSearch(view, self.index.analyser, [self.part], where).saying(names)

    def atoms(self, keys: Collection[int]) -> list[Atom]:
        """Returns the atoms of this partition with these keys, by key."""
        found: list[Atom] = []
        with self.db.reading() as db:
            for some in chunks(sorted(keys)):
                query = f"{_ROWS} WHERE {_ATOMS} AND n.key IN ({marks(len(some))}) ORDER BY n.key"
                found += [self._atom(row) for row in db.execute(query, (self.part, *some))]
        return found

    def _atom(self, row: tuple[Any, ...]) -> Atom:
        items = rows.packed_tags(row[8]) if row[8] else None
        tags = tuple([self._tag(item) for item in items]) if items else ()
        key, id_, text, at, props, path = row[0], row[2], row[5], row[11], row[14], row[19]
        if props is None:
            return Atom(key, id_, text, at, path, tags, _NONE, row)
        is_day = f'"{DATE_ONLY}"' in props and json.loads(props).get(DATE_ONLY) is True
        return Atom(key, id_, text, at, path, tags, _borrowed(props), row, is_day)

    def _tag(self, item: str) -> Tag:
        """Unpacks a tag; each is made once, because few tags occur very often."""
        tag = self._tags.get(item)
        if tag is None:
            tag = self._tags[item] = rows.unpack_tag(item)
        return tag

    def names(self) -> list[Named]:
        """Returns every name, of at least one word, of a node in this partition, by name and id."""
        with self.db.reading() as db:
            rows = db.execute(NAMED, (self.part, *DREAMT)).fetchall()
        found = [
            _as_named((norm, key, id_, kind, name, bool(is_found)))
            for key, id_, kind, name, aliases, is_found in rows
            for norm in names_of(name, json.loads(aliases) if aliases else ())
        ]
        return sorted(found, key=itemgetter(0, 2))

    def tags(self) -> list[str]:
        """Returns the tags that people, files or rules gave; not temporal tags nor those spread from other texts."""
        with self.db.reading() as db:
            query = "SELECT name FROM given_tags WHERE part = ? ORDER BY name"
            return [name for (name,) in db.execute(query, (self.part,))]

    def carriers(self, tags: Collection[int]) -> list[int]:
        """Returns the keys of atoms here with a tag whose name has one of these hashes."""
        found: set[int] = set()
        if not tags:
            return []
        query = f"SELECT n.key FROM node_labels x JOIN nodes n ON n.key = x.key WHERE x.label = ? AND {_ATOMS}"
        with self.db.reading() as db:
            labels = db.execute("SELECT label, name FROM labels WHERE what = 't'")
            for label in [label for label, name in labels if ledger_hash(name) in tags]:
                found.update(key for (key,) in db.execute(query, (label, self.part)))
        return sorted(found)

    def nodes(self, keys: Collection[int]) -> dict[int, Brief]:
        """Returns the nodes of this partition with these keys."""
        found: dict[int, Brief] = {}
        with self.db.reading() as db:
            for some in chunks(sorted(keys)):
                query = (
                    "SELECT n.key, n.id, n.kind, n.at, s.path FROM nodes n LEFT JOIN sources s ON s.source = n.source"
                    f" WHERE n.part = ? AND n.key IN ({marks(len(some))})"
                )
                found.update((row[0], Brief(*row[1:])) for row in db.execute(query, (self.part, *some)))
        return found

    def keys(self, ids: Collection[str]) -> dict[str, int]:
        """Returns the keys of nodes in this partition with these ids."""
        found: dict[str, int] = {}
        with self.db.reading() as db:
            for some in chunks(sorted(ids)):
                query = f"SELECT id, key FROM nodes WHERE part = ? AND id IN ({marks(len(some))})"
                found.update(db.execute(query, (self.part, *some)).fetchall())
        return found

    def sources(self, keys: Collection[int]) -> dict[int, int]:
        """Returns, for atoms that came from a file, the key of that file's node."""
        found: dict[int, int] = {}
        with self.db.reading() as db:
            for some in chunks(sorted(keys)):
                query = (
                    "SELECT n.key, t.key FROM nodes n JOIN nodes t ON t.source = n.source AND t.seq = -1"
                    f" WHERE t.kind = 'source' AND t.part = ? AND n.key IN ({marks(len(some))}) ORDER BY t.key DESC"
                )
                found.update(db.execute(query, (self.part, *some)).fetchall())
        return found

    def joined(self, keys: Collection[int]) -> set[tuple[int, int]]:
        """Returns the (atom, node) pairs for which ingest made an edge from a name or link in the atom."""
        found: set[tuple[int, int]] = set()
        with self.db.reading() as db:
            for some in chunks(sorted(keys)):
                query = (
                    "SELECT a.node, a.other FROM adjacency a JOIN edges e ON e.key = a.edge"
                    f" WHERE a.node IN ({marks(len(some))}) AND a.outgoing = 1 AND a.part = ? AND e.via LIKE 'name:%'"
                )
                found.update(db.execute(query, (*some, self.part)).fetchall())
        return found

    def lives(self, before: int, after: int, limit: int) -> list[Living]:
        """Returns the next nodes after a key whose usage state is not that of a new node and was last updated before a
        time.
        """
        with self.db.reading() as db:
            return usage.living(db, self.part, before, after, limit)

    def awake(self, book: Book) -> list[int]:
        """Returns the keys of used people, concepts and entities that are the second number of a row in a book."""
        query = (
            "SELECT f.key FROM life f CROSS JOIN nodes n ON n.key = f.key WHERE f.state IN ('active', 'core')"
            f" AND n.part = ? AND n.kind IN ({marks(len(SEMANTIC_KINDS))}) AND n.provenance <> 'quarantine'"
            " AND EXISTS (SELECT 1"
            " FROM ledger INDEXED BY ledger_by_second WHERE part = n.part AND book = ? AND second = f.key)"
            " ORDER BY f.key"
        )
        with self.db.reading() as db:
            return [key for (key,) in db.execute(query, (self.part, *SEMANTIC_KINDS, book))]

    def expired(self, now: int, limit: int) -> list[str]:
        """Returns the ids of expired notes in this partition, in order."""
        query = "SELECT id FROM notes WHERE part = ? AND expires <= ? ORDER BY expires, id LIMIT ?"
        with self.db.reading() as db:
            return [id_ for (id_,) in db.execute(query, (self.part, now, limit))]

    def ageing(self, before: int, after: str, limit: int) -> list[Fact]:
        """Returns active facts after this id that may be promoted or retracted."""
        with self.db.reading() as db:
            return facts.ageing(db, self.part, before, after, limit)

    # --- the ledger

    def by_first(self, book: Book, firsts: Collection[int]) -> list[Row]:
        """Returns the rows with one of these first numbers."""
        found: list[Row] = []
        with self.db.reading() as db:
            for some in chunks(sorted(firsts)):
                query = f"{_LEDGER} AND first IN ({marks(len(some))})"
                found += map(_as_row, db.execute(query, (self.part, book, *some)))
        return found

    def by_second(self, book: Book, seconds: Collection[int], each: int | None = None) -> list[Row]:
        """Returns the rows with one of these second numbers; at most `each` per number."""
        found: list[Row] = []
        query = f"{_BY_SECOND} AND second = ? LIMIT ?"
        # Most phrases of a text occur nowhere else: one query finds which have rows at all.
        there = (
            "SELECT j.value FROM json_each(?3) j WHERE EXISTS (SELECT 1 FROM ledger INDEXED BY ledger_by_second"
            " WHERE part = ?1 AND book = ?2 AND second = j.value)"
        )
        with self.db.reading() as db:
            for (second,) in db.execute(there, (self.part, book, json.dumps(sorted(seconds)))).fetchall():
                rows = db.execute(query, (self.part, book, second, -1 if each is None else each))
                found += map(_as_row, rows)
        return found

    def firsts(self, book: Book, seconds: Collection[int]) -> dict[int, list[int]]:
        """Returns the first numbers of the rows with each of these second numbers."""
        # A list per number rather than a row per pair: common names have hundreds of rows.
        query = (
            "SELECT second, json_group_array(first) FROM ledger INDEXED BY ledger_by_second"
            " WHERE part = ? AND book = ? AND second IN (SELECT value FROM json_each(?)) GROUP BY second"
        )
        with self.db.reading() as db:
            found = db.execute(query, (self.part, book, json.dumps(sorted(seconds))))
            return {second: json.loads(firsts) for second, firsts in found}

    def beside(self, book: Book, seconds: Collection[int]) -> list[tuple[int, int]]:
        """Returns (first, second) of every row whose first number also occurs in a row with one of these second
        numbers.
        """
        query = (
            "SELECT first, second FROM ledger WHERE part = ?1 AND book = ?2 AND first IN ("
            "SELECT first FROM ledger INDEXED BY ledger_by_second WHERE part = ?1 AND book = ?2"
            " AND second IN (SELECT value FROM json_each(?3))) ORDER BY first, second"
        )
        with self.db.reading() as db:
            return db.execute(query, (self.part, book, json.dumps(sorted(seconds)))).fetchall()

    def within(self, book: Book, runs: Sequence[tuple[int, int]]) -> list[Row]:
        """Returns the rows whose first number lies in one of these ranges."""
        found: list[Row] = []
        with self.db.reading() as db:
            for run in runs:
                found += map(_as_row, db.execute(f"{_LEDGER} AND first BETWEEN ? AND ?", (self.part, book, *run)))
        return found

    def between(self, book: Book, low: int, high: int) -> list[Row]:
        """Returns the rows whose second number lies from `low` to `high`, by second and first number."""
        with self.db.reading() as db:
            query = f"{_BY_SECOND} AND second BETWEEN ? AND ? ORDER BY second, first"
            return [Row(*row) for row in db.execute(query, (self.part, book, low, high))]

    def seconds(self, book: Book, start: int, backwards: bool, limit: int) -> list[int]:
        """Returns the distinct second numbers from `start` upwards, or downwards."""
        sign, order = ("<=", "DESC") if backwards else (">=", "ASC")
        query = (
            "SELECT DISTINCT second FROM ledger WHERE part = ? AND book = ?"
            f" AND second {sign} ? ORDER BY second {order} LIMIT ?"
        )
        with self.db.reading() as db:
            return [second for (second,) in db.execute(query, (self.part, book, start, limit))]

    def all(self, book: Book, limit: int | None = None) -> list[Row]:
        """Returns the rows of a book, by first and second number."""
        with self.db.reading() as db:
            found = db.execute(
                f"{_LEDGER} ORDER BY first, second LIMIT ?", (self.part, book, -1 if limit is None else limit)
            )
            return list(map(_as_row, found))

    # --- writing

    def save(self, writes: Writes) -> Saved:
        """Writes all changes in one transaction."""
        with self.db.writing() as db:
            return dreamwrite.save(db, self.db.path, self.scope, self.part, self.name, writes)


def _rest(db: sqlite3.Connection, scope: Scope, listens: Mapping[str, Sequence[str]]) -> None:
    """Lets finished passes count the changes that dreams made as seen, so that the next dream has nothing to read."""
    part = own_part(db, scope)
    last, mark_there = head(db), mark_of(db, head(db)) or 0
    for name, version in db.execute("SELECT pass, version FROM dreams WHERE part = ?", (part,)).fetchall():
        mark = _mark(db, part, name, version)
        now = Mark(version, last, mark_there, last, mark_there, 0)
        if (
            mark.done == mark.upto < last
            and _logged(db, now._replace(done=mark.done, done_mark=mark.done_mark), listens.get(name, ())) == []
        ):
            dreamwrite.put_mark(db, part, name, now)


def _mark(db: sqlite3.Connection, part: int, name: str, version: str) -> Mark:
    """Returns the progress of the pass; the very beginning if it never ran, or ran in another version."""
    query = "SELECT version, done, done_mark, upto, upto_mark, after FROM dreams WHERE part = ? AND pass = ?"
    row = db.execute(query, (part, name)).fetchone()
    return Mark(*row) if row and row[0] == version else unbegun(version)


def _logged(db: sqlite3.Connection, mark: Mark, listens: Sequence[str]) -> Runs | None:
    """Returns the ranges of keys that changed from `done` to `upto`, merged; None if the log cannot tell."""
    oldest = db.execute("SELECT min(seq) FROM changes").fetchone()[0]
    if mark.done == NOTHING or oldest is None or oldest > mark.done + 1:
        return None if mark.done < mark.upto else []
    if mark_of(db, mark.done) not in (None, mark.done_mark) or mark_of(db, mark.upto) not in (None, mark.upto_mark):
        return None
    query = (
        "SELECT low, high FROM changes WHERE seq > ? AND seq <= ? AND vectors_only = 0"
        f" AND (dreamt IS NULL OR dreamt IN ({marks(len(listens))})) ORDER BY low"
    )
    return joined(db.execute(query, (mark.done, mark.upto, *listens)))


def _borrowed(props: str) -> frozenset[str]:
    if '"near"' not in props:
        return _NONE
    noted = json.loads(props).get("near")
    return frozenset(noted["tags"]) if isinstance(noted, dict) and "tags" in noted else _NONE
