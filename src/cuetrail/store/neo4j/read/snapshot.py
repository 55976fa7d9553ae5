"""Consistent views: the records of a scan, the atoms of a scope for the mirror, and everyone's memories for copies.

The server shows each query what is committed when it runs, so a long read could see half of a concurrent write. A view
is therefore read at once into a temporary file. If the change log grew meanwhile, it is read again; the third time,
other writers must wait.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any

import xxhash

from cuetrail.model import Link, Mention, Note, Scope, SourceFile, Tombstone, Version
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.changelog import head
from cuetrail.store.neo4j.connection import Connection, Row, Tx, chunks, rows, settings
from cuetrail.store.neo4j.ids import RecordId, partitions
from cuetrail.store.neo4j.index import vector_spaces
from cuetrail.store.neo4j.read.partition import SOURCE, roots
from cuetrail.store.neo4j.reader import ENDS, Reader
from cuetrail.store.read import AtomLabels, AtomText, FileDigest, Record
from cuetrail.store.shared.copy import users_of
from cuetrail.store.shared.stored_values import unsigned
from cuetrail.store.vector_space import NO_VECTORS, VectorKind, VectorSpace

IN_MEMORY = 64_000_000
GLANCES = 2
_MASK = 2**64 - 1
_HOLD = "MERGE (m:CueMeta {name: 'log'}) SET m.held = true"
# The atoms that a recall shows by default.
_ATOMS = """MATCH (n:CueNode) WHERE n.part IN $parts AND n.kind = 'atom' AND n.provenance <> 'quarantine'
  AND (n.state IS NULL OR n.state <> 'archived')"""


def read_unchanged(connection: Connection, work: Callable[[Tx], None]) -> None:
    """Runs `work`, a read, until nothing is written during it: at most three times, the third with writers waiting."""

    def glance(tx: Tx) -> bool:
        before = head(tx)
        work(tx)
        return head(tx) == before

    def alone(tx: Tx) -> None:
        rows(tx, _HOLD)
        work(tx)

    for _ in range(GLANCES):
        if connection.reading(glance):
            return
    connection.writing(alone)


class Spool:
    """A list of records in a temporary file, which is kept in memory while it is small."""

    def __init__(self) -> None:
        self.file: IO[bytes] = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  # `close` closes it

    def empty(self) -> None:
        self.file.seek(0)
        self.file.truncate()

    def put(self, record: Any) -> int:
        """Appends a record to the file and returns its position there."""
        at = self.file.tell()
        pickle.dump(record, self.file, pickle.HIGHEST_PROTOCOL)
        return at

    def get(self, at: int) -> Any:
        self.file.seek(at)
        return pickle.load(self.file)

    def all(self) -> Iterator[Any]:
        end = self.file.seek(0, 2)
        at = 0
        while at < end:
            yield self.get(at)
            at = self.file.tell()

    def close(self) -> None:
        self.file.close()


def scan(connection: Connection, scope: Scope, words: Collection[str] = ()) -> Iterator[tuple[str | None, Record]]:
    """Yields every record the user owns, with the team it is shared with (None: private), in the order of an export.

    With `words`, only the records that contain one of them in a field.
    """
    spool = Spool()

    def work(tx: Tx) -> None:
        spool.empty()
        for record in records_of(tx, scope, words):
            spool.put(record)

    try:
        read_unchanged(connection, work)
        yield from spool.all()
    finally:
        spool.close()


def records_of(tx: Tx, scope: Scope, words: Collection[str] = ()) -> Iterator[tuple[str | None, Record]]:
    """Yields the records of a scan. They refer to others by the ids these have in the record's own partition."""
    query = "MATCH (p:CuePlace {tenant: $tenant, owner: $owner}) WHERE p.part IS NOT NULL RETURN p.part, p.team"
    places = sorted(rows(tx, query, tenant=scope.tenant, owner=scope.user), key=lambda row: str(row[1]))
    readers = {part: Reader(tx, replace(scope, share=team or None)) for part, team in places}
    for kind in _KINDS if not words else _KINDS_WITH_WORDS:
        for part, team in places:
            yield from ((team or None, record) for record in kind(readers[part], part, sorted(words)))


def _in_order(tx: Tx, query: str, part: int, words: Sequence[str] = ()) -> Iterator[Row]:
    """Yields the rows of a query on one partition, ordered by its first columns as Python orders them."""
    found = rows(tx, query, part=part, words=list(words))
    yield from sorted(found, key=lambda row: [str(c) if isinstance(c, str) else c for c in row[:3]])


def _holding(words: Sequence[str], *fields: str, lists: Sequence[str] = ()) -> str:
    """Returns a Cypher condition: one of `fields`, or an item of one of the list fields `lists`, contains one of
    `$words`, which are in lower case. Without words it always holds.
    """
    said = [f"toLower(coalesce({field}, '')) CONTAINS word" for field in fields]
    said += [f"any(one IN coalesce({field}, []) WHERE toLower(one) CONTAINS word)" for field in lists]
    return f"any(word IN $words WHERE {' OR '.join(said)})" if words else "true"


def _sources(reader: Reader, part: int, _: Sequence[str]) -> Iterator[Record]:
    query = f"MATCH (s:CueSource {{part: $part}}) RETURN {SOURCE}"
    yield from (SourceFile(*row) for row in _in_order(reader.tx, query, part))


def _stones(reader: Reader, part: int, _: Sequence[str]) -> Iterator[Record]:
    query = "MATCH (t:CueTombstone {part: $part}) RETURN t.hash, t.at"
    yield from (Tombstone(*row) for row in _in_order(reader.tx, query, part))


def _nodes(reader: Reader, part: int, words: Sequence[str]) -> Iterator[Record]:
    held = _holding(words, "n.name", "n.props", lists=("n.aliases", "n.tags", "n.tag_shows"))
    query = f"MATCH (n:CueNode) WHERE n.part = $part AND {held} RETURN n.id, n.key"
    for some in chunks([key for _, key in _in_order(reader.tx, query, part, words)]):
        yield from reader.plain_nodes(some).values()


def _versions(reader: Reader, part: int, words: Sequence[str]) -> Iterator[Record]:
    held = _holding(words, "v.name", "v.text")
    query = f"MATCH (v:CueVersion) WHERE v.part = $part AND {held} RETURN v.id, v.at, v.name, v.text"
    found = rows(reader.tx, query, part=part, words=words)
    yield from (Version(*row) for row in sorted(found, key=lambda row: (str(row[0]), row[1])))


def _edges(reader: Reader, part: int, words: Sequence[str]) -> Iterator[Record]:
    held = _holding(words, "e.text", "e.type", "e.props", lists=("e.tags",))
    query = f"MATCH ()-[e:CUE_EDGE {{part: $part}}]->() WHERE {held} RETURN e.id, e.uid"
    whole = (
        "UNWIND $uids AS uid MATCH (a)-[e:CUE_EDGE {uid: uid}]->(b) USING INDEX SEEK e:CUE_EDGE(uid)"
        f" RETURN {made.EDGE_MAP}, {ENDS}"
    )
    for some in chunks([uid for _, uid in _in_order(reader.tx, query, part, words)]):
        found = rows(reader.tx, whole, uids=some)
        names = reader.ends(found)
        by_uid = {row[0]["uid"]: made.to_edge(row[0], names[row[1]], names[row[4]]) for row in found}
        yield from (by_uid[uid] for uid in some if uid in by_uid)


def _facts(reader: Reader, part: int, words: Sequence[str]) -> Iterator[Record]:
    query = f"MATCH (f:CueFact {{part: $part}}) WHERE {_holding(words, 'f.value')} RETURN f.id, f.uid"
    whole = (
        "UNWIND $uids AS uid MATCH (f:CueFact {uid: uid})-[:CUE_SUBJECT]->(a) USING INDEX SEEK f:CueFact(uid)"
        f" OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode) RETURN properties(f), {ENDS}"
    )
    for some in chunks([uid for _, uid in _in_order(reader.tx, query, part, words)]):
        found = rows(reader.tx, whole, uids=some)
        names = reader.ends(found)
        by_uid = {
            row[0]["uid"]: made.to_fact(row[0], names[row[1]], None if row[4] is None else names[row[4]])
            for row in found
        }
        yield from (by_uid[uid] for uid in some if uid in by_uid)


def _notes(reader: Reader, part: int, words: Sequence[str]) -> Iterator[Record]:
    query = (
        f"MATCH (o:CueNote {{part: $part}}) WHERE {_holding(words, 'o.text')} "
        " OPTIONAL MATCH (o)-[:CUE_ABOUT]->(n:CueNode)"
        " OPTIONAL MATCH ()-[e:CUE_EDGE {uid: o.edge}]->() USING INDEX SEEK e:CUE_EDGE(uid)"
        " RETURN o.id, o.text, o.on, o.created, o.expires, e.uid, e.id, e.part, n.key, n.id, n.part,"
        " null AS a, null AS b, null AS c"
    )
    found = list(_in_order(reader.tx, query, part, words))
    names = reader.ends(found)
    edges = [RecordId(*row[5:8]) for row in found if row[5] is not None]
    names |= {one.handle: one.id for one in edges}
    names |= reader.ids.names((one for one in edges if one.part in reader.ids.whose), "edge")
    for id_, text, on, created, expires, edge, _, _, key, *_ in found:
        yield Note(id_, names[edge if key is None else key], text, on, created, expires)


def _mentions(reader: Reader, part: int, _: Sequence[str]) -> Iterator[Record]:
    query = (
        f"MATCH (a:CueNode)-[m:CUE_MENTIONS {{part: $part}}]->(b:CueNode) RETURN a.id AS src, b.id AS dst, m.at, {ENDS}"
    )
    found = list(_in_order(reader.tx, query, part))
    names = reader.ends(found)
    yield from (Mention(names[row[3]], names[row[6]], row[2]) for row in found)


def _links(reader: Reader, part: int, _: Sequence[str]) -> Iterator[Record]:
    query = "MATCH (l:CueLink)<-[:CUE_LINKS]-(n:CueNode) WHERE l.part = $part RETURN n.id, l.norm, l.kind, l.display"
    yield from (Link(id_, norm, display, kind) for id_, norm, kind, display in _in_order(reader.tx, query, part))


_KINDS_WITH_WORDS = (_nodes, _versions, _edges, _facts, _notes)
_KINDS = (_sources, _stones, *_KINDS_WITH_WORDS, _mentions, _links)


# --- the view for a mirror


class Snapshot:
    """The visible atoms of a scope, as they were when the view was opened. `store.read` documents the methods."""

    def __init__(self) -> None:
        self.epoch = ""
        self._spool = Spool()
        self._atoms: dict[str | None, list[tuple[AtomLabels, tuple[int, int, str, int]]]] = {}
        self._said: dict[int, int] = {}

    def read(self, tx: Tx, scope: Scope) -> None:
        """Reads the visible atoms of a scope into the temporary file, in place of what was read before."""
        self._spool.empty()
        self._atoms, self._said = {}, {}
        reader = Reader(tx, scope)
        self.epoch = epoch(tx)
        keys = [key for (key,) in rows(tx, f"{_ATOMS} RETURN n.key ORDER BY n.key", parts=reader.parts)]
        query = (
            "UNWIND $keys AS key MATCH (n:CueNode {key: key}) RETURN n.key, n.id, n.part, n.source, n.tags,"
            " n.tag_origins, n.buckets, n.seq, n.at, n.check, n.name, n.text"
        )
        for some in chunks(keys):
            found = rows(tx, query, keys=some)
            names = reader.ids.names(RecordId(*row[:3]) for row in found)
            for key, id_, _, source, tags, origins, buckets, seq, at, check, name, text in found:
                # The id an atom has in this scope is shown too, and its own checksum does not cover it.
                seen = unsigned(check) ^ (0 if names[key] == id_ else _number(names[key]))
                own = [tag for tag, origin in zip(tags or (), origins or (), strict=True) if origin == "user"]
                atom = AtomLabels(key, source, own, buckets or [], seen)
                self._atoms.setdefault(source, []).append((atom, (seq, at, id_, key)))
                self._said[key] = self._spool.put(AtomText(names[key], name, text))

    def close(self) -> None:
        self._spool.close()

    def sources(self) -> dict[str | None, FileDigest]:
        return {
            source: FileDigest(len(some), sum(atom.check for atom, _ in some) & _MASK)
            for source, some in self._atoms.items()
        }

    def atoms(self, files: Sequence[str | None]) -> Iterator[AtomLabels]:
        for path in files:
            yield from (atom for atom, _ in sorted(self._atoms.get(path, ()), key=lambda pair: pair[1]))

    def texts(self, keys: Iterable[int]) -> dict[int, AtomText]:
        return {key: self._spool.get(self._said[key]) for key in keys if key in self._said}


@contextmanager
def snapshot(connection: Connection, scope: Scope) -> Iterator[Snapshot]:
    """Opens one consistent view of the atoms that a scope sees. It does not change while the block runs."""
    view = Snapshot()
    try:
        read_unchanged(connection, lambda tx: view.read(tx, scope))
        yield view
    finally:
        view.close()


def epoch(tx: Tx) -> str:
    """Returns the memory's epoch, the random name that it got when it was first opened and that no other memory has."""
    return str(rows(tx, "MATCH (m:CueMeta {name: 'epoch'}) RETURN m.value")[0][0])


def _number(name: str) -> int:
    return xxhash.xxh3_64_intdigest(name.encode())


class WholeView:
    """Everyone's memories as they were when they were read. `store.upkeep` documents it."""

    def __init__(self) -> None:
        self._spool = Spool()
        self._records: dict[Scope, list[int]] = {}
        self._vectors: dict[Scope, dict[tuple[VectorKind, str], int]] = {}
        self.roots: dict[Scope, dict[str, str]] = {}
        self.settings: dict[str, str] = {}
        self.space: VectorSpace | None = None

    def read(self, tx: Tx) -> None:
        """Reads everyone's records and vectors into the temporary file, in place of what was read before."""
        self._spool.empty()
        self.space, self.settings = vector_spaces.held(tx), settings(tx)
        homes = {place: Reader(tx, place) for place in partitions(tx, None)}
        self.roots = {place: roots(home) for place, home in homes.items()}
        self._vectors = {place: dict(self._read_vectors(tx, home.home)) for place, home in homes.items()}
        self._records = {
            user: [self._spool.put(record) for record in records_of(tx, user)] for user in users_of(list(homes))
        }

    def _read_vectors(self, tx: Tx, part: int) -> Iterator[tuple[tuple[VectorKind, str], int]]:
        if self.space is None or self.space == NO_VECTORS:
            return
        for what in vector_spaces.VECTOR_STORES:
            for some in chunks(vector_spaces.present(tx, self.space, part, what)):
                for id_, vector in vector_spaces.stored(tx, self.space, dict(some), what).items():
                    yield (what, id_), self._spool.put(vector)

    def close(self) -> None:
        self._spool.close()

    def scan(self, scope: Scope) -> Iterator[tuple[str | None, Record]]:
        return (self._spool.get(at) for at in self._records.get(scope, ()))

    def vectors(self, scope: Scope, ids: Sequence[str], of: VectorKind = "node") -> dict[str, bytes]:
        # Partitions are known by a scope that has only their own team.
        home = Scope(scope.tenant, scope.user, (scope.share,) if scope.share else (), scope.share)
        known = self._vectors.get(home, {})
        return {id_: self._spool.get(known[of, id_]) for id_ in ids if (of, id_) in known}


@contextmanager
def whole_view(connection: Connection) -> Iterator[WholeView]:
    """Opens one consistent view of everyone's memories. It does not change while the block runs."""
    view = WholeView()
    try:
        read_unchanged(connection, view.read)
        yield view
    finally:
        view.close()
