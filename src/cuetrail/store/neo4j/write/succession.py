"""What is stated of a node passes to its successor: facts, notes, and the edges that callers made.

A record stays whose it is: what a teammate said of a shared node is still the teammate's, what was private is private.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from cuetrail.model import Scope
from cuetrail.model.ids import fact_id, past_fact_id, stated_edge_id
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.facts import writes
from cuetrail.store.neo4j.facts.ranks import ranked
from cuetrail.store.neo4j.ids import short, uid
from cuetrail.store.neo4j.write.transaction import Write
from cuetrail.store.neo4j.write.writer import carry_out
from cuetrail.store.shared.fact_validity import ACTIVE
from cuetrail.store.write import Batch, Written

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx


class _End(NamedTuple):
    """A node as the records that lead to it have it."""

    key: int | None
    id: str | None


Heirs = Mapping[int | None, _End]

_FACTS = """UNWIND $keys AS key MATCH (n:CueNode {key: key})<-[:CUE_SUBJECT|CUE_OBJECT]-(f)
USING INDEX SEEK n:CueNode(key) WITH DISTINCT f MATCH (f)-[:CUE_SUBJECT]->(a) OPTIONAL MATCH (f)-[:CUE_OBJECT]->(b)
RETURN f.uid, f.part, f.id, f.predicate, f.value, f.created, a.key, a.id, b.key, b.id"""
_MOVE_FACT = """MATCH (f:CueFact {uid: $was}) SET f.uid = $uid, f.id = $id,
  f.rank = CASE WHEN f.status IN $active THEN left(f.rank, 32) + $short ELSE f.rank END
WITH f OPTIONAL MATCH (f)-[old:CUE_SUBJECT|CUE_OBJECT]->() DELETE old
WITH DISTINCT f MATCH (a:CueNode {key: $subject}) CREATE (f)-[:CUE_SUBJECT]->(a)
WITH f MATCH (b:CueNode {key: $object}) CREATE (f)-[:CUE_OBJECT]->(b)"""
_SUPERSEDED = """MATCH (f)-[:CUE_SUBJECT]->(n:CueNode {key: $subject}) USING INDEX SEEK n:CueNode(key)
WHERE f.part + 0 = $part AND f.superseded_by = $was SET f.superseded_by = $id"""
_EDGES = """UNWIND $keys AS key MATCH (n:CueNode {key: key})-[e:CUE_EDGE]-() USING INDEX SEEK n:CueNode(key)
WHERE e.via IS NULL WITH DISTINCT e, startNode(e) AS a, endNode(e) AS b
RETURN e.uid, e.part, e.id, e.kind, e.created, a.key, a.id, b.key, b.id"""
_MOVE_EDGE = """MATCH ()-[e:CUE_EDGE {uid: $was}]->() USING INDEX SEEK e:CUE_EDGE(uid)
WITH e, properties(e) AS kept DELETE e
WITH kept MATCH (a:CueNode {key: $src}) MATCH (b:CueNode {key: $dst})
CREATE (a)-[made:CUE_EDGE]->(b) SET made = kept, made.uid = $uid, made.id = $id"""
_TAKEN = "MATCH ()-[e:CUE_EDGE {uid: $uid}]->() USING INDEX SEEK e:CUE_EDGE(uid) RETURN 1"
_MOVE_EDGE_NOTES = "MATCH (o:CueNote {edge: $was}) SET o.edge = $uid"
_NOTES = """UNWIND $rows AS row MATCH (o)-[r:CUE_ABOUT]->(old:CueNode {key: row[0]}) USING INDEX SEEK old:CueNode(key)
MATCH (n:CueNode {key: row[1]}) DELETE r CREATE (o)-[:CUE_ABOUT]->(n)"""


def write_batch(tx: Tx, scope: Scope, batch: Batch, keys: Sequence[int]) -> Written:
    """Carry out a batch inside the caller's transaction; what is stated of old nodes passes to their successors."""
    w = Write(tx, scope)
    written = carry_out_all(w, batch, keys)
    w.finish()
    return written


def carry_out_all(w: Write, batch: Batch, keys: Sequence[int]) -> Written:
    """Everything a batch changes, but for the log."""
    written = carry_out(w, batch, keys)
    if batch.heirs:
        heirs = _heirs(w, batch.heirs)
        for some in chunks([key for key in heirs if key is not None]):
            _pass_facts(w, some, heirs)
    if batch.successors:
        _pass_on(w, batch.successors)
        # Only now is the file empty that the old nodes were of.
        old = Batch(remove_nodes=list(batch.successors), remove_sources=batch.remove_sources)
        written = replace(written, removed=written.removed + carry_out(w, old, ()).removed)
    return written


def _pass_on(w: Write, successors: Mapping[str, str]) -> None:
    """Let all that is stated of the user's own old nodes lead to their successors. Both must be there.

    An edge that the successor has already, or whose two ends become one, stays with the old node.
    """
    heirs = _heirs(w, successors)
    for keys in chunks([key for key in heirs if key is not None]):
        _pass_facts(w, keys, heirs)
        _pass_edges(w.tx, keys, heirs)
        rows(w.tx, _NOTES, rows=[[key, heirs[key].key] for key in keys])


def _heirs(w: Write, pairs: Mapping[str, str]) -> Heirs:
    """The successors of the user's own nodes, by the keys of these."""
    old, new = w.ids.keys(pairs, mine=True), w.ids.keys(pairs.values(), mine=True)
    return {old[a]: _End(new[b], b) for a, b in pairs.items() if a in old and b in new}


def _pass_facts(w: Write, keys: Sequence[int], heirs: Heirs) -> None:
    tx = w.tx
    found = sorted(rows(tx, _FACTS, keys=keys), key=lambda row: (row[5], row[2]))
    renamed = []
    topics: dict[writes.Topic, None] = {}
    for was, part, id_, predicate, value, _, *ends in found:
        old_subject, old_object = _End(*ends[:2]), _End(*ends[2:])
        subject = heirs.get(old_subject.key, old_subject)
        object_ = heirs.get(old_object.key, old_object)
        made = id_ == fact_id(str(old_subject.id), predicate, old_object.id, value)
        new_id = fact_id(str(subject.id), predicate, object_.id, value) if made else id_
        new = uid(part, new_id)
        if new != was and rows(tx, "MATCH (f:CueFact {uid: $uid}) RETURN 1", uid=new):
            # The successor has it already: here it is stated once more.
            new_id = past_fact_id(new_id, id_)
            new = uid(part, new_id)
        if subject.key is not None:
            topics[part, subject.key, predicate] = None
        given = {"was": was, "uid": new, "id": new_id, "short": short(new_id), "active": list(ACTIVE)}
        rows(tx, _MOVE_FACT, subject=subject.key, object=object_.key, **given)
        ranked(tx, [new])
        renamed.append({"subject": subject.key, "part": part, "was": id_, "id": new_id})
    for one in renamed:
        rows(tx, _SUPERSEDED, **one)
    writes.refit(w, list(topics))


def _pass_edges(tx: Tx, keys: Sequence[int], heirs: Heirs) -> None:
    found = sorted(rows(tx, _EDGES, keys=keys), key=lambda row: (row[4], row[2]))
    for was, part, id_, kind, _, *ends in found:
        src, dst = _End(*ends[:2]), _End(*ends[2:])
        new_src, new_dst = heirs.get(src.key, src), heirs.get(dst.key, dst)
        made = id_ == stated_edge_id(str(src.id), str(dst.id), kind)
        new_id = stated_edge_id(str(new_src.id), str(new_dst.id), kind) if made else id_
        new = uid(part, new_id)
        taken = new != was and rows(tx, _TAKEN, uid=new)
        if (new_src == new_dst and src != dst) or taken:
            continue
        rows(tx, _MOVE_EDGE, was=was, uid=new, id=new_id, src=new_src.key, dst=new_dst.key)
        rows(tx, _MOVE_EDGE_NOTES, was=was, uid=new)
