"""Reads of facts for one scope: by subject, by id, by the node they were extracted from, and those that hold at a time.

Active facts are read in order of certainty, and no more than are wanted; `store.neo4j.schema` describes the indexed
sort keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cuetrail.model import Direction, Fact
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.ids import RecordId
from cuetrail.store.neo4j.reader import AMONG, ENDS, Reader
from cuetrail.store.read import FACTS_OF_VALUE, Around, FactKey, HeldAt, ScopeVersion, by_ref, by_value
from cuetrail.store.shared.fact_fields import ACTIVE, ENDED

SIDES = {"out": ("subject",), "in": ("object",), "both": ("subject", "object")}
# Facts with invisible ends are skipped before the limit applies.
_SEEN = """f.part IN $parts AND coalesce(f.valid_from, f.created) <= $at
    AND EXISTS { MATCH (f)-[:CUE_SUBJECT]->(s) WHERE s.part IN $parts }
    AND NOT EXISTS { MATCH (f)-[:CUE_OBJECT]->(o) WHERE NOT o.part IN $parts }"""
# An OR would be planned as two reads and a sort. The index is named: a plan made while it was empty would stay a scan.
_ACTIVE = f"""MATCH (f:CueFact) USING INDEX SEEK f:CueFact(by_SIDE) WHERE f.by_SIDE STARTS WITH toString(key) + ':'
    AND coalesce(f.valid_until, $at + 1) > $at AND {_SEEN}
  RETURN f ORDER BY f.by_SIDE LIMIT $limit"""
# After the colon comes the end as a sortable text; the semicolon is the character after the colon.
_PAST = f"""MATCH (f:CueFact) USING INDEX SEEK f:CueFact(past_SIDE)
  WHERE f.past_SIDE > toString(key) + ':' + $moment AND f.past_SIDE < toString(key) + ';' AND {_SEEN}
  RETURN f ORDER BY f.confidence DESC, f.created DESC, f.id LIMIT $limit"""
_WITH_ENDS = f"""MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode)
WITH f, a, b WHERE a.part IN $parts AND (b IS NULL OR b.part IN $parts) RETURN properties(f), {ENDS}"""
# The index is named: a plan made while it was empty may scan all facts.
_BY_UID = f"UNWIND $uids AS uid MATCH (f:CueFact {{uid: uid}}) USING INDEX SEEK f:CueFact(uid) WITH f {_WITH_ENDS}"
_FROM = f"""MATCH (f:CueFact) WHERE f.part IN $mine AND f.source_ref IN $refs AND f.status <> 'retracted'
WITH f {_WITH_ENDS}"""
_WITH_VALUE = f"""MATCH (f:CueFact) WHERE f.part IN $parts AND f.status IN $active AND toLower(f.value) IN $values
WITH f {_WITH_ENDS} LIMIT $limit"""
_ENDED = f"""UNWIND $keys AS key CALL (key) {{
  MATCH (f:CueFact) USING INDEX SEEK f:CueFact(past_subject)
  WHERE f.past_subject > toString(key) + ':' AND f.past_subject <= toString(key) + ':' + $moment AND {_SEEN}
  RETURN f ORDER BY f.valid_until DESC, f.id LIMIT $limit
}}
MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode)
RETURN key, properties(f), {ENDS}"""
_ENDED_FROM = f"""MATCH (f:CueFact) WHERE f.part IN $parts AND f.source_ref IN $refs AND f.status IN $ended
WITH f {_WITH_ENDS} ORDER BY coalesce(f.valid_until, f.created) DESC, f.id LIMIT $limit"""
_USED = """MATCH (f:CueFact) WHERE f.part IN $parts AND f.access_count > 0 AND f.status IN $active
MATCH (f)-[:CUE_SUBJECT]->(a) WHERE a.part IN $parts
RETURN a.key, max(f.access_count) AS uses ORDER BY uses DESC, a.key LIMIT $limit"""
_USES = "MATCH (u:CueUses) WHERE u.part IN $parts RETURN u.part, u.count ORDER BY u.part"
_FACTS = f"""UNWIND $keys AS key MATCH (a:CueNode {{key: key}})<-[:CUE_SUBJECT]-(f) USING INDEX SEEK a:CueNode(key)
WHERE {AMONG.format("f", "$parts")}
OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b) WITH f, a, b WHERE b IS NULL OR b.part IN $parts
RETURN properties(f), {ENDS}"""


def query(direction: Direction) -> str:
    """Returns a query for the facts of entities that hold at a time: with the entity as subject, as object, or both,
    each read separately.
    """
    ways = [way.replace("SIDE", side) for side in SIDES[direction] for way in (_ACTIVE, _PAST)]
    union = "\n  UNION\n  ".join(ways)
    return f"""UNWIND $keys AS key CALL (key) {{
  {union}
}}
MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode)
RETURN key, properties(f), {ENDS}"""


def to_facts(reader: Reader, found: Sequence[list[Any]]) -> list[Fact]:
    """Converts rows of (properties, ENDS) to facts, with the ids that they and their nodes have in this scope."""
    names = reader.ends(found)
    own = reader.ids.names((RecordId(f["uid"], f["id"], f["part"]) for f, *_ in found), "fact")
    return [
        replace(made.to_fact(f, names[a], None if b is None else names[b]), id=own[f["uid"]])
        for f, a, _, _, b, _, _ in found
    ]


def by_subject(reader: Reader, subjects: Sequence[str]) -> dict[str, list[Fact]]:
    keys = {key: id_ for id_, key in reader.ids.keys(subjects).items()}
    found = [row for some in chunks(list(keys)) for row in rows(reader.tx, _FACTS, keys=some, parts=reader.parts)]
    names = reader.ends(found)
    by_subject: dict[str, list[Fact]] = {}
    for fact, subject, _, _, other, _, _ in found:
        made_fact = made.to_fact(fact, keys[subject], None if other is None else names[other])
        by_subject.setdefault(keys[subject], []).append(made_fact)
    order = {id_: sorted(some, key=lambda f: (-f.confidence, -f.created, f.id)) for id_, some in by_subject.items()}
    return {id_: order[id_] for id_ in keys.values() if id_ in order}


def held_at(reader: Reader, ids: Sequence[str], at: int, limit: int, direction: Direction) -> dict[str, list[Fact]]:
    keys = reader.ids.keys(ids)
    most = min(max(limit, 0), 2**31)
    given = {"parts": reader.parts, "at": at, "limit": most, "moment": made.moment(at)}
    asked = query(direction)
    found = [row for some in chunks(list(keys.values())) for row in rows(reader.tx, asked, keys=some, **given)]
    by_key: dict[int, list[tuple[Fact, str]]] = {}
    for (key, fact, *_), one in zip(found, to_facts(reader, [row[1:] for row in found]), strict=True):
        by_key.setdefault(key, []).append((one, fact["id"]))
    order = {
        key: [f for f, _ in sorted(some, key=lambda pair: (-pair[0].confidence, -pair[0].created, pair[1]))][:most]
        for key, some in by_key.items()
    }
    return {id_: order[key] for id_, key in keys.items() if key in order}


def around(reader: Reader, ids: Sequence[str], at: int, limit: int, refs: Sequence[str]) -> dict[str, list[Fact]]:
    found = held_at(reader, ids, at, limit, "out") if ids else {}
    keys = reader.ids.keys(ids) if ids else {}
    most = min(max(limit, 0), 2**31)
    given = {"parts": reader.parts, "at": at, "limit": most, "moment": made.moment(at)}
    past = [row for some in chunks(list(keys.values())) for row in rows(reader.tx, _ENDED, keys=some, **given)]
    ended: dict[int, list[tuple[Fact, str]]] = {}
    for (key, fact, *_), one in zip(past, to_facts(reader, [row[1:] for row in past]), strict=True):
        ended.setdefault(key, []).append((one, fact["id"]))
    for id_, key in keys.items():
        if key in ended:
            latest = sorted(ended[key], key=lambda pair: (-(pair[0].valid_until or 0), pair[1]))
            found[id_] = [*found.get(id_, ()), *(one for one, _ in latest)]
    for some in chunks(refs):
        asked = {"refs": list(some), "ended": list(ENDED), "parts": reader.parts, "limit": min(most * len(some), 2**31)}
        for one in to_facts(reader, rows(reader.tx, _ENDED_FROM, **asked)):
            found.setdefault(one.source_ref or "", []).append(one)
    return found


def by_id(reader: Reader, ids: Sequence[str]) -> dict[str, list[Fact]]:
    meant = reader.ids.seek(ids, "fact")
    uids = [one.handle for one in meant.values()]
    found = [row for some in chunks(uids) for row in rows(reader.tx, _BY_UID, uids=some, parts=reader.parts)]
    by_uid = {row[0]["uid"]: fact for row, fact in zip(found, to_facts(reader, found), strict=True)}
    return {id_: [by_uid[one.handle]] for id_, one in meant.items() if one.handle in by_uid}


def by_source_ref(reader: Reader, refs: Sequence[str]) -> dict[str, list[Fact]]:
    given = {"mine": reader.ids.mine, "parts": reader.parts}
    found = [row for some in chunks(refs) for row in rows(reader.tx, _FROM, refs=list(some), **given)]
    return by_ref(to_facts(reader, found))


def with_value(reader: Reader, values: Sequence[str]) -> dict[str, list[Fact]]:
    given = {"parts": reader.parts, "active": list(ACTIVE), "values": list(values), "limit": FACTS_OF_VALUE}
    return by_value(to_facts(reader, rows(reader.tx, _WITH_VALUE, **given)))


_BY: Mapping[FactKey, Callable[[Reader, Sequence[str]], dict[str, list[Fact]]]] = {
    "subject": by_subject, "id": by_id, "source_ref": by_source_ref, "value": with_value,
}  # fmt: skip


def facts(
    reader: Reader, keys: Sequence[str], by: FactKey = "subject", held: HeldAt | Around | None = None
) -> dict[str, list[Fact]]:
    if isinstance(held, Around):
        return around(reader, keys, *held)
    return _BY[by](reader, keys) if held is None else held_at(reader, keys, *held)


def most_used(reader: Reader, limit: int) -> list[int]:
    """Returns the keys of up to `limit` entities by the access count of their most used fact, highest first, then by
    key. Only staged and confirmed facts that were used count.
    """
    given = {"parts": reader.parts, "active": list(ACTIVE), "limit": min(max(limit, 0), 2**31)}
    return [key for key, _ in rows(reader.tx, _USED, **given)]


def version(reader: Reader, now: int | None = None) -> ScopeVersion:
    uses = tuple(tuple(row) for row in rows(reader.tx, _USES, parts=reader.parts))
    if now is None:
        return ScopeVersion(reader.ids.version, uses)
    query = "MATCH (f:CueFact) WHERE f.valid_from > $after AND f.part IN $parts RETURN min(f.valid_from)"
    return ScopeVersion(reader.ids.version, uses, rows(reader.tx, query, after=now, parts=reader.parts)[0][0])
