"""Facts on the server, for writing: their content, their topics, and the sort keys by which they are read in order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from cuetrail.model import Fact
from cuetrail.model.predicates import declaration
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import Tx, chunks, rows, settings
from cuetrail.store.neo4j.reader import ENDS
from cuetrail.store.neo4j.rows import short, uid
from cuetrail.store.neo4j.write.state import WriteState
from cuetrail.store.shared.fact_fields import ACTIVE, MADE_FOR_A_FACT
from cuetrail.store.shared.stored_values import pack
from cuetrail.store.transaction import StoredFact, Topic

# A predicate, or a value, is cut where it would be too long for an index.
LONGEST_TOPIC = 200
_WITH_ENDS = f"""WITH DISTINCT f MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode)
RETURN properties(f), {ENDS}"""
# Indexes are named because a plan made while one was empty may be a scan of all facts.
_FACTS = "UNWIND $some AS uid MATCH (f:CueFact {uid: uid}) USING INDEX SEEK f:CueFact(uid)"
_SAME_VALUE = f"""UNWIND $some AS uid MATCH (known:CueFact {{uid: uid}}) USING INDEX SEEK known:CueFact(uid)
MATCH (f:CueFact {{said: known.said}}) WHERE f.part + 0 = known.part AND f.predicate = known.predicate {_WITH_ENDS}"""
_OF_TOPICS = f"""UNWIND $some AS row
MATCH (f:CueFact {{topic: toString(row[1]) + ':' + left(row[2], {LONGEST_TOPIC})}})
WHERE f.predicate = row[2] AND f.part + 0 = row[0] {_WITH_ENDS}"""
_FACTS_OF = f"""UNWIND $some AS key MATCH (n:CueNode {{key: key}})<-[:CUE_SUBJECT|CUE_OBJECT]-(f)
USING INDEX SEEK n:CueNode(key) {_WITH_ENDS}"""
_RETURN_TOPIC = "MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) RETURN DISTINCT f.part, a.key, f.predicate"
_OF_PREDICATE = f"MATCH (f:CueFact) WHERE f.part IN $mine AND f.predicate = $predicate WITH DISTINCT f {_RETURN_TOPIC}"
# Filters for the facts that may supersede others of their topic, and returns their topics.
_SHADOWING = f"""WITH DISTINCT f WHERE EXISTS {{ MATCH (s:CueFact {{topic: f.topic}}) WHERE s.part + 0 = f.part
  AND s.predicate = f.predicate AND
  (s.status = 'superseded' OR s.stated_from IS NOT NULL OR s.stated_until IS NOT NULL) }} {_RETURN_TOPIC}"""
_OF_OBJECTS = f"""UNWIND $keys AS key MATCH (n:CueNode {{key: key}})<-[:CUE_OBJECT]-(f)
USING INDEX SEEK n:CueNode(key) {_SHADOWING}"""
_EXTRACTED = "MATCH (f:CueFact) WHERE f.part IN $mine AND f.source_ref IN $refs"
_PUT_FACTS = """UNWIND $rows AS row MERGE (f:CueFact {uid: row.props.uid}) SET f = row.props
WITH f, row OPTIONAL MATCH (f)-[old:CUE_SUBJECT|CUE_OBJECT]->() DELETE old
WITH DISTINCT f, row MATCH (a:CueNode {key: row.subject}) CREATE (f)-[:CUE_SUBJECT]->(a)
WITH f, row MATCH (b:CueNode {key: row.object}) CREATE (f)-[:CUE_OBJECT]->(b)"""
_CHANGE_FACTS = "UNWIND $rows AS row MATCH (f:CueFact {uid: row.was}) SET f += row.props"
_MOVE_FACT = """MATCH (f:CueFact {uid: $was}) SET f.uid = $uid, f.id = $id,
  f.rank = CASE WHEN f.status IN $active THEN left(f.rank, 32) + $short ELSE f.rank END
WITH f OPTIONAL MATCH (f)-[old:CUE_SUBJECT|CUE_OBJECT]->() DELETE old
WITH DISTINCT f MATCH (a:CueNode {key: $subject}) CREATE (f)-[:CUE_SUBJECT]->(a)
WITH f MATCH (b:CueNode {key: $object}) CREATE (f)-[:CUE_OBJECT]->(b)"""
_SUPERSEDED = """MATCH (f)-[:CUE_SUBJECT]->(n:CueNode {key: $subject}) USING INDEX SEEK n:CueNode(key)
WHERE f.part + 0 = $part AND f.superseded_by = $was SET f.superseded_by = $id"""
_IDLE = """UNWIND $keys AS key MATCH (n:CueNode {key: key}) WHERE n.props = $made
  AND NOT EXISTS { (n)<-[:CUE_SUBJECT|CUE_OBJECT|CUE_ABOUT]-() }
  AND NOT EXISTS { MATCH (n)-[e:CUE_EDGE]-() WHERE e.via IS NULL } RETURN key"""
# Uses are counted by other transactions meanwhile.
_USE_COUNTS = ("access_count", "last_accessed")
# The index is named because a plan made while it was empty may be a scan of all facts.
_SET_SORT_KEYS = """UNWIND $uids AS uid MATCH (f:CueFact {uid: uid})-[:CUE_SUBJECT]->(a) USING INDEX SEEK f:CueFact(uid)
OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode) WITH f, toString(a.key) + ':' AS a, toString(b.key) + ':' AS b,
  CASE WHEN f.status IN $active THEN f.rank END AS now, CASE WHEN NOT f.status IN $active THEN f.rank END AS past
SET f.by_subject = a + now, f.by_object = b + now, f.past_subject = a + past, f.past_object = b + past,
  f.topic = a + left(f.predicate, $most),
  f.said = a + left(f.predicate, $most) + ':' + coalesce(b, left(f.value, $most))"""


class Facts:
    """Writes facts in one transaction. A fact's handle is its uid, its nodes' ids are plain. See
    `store.transaction`.
    """

    def __init__(self, state: WriteState) -> None:
        self.state = state
        self.tx = state.tx

    def _read(self, query: str, given: Sequence[Any]) -> list[StoredFact]:
        found = (row for some in chunks(given) for row in rows(self.tx, query, some=some))
        return [
            StoredFact(f["uid"], f["part"], a, b, made.to_fact(f, a_id, b_id)) for f, a, a_id, _, b, b_id, _ in found
        ]

    def with_ids(self, ids: Sequence[str]) -> list[StoredFact]:
        return self.with_handles([uid(self.state.partition, id_) for id_ in ids])

    def with_handles(self, handles: Sequence[str]) -> list[StoredFact]:
        return self._read(f"{_FACTS} {_WITH_ENDS}", handles)

    def same_value(self, facts: Sequence[StoredFact]) -> list[StoredFact]:
        return self._read(_SAME_VALUE, [one.handle for one in facts])

    def of_topics(self, topics: Sequence[Topic]) -> list[StoredFact]:
        return self._read(_OF_TOPICS, [list(topic) for topic in topics])

    def of_nodes(self, keys: Sequence[int]) -> list[StoredFact]:
        return list({row.handle: row for row in self._read(_FACTS_OF, keys)}.values())

    def topics_of(self, predicate: str) -> list[Topic]:
        return _topics(rows(self.tx, _OF_PREDICATE, mine=self.state.ids.mine, predicate=predicate))

    def topics_with_objects(self, keys: Sequence[int]) -> list[Topic]:
        """Returns the topics, of subjects other than these nodes, in which a fact with one of these nodes as object may
        supersede others.
        """
        return [topic for topic in _topics(rows(self.tx, _OF_OBJECTS, keys=keys)) if topic[1] not in keys]

    def declared(self, partition: int) -> Mapping[str, str]:
        (owner,) = rows(self.tx, "MATCH (p:CuePlace {part: $part}) RETURN p.tenant, p.owner", part=partition)
        return settings(self.tx, declaration(*owner))

    def taken(self, ids: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        uids = [uid(*one) for one in ids]
        query = f"{_FACTS} RETURN f.part, f.id"
        return {(part, id_) for some in chunks(uids) for part, id_ in rows(self.tx, query, some=some)}

    def put(self, facts: Sequence[StoredFact]) -> None:
        put = [
            {"subject": row.subject, "object": row.object, "props": made.fact_props(row.fact, row.partition)}
            for row in facts
        ]
        self.state.run(_PUT_FACTS, put)
        set_sort_keys(self.tx, [uid(row.partition, row.fact.id) for row in facts])

    def change(self, changes: Sequence[tuple[StoredFact, Fact | None]]) -> None:
        """Replaces the content of facts; None removes one. A fact whose id another one takes is removed too."""
        self.state.lock(old.partition for old, _ in changes)
        put: list[dict[str, Any]] = [
            {
                "was": old.handle,
                "props": {k: v for k, v in made.fact_props(f, old.partition).items() if k not in _USE_COUNTS},
            }
            for old, f in changes
            if f is not None
        ]
        gone = [old.handle for old, fact in changes if fact is None]
        gone += [row["props"]["uid"] for row in put if row["props"]["uid"] != row["was"]]
        for some in chunks(gone):
            rows(self.tx, f"{_FACTS} DETACH DELETE f", some=some)
        self.state.run(_CHANGE_FACTS, put)
        set_sort_keys(self.tx, [row["props"]["uid"] for row in put])

    def move(self, moves: Sequence[tuple[StoredFact, StoredFact]]) -> None:
        for old, new in moves:
            id_, to = new.fact.id, uid(new.partition, new.fact.id)
            given = {"was": old.handle, "uid": to, "id": id_, "short": short(id_), "active": list(ACTIVE)}
            rows(self.tx, _MOVE_FACT, subject=new.subject, object=new.object, **given)
        set_sort_keys(self.tx, [uid(new.partition, new.fact.id) for _, new in moves])
        for old, new in moves:
            given = {"subject": new.subject, "part": new.partition, "was": old.fact.id, "id": new.fact.id}
            rows(self.tx, _SUPERSEDED, **given)

    def remove_extracted(self, refs: Sequence[str]) -> tuple[list[Topic], set[int]]:
        topics: list[Topic] = []
        about: set[int] = set()
        ends = f"{_EXTRACTED} MATCH (f)-[:CUE_SUBJECT|CUE_OBJECT]->(n:CueNode) RETURN DISTINCT n.key"
        for some in chunks(refs):
            given = {"mine": self.state.ids.mine, "refs": list(some)}
            about.update(key for (key,) in rows(self.tx, ends, **given))
            topics += _topics(rows(self.tx, f"{_EXTRACTED} {_SHADOWING}", **given))
            rows(self.tx, f"{_EXTRACTED} DETACH DELETE f", **given)
        return topics, about

    def idle(self, keys: Collection[int]) -> list[int]:
        given = {"keys": sorted(keys), "made": pack(MADE_FOR_A_FACT)}
        return [key for (key,) in rows(self.tx, _IDLE, **given)] if keys else []


def _topics(found: Sequence[Sequence[Any]]) -> list[Topic]:
    return [(part, subject, predicate) for part, subject, predicate in found]


def set_sort_keys(tx: Tx, uids: Sequence[str]) -> None:
    """Computes and stores the properties by which facts are read in order; `store.neo4j.schema` describes them."""
    for some in chunks(uids):
        rows(tx, _SET_SORT_KEYS, uids=some, active=list(ACTIVE), most=LONGEST_TOPIC)
