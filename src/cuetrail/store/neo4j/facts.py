"""Facts on the server: how they are stated and judged, and which of them hold. `store.facts` has the rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cuetrail.model import Fact
from cuetrail.store.base import Alike
from cuetrail.store.facts import (
    ACTIVE,
    MADE_FOR_A_FACT,
    Stated,
    Verdict,
    check_ends,
    ends_of,
    judged,
    remembered,
    settle,
)
from cuetrail.store.naming import words_of
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.beliefs import to_facts
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.ids import Found, uid
from cuetrail.store.neo4j.ranks import LONGEST_TOPIC, ranked
from cuetrail.store.neo4j.read import AMONG, ENDS, Reader
from cuetrail.store.neo4j.schema import NAME_INDEX
from cuetrail.text import storable

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx
    from cuetrail.store.neo4j.places import Write

Handle = tuple[str, int]
"""The uid of a fact and the number of its place."""

_WITH_ENDS = f"""MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode)
WITH f, a, b WHERE a.part IN $parts AND (b IS NULL OR b.part IN $parts) RETURN properties(f), {ENDS}"""
_BY_UID = f"UNWIND $uids AS uid MATCH (f:CueFact {{uid: uid}}) WITH f {_WITH_ENDS}"
_FROM = f"""MATCH (f:CueFact) WHERE f.part IN $mine AND f.source_ref IN $refs AND f.status IN $active
WITH f {_WITH_ENDS}"""
_USED = """MATCH (f:CueFact) WHERE f.part IN $parts AND f.access_count > 0 AND f.status IN $active
MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) WHERE a.part IN $parts
RETURN a.key, a.id, a.part, max(f.access_count) AS uses ORDER BY uses DESC, a.key LIMIT $limit"""
_AGEING = f"""MATCH (f:CueFact) WHERE f.part = $part AND f.id > $after AND f.status IN $active
  AND ((f.status = 'staged' AND f.access_count >= 3) OR f.confidence < .2
    OR coalesce(f.last_accessed, f.created) < $before)
WITH f ORDER BY f.id LIMIT $limit
MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode) RETURN properties(f), {ENDS}"""
_TOUCH = """UNWIND $uids AS uid MATCH (f:CueFact {uid: uid}) SET f.access_count = f.access_count + 1,
  f.last_accessed = CASE WHEN f.last_accessed > $now THEN f.last_accessed ELSE $now END"""
_ALIKE = f"""CALL db.index.fulltext.queryNodes('{NAME_INDEX}', $query) YIELD node AS m, score
WHERE m.part IN $parts WITH m, score ORDER BY score DESC LIMIT $limit
MATCH (m)<-[:CUE_NAMED]-(n:CueNode) WITH DISTINCT n RETURN n.key, n.id, n.part, n.kind, n.name, n.aliases"""
_SAME = f"""UNWIND $rows AS row MATCH (f:CueFact {{topic: toString(row[0]) + ':' + left(row[1], $most)}})
WHERE f.predicate = row[1] AND {AMONG.format("f", "$mine")} WITH DISTINCT f
MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode) RETURN properties(f), {ENDS}"""
_MINE = f"""UNWIND $uids AS uid MATCH (f:CueFact {{uid: uid}})
MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode) RETURN properties(f), {ENDS}"""
_CHANGE = "UNWIND $rows AS row MATCH (f:CueFact {uid: row.was}) SET f += row.props"
_GO = "UNWIND $uids AS uid MATCH (f:CueFact {uid: uid}) DETACH DELETE f"
_CREATE = """UNWIND $rows AS row CREATE (f:CueFact) SET f = row.props
WITH f, row MATCH (a:CueNode {key: row.subject}) CREATE (f)-[:CUE_SUBJECT]->(a)
WITH f, row MATCH (b:CueNode {key: row.object}) CREATE (f)-[:CUE_OBJECT]->(b)"""
_LOOSE = """MATCH (f:CueFact) WHERE f.part IN $mine AND f.source_ref IN $refs
MATCH (f)-[:CUE_SUBJECT|CUE_OBJECT]->(n:CueNode) RETURN DISTINCT n.key"""
_FORGET = "MATCH (f:CueFact) WHERE f.part IN $mine AND f.source_ref IN $refs DETACH DELETE f"
_IDLE = """UNWIND $keys AS key MATCH (n:CueNode {key: key}) WHERE n.props = $made
  AND NOT EXISTS { (n)<-[:CUE_SUBJECT|CUE_OBJECT|CUE_ABOUT]-() }
  AND NOT EXISTS { MATCH (n)-[e:CUE_EDGE]-() WHERE e.via IS NULL } RETURN key"""


# --- reading


def by_id(reader: Reader, ids: Sequence[str]) -> dict[str, Fact]:
    """Facts by id, in the order asked, whatever became of them."""
    meant = reader.ids.seek(ids, "fact")
    uids = [one.handle for one in meant.values()]
    found = [row for some in chunks(uids) for row in rows(reader.tx, _BY_UID, uids=some, parts=reader.parts)]
    by_uid = {row[0]["uid"]: fact for row, fact in zip(found, to_facts(reader, found), strict=True)}
    return {id_: by_uid[one.handle] for id_, one in meant.items() if one.handle in by_uid}


def beginning(reader: Reader, prefix: str, limit: int) -> list[str]:
    """Ids of facts that begin so, in order."""
    if limit <= 0 or not storable(prefix):
        return []
    found: list[Found] = []
    for part in reader.parts:
        query = "MATCH (f:CueFact) WHERE f.uid STARTS WITH $start RETURN f.uid, f.id, f.part ORDER BY f.uid LIMIT $most"
        found += (Found(*row) for row in rows(reader.tx, query, start=uid(part, prefix), most=min(limit, 2**31)))
    return sorted(reader.ids.names(found, "fact").values())[:limit]


def from_refs(reader: Reader, refs: Sequence[str]) -> list[Fact]:
    """The user's own active facts that were read out of these nodes, by id."""
    given = {"mine": reader.ids.mine, "parts": reader.parts, "active": list(ACTIVE)}
    found = [row for some in chunks(refs) for row in rows(reader.tx, _FROM, refs=list(some), **given)]
    return sorted(to_facts(reader, found), key=lambda fact: fact.id)


def most_used(reader: Reader, limit: int) -> list[str]:
    """The entities whose facts were used most often, the most used first."""
    given = {"parts": reader.parts, "active": list(ACTIVE), "limit": min(max(limit, 0), 2**31)}
    found = [Found(*row[:3]) for row in rows(reader.tx, _USED, **given)]
    names = reader.ids.names(found)
    return [names[one.handle] for one in found]


def next_belief(reader: Reader, after: int) -> int | None:
    """When the next fact begins to hold that was stated ahead of its time."""
    query = "MATCH (f:CueFact) WHERE f.valid_from > $after AND f.part IN $parts RETURN min(f.valid_from)"
    found: int | None = rows(reader.tx, query, after=after, parts=reader.parts)[0][0]
    return found


def ageing(tx: Tx, part: int, before: int, after: str, limit: int) -> list[Fact]:
    """Active facts of a place that may be promoted or retracted, by id: much used, unsure, or unused since `before`."""
    given = {"part": part, "before": before, "after": after, "limit": limit, "active": list(ACTIVE)}
    found = sorted(rows(tx, _AGEING, **given), key=lambda row: str(row[0]["id"]))
    return [made.to_fact(row[0], row[2], row[5]) for row in found]


def named_like(reader: Reader, words: Collection[str], beginnings: Collection[str], limit: int) -> list[Alike]:
    """Nodes with one of these words, or one that begins so, in their names: those that share most, then by id."""
    wanted = [f'"{word}"' for word in sorted(words)] + [f"{word}*" for word in sorted(beginnings)]
    if not wanted or limit <= 0:
        return []
    found = rows(reader.tx, _ALIKE, query=" ".join(wanted), parts=reader.parts, limit=min(limit, 2**31))
    names = reader.ids.names(Found(*row[:3]) for row in found)
    alike = []
    for key, _, part, kind, name, aliases in found:
        has = words_of(name, aliases or ())
        shared = len(has & set(words)) + sum(any(word.startswith(start) for word in has) for start in beginnings)
        if shared:
            alike.append(Alike(names[key], kind, name or "", tuple(aliases or ()), shared, reader.ids.whose[part][0]))
    return sorted(alike, key=lambda one: (-one.shared, one.id))[:limit]


# --- writing


def touch(reader: Reader, ids: Sequence[str], now: int) -> None:
    """Count one use of each fact."""
    rows(reader.tx, _TOUCH, uids=[one.handle for one in reader.ids.seek(ids, "fact").values()], now=now)


def put(w: Write, stated: Sequence[Stated], forgotten: Collection[str]) -> None:
    """Fit stated facts into what is known. In this transaction: two who state at once do not miss each other."""
    stated = remembered(stated, forgotten)
    if not stated:
        return
    ends = w.ids.keys([end for one in stated for end in ends_of(one.fact)])
    check_ends(stated, ends)
    new, changed = settle(stated, list(_present(w, stated, ends)))
    _rewrite(w, changed)
    put_rows = [
        {
            "subject": ends[f.subject],
            "object": ends[f.object] if f.object is not None else None,
            "props": made.fact_props(f, w.part),
        }
        for f in new
    ]
    for some in chunks(put_rows):
        rows(w.tx, _CREATE, rows=some)
    ranked(w.tx, [uid(w.part, fact.id) for fact in new])


def _present(w: Write, stated: Sequence[Stated], ends: dict[str, int]) -> Iterator[tuple[Handle, Fact]]:
    """What the user has on the same: the facts of the same ids, and those a single-valued one may contradict."""
    called = {key: id_ for id_, key in ends.items()}
    uids = [uid(part, id_) for one in stated for id_ in one.ids for part in w.ids.mine]
    found = [row for some in chunks(uids) for row in rows(w.tx, _MINE, uids=some)]
    pairs = list(dict.fromkeys((ends[one.fact.subject], one.fact.predicate) for one in stated if one.meets_all))
    for some in chunks([list(pair) for pair in pairs]):
        found += rows(w.tx, _SAME, rows=some, mine=w.ids.mine, most=LONGEST_TOPIC)
    for fact, a, a_id, _, b, b_id, _ in {row[0]["uid"]: row for row in found}.values():
        other = None if b is None else called.get(b, b_id)
        yield (fact["uid"], fact["part"]), made.to_fact(fact, called.get(a, a_id), other)


def judge(w: Write, verdicts: Sequence[Verdict]) -> None:
    """Confirm or retract facts of the user's; those that have ended, or are gone, are left alone."""
    given = {verdict.fact: verdict for verdict in verdicts}
    meant = w.ids.seek(given, "fact", mine=True) if given else {}
    by_uid = {one.handle: given[id_] for id_, one in meant.items()}
    changed: dict[Handle, Fact] = {}
    for some in chunks(list(by_uid)):
        for fact, _, a_id, _, _, b_id, _ in rows(w.tx, _MINE, uids=some):
            was = made.to_fact(fact, a_id, b_id)
            changed[fact["uid"], fact["part"]] = judged(was, by_uid[fact["uid"]])
    _rewrite(w, changed)


def _rewrite(w: Write, changed: Mapping[Handle, Fact | None]) -> None:
    """Change facts; one that is None goes, and so does one whose id another takes."""
    w.hold(part for _, part in changed)
    # Use is counted by other transactions meanwhile.
    counts = ("access_count", "last_accessed")
    put_rows: list[dict[str, Any]] = [
        {"was": was, "props": {k: v for k, v in made.fact_props(fact, part).items() if k not in counts}}
        for (was, part), fact in changed.items()
        if fact is not None
    ]
    going = [was for (was, _), fact in changed.items() if fact is None]
    going += [row["props"]["uid"] for row in put_rows if row["props"]["uid"] != row["was"]]
    for uids in chunks(going):
        rows(w.tx, _GO, uids=uids)
    for some in chunks(put_rows):
        rows(w.tx, _CHANGE, rows=some)
    ranked(w.tx, [row["props"]["uid"] for row in put_rows])


def forget_refs(w: Write, refs: Sequence[str]) -> list[int]:
    """Delete what was read out of the user's nodes of these ids; the entities that were made for that and have nothing
    else, to be removed as well.
    """
    loose: set[int] = set()
    for some in chunks(refs):
        loose.update(key for (key,) in rows(w.tx, _LOOSE, mine=w.ids.mine, refs=list(some)))
        rows(w.tx, _FORGET, mine=w.ids.mine, refs=list(some))
    if not loose:
        return []
    return [key for (key,) in rows(w.tx, _IDLE, keys=sorted(loose), made=made.pack(MADE_FOR_A_FACT))]
