"""Vector spaces: whose vectors the memory holds, and how it changes over from one model's to another's.

The vectors of a model lie in a property of their own, with an index of their own. During a change-over those of the
next model gather in theirs, which no search reads. When every node has one, a single small transaction says that from
now on these are searched; then the old ones are cleared away. So a change-over that is interrupted costs nobody
anything, and goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cuetrail.errors import InputError
from cuetrail.store.base import NO_VECTORS, Unembedded, VectorSpace, mismatch
from cuetrail.store.neo4j.connection import Connection, chunks, rows

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx

NOW, NEXT = "vector_space", "next_space"
# What the server's index takes; longer vectors are compared one by one.
MOST_INDEXED = 4_096
CLEARED = 10_000
# A node that says nothing needs no vector.
# Vectors are made for everyone, so what anyone made of a search is of before.
_ANOTHER_VERSION = "MATCH (p:CuePlace) SET p.held = true SET p.writes = coalesce(p.writes, 0) + 1"
_MISSING = "MATCH (n:CueNode) WHERE n.key > $after AND n.{slot} IS NULL AND (n.text <> '' OR n.name <> '')"


def slot(space: VectorSpace) -> str:
    """The property that holds the vectors of a model."""
    return "vector_" + hashlib.blake2b(f"{space.dim}:{space.model}".encode(), digest_size=6).hexdigest()


def _space(tx: Tx, name: str) -> VectorSpace | None:
    found = rows(tx, "MATCH (m:CueMeta {name: $name}) RETURN m.value", name=name)
    return VectorSpace(**json.loads(found[0][0])) if found else None


def held(tx: Tx) -> VectorSpace | None:
    """The model whose vectors searches use."""
    return _space(tx, NOW)


def coming(tx: Tx) -> VectorSpace | None:
    """The model that a change-over makes vectors of."""
    return _space(tx, NEXT)


def _name(tx: Tx, name: str, space: VectorSpace | None) -> None:
    if space is None:
        rows(tx, "MATCH (m:CueMeta {name: $name}) DELETE m", name=name)
    else:
        packed = json.dumps({"model": space.model, "dim": space.dim})
        rows(tx, "MERGE (m:CueMeta {name: $name}) SET m.value = $packed", name=name, packed=packed)


def taken(tx: Tx, space: VectorSpace) -> str:
    """Which of NOW and NEXT this model is. Raises EmbedderMismatch when the memory takes none of its vectors."""
    for name in (NOW, NEXT):
        if _space(tx, name) == space:
            return name
    raise mismatch(held(tx), str(space))


def make_index(connection: Connection, space: VectorSpace) -> None:
    """The index of a model's vectors, made if it is not there."""
    if 0 < space.dim <= MOST_INDEXED:
        name = slot(space)
        options = f"{{`vector.dimensions`: {space.dim}, `vector.similarity_function`: 'cosine'}}"
        create = f"CREATE VECTOR INDEX cue_{name} IF NOT EXISTS FOR (n:CueNode) ON n.{name}"
        connection.schema([f"{create} OPTIONS {{indexConfig: {options}}}", "CALL db.awaitIndexes(300)"])


def start(connection: Connection, space: VectorSpace) -> VectorSpace:
    """The model whose vectors the memory holds: this one from now on, if it had none."""

    def work(tx: Tx) -> VectorSpace:
        now = held(tx)
        if now is None:
            _name(tx, NOW, space)
        return now or space

    now = connection.reading(held)
    if now is not None:
        return now
    make_index(connection, space)
    return connection.writing(work)


def begin(connection: Connection, space: VectorSpace) -> None:
    """Begin a change-over to this model, or go on with it. One to another model is given up."""
    wanted = None if start(connection, space) == space else space
    given_up = connection.reading(coming)
    if given_up == wanted:
        return
    if wanted is not None:
        # What an earlier use of this model left must not pass for vectors of today.
        clear(connection, wanted)
        make_index(connection, wanted)
    connection.writing(lambda tx: _name(tx, NEXT, wanted))
    if given_up is not None:
        clear(connection, given_up)


def finish(connection: Connection, space: VectorSpace) -> bool:
    """Let searches use the next model's vectors; False, and nothing done, while some are missing.

    Raises EmbedderMismatch when the change-over was given up meanwhile.
    """

    def work(tx: Tx) -> tuple[bool, VectorSpace | None]:
        if taken(tx, space) == NOW:
            return True, None
        if space != NO_VECTORS and rows(tx, f"{_MISSING.format(slot=slot(space))} RETURN 1 LIMIT 1", after=-1):
            return False, None
        old = held(tx)
        _name(tx, NOW, space)
        _name(tx, NEXT, None)
        rows(tx, _ANOTHER_VERSION)
        return True, old

    done, old = connection.writing(work)
    if old is not None:
        clear(connection, old)
    return done


def clear(connection: Connection, space: VectorSpace) -> None:
    """Remove the vectors of a model that are no longer searched, and their index."""
    name = slot(space)
    connection.schema([f"DROP INDEX cue_{name} IF EXISTS"])
    query = f"MATCH (n:CueNode) WHERE n.{name} IS NOT NULL WITH n LIMIT $most REMOVE n.{name} RETURN count(n)"
    while connection.writing(lambda tx: rows(tx, query, most=CLEARED))[0][0]:
        pass


def missing(tx: Tx, space: VectorSpace, after: int, limit: int) -> list[int]:
    """Keys above `after` of nodes, whoever owns them, that say something and have no vector of this model."""
    taken(tx, space)
    query = f"{_MISSING.format(slot=slot(space))} RETURN n.key ORDER BY n.key LIMIT $limit"
    return [key for (key,) in rows(tx, query, after=after, limit=max(limit, 0))]


def put(tx: Tx, space: VectorSpace, made: Sequence[tuple[Unembedded, bytes]]) -> int:
    """Store vectors by key; how many. One of a node that is gone or says something else by now is left out."""
    vectors: dict[int, bytes] = {}
    # Setting a property holds the node: nobody corrects it between this look and the end.
    query = "UNWIND $keys AS key MATCH (n:CueNode {key: key}) SET n.held = true RETURN key, n.name, n.text"
    for some in chunks(made):
        said = {key: (name, text) for key, name, text in rows(tx, query, keys=[one.key for one, _ in some])}
        vectors |= {one.key: vector for one, vector in some if said.get(one.key) == (one.node.name, one.node.text)}
    store(tx, space, vectors)
    rows(tx, _ANOTHER_VERSION)
    return len(vectors)


def store(tx: Tx, space: VectorSpace, vectors: dict[int, bytes]) -> None:
    """Store vectors by key. Raises InputError for one of another length, EmbedderMismatch for another model's."""
    for vector in vectors.values():
        if len(vector) != 2 * space.dim:
            raise InputError(f"a vector has {len(vector)} bytes, {2 * space.dim} are needed: embed it again")
    taken(tx, space)
    name = slot(space)
    put = [{"key": key, "props": {name: floats(vector)}} for key, vector in sorted(vectors.items())]
    for some in chunks(put):
        rows(tx, "UNWIND $rows AS row MATCH (n:CueNode {key: row.key}) SET n += row.props", rows=some)


def floats(vector: bytes) -> list[float]:
    """A stored vector as the server has it: every half is exact as a double."""
    found: list[float] = np.frombuffer(vector, dtype="<f2").astype(np.float64).tolist()
    return found


def halves(vector: Sequence[float]) -> bytes:
    """The reverse of `floats`."""
    return np.array(vector, dtype="<f2").tobytes()
