"""The state of one write transaction. Writers of one partition wait for each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from cuetrail.model import Scope
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.ids import Ids, place_uid

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx

_PLACE = """MERGE (p:CuePlace {uid: $uid}) ON CREATE SET p.tenant = $tenant, p.owner = $owner, p.team = $team
SET p.held = true SET p.writes = coalesce(p.writes, 0) + 1 RETURN p.part"""
_NUMBER = """MERGE (m:CueMeta {name: 'parts'}) SET m.held = true SET m.value = coalesce(m.value, 0) + 1
WITH m MATCH (p:CuePlace {uid: $uid}) SET p.part = m.value RETURN p.part"""
_LOCK = """UNWIND $parts AS part MATCH (p:CuePlace {part: part})
SET p.held = true SET p.writes = coalesce(p.writes, 0) + 1"""


class WriteState:
    """The transaction, its partition and what it changed so far. The partition is made on first use and locked.

    `changed` are keys of nodes, of which `new` are new. `labelled` counts the change in nodes with tags or buckets, by
    partition. `free_keys` are for new nodes.
    """

    def __init__(self, tx: Tx, scope: Scope, free_keys: Sequence[int]) -> None:
        self.tx = tx
        uid = place_uid(scope)
        given = {"tenant": scope.tenant, "owner": scope.user, "team": scope.share or ""}
        found = rows(tx, _PLACE, uid=uid, **given)[0][0]
        self.partition: int = rows(tx, _NUMBER, uid=uid)[0][0] if found is None else found
        self.ids = Ids(tx, scope)
        self.free_keys = free_keys
        self.changed: set[int] = set()
        self.new = 0
        self.labelled = Counter[int]()

    def lock(self, partitions: Iterable[int]) -> None:
        """Keeps others from writing to more partitions. In order, so that two writers do not wait crosswise."""
        others = sorted(set(partitions) - {self.partition})
        if others:
            rows(self.tx, _LOCK, parts=others)

    def run(self, query: str, given: Sequence[object]) -> None:
        """Runs a query on `$rows`, in chunks."""
        for some in chunks(given):
            rows(self.tx, query, rows=some, part=self.partition)
