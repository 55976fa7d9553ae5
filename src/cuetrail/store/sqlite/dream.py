"""Dreams on SQLite: the queries of a dream pass, how it writes tags and its ledger, and copies for dry runs."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from cuetrail.errors import InputError
from cuetrail.model import DATE_ONLY, Fact, Scope, Tag, Where
from cuetrail.model.records import SEMANTIC_KINDS
from cuetrail.store.dream import (
    DREAM_KINDS,
    Atom,
    Book,
    Entry,
    Mark,
    Named,
    PassQueries,
    RunQuery,
    Saved,
    Writes,
)
from cuetrail.store.shared.write_order import write_batch
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.changelog import log_changes
from cuetrail.store.sqlite.connection import Database, another_version, chunks, damaged, marks
from cuetrail.store.sqlite.index.text_index import TextIndex
from cuetrail.store.sqlite.index.text_search import TextSearch
from cuetrail.store.sqlite.schema import IS_FOUND, IS_NAMED
from cuetrail.store.sqlite.write import usage
from cuetrail.store.sqlite.write.labels import collect_labels, count_given, label_ids, put_carriers
from cuetrail.store.sqlite.write.transaction import SqliteTransaction
from cuetrail.store.write import Batch
from cuetrail.text.normalise import names_of

T = TypeVar("T")
Relabelled = Sequence[tuple[Atom, tuple[Tag, ...]]]

_PREFIX = ".rehearsal-"
_NO_TAGS = frozenset[str]()
# Dreams leave out quarantined nodes. A source that was added with a text of its own is read as an atom is.
_ATOMS = "n.part = :part AND (n.kind = 'atom' OR (n.kind = 'source' AND n.text <> '')) AND n.provenance <> 'quarantine'"
# The columns of a node in the order of its checksum, and the path of its file.
_ROWS = "SELECT n.*, s.path FROM nodes n LEFT JOIN sources s ON s.source = n.source"
# A cross join keeps the order of the keys, and looks each up.
_KEYS = "json_each(:keys) j CROSS JOIN"
_MARK = "version, done, done_mark, upto, upto_mark, after FROM dreams WHERE part = :part"
_NUMBERS = "SELECT l.first, l.second, l.third, l.fourth FROM"
_BOOK = "l.part = :part AND l.book = :book"
_LEDGER = f"{_NUMBERS} ledger l WHERE {_BOOK}"
# Without the hint SQLite would read the whole book from the table.
_BY_SECOND = "ledger l INDEXED BY ledger_by_second"
_SECONDS = f"SELECT DISTINCT l.second FROM ledger l WHERE {_BOOK} AND l.second"
# The scalar max is NULL if one argument is.
_SETTLED = "coalesce(max(l.last_access, l.last_decay), l.last_access, l.last_decay, n.created)"


def _listed(kinds: Iterable[str]) -> str:
    return ", ".join(f"'{kind}'" for kind in kinds)


QUERIES = PassQueries(
    mark=f"SELECT {_MARK} AND pass = :name",
    marks=f"SELECT pass, {_MARK}",
    head=(
        "SELECT s.seq, (SELECT mark FROM changes c WHERE c.seq = s.seq) FROM sqlite_sequence s WHERE name = 'changes'"
    ),
    oldest_change="SELECT min(seq) FROM changes",
    mark_of_change="SELECT mark FROM changes WHERE seq = :seq",
    changes=(
        "SELECT low, high FROM changes WHERE seq > :done AND seq <= :upto AND vectors_only = 0"
        " AND (dreamt IS NULL OR dreamt IN (SELECT value FROM json_each(:listens)))"
    ),
    newest_key="SELECT max(key) FROM nodes",
    count=f"SELECT count(*) FROM nodes n WHERE {_ATOMS}",
    texts=f"SELECT n.key, n.text FROM nodes n WHERE {_ATOMS} AND n.key > :after ORDER BY n.key LIMIT :limit",
    atoms=f"{_ROWS.replace('FROM', f'FROM {_KEYS}', 1)} WHERE n.key = j.value AND {_ATOMS}",
    atoms_between=f"{_ROWS} WHERE {_ATOMS} AND n.key BETWEEN :low AND :high ORDER BY n.key LIMIT :limit",
    # In the terms of the index, which covers the query: no row of the table is read.
    names=(
        f"SELECT key, id, kind, name, aliases, {IS_FOUND} FROM nodes INDEXED BY nodes_named"
        f" WHERE part + 0 = :part AND {IS_NAMED} AND provenance <> 'quarantine'"
        f" AND kind NOT IN ({_listed(DREAM_KINDS)})"
    ),
    given_tags="SELECT name FROM given_tags WHERE part = :part",
    all_tags="SELECT label, name FROM labels WHERE what = 't'",
    tagged=(
        f"SELECT n.key FROM {_KEYS} node_labels x CROSS JOIN nodes n"
        f" WHERE x.label = j.value AND n.key = x.key AND {_ATOMS}"
    ),
    nodes=(
        f"SELECT n.key, n.id, n.kind, n.at, s.path FROM {_KEYS} nodes n LEFT JOIN sources s ON s.source = n.source"
        " WHERE n.key = j.value AND n.part = :part"
    ),
    keys=f"SELECT n.id, n.key FROM {_KEYS} nodes n WHERE n.id = j.value AND n.part = :part",
    sources=(
        f"SELECT n.key, min(t.key) FROM {_KEYS} nodes n CROSS JOIN nodes t WHERE n.key = j.value"
        " AND t.source = n.source AND t.seq = -1 AND t.kind = 'source' AND t.part = :part GROUP BY n.key"
    ),
    linked=(
        f"SELECT a.node, a.other FROM {_KEYS} adjacency a CROSS JOIN edges e WHERE a.node = j.value"
        " AND a.outgoing = 1 AND a.part = :part AND e.key = a.edge AND e.via LIKE 'name:%'"
    ),
    used=(
        f"SELECT l.key, n.id, n.kind, n.created, {', '.join(f'l.{name}' for name in rows.LIFE.split(', '))}"
        " FROM life l CROSS JOIN nodes n ON n.key = l.key"
        f" WHERE l.key > :after AND n.part = :part AND {_SETTLED} < :before ORDER BY l.key LIMIT :limit"
    ),
    active=(
        "SELECT f.key FROM life f CROSS JOIN nodes n ON n.key = f.key WHERE f.state IN ('active', 'core')"
        f" AND n.part = :part AND n.kind IN ({_listed(SEMANTIC_KINDS)}) AND n.provenance <> 'quarantine'"
        f" AND EXISTS (SELECT 1 FROM {_BY_SECOND} WHERE {_BOOK} AND l.second = f.key)"
    ),
    expired_notes="SELECT id FROM notes WHERE part = :part AND expires <= :now ORDER BY expires, id LIMIT :limit",
    ageing_facts=(
        f"{rows.FACT} WHERE f.id > :after AND f.part = :part AND f.status IN ('staged', 'confirmed')"
        " AND (f.status = 'staged' AND f.access_count >= 3 OR f.confidence < .2"
        " OR coalesce(f.last_accessed, f.created) < :before) ORDER BY f.id LIMIT :limit"
    ),
    ledger=f"{_LEDGER} ORDER BY l.first, l.second LIMIT :limit",
    by_first=f"{_NUMBERS} {_KEYS} ledger l WHERE {_BOOK} AND l.first = j.value",
    by_second=(
        f"{_NUMBERS} {_KEYS} ledger l WHERE {_BOOK} AND l.second = j.value AND l.first IN ("
        f"SELECT l.first FROM {_BY_SECOND} WHERE {_BOOK} AND l.second = j.value LIMIT :limit)"
    ),
    first_between=(
        f"{_NUMBERS} {_KEYS} ledger l WHERE {_BOOK}"
        " AND l.first BETWEEN json_extract(j.value, '$[0]') AND json_extract(j.value, '$[1]')"
    ),
    second_between=(
        f"{_NUMBERS} {_BY_SECOND} WHERE {_BOOK} AND l.second BETWEEN :low AND :high ORDER BY l.second, l.first"
    ),
    firsts=(
        f"SELECT l.second, json_group_array(l.first) FROM {_BY_SECOND} WHERE {_BOOK}"
        " AND l.second IN (SELECT value FROM json_each(:keys)) GROUP BY l.second"
    ),
    beside=(
        f"SELECT l.first, l.second FROM ledger l WHERE {_BOOK} AND l.first IN (SELECT l.first FROM {_BY_SECOND}"
        f" WHERE {_BOOK} AND l.second IN (SELECT value FROM json_each(:keys))) ORDER BY l.first, l.second"
    ),
    seconds_up=f"{_SECONDS} >= :start ORDER BY l.second LIMIT :limit",
    seconds_down=f"{_SECONDS} <= :start ORDER BY l.second DESC LIMIT :limit",
)  # fmt: skip


def _run(db: sqlite3.Connection, query: str, /, **given: object) -> list[Any]:
    """Runs a query and returns its rows. Lists are passed to it as JSON."""
    values = {name: json.dumps(value) if isinstance(value, list) else value for name, value in given.items()}
    return db.execute(query, values).fetchall()


class SqlitePassEngine:
    """The queries and writes of a dream pass in `memory.db`. `store.dream` documents the methods."""

    queries = QUERIES

    def __init__(self, db: Database, index: TextIndex) -> None:
        self.db = db
        self.index = index
        self._tags: dict[str, Tag] = {}

    def reading(self, work: Callable[[RunQuery], T]) -> T:
        with self.db.reading() as db:
            return work(partial(_run, db))

    def writing(self, work: Callable[[RunQuery], T]) -> T:
        with self.db.writing() as db:
            return work(partial(_run, db))

    def partition(self, run: RunQuery, scope: Scope) -> int:
        query = "SELECT part FROM parts WHERE tenant = :tenant AND owner = :owner AND team = :team"
        found = run(query, tenant=scope.tenant, owner=scope.user, team=scope.share or "")
        return found[0][0] if found else -1

    def stored_ids(self, _part: int, ids: Sequence[str]) -> list[str]:
        return list(ids)

    def atoms(self, rows: Iterable[Any]) -> list[Atom]:
        return [self._atom(row) for row in rows]

    def _atom(self, row: tuple[Any, ...]) -> Atom:
        items = rows.packed_tags(row[8]) if row[8] else None
        tags = tuple([self._tag(item) for item in items]) if items else ()
        key, id_, text, at, props, path = row[0], row[2], row[5], row[11], row[14], row[19]
        if props is None:
            return Atom(key, id_, text, at, path, tags, _NO_TAGS, row)
        is_day = f'"{DATE_ONLY}"' in props and json.loads(props).get(DATE_ONLY) is True
        return Atom(key, id_, text, at, path, tags, _borrowed(props), row, is_day)

    def _tag(self, item: str) -> Tag:
        """Returns the tag that a packed text stands for, from a cache, because few tags occur very often."""
        tag = self._tags.get(item)
        if tag is None:
            tag = self._tags[item] = rows.unpack_tag(item)
        return tag

    def names(self, found: Iterable[Any]) -> Iterable[Named]:
        # Makes tuples without a Python-level call.
        as_named: Callable[[Iterable[Any]], Named] = partial(tuple.__new__, Named)
        return [
            as_named((norm, key, id_, kind, name, bool(is_found)))
            for key, id_, kind, name, aliases, is_found in found
            for norm in names_of(name, json.loads(aliases) if aliases else ())
        ]

    def facts(self, found: Iterable[Any]) -> list[Fact]:
        return list(map(rows.to_fact, found))

    def containing(self, part: int, seen: int, words: Collection[str]) -> set[int] | None:
        view = self.index.at_hand(seen)
        where = Where(kinds=("atom", "source"), quarantined=True, archived=True)
        return None if view is None else TextSearch(view, [part], where).saying(words)

    def put_mark(self, run: RunQuery, part: int, name: str, mark: Mark) -> None:
        values = ":part, :name, :version, :done, :done_mark, :upto, :upto_mark, :after"
        run(f"INSERT OR REPLACE INTO dreams VALUES ({values})", part=part, name=name, **mark._asdict())

    def save(self, scope: Scope, part: int, name: str, writes: Writes) -> Saved:
        with self.db.writing() as db:
            written = _relabel(db, self.db.path, writes.relabelled) if writes.relabelled else []
            log_changes(db, [atom.key for atom, _ in written], labels_only=True, dreamt=name)
            added, dropped = _count_tags(db, part, written)
            batch = writes.batch_without(_changed_since(db, writes.unchanged))
            if batch != Batch():
                tx = SqliteTransaction(db, self.db.path, scope)
                write_batch(tx, batch)
                tx.log(name)
            _remove_mentions(db, part, writes.remove_mentions)
            usage.store_decay(db, writes.lives, name)
            another_version(db, part)
            _write_ledger(db, part, writes.drop, writes.put)
            if writes.mark is not None:
                self.put_mark(partial(_run, db), part, name, writes.mark)
        return Saved(len(written), added, dropped)


def _borrowed(props: str) -> frozenset[str]:
    """Returns the names of the tags that a node got from near duplicates, from its properties (JSON)."""
    if '"near"' not in props:
        return _NO_TAGS
    noted = json.loads(props).get("near")
    return frozenset(noted["tags"]) if isinstance(noted, dict) and "tags" in noted else _NO_TAGS


def _relabel(db: sqlite3.Connection, path: Path, relabelled: Relabelled) -> Relabelled:
    """Replaces the tags of those atoms that did not change since they were read. Returns the atoms it changed, with
    their new tags. Raises CorruptMemory if an atom that was read does not match its checksum.
    """
    changes = []
    for atom, tags in relabelled:
        row = atom.row
        labels = rows.repacked(row[8], tags)
        was, now = rows.relabelled_sums(row, labels)
        if was != row[6]:
            raise damaged(path, f"{row[2]!r} changed on disk")
        changes.append((labels, now, row[0], was))
    before = db.total_changes
    db.executemany("UPDATE nodes SET labels = ?, check_sum = ? WHERE key = ? AND check_sum = ?", changes)
    if db.total_changes - before == len(changes):
        return relabelled
    query = "SELECT 1 FROM nodes WHERE key = ? AND check_sum = ?"
    there = [db.execute(query, (key, now)).fetchone() is not None for _, now, key, _ in changes]
    return [one for one, is_there in zip(relabelled, there, strict=True) if is_there]


def _changed_since(db: sqlite3.Connection, atoms: Sequence[Atom]) -> set[str]:
    """Returns the ids of the atoms that changed since they were read, or are gone."""
    there: dict[int, object] = {}
    for some in chunks(atoms):
        query = f"SELECT key, check_sum FROM nodes WHERE key IN ({marks(len(some))})"
        there.update(db.execute(query, [atom.key for atom in some]).fetchall())
    return {atom.id for atom in atoms if there.get(atom.key) != atom.row[6]}


def _count_tags(db: sqlite3.Connection, part: int, written: Relabelled) -> tuple[int, int]:
    """Updates the tables that lead from tags to nodes, and returns how many tags were added and dropped.

    Raises InputError if a user gave one of the changed tags.
    """
    added: dict[str, list[int]] = {}
    dropped: dict[str, list[int]] = {}
    given = Counter[tuple[int, str]]()
    for atom, tags in written:
        come, gone = _difference(atom.tags, tags)
        for names, some, others, step in ((added, come, gone, 1), (dropped, gone, come, -1)):
            # A tag with the same name has changed its origin.
            staying = {tag.name for tag in others}
            for tag in some:
                if tag.origin == "user":
                    raise InputError(f"a dream may not touch the tag {tag.name!r} of {atom.id!r}: a user gave it")
                if tag.origin == "auto":
                    given[part, tag.name] += step
                if tag.name not in staying:
                    names.setdefault(tag.name, []).append(atom.key)
    ids = label_ids(db, {("t", name) for name in added}, create=True)
    put_carriers(db, {ids["t", name]: keys for name, keys in added.items()}, automatic=True)
    ids = label_ids(db, {("t", name) for name in dropped})
    loose = [(label, key) for (_, name), label in ids.items() for key in dropped[name]]
    db.executemany("DELETE FROM node_labels WHERE label = ? AND key = ?", loose)
    collect_labels(db, ids.values())
    count_given(db, given)
    return sum(map(len, added.values())), len(loose)


def _difference(had: Sequence[Tag], tags: Sequence[Tag]) -> tuple[Sequence[Tag], Sequence[Tag]]:
    """Returns the tags in `tags` that are not in `had`, and those in `had` that are not in `tags`."""
    # Usually tags are appended.
    if tags[: len(had)] == had:
        return tags[len(had) :], ()
    was, now = {tag.name: tag for tag in had}, {tag.name: tag for tag in tags}
    # Usually an unchanged tag is the same object; comparing two others takes long.
    come = [tag for tag in tags if tag is not (old := was.get(tag.name)) and tag != old]
    gone = [tag for tag in had if tag is not (new := now.get(tag.name)) and tag != new]
    return come, gone


def _remove_mentions(db: sqlite3.Connection, part: int, pairs: Sequence[tuple[str, str]]) -> None:
    """Deletes mentions of a partition, given as (source id, node id)."""
    node = "(SELECT key FROM nodes WHERE id = ? AND part = ?)"
    query = f"DELETE FROM mentions WHERE source = {node} AND node = {node} AND part = ?"
    db.executemany(query, [(source, part, other, part, part) for source, other in pairs])


def _write_ledger(
    db: sqlite3.Connection, part: int, drop: Sequence[tuple[Book, Entry]], put: Sequence[tuple[Book, Entry]]
) -> None:
    """Deletes the rows `drop` of the dream ledger by their first two numbers, then inserts or replaces the rows
    `put`.
    """
    gone = [(part, book, row.first, row.second) for book, row in drop]
    db.executemany("DELETE FROM ledger WHERE part = ? AND book = ? AND first = ? AND second = ?", gone)
    # An existing row is changed in place: the index of second numbers does not contain the changed columns.
    query = (
        "INSERT INTO ledger VALUES (?,?,?,?,?,?) ON CONFLICT (part, book, first, second)"
        " DO UPDATE SET third = excluded.third, fourth = excluded.fourth"
    )
    db.executemany(query, [(part, book, *row) for book, row in put])
