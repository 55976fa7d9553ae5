"""Vector spaces: the model whose vectors the memory holds, and the change-over from one model to another.

The vectors of a model are in a property of their own: of nodes, described relationships and the notes on those, each
with its own index. During a change-over the next model's vectors go to another property, which no search reads. When
all are there, one small transaction makes searches use them; then the old ones are deleted. An interrupted change-over
continues where it stopped.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from cuetrail.errors import InputError
from cuetrail.model import Edge, Node, Note
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import Connection, Tx, chunks, rows
from cuetrail.store.neo4j.reader import Reader
from cuetrail.store.vector_space import NO_VECTORS, Unembedded, VectorKind, VectorSpace, embedded_fields, mismatch

NOW, NEXT = "vector_space", "next_space"
# The prefix of properties that hold vectors.
SLOT = "vector_"
# The longest vectors the server's index takes; longer ones are compared one by one.
MOST_INDEXED = 4_096
CLEARED = 10_000
# Vectors are made for everyone, so every partition gets a new version.
_ANOTHER_VERSION = "MATCH (p:CuePlace) SET p.held = true SET p.writes = coalesce(p.writes, 0) + 1"


@dataclass(frozen=True, slots=True)
class _VectorStore:
    """How vectors of one kind of records are stored: a pattern that matches the record as `n`, the names of the index
    and of the handle, the condition for needing a vector, and the columns it is made from.
    """

    pattern: str
    index: str
    handle: str
    needs_vector: str
    embedded: str


# Nodes without text and name need no vector, nor do edges without a description.
VECTOR_STORES: Mapping[VectorKind, _VectorStore] = {
    "node": _VectorStore("(n:CueNode{})", "cue_{}", "key", "(n.text <> '' OR n.name <> '')", "n.name, n.text"),
    "edge": _VectorStore("()-[n:CUE_EDGE{}]->()", "cue_edges_{}", "uid", "n.described IS NOT NULL", "null, n.text"),
    "note": _VectorStore("(n:CueNote{})", "cue_notes_{}", "uid", "n.edge IS NOT NULL AND n.text <> ''", "null, n.text"),
}
_NODES = f"""UNWIND $keys AS key MATCH (n:CueNode {{key: key}}) MATCH (p:CuePlace {{part: n.part}})
RETURN key, {made.NODE}, p.owner, p.team"""
_EDGES = f"""UNWIND $keys AS key MATCH (a)-[e:CUE_EDGE {{uid: key}}]->(b) USING INDEX SEEK e:CUE_EDGE(uid)
RETURN key, {made.EDGE_MAP}, a.id, b.id"""
_NOTES = """UNWIND $keys AS key MATCH (o:CueNote {uid: key}) OPTIONAL MATCH ()-[e:CUE_EDGE {uid: o.edge}]->()
USING INDEX SEEK e:CUE_EDGE(uid) RETURN key, o.id, e.id, o.text, o.created, o.expires"""


def _all(place: _VectorStore) -> str:
    return f"MATCH {place.pattern.format('')} WHERE"


def _one(place: _VectorStore, handle: str) -> str:
    """Returns a Cypher MATCH for one record as `n`; `handle` is the expression for its key or uid."""
    return f"MATCH {place.pattern.format(f' {{{place.handle}: {handle}}}')}"


def slot(space: VectorSpace) -> str:
    """Returns the name of the property that contains the vectors of a model."""
    return SLOT + hashlib.blake2b(f"{space.dim}:{space.model}".encode(), digest_size=6).hexdigest()


def _space(tx: Tx, name: str) -> VectorSpace | None:
    found = rows(tx, "MATCH (m:CueMeta {name: $name}) RETURN m.value", name=name)
    return VectorSpace(**json.loads(found[0][0])) if found else None


def held(tx: Tx) -> VectorSpace | None:
    """Returns the model whose vectors searches use; None if none was chosen yet."""
    return _space(tx, NOW)


def coming(tx: Tx) -> VectorSpace | None:
    """Returns the model that an unfinished change-over to another model makes vectors of; None if there is none."""
    return _space(tx, NEXT)


class Neo4jVectorSpaces:
    """Reads and changes the embedding models of a memory. `store.vector_space` documents the methods."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        query = "MATCH (m:CueMeta) WHERE m.name IN $names RETURN m.name, m.value"
        packed = dict(connection.reading(lambda tx: rows(tx, query, names=[NOW, NEXT])))
        self.held, self.next = (
            VectorSpace(**json.loads(packed[name])) if name in packed else None for name in (NOW, NEXT)
        )

    def start(self, space: VectorSpace, change_over: bool = False) -> VectorSpace:
        return begin(self.connection, space) if change_over else start(self.connection, space)

    def finish(self, space: VectorSpace) -> bool:
        return finish(self.connection, space)

    def missing(self, space: VectorSpace, limit: int, after: Unembedded | None = None) -> list[Unembedded]:
        return self.connection.reading(lambda tx: missing(tx, space, after, limit))

    def put(self, space: VectorSpace, made: Sequence[tuple[Unembedded, bytes]]) -> int:
        return self.connection.writing(lambda tx: put(tx, space, made))


def _name(tx: Tx, name: str, space: VectorSpace | None) -> None:
    if space is None:
        rows(tx, "MATCH (m:CueMeta {name: $name}) DELETE m", name=name)
    else:
        packed = json.dumps({"model": space.model, "dim": space.dim})
        rows(tx, "MERGE (m:CueMeta {name: $name}) SET m.value = $packed", name=name, packed=packed)


def slot_in_use(tx: Tx, space: VectorSpace) -> str:
    """Returns NOW if searches use the vectors of this model, NEXT if a change-over to it is making them. Raises
    EmbedderMismatch for any other model.
    """
    for name in (NOW, NEXT):
        if _space(tx, name) == space:
            return name
    raise mismatch(held(tx), str(space))


def make_index(connection: Connection, space: VectorSpace) -> None:
    """Creates the indexes of a model's vectors if they are missing and the server can index such vectors."""
    if 0 < space.dim <= MOST_INDEXED:
        options = f"{{`vector.dimensions`: {space.dim}, `vector.similarity_function`: 'cosine'}}"
        makes = [
            f"CREATE VECTOR INDEX {place.index.format(slot(space))} IF NOT EXISTS"
            # Indexes of edges have no direction.
            f" FOR {place.pattern.format('').replace('->', '-')} ON n.{slot(space)} OPTIONS {{indexConfig: {options}}}"
            for place in VECTOR_STORES.values()
        ]
        connection.schema([*makes, "CALL db.awaitIndexes(300)"])


def index_names(space: VectorSpace) -> list[str]:
    """Returns the names of the indexes of a model's vectors; [] if the server cannot index this dimension."""
    return (
        [place.index.format(slot(space)) for place in VECTOR_STORES.values()] if 0 < space.dim <= MOST_INDEXED else []
    )


def start(connection: Connection, space: VectorSpace) -> VectorSpace:
    """Makes this the model of a memory that has none yet. Returns the model the memory holds."""

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


def begin(connection: Connection, space: VectorSpace) -> VectorSpace:
    """Begins or continues a change-over to this model, drops one to another. Returns the model searches still use."""
    now = start(connection, space)
    wanted = None if now == space else space
    given_up = connection.reading(coming)
    if given_up == wanted:
        return now
    if wanted is not None:
        # Vectors left from an earlier use of this model must not pass for new ones.
        clear(connection, wanted)
        make_index(connection, wanted)
    connection.writing(lambda tx: _name(tx, NEXT, wanted))
    if given_up is not None:
        clear(connection, given_up)
    return now


def finish(connection: Connection, space: VectorSpace) -> bool:
    """Makes searches use the next model's vectors, and deletes the old ones. Returns False, and does nothing, while
    some are missing.

    Raises EmbedderMismatch if the change-over was dropped meanwhile.
    """

    def work(tx: Tx) -> tuple[bool, VectorSpace | None]:
        if slot_in_use(tx, space) == NOW:
            return True, None
        if space != NO_VECTORS and any(_missing(tx, space, what, None, 1) for what in VECTOR_STORES):
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
    """Deletes all vectors of a model that no search uses any more, and their indexes."""
    name = slot(space)
    connection.schema([f"DROP INDEX {place.index.format(name)} IF EXISTS" for place in VECTOR_STORES.values()])
    for place in VECTOR_STORES.values():
        query = f"{_all(place)} n.{name} IS NOT NULL WITH n LIMIT $most REMOVE n.{name} RETURN count(n)"
        while connection.writing(partial(_cleared, query=query)):
            pass


def _cleared(tx: Tx, query: str) -> int:
    found: int = rows(tx, query, most=CLEARED)[0][0]
    return found


def missing(tx: Tx, space: VectorSpace, after: Unembedded | None, limit: int) -> list[Unembedded]:
    """Returns the next `limit` records after `after`, of all users, that need a vector of this model and have none."""
    slot_in_use(tx, space)
    found: list[Unembedded] = []
    kinds = list(VECTOR_STORES)
    for what in kinds if after is None else kinds[kinds.index(_kind(after)) :]:
        begin = after.key if after is not None and _kind(after) == what else None
        keys = _missing(tx, space, what, begin, limit - len(found))
        records = dict(_records(tx, what, keys))
        found += [Unembedded(key, records[key]) for key in keys if key in records]
    return found


def _kind(one: Unembedded) -> VectorKind:
    return "node" if isinstance(one.record, Node) else "edge" if isinstance(one.record, Edge) else "note"


def _missing(tx: Tx, space: VectorSpace, what: VectorKind, after: int | str | None, limit: int) -> list[int | str]:
    place = VECTOR_STORES[what]
    begin = after if after is not None else -1 if what == "node" else ""
    query = (
        f"{_all(place)} n.{place.handle} > $after AND n.{slot(space)} IS NULL AND {place.needs_vector}"
        f" RETURN n.{place.handle} ORDER BY n.{place.handle} LIMIT $limit"
    )
    return [key for (key,) in rows(tx, query, after=begin, limit=max(limit, 0))]


def _records(tx: Tx, what: VectorKind, keys: Sequence[int | str]) -> Iterator[tuple[int | str, Node | Edge | Note]]:
    """Yields (handle, record) of the records with these handles, whoever owns them, under their plain ids."""
    query = {"node": _NODES, "edge": _EDGES, "note": _NOTES}[what]
    for some in chunks(keys):
        for key, *row in rows(tx, query, keys=some):
            if what == "node":
                yield key, made.to_node(row[0], (row[1], row[2] or None))
            elif what == "edge":
                yield key, made.to_edge(*row)
            else:
                id_, edge, text, created, expires = row
                yield key, Note(id_, edge, text, "edge", created, expires)


def put(tx: Tx, space: VectorSpace, made: Sequence[tuple[Unembedded, bytes]]) -> int:
    """Stores vectors and returns how many. Records that changed since they were read are skipped."""
    stored = 0
    for what, place in VECTOR_STORES.items():
        vectors: dict[int | str, bytes] = {}
        # Setting a property locks the record: nobody changes it until the transaction ends.
        query = f"UNWIND $keys AS key {_one(place, 'key')} SET n.held = true RETURN key, {place.embedded}"
        for some in chunks([one for one in made if _kind(one[0]) == what]):
            said = {key: (name, text) for key, name, text in rows(tx, query, keys=[one.key for one, _ in some])}
            vectors |= {one.key: vector for one, vector in some if said.get(one.key) == embedded_fields(one.record)}
        store(tx, space, vectors, what)
        stored += len(vectors)
    rows(tx, _ANOTHER_VERSION)
    return stored


def vectors(
    reader: Reader, ids: Sequence[str], space: VectorSpace | None = None, of: VectorKind = "node"
) -> dict[str, bytes]:
    """Returns vectors of records by id; {} if the memory does not hold those of `space` (None: of any model)."""
    now = held(reader.tx)
    if now is None or now == NO_VECTORS or space not in (None, now):
        return {}
    handles = {one.handle: id_ for id_, one in reader.ids.seek(ids, of).items()}
    return stored(reader.tx, now, handles, of)


def store(tx: Tx, space: VectorSpace, vectors: Mapping[Any, bytes], of: VectorKind = "node") -> None:
    """Stores vectors by handle. Raises InputError for a wrong length, EmbedderMismatch for a model not in use."""
    for vector in vectors.values():
        if len(vector) != 2 * space.dim:
            raise InputError(f"a vector has {len(vector)} bytes, {2 * space.dim} are needed: embed it again")
    slot_in_use(tx, space)
    name = slot(space)
    put = [{"key": key, "props": {name: floats(vector)}} for key, vector in sorted(vectors.items())]
    for some in chunks(put):
        rows(tx, f"UNWIND $rows AS row {_one(VECTOR_STORES[of], 'row.key')} SET n += row.props", rows=some)


def stored(tx: Tx, space: VectorSpace, handles: Mapping[Any, str], of: VectorKind) -> dict[str, bytes]:
    """Returns the vectors of this model, by id; `handles` maps the handle of each record to its id."""
    name = slot(space)
    query = f"UNWIND $keys AS key {_one(VECTOR_STORES[of], 'key')} WHERE n.{name} IS NOT NULL RETURN key, n.{name}"
    found = (row for some in chunks(list(handles)) for row in rows(tx, query, keys=some))
    return {handles[key]: halves(vector) for key, vector in found}


def present(tx: Tx, space: VectorSpace, part: int, of: VectorKind) -> list[tuple[int | str, str]]:
    """Returns (handle, id) of the records of one kind in a partition that have a vector of this model. The handle is
    the key of a node, the uid of an edge or note; the id is the stored one, without `@@owner`.
    """
    place = VECTOR_STORES[of]
    query = f"{_all(place)} n.part = $part AND n.{slot(space)} IS NOT NULL RETURN n.{place.handle}, n.id"
    return [(handle, id_) for handle, id_ in rows(tx, query, part=part)]


def unchanged_vectors(tx: Tx, said: Mapping[str, str], of: VectorKind) -> dict[str, dict[str, Any]]:
    """Returns the stored vectors of those edges or notes whose text does not change, by uid, as properties. `said` maps
    uids to the new texts.
    """
    query = f"UNWIND $keys AS key {_one(VECTOR_STORES[of], 'key')} RETURN key, n.text, properties(n)"
    found = (row for some in chunks(list(said)) for row in rows(tx, query, keys=some))
    return {
        key: {name: value for name, value in props.items() if name.startswith(SLOT)}
        for key, text, props in found
        if text == said[key]
    }


def floats(vector: bytes) -> list[float]:
    """Converts a vector of half floats to a list of floats for the server, without loss."""
    found: list[float] = np.frombuffer(vector, dtype="<f2").astype(np.float64).tolist()
    return found


def halves(vector: Sequence[float]) -> bytes:
    """Converts a vector from the server back to the bytes of half floats: the inverse of `floats`."""
    return np.array(vector, dtype="<f2").tobytes()
