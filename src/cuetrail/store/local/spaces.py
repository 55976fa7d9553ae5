"""Vector spaces: whose vectors the truth holds, and how it changes over from one model's to another's.

`vectors` are those of the model that searches use. During a change-over the vectors of the next model gather in
`next_vectors`, which no search reads. When every node has one, a single transaction puts them in the place of the old
ones. So a change-over that is interrupted costs nobody anything, and goes on where it stopped.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from cuetrail.errors import InputError
from cuetrail.store.base import NO_VECTORS, Unembedded, VectorSpace, mismatch
from cuetrail.store.local.db import another_version, chunks, log_changes, marks, meta

NOW, NEXT = "vectors", "next_vectors"
_NAMED = {NOW: "vector_space", NEXT: "next_space"}
# A node that says nothing needs no vector.
_MISSING = "FROM nodes n LEFT JOIN {} v ON v.key = n.key WHERE v.key IS NULL AND (n.text <> '' OR n.name <> '')"


def space_of(db: sqlite3.Connection, table: str = NOW) -> VectorSpace | None:
    """The model whose vectors the table holds."""
    packed = meta(db, _NAMED[table])
    return VectorSpace(**json.loads(packed)) if packed else None


def _name(db: sqlite3.Connection, table: str, space: VectorSpace | None) -> None:
    """Say whose vectors the table holds."""
    db.execute("DELETE FROM meta WHERE name = ?", (_NAMED[table],))
    if space is not None:
        packed = json.dumps({"model": space.model, "dim": space.dim})
        db.execute("INSERT INTO meta VALUES (?, ?)", (_NAMED[table], packed))


def table_of(db: sqlite3.Connection, space: VectorSpace) -> str:
    """Where vectors of this model belong. Raises EmbedderMismatch when the memory takes none of them."""
    for table in (NOW, NEXT):
        if space_of(db, table) == space:
            return table
    raise mismatch(space_of(db), str(space))


def start(db: sqlite3.Connection, space: VectorSpace) -> VectorSpace:
    """The model whose vectors the memory holds: this one from now on, if it had none."""
    held = space_of(db)
    if held is None:
        _name(db, NOW, space)
    return held or space


def begin(db: sqlite3.Connection, space: VectorSpace) -> None:
    """Begin a change-over to this model, or go on with it. One to another model is given up."""
    wanted = None if start(db, space) == space else space
    if space_of(db, NEXT) != wanted:
        db.execute(f"DELETE FROM {NEXT}")
        _name(db, NEXT, wanted)


def finish(db: sqlite3.Connection, space: VectorSpace) -> bool:
    """Put the next model's vectors in the place of the present ones; False, and nothing done, while some are missing.

    Raises EmbedderMismatch when the change-over was given up meanwhile.
    """
    if table_of(db, space) == NOW:
        return True
    if space != NO_VECTORS and db.execute(f"SELECT 1 {_MISSING.format(NEXT)} LIMIT 1").fetchone():
        return False
    db.execute(f"DROP TABLE {NOW}")
    db.execute(f"ALTER TABLE {NEXT} RENAME TO {NOW}")
    db.execute(f"CREATE TABLE {NEXT} (key INTEGER PRIMARY KEY, vector BLOB NOT NULL)")
    _name(db, NOW, space)
    _name(db, NEXT, None)
    # Every vector is another one. An index that is left over from an earlier use of this model must not pass for it.
    db.execute("INSERT INTO changes (low, high, vectors_only) SELECT 0, coalesce(max(key), 0), 1 FROM nodes")
    another_version(db)
    return True


def missing(db: sqlite3.Connection, space: VectorSpace, after: int, limit: int) -> list[int]:
    """Keys above `after` of nodes, whoever owns them, that say something and have no vector of this model."""
    query = f"SELECT n.key {_MISSING.format(table_of(db, space))} AND n.key > ? ORDER BY n.key LIMIT ?"
    return [row[0] for row in db.execute(query, (after, limit))]


def put(db: sqlite3.Connection, space: VectorSpace, made: Sequence[tuple[Unembedded, bytes]]) -> int:
    """Store vectors by key; how many. One of a node that is gone or says something else by now is left out."""
    vectors: dict[int, bytes] = {}
    for some in chunks(made):
        query = f"SELECT key, name, text FROM nodes WHERE key IN ({marks(len(some))})"
        said = {key: (name, text) for key, name, text in db.execute(query, [one.key for one, _ in some])}
        vectors |= {one.key: vector for one, vector in some if said.get(one.key) == (one.node.name, one.node.text)}
    log_changes(db, store(db, space, vectors), vectors_only=True)
    another_version(db)
    return len(vectors)


def store(db: sqlite3.Connection, space: VectorSpace, vectors: dict[int, bytes]) -> set[int]:
    """Store vectors by key; the keys that searches now see another vector of."""
    for vector in vectors.values():
        if len(vector) != 2 * space.dim:
            raise InputError(f"a vector has {len(vector)} bytes, {2 * space.dim} are needed: embed it again")
    table = table_of(db, space)
    db.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", sorted(vectors.items()))
    return set(vectors) if table == NOW else set()
