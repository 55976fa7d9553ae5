"""Tombstones on the server, as one user sees them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from cuetrail.model import Node, Tombstone
from cuetrail.store.neo4j.connection import Tx, chunks, rows
from cuetrail.store.neo4j.ids import Ids
from cuetrail.store.neo4j.reader import Reader
from cuetrail.store.neo4j.rows import uid
from cuetrail.store.shared.tombstones import match

_ANY = "MATCH (t:CueTombstone) WHERE t.part IN $mine RETURN 1 LIMIT 1"
_FIND = "UNWIND $uids AS uid MATCH (t:CueTombstone {uid: uid}) RETURN t.hash, t.part"
_STORED = """UNWIND $uids AS uid MATCH (n:CueNode {uid: uid}) USING INDEX SEEK n:CueNode(uid)
RETURN n.id, n.name, n.text"""
_PUT = """UNWIND $rows AS row MERGE (t:CueTombstone {uid: row.uid})
  ON CREATE SET t.part = row.part, t.hash = row.hash, t.at = row.at"""
_REMOVE = "UNWIND $uids AS uid MATCH (t:CueTombstone {uid: uid}) DELETE t"


class Tombstones:
    """The tombstones (hashes of forgotten ids and texts) of one user. `store.transaction` documents the methods."""

    def __init__(self, tx: Tx, ids: Ids) -> None:
        self.tx = tx
        self.partition = ids.home
        self.partitions = ids.mine

    def exist(self) -> bool:
        return bool(rows(self.tx, _ANY, mine=self.partitions))

    def find(self, hashes: Collection[str]) -> Iterator[tuple[str, int]]:
        for some in chunks([uid(part, hash_) for hash_ in hashes for part in self.partitions]):
            yield from ((hash_, part) for hash_, part in rows(self.tx, _FIND, uids=some))

    def stored(self, ids: Collection[str]) -> dict[str, tuple[str | None, str]]:
        uids = [uid(self.partition, id_) for id_ in ids] if self.partition is not None else []
        found = (row for some in chunks(uids) for row in rows(self.tx, _STORED, uids=some))
        return {id_: (name, text) for id_, name, text in found}

    def put(self, partition: int, tombstones: Sequence[Tombstone]) -> None:
        given = [{"uid": uid(partition, t.hash), "part": partition, "hash": t.hash, "at": t.at} for t in tombstones]
        for some in chunks(given):
            rows(self.tx, _PUT, rows=some)

    def remove(self, hashes: Collection[str]) -> None:
        for some in chunks([uid(part, hash_) for part in self.partitions for hash_ in sorted(hashes)]):
            rows(self.tx, _REMOVE, uids=some)


def redacted_texts(reader: Reader, nodes: Sequence[Node]) -> dict[str, str]:
    return {id_: one.rest for id_, one in match(Tombstones(reader.tx, reader.ids), nodes).items()}
