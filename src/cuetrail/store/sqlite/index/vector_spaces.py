"""Vector spaces: the model whose vectors `memory.db` holds, and the change-over from one model to another.

The table `vectors` has the vectors that searches use: of nodes, described relationships and the notes on those, by
their keys, which never coincide. During a change-over the next model's vectors go to `next_vectors`, which no search
reads. When all are there, one transaction replaces the old ones. An interrupted change-over continues where it stopped.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuetrail.errors import InputError
from cuetrail.model import Edge, Node, Note
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.changelog import log_changes, log_runs
from cuetrail.store.sqlite.connection import Database, another_version, chunks, marks, meta, put_meta
from cuetrail.store.sqlite.reader import NEXT, NOW, SPACE_ENTRY, held_space, nodes_by_key
from cuetrail.store.sqlite.schema import note_layout
from cuetrail.store.vector_space import NO_VECTORS, Unembedded, VectorSpace, embedded_fields, mismatch

# The records that need a vector: nodes with a text or name, described edges, and notes on edges.
SAYING = {
    "nodes": "(n.text <> '' OR n.name <> '')",
    "edges": "n.via IS NULL AND n.text <> ''",
    # The plus keeps SQLite from using the index of targets, which is in another order.
    "notes": "+n.target_on = 'edge' AND n.text <> ''",
}
_MISSING = " UNION ALL ".join(
    f"SELECT n.key AS key FROM {table} n LEFT JOIN {{0}} v ON v.key = n.key"
    f" WHERE v.key IS NULL AND n.key > ?1 AND {saying}"
    for table, saying in SAYING.items()
)
_SAID = tuple(
    f"SELECT key, {name}, text FROM {table}"
    for table, name in (("nodes", "name"), ("edges", "NULL"), ("notes", "NULL"))
)
# A damaged record that refers to a missing one has text all the same.
_EDGE = rows.EDGE.replace(" JOIN", " LEFT JOIN")
_NOTE = "SELECT o.key, o.id, e.id, o.text, o.created, o.expires FROM notes o LEFT JOIN edges e ON e.key = o.target"


@dataclass(slots=True)
class SqliteVectorSpaces:
    """Reads and changes the embedding models of a memory. `store.vector_space` documents the methods."""

    database: Database
    held: VectorSpace | None
    next: VectorSpace | None

    def start(self, space: VectorSpace, change_over: bool = False) -> VectorSpace:
        with self.database.writing() as db:
            return begin(db, space) if change_over else start(db, space)

    def finish(self, space: VectorSpace) -> bool:
        with self.database.writing() as db:
            return finish(db, space)

    def missing(self, space: VectorSpace, limit: int, after: Unembedded | None = None) -> list[Unembedded]:
        with self.database.reading() as db:
            return missing(db, self.database.path, space, after, limit)

    def put(self, space: VectorSpace, made: Sequence[tuple[Unembedded, bytes]]) -> int:
        with self.database.writing() as db:
            return put(db, space, made)


def _name(db: sqlite3.Connection, table: str, space: VectorSpace | None) -> None:
    """Stores which embedding model the vectors in a table are of; None if it is to hold none."""
    db.execute("DELETE FROM meta WHERE name = ?", (SPACE_ENTRY[table],))
    if space is not None:
        packed = json.dumps({"model": space.model, "dim": space.dim})
        put_meta(db, SPACE_ENTRY[table], packed)


def table_of(db: sqlite3.Connection, space: VectorSpace) -> str:
    """Returns the table for vectors of this model. Raises EmbedderMismatch if the memory stores no vectors of it."""
    for table in (NOW, NEXT):
        if held_space(db, table) == space:
            return table
    raise mismatch(held_space(db), str(space))


def start(db: sqlite3.Connection, space: VectorSpace) -> VectorSpace:
    """Makes this the model of a memory that has none yet. Returns the model the memory holds."""
    held = held_space(db)
    if held is None:
        _name(db, NOW, space)
    return held or space


def begin(db: sqlite3.Connection, space: VectorSpace) -> VectorSpace:
    """Begins or continues a change-over to this model, drops one to another. Returns the model searches still use."""
    held = start(db, space)
    wanted = None if held == space else space
    if held_space(db, NEXT) != wanted:
        db.execute(f"DELETE FROM {NEXT}")
        _name(db, NEXT, wanted)
    return held


def finish(db: sqlite3.Connection, space: VectorSpace) -> bool:
    """Replaces the present vectors by the next model's. Returns False, and does nothing, while some are missing.

    Raises EmbedderMismatch if the change-over was dropped meanwhile.
    """
    if table_of(db, space) == NOW:
        return True
    if space != NO_VECTORS and db.execute(f"{_MISSING.format(NEXT)} LIMIT 1", (0,)).fetchone():
        return False
    db.execute(f"DROP TABLE {NOW}")
    db.execute(f"ALTER TABLE {NEXT} RENAME TO {NOW}")
    db.execute(f"CREATE TABLE {NEXT} (key INTEGER PRIMARY KEY, vector BLOB NOT NULL, check_sum INTEGER NOT NULL)")
    note_layout(db)
    _name(db, NOW, space)
    _name(db, NEXT, None)
    # Every vector changes. An index left over from an earlier use of this model must not pass for it.
    log_runs(db, [(0, int(meta(db, "next_key")))], vectors_only=True)
    another_version(db)
    return True


def missing(
    db: sqlite3.Connection, path: Path, space: VectorSpace, after: Unembedded | None, limit: int
) -> list[Unembedded]:
    """Returns the next `limit` records after `after`, of all users, that need a vector of this model and have none."""
    query = f"{_MISSING.format(table_of(db, space))} ORDER BY key LIMIT ?2"
    keys = [key for (key,) in db.execute(query, (0 if after is None else after.key, max(limit, 0)))]
    found: dict[int, Node | Edge | Note] = {**nodes_by_key(db, path, keys)}
    for some in chunks([key for key in keys if key not in found]):
        among = f"IN ({marks(len(some))})"
        found |= {row[0]: rows.to_edge(row) for row in db.execute(f"{_EDGE} WHERE e.key {among}", some)}
        found |= dict(_notes(db, among, some))
    return [Unembedded(key, found[key]) for key in keys if key in found]


def _notes(db: sqlite3.Connection, among: str, keys: Sequence[int]) -> Iterator[tuple[int, Note]]:
    for key, id_, edge, text, created, expires in db.execute(f"{_NOTE} WHERE o.key {among}", keys):
        yield key, Note(id_, edge, text, "edge", created, expires)


def put(db: sqlite3.Connection, space: VectorSpace, made: Sequence[tuple[Unembedded, bytes]]) -> int:
    """Stores vectors and returns how many. Records that changed since they were read are skipped."""
    vectors: dict[int, bytes] = {}
    for some in chunks(made):
        said: dict[int | str, tuple[str | None, str]] = {}
        for query in _SAID:
            found = db.execute(f"{query} WHERE key IN ({marks(len(some))})", [one.key for one, _ in some])
            said |= {key: (name, text) for key, name, text in found}
        vectors |= {int(one.key): vector for one, vector in some if said.get(one.key) == embedded_fields(one.record)}
    log_changes(db, store(db, space, vectors), vectors_only=True)
    another_version(db)
    return len(vectors)


def drop(db: sqlite3.Connection, keys: Collection[int]) -> set[int]:
    """Deletes the vectors under these keys. Returns the keys of those that searches used, which are to be logged."""
    gone: set[int] = set()
    for some in chunks(list(keys)):
        among = f"key IN ({marks(len(some))})"
        gone.update(key for (key,) in db.execute(f"SELECT key FROM {NOW} WHERE {among}", some))
        for table in (NOW, NEXT):
            db.execute(f"DELETE FROM {table} WHERE {among}", some)
    return gone


def store(db: sqlite3.Connection, space: VectorSpace, vectors: dict[int, bytes]) -> set[int]:
    """Stores vectors by key. Returns the keys if searches use this model, which must be logged as changed, else an
    empty set.

    Raises InputError for a wrong length, EmbedderMismatch for a model that the memory does not store.
    """
    for vector in vectors.values():
        if len(vector) != 2 * space.dim:
            raise InputError(f"a vector has {len(vector)} bytes, {2 * space.dim} are needed: embed it again")
    table = table_of(db, space)
    made = [(key, vector, rows.vector_sum(key, vector)) for key, vector in sorted(vectors.items())]
    db.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)", made)
    return set(vectors) if table == NOW else set()
