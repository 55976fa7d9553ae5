"""The facts of a write transaction: reads those that a write may concern, and writes to their table.

The rules that decide what is written are in `store.shared.fact_writes`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from cuetrail.model import Fact
from cuetrail.model.predicates import declaration
from cuetrail.store.shared.fact_fields import MADE_FOR_A_FACT
from cuetrail.store.shared.stored_values import pack
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import another_version, chunks, marks, settings, take_keys
from cuetrail.store.sqlite.write.state import WriteState, renew_sums
from cuetrail.store.transaction import StoredFact, Topic

_UPDATE = (
    "UPDATE OR REPLACE facts SET id = ?, value = ?, confidence = ?, status = ?, source = ?, source_ref = ?,"
    " provenance = ?, tags = ?, valid_from = ?, valid_until = ?, superseded_by = ?, stated_from = ?, stated_until = ?,"
    " stated_status = ?, restated = ? WHERE key = ?"
)
_TOPICS = "SELECT DISTINCT f.part, f.subject, f.predicate FROM facts f"
# A SQL condition: true for a fact that may supersede others of its topic.
_SHADOWING = (
    "EXISTS (SELECT 1 FROM facts s WHERE s.subject = f.subject AND s.predicate = f.predicate AND s.part = f.part"
    " AND (s.status = 'superseded' OR s.stated_from IS NOT NULL OR s.stated_until IS NOT NULL))"
)
_OF_TOPIC = f"{rows.FACT} WHERE f.part + 0 = ? AND f.subject = ? AND f.predicate = ?"
_IDLE = (
    "SELECT key FROM nodes n WHERE key = ?1 AND props = ?2 AND NOT EXISTS (SELECT 1 FROM facts WHERE subject = ?1)"
    " AND NOT EXISTS (SELECT 1 FROM facts WHERE object = ?1)"
    " AND NOT EXISTS (SELECT 1 FROM notes WHERE target_on = 'node' AND target = ?1)"
    " AND NOT EXISTS (SELECT 1 FROM adjacency a JOIN edges e ON e.key = a.edge WHERE a.node = ?1 AND e.via IS NULL)"
)


class Facts:
    """Writes facts in one transaction; their nodes' ids are plain. `store.transaction` documents the methods."""

    def __init__(self, state: WriteState) -> None:
        self.state = state
        self.db = state.db

    def _read(self, query: str, given: Sequence[Any]) -> list[StoredFact]:
        found = self.db.execute(query, given)
        return [StoredFact(row[0], row[1], row[19], row[20], rows.to_fact(row)) for row in found]

    def with_ids(self, ids: Sequence[str]) -> list[StoredFact]:
        found: list[StoredFact] = []
        for some in chunks(ids):
            query = f"{rows.FACT} WHERE f.id IN ({marks(len(some))}) AND f.part = ?"
            found += self._read(query, (*some, self.state.partition))
        return found

    def with_handles(self, handles: Sequence[int]) -> list[StoredFact]:
        found: list[StoredFact] = []
        for some in chunks(handles):
            found += self._read(f"{rows.FACT} WHERE f.key IN ({marks(len(some))})", some)
        return found

    def same_value(self, facts: Sequence[StoredFact]) -> list[StoredFact]:
        query = f"{_OF_TOPIC} AND f.object IS ? AND substr(f.value, 1, 64) IS substr(?, 1, 64)"
        found: list[StoredFact] = []
        for one in facts:
            found += self._read(query, (one.partition, one.subject, one.fact.predicate, one.object, one.fact.value))
        return found

    def of_topics(self, topics: Sequence[Topic]) -> list[StoredFact]:
        return [row for topic in topics for row in self._read(_OF_TOPIC, topic)]

    def of_nodes(self, keys: Sequence[int]) -> list[StoredFact]:
        found: dict[int, StoredFact] = {}
        for some in chunks(keys):
            among = f"IN ({marks(len(some))})"
            query = f"{rows.FACT} WHERE f.subject {among} OR f.object {among}"
            found.update((row.handle, row) for row in self._read(query, (*some, *some)))
        return list(found.values())

    def topics_of(self, predicate: str) -> list[Topic]:
        query = f"{_TOPICS} WHERE f.predicate = ? AND f.part IN ({self.state.own})"
        return self.db.execute(query, (predicate,)).fetchall()

    def topics_with_objects(self, keys: Sequence[int]) -> list[Topic]:
        """Returns the topics of facts that have one of these nodes as object, but none as subject, and that may
        supersede others of their topic.
        """
        among = f"IN ({marks(len(keys))})"
        query = f"{_TOPICS} WHERE f.object {among} AND NOT f.subject {among} AND {_SHADOWING}"
        return self.db.execute(query, (*keys, *keys)).fetchall()

    def declared(self, partition: int) -> Mapping[str, str]:
        owner = self.db.execute("SELECT tenant, owner FROM parts WHERE part = ?", (partition,)).fetchone()
        return settings(self.db, declaration(*owner))

    def taken(self, ids: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        return self.state.taken("facts", ids)

    def put(self, facts: Sequence[StoredFact]) -> None:
        if not facts:
            return
        first = take_keys(self.db, len(facts))
        table = [
            rows.fact_row(
                row.fact, first + n if row.handle is None else row.handle, row.partition, row.subject, row.object
            )
            for n, row in enumerate(facts)
        ]
        self.db.executemany(rows.INSERT_FACT, table)

    def change(self, changes: Sequence[tuple[StoredFact, Fact | None]]) -> None:
        for partition in {old.partition for old, _ in changes} - {self.state.partition}:
            another_version(self.db, partition)
        self.db.executemany("DELETE FROM facts WHERE key = ?", [(old.handle,) for old, f in changes if f is None])
        table = [
            (
                f.id, f.value, f.confidence, f.status, f.source, f.source_ref, f.provenance, pack(f.tags),
                f.valid_from, f.valid_until, f.superseded_by, f.stated_from, f.stated_until, f.stated_status,
                f.restated, old.handle,
            )
            for old, f in changes
            if f is not None
        ]  # fmt: skip
        self.db.executemany(_UPDATE, table)
        renew_sums(self.db, "facts", [row[-1] for row in table])

    def move(self, moves: Sequence[tuple[StoredFact, StoredFact]]) -> None:
        table = [(new.fact.id, new.subject, new.object, new.handle) for _, new in moves]
        self.db.executemany("UPDATE facts SET id = ?, subject = ?, object = ? WHERE key = ?", table)
        renamed = [(new.fact.id, new.subject, new.partition, old.fact.id) for old, new in moves]
        update = "UPDATE facts SET superseded_by = ? WHERE subject = ? AND part = ? AND superseded_by = ?"
        self.db.executemany(update, renamed)
        named = "SELECT key FROM facts WHERE subject = ? AND part = ? AND superseded_by = ?"
        naming = {key for id_, *place, _ in renamed for (key,) in self.db.execute(named, (*place, id_))}
        renew_sums(self.db, "facts", sorted(naming.union(new.handle for _, new in moves)))

    def remove_extracted(self, refs: Sequence[str]) -> tuple[list[Topic], set[int]]:
        topics: list[Topic] = []
        about: set[int] = set()
        for some in chunks(refs):
            where = f"WHERE f.source_ref IN ({marks(len(some))}) AND f.part IN ({self.state.own})"
            for ends in self.db.execute(f"SELECT f.subject, f.object FROM facts f {where}", some):
                about.update(key for key in ends if key is not None)
            topics += self.db.execute(f"{_TOPICS} {where} AND {_SHADOWING}", some)
            self.db.execute(f"DELETE FROM facts AS f {where}", some)
        return topics, about

    def idle(self, keys: Collection[int]) -> list[int]:
        props = pack(MADE_FOR_A_FACT)
        return [key for key in sorted(keys) if self.db.execute(_IDLE, (key, props)).fetchone()]
