"""Writing facts: how stated facts are fitted in, judged and removed. `store.shared.fact_conflicts` has the rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cuetrail.model import Fact
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.facts.ranks import LONGEST_TOPIC, ranked
from cuetrail.store.neo4j.ids import uid
from cuetrail.store.neo4j.reader import ENDS, Reader
from cuetrail.store.neo4j.settings import settings
from cuetrail.store.shared import fact_conflicts
from cuetrail.store.shared.fact_validity import (
    MADE_FOR_A_FACT,
    Stated,
    Verdict,
    check_ends,
    declaration,
    ends_of,
    is_single,
    remembered,
)

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx
    from cuetrail.store.neo4j.write.transaction import Write

Handle = tuple[str, int]
"""The uid of a fact and the number of its place."""

Topic = tuple[int, int, str]
"""A place, and in it a subject, by their numbers, and a predicate."""

_TOUCH = """UNWIND $uids AS uid MATCH (f:CueFact {uid: uid}) SET f.access_count = f.access_count + 1,
  f.last_accessed = CASE WHEN f.last_accessed > $now THEN f.last_accessed ELSE $now END"""
# Apart from the place itself, which writers hold. Held first, as what is counted on is.
_USE = """UNWIND $parts AS part MERGE (u:CueUses {part: part}) SET u.held = true
SET u.count = coalesce(u.count, 0) + 1"""
_SAME = f"""UNWIND $rows AS row MATCH (f:CueFact {{topic: toString(row[1]) + ':' + left(row[2], $most)}})
WHERE f.predicate = row[2] AND f.part + 0 = row[0] WITH DISTINCT f
MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode) RETURN properties(f), {ENDS}"""
_AS_SAID = f"""UNWIND $uids AS uid MATCH (known:CueFact {{uid: uid}}) USING INDEX SEEK known:CueFact(uid)
MATCH (f:CueFact {{said: known.said}})
WHERE f.part + 0 = known.part AND f.predicate = known.predicate WITH DISTINCT f
MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode) RETURN properties(f), {ENDS}"""
_MINE = f"""UNWIND $uids AS uid MATCH (f:CueFact {{uid: uid}}) USING INDEX SEEK f:CueFact(uid)
MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode) RETURN properties(f), {ENDS}"""
_TOPIC = "MATCH (f)-[:CUE_SUBJECT]->(a:CueNode) RETURN DISTINCT f.part, a.key, f.predicate"
_TOPICS = (
    "UNWIND $uids AS uid MATCH (f:CueFact {uid: uid})-[:CUE_SUBJECT]->(a) USING INDEX SEEK f:CueFact(uid)"
    " RETURN uid, f.id, f.part, a.key, f.predicate"
)
# Facts that others keep from holding: where one of these goes, they may hold again.
_SHADOWING = f"""WITH DISTINCT f WHERE EXISTS {{ MATCH (s:CueFact {{topic: f.topic}}) WHERE s.part + 0 = f.part
  AND s.predicate = f.predicate AND
  (s.status = 'superseded' OR s.stated_from IS NOT NULL OR s.stated_until IS NOT NULL) }} {_TOPIC}"""
_OF_OBJECTS = f"""UNWIND $keys AS key MATCH (n:CueNode {{key: key}})<-[:CUE_OBJECT]-(f)
USING INDEX SEEK n:CueNode(key) {_SHADOWING}"""
_OF_REFS = f"MATCH (f:CueFact) WHERE f.part IN $mine AND f.source_ref IN $refs {_SHADOWING}"
_OF_PREDICATE = f"MATCH (f:CueFact) WHERE f.part IN $mine AND f.predicate = $predicate WITH DISTINCT f {_TOPIC}"
_ENDS = """UNWIND $uids AS uid MATCH (f:CueFact {uid: uid})-[:CUE_SUBJECT]->(a) USING INDEX SEEK f:CueFact(uid)
OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b:CueNode) RETURN uid, a.key, b.key"""
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


# --- writing


def touch(reader: Reader, ids: Sequence[str], now: int) -> None:
    """Count one use of each fact."""
    found = reader.ids.seek(ids, "fact").values()
    rows(reader.tx, _TOUCH, uids=[one.handle for one in found], now=now)
    count_use(reader.tx, {one.part for one in found})


def count_use(tx: Tx, parts: Collection[int]) -> None:
    """Let places know that something there was used; see `uses`."""
    if parts:
        rows(tx, _USE, parts=sorted(parts))


def put(w: Write, stated: Sequence[Stated], forgotten: Collection[str]) -> None:
    """Fit stated facts into what is known. In this transaction: two who state at once do not miss each other."""
    stated = remembered(stated, forgotten)
    if not stated:
        return
    ends = w.ids.keys([end for one in stated for end in ends_of(one.fact)])
    check_ends(stated, ends)
    _store(w, fact_conflicts.settle(stated, list(_present(w, stated, ends))), ends)


def _present(w: Write, stated: Sequence[Stated], ends: dict[str, int]) -> Iterator[tuple[Handle, Fact]]:
    """What is known here on the same: the facts of the same ids, and those a single-valued one may contradict."""
    called = {key: id_ for id_, key in ends.items()}
    uids = [uid(w.part, id_) for one in stated for id_ in one.ids]
    found = [row for some in chunks(uids) for row in rows(w.tx, _MINE, uids=some)]
    known = [row[0]["uid"] for row in found]
    found += [row for some in chunks(known) for row in rows(w.tx, _AS_SAID, uids=some)]
    topics = {(w.part, ends[one.fact.subject], one.fact.predicate): None for one in stated if one.single}
    found += _of_topics(w, list(topics))
    for fact, a, a_id, _, b, b_id, _ in {row[0]["uid"]: row for row in found}.values():
        other = None if b is None else called.get(b, b_id)
        yield (fact["uid"], fact["part"]), made.to_fact(fact, called.get(a, a_id), other)


def _of_topics(w: Write, topics: Sequence[Topic]) -> list[list[Any]]:
    """All facts of subjects and predicates in places."""
    wanted = [list(topic) for topic in topics]
    return [row for some in chunks(wanted) for row in rows(w.tx, _SAME, rows=some, most=LONGEST_TOPIC)]


def _by_topic(w: Write, topics: Sequence[Topic]) -> dict[Topic, list[tuple[Handle, Fact]]]:
    found: dict[Topic, list[tuple[Handle, Fact]]] = {}
    for fact, a, a_id, _, _, b_id, _ in _of_topics(w, topics):
        handle = (fact["uid"], fact["part"])
        found.setdefault((fact["part"], a, fact["predicate"]), []).append((handle, made.to_fact(fact, a_id, b_id)))
    return found


def _has_one_value(w: Write, part: int, predicate: str) -> bool:
    """Whether a predicate has one value at a time for whom a place is of."""
    (owner,) = rows(w.tx, "MATCH (p:CuePlace {part: $part}) RETURN p.tenant, p.owner", part=part)
    return is_single(predicate, settings(w.tx, declaration(*owner)))


def judge(w: Write, verdicts: Sequence[Verdict]) -> None:
    """Confirm or retract facts of the user's; those that were taken back, or are gone, are left alone."""
    given = {verdict.fact: verdict for verdict in verdicts}
    meant = w.ids.seek(given, "fact", mine=True) if given else {}
    by_uid = {one.handle: given[id_] for id_, one in meant.items()}
    by_topic: dict[Topic, list[Verdict]] = {}
    for some in chunks(list(by_uid)):
        for was, id_, *topic in rows(w.tx, _TOPICS, uids=some):
            by_topic.setdefault((topic[0], topic[1], topic[2]), []).append(replace(by_uid[was], fact=id_))
    for topic, present in _by_topic(w, list(by_topic)).items():
        _store(w, fact_conflicts.judge(by_topic[topic], present, _has_one_value(w, topic[0], topic[2])))


def shadowing(w: Write, keys: Sequence[int]) -> list[Topic]:
    """The topics of facts that keep others from holding, of these nodes as objects."""
    found = rows(w.tx, _OF_OBJECTS, keys=keys)
    return [(part, subject, predicate) for part, subject, predicate in found if subject not in keys]


def refit(w: Write, topics: Sequence[Topic], single: bool | None = None) -> None:
    """Let facts hold as what is left says, after some are gone; or as is right for a predicate that is declared so."""
    for (part, _, predicate), present in _by_topic(w, topics).items():
        one = _has_one_value(w, part, predicate) if single is None else single
        _store(w, fact_conflicts.refit(present, one))


def redeclare(w: Write, declared: Mapping[str, bool]) -> None:
    """Fit all the user's facts of predicates that have one value at a time from now on, or many."""
    for predicate, single in declared.items():
        found = rows(w.tx, _OF_PREDICATE, mine=w.ids.mine, predicate=predicate)
        refit(w, [(part, subject, name) for part, subject, name in found], single)


def _store(w: Write, settled: fact_conflicts.Settled[Handle], ends: Mapping[str, int] | None = None) -> None:
    """Change facts, one that is None goes, and insert the new ones: where one like them is, or in the own place."""
    new, changed = settled
    likes = [like[0] for _, like in new if like is not None]
    known = {row[0]: row[1:] for some in chunks(likes) for row in rows(w.tx, _ENDS, uids=some)}
    _rewrite(w, changed)
    put_rows: list[dict[str, Any]] = []
    for fact, like in new:
        if like is not None:
            part, (subject, object_) = like[1], known[like[0]]
        else:
            own = ends or {}
            part, subject, object_ = w.part, own[fact.subject], own[fact.object] if fact.object is not None else None
        put_rows.append({"subject": subject, "object": object_, "props": made.fact_props(fact, part)})
    for some in chunks(put_rows):
        rows(w.tx, _CREATE, rows=some)
    ranked(w.tx, [row["props"]["uid"] for row in put_rows])


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
        topics = rows(w.tx, _OF_REFS, mine=w.ids.mine, refs=list(some))
        rows(w.tx, _FORGET, mine=w.ids.mine, refs=list(some))
        refit(w, [(part, subject, predicate) for part, subject, predicate in topics])
    if not loose:
        return []
    return [key for (key,) in rows(w.tx, _IDLE, keys=sorted(loose), made=made.pack(MADE_FOR_A_FACT))]
