"""Consistent views: of the visible atoms of a scope, for the mirror, and of everyone's memories, for copies."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import xxhash

from cuetrail.model import Scope
from cuetrail.store.read import AtomLabels, AtomText, FileDigest, Record
from cuetrail.store.shared.stored_values import unsigned
from cuetrail.store.sqlite import connection, rows
from cuetrail.store.sqlite.connection import CHUNK, chunks, damaged, marks, meta
from cuetrail.store.sqlite.read.partition import roots
from cuetrail.store.sqlite.reader import Reader, held_space, partitions, vectors_by_key
from cuetrail.store.vector_space import VectorKind

# The atoms that a recall shows by default.
_SHOWN = "n.kind = 'atom' AND n.provenance <> 'quarantine' AND (l.state IS NULL OR l.state <> 'archived')"
_ATOMS = f"FROM nodes n LEFT JOIN life l ON l.key = n.key WHERE {_SHOWN}"
# Summed in two halves: the sum of many 64-bit numbers overflows in SQLite.
_SUMS = "count(*), sum(n.check_sum & 4294967295), sum((n.check_sum >> 32) & 4294967295)"
_MASK = 2**64 - 1


def _number(name: str) -> int:
    return xxhash.xxh3_64_intdigest(name.encode())


class Snapshot:
    """The visible atoms of a scope in one transaction that sees no later change. `store.read` documents the methods."""

    def __init__(self, db: sqlite3.Connection, scope: Scope, path: Path) -> None:
        self.db = db
        self.reader = Reader(db, scope, path)
        self.epoch = str(meta(db, "epoch"))

    def sources(self) -> dict[str | None, FileDigest]:
        found: dict[str | None, FileDigest] = {}
        # The index of sources returns groups in order; it has no rows without a source.
        named = f"SELECT n.source, {_SUMS} {_ATOMS} AND {self._seen} AND n.source IS NOT NULL GROUP BY n.source"
        alone = f"SELECT NULL, {_SUMS} {_ATOMS} AND {self._seen} AND n.source IS NULL"
        for query in (named, alone):
            for source, count, low, high in self.db.execute(query):
                if count:
                    path = self._path(source)
                    old = found.get(path, FileDigest(0, 0))
                    found[path] = FileDigest(old.atoms + count, (old.digest + low + (high << 32)) & _MASK)
        for source, name in self._renamed.values():
            path = self._path(source)
            if path in found:
                found[path] = FileDigest(found[path].atoms, found[path].digest ^ _number(name))
        return found

    def atoms(self, files: Sequence[str | None]) -> Iterator[AtomLabels]:
        order, renamed = "ORDER BY n.seq, n.at, n.id, n.key", self._renamed
        for path in files:
            sources: Sequence[int] = () if path is None else self._keys_by_path.get(path, [])
            here = "n.source IS NULL" if path is None else f"n.source IN ({marks(len(sources))})"
            query = f"SELECT n.key, n.labels, n.check_sum {_ATOMS} AND {self._seen} AND {here} {order}"
            cursor = self.db.execute(query, sources)
            last, (tags, buckets) = None, rows.own_label_names(None)
            while some := cursor.fetchmany(CHUNK):
                for key, labels, check_sum in some:
                    if labels != last:
                        last, (tags, buckets) = labels, rows.own_label_names(labels)
                    check = unsigned(check_sum)
                    if key in renamed:
                        check ^= _number(renamed[key][1])
                    yield AtomLabels(key, path, tags, buckets, check)

    def texts(self, keys: Sequence[int]) -> dict[int, AtomText]:
        found, renamed = {}, self._renamed
        for some in chunks(keys):
            # Faster than reading whole nodes: it takes a third of the time.
            for row in self.db.execute(f"SELECT * FROM nodes WHERE key IN ({marks(len(some))})", some):
                if rows.check_sum(row) != row[6]:
                    raise damaged(self.reader.path, f"{row[2]!r} changed on disk")
                id_ = renamed[row[0]][1] if row[0] in renamed else row[2]
                found[row[0]] = AtomText(id_, row[4], row[5])
        return found

    @property
    def _seen(self) -> str:
        return self.reader.among("n.part")

    def _path(self, source: int | None) -> str | None:
        return None if source is None else self._paths[source]

    @cached_property
    def _paths(self) -> dict[int, str]:
        return dict(self.db.execute(f"SELECT source, path FROM sources WHERE {self.reader.among()}").fetchall())

    @cached_property
    def _keys_by_path(self) -> dict[str, list[int]]:
        # Two members of a team may each have a file of the same path.
        found: dict[str, list[int]] = {}
        for key, path in self._paths.items():
            found.setdefault(path, []).append(key)
        return found

    @cached_property
    def _renamed(self) -> dict[int, tuple[int | None, str]]:
        """Returns, by key, (source, id) of the nodes whose id in this scope is not their plain id. Their checksum does
        not cover that id.
        """
        if len(self.reader.parts) < 2:
            return {}
        shared = f"SELECT id FROM nodes WHERE {self.reader.among()} GROUP BY id HAVING count(*) > 1"
        query = f"SELECT key, id, part, source FROM nodes WHERE {self.reader.among()} AND id IN ({shared})"
        found = self.db.execute(query).fetchall()
        names = self.reader.ids.names(row[:3] for row in found)
        return {key: (source, names[key]) for key, id_, _, source in found if names[key] != id_}


class WholeView:
    """Everyone's memories in one open transaction, which sees no later change. `store.upkeep` documents it."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self.db = db
        self.path = path
        self.space = held_space(db)
        self.settings = connection.settings(db)
        self.roots = {place: roots(Reader(db, place, path)) for place in partitions(db, None)}

    def scan(self, scope: Scope) -> Iterator[tuple[str | None, Record]]:
        return Reader(self.db, scope, self.path).scan()

    def vectors(self, scope: Scope, ids: Sequence[str], of: VectorKind = "node") -> dict[str, bytes]:
        keys = Reader(self.db, scope, self.path).ids.keys(ids, f"{of}s")
        return vectors_by_key(self.db, {key: id_ for id_, key in keys.items()})
