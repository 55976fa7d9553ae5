"""The state that the parts of one write transaction share. Writers of one partition wait for each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from cuetrail.model import Scope
from cuetrail.store.neo4j.connection import Tx, chunks, rows
from cuetrail.store.neo4j.ids import Ids, partition_uid

_PLACE = """MERGE (p:CuePlace {uid: $uid}) ON CREATE SET p.tenant = $tenant, p.owner = $owner, p.team = $team
SET p.held = true SET p.writes = coalesce(p.writes, 0) + 1 RETURN p.part"""
_NUMBER = """MERGE (m:CueMeta {name: 'parts'}) SET m.held = true SET m.value = coalesce(m.value, 0) + 1
WITH m MATCH (p:CuePlace {uid: $uid}) SET p.part = m.value RETURN p.part"""
_LOCK = """UNWIND $parts AS part MATCH (p:CuePlace {part: part})
SET p.held = true SET p.writes = coalesce(p.writes, 0) + 1"""


class WriteState:
    """The state that the parts of one write transaction share: the transaction, the partition written to, and the keys
    changed so far. The partition is created on first use and locked.

    `changed` are keys of nodes; `new` is the number of new ones among them. `labelled` is, by partition, by how much
    the number of nodes with tags or buckets changes. `free_keys` are for new nodes.
    """

    def __init__(self, tx: Tx, scope: Scope, free_keys: Sequence[int]) -> None:
        self.tx = tx
        uid = partition_uid(scope)
        given = {"tenant": scope.tenant, "owner": scope.user, "team": scope.share or ""}
        found = rows(tx, _PLACE, uid=uid, **given)[0][0]
        self.partition: int = rows(tx, _NUMBER, uid=uid)[0][0] if found is None else found
        self.ids = Ids(tx, scope)
        self.free_keys = free_keys
        self.changed: set[int] = set()
        self.new = 0
        self.labelled = Counter[int]()

    def lock(self, partitions: Iterable[int]) -> None:
        """Keeps others from writing to these partitions until the end. They are locked in order, to avoid deadlocks."""
        others = sorted(set(partitions) - {self.partition})
        if others:
            rows(self.tx, _LOCK, parts=others)

    def run(self, query: str, given: Sequence[object]) -> None:
        """Runs a query in chunks, with the values `given` as the parameter `rows`."""
        for some in chunks(given):
            rows(self.tx, query, rows=some, part=self.partition)
