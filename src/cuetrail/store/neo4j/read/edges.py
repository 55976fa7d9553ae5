"""Edges of many nodes with their content, notes, and mentions; one request to the server for all nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from cuetrail.model import UNKNOWN_WEIGHT, Mention, Note
from cuetrail.store.graph import Step, StepQuery
from cuetrail.store.neo4j import rows as made
from cuetrail.store.neo4j.connection import chunks, rows
from cuetrail.store.neo4j.ids import RecordId
from cuetrail.store.neo4j.reader import AMONG, ENDS, Reader, edge_filter, node_filter
from cuetrail.store.read import Side

_ARROWS = {"out": "(o)-[e:CUE_EDGE]->(n)", "in": "(o)<-[e:CUE_EDGE]-(n)"}
_STEPS = f"""UNWIND $keys AS key MATCH (o:CueNode {{key: key}})
CALL (o) {{
  MATCH {{pattern}} WHERE {AMONG.format("e", "$parts")} AND n.part IN $parts{{passing}}
  WITH o, e, n ORDER BY coalesce(e.weight, {UNKNOWN_WEIGHT}) DESC, n.id, e.id LIMIT $each
  WITH o, e, startNode(e) AS a, endNode(e) AS b
  RETURN collect([startNode(e) = o, {made.EDGE_MAP}, {ENDS}]) AS steps
}}
RETURN key, steps"""
_NOTES_ON = """UNWIND $rows AS row CALL (row) {{
  MATCH {pattern} WHERE o.part IN $parts AND (o.expires IS NULL OR o.expires > $now)
  WITH o ORDER BY o.created DESC, o.id LIMIT $each RETURN collect([o.id, o.text, o.created, o.expires]) AS found
}} RETURN row, found"""
_MENTIONS_OF = f"""UNWIND $keys AS key MATCH (n:CueNode {{{{key: key}}}}) CALL (n) {{{{
  MATCH {{pattern}} WHERE {AMONG.format("m", "$parts")} AND o.part IN $parts
  WITH o, m ORDER BY m.at DESC LIMIT $each RETURN collect([o.key, o.id, o.part, m.at]) AS found
}}}} RETURN key, found"""


def steps(reader: Reader, query: StepQuery) -> dict[str, list[Step]]:
    """Returns the strongest edges of each node that pass the filters: by weight, then by the plain ids of the other end
    and of the edge.
    """
    keys = reader.ids.keys(query.ids)
    passing, given = node_filter(query.where)
    limits, bounds = edge_filter(query.ties)
    # A self-loop counts as outgoing.
    limits += " AND n <> o" if query.direction == "in" else ""
    pattern = _ARROWS.get(query.direction, "(o)-[e:CUE_EDGE]-(n)")
    cypher = _STEPS.replace("{pattern}", pattern).replace("{passing}", passing + limits)
    given |= bounds
    each = min(max(query.each, 0), 2**31)
    found: dict[int, list[list[Any]]] = {}
    for some in chunks(list(keys.values())):
        found.update(rows(reader.tx, cypher, keys=some, parts=reader.parts, each=each, **given))
    every = [step[1:] for some in found.values() for step in some]
    edges = dict(zip((step[0]["uid"] for step in every), reader.made_edges(every), strict=True))
    by_id: dict[str, list[Step]] = {}
    for id_, key in keys.items():
        by_id[id_] = []
        for outgoing, props, *_ in found.get(key, []):
            edge = edges[props["uid"]]
            by_id[id_].append(Step(edge, edge.dst if outgoing else edge.src, outgoing))
    return by_id


def notes(reader: Reader, targets: Sequence[str], on: str, now: int, each: int) -> dict[str, list[Note]]:
    kind: Literal["node", "edge"] = "node" if on == "node" else "edge"
    meant = {one.handle: id_ for id_, one in reader.ids.seek(targets, kind).items()}
    pattern = (
        "(o)-[:CUE_ABOUT]->(n:CueNode {key: row}) USING INDEX SEEK n:CueNode(key)"
        if on == "node"
        else "(o:CueNote {edge: row})"
    )
    found: dict[str, list[Note]] = {}
    cypher = _NOTES_ON.format(pattern=pattern)
    for some in chunks(list(meant)):
        for handle, read in rows(reader.tx, cypher, rows=some, parts=reader.parts, now=now, each=max(each, 0)):
            if read:
                target = meant[handle]
                found[target] = [Note(id_, target, text, kind, *times) for id_, text, *times in read]
    return {target: found[target] for target in meant.values() if target in found}


def mentions(reader: Reader, ids: Sequence[str], by: Side, each: int) -> dict[str, list[Mention]]:
    keys = {key: id_ for id_, key in reader.ids.keys(ids).items()}
    arrow = "(n)-[m:CUE_MENTIONS]->(o)" if by == "source" else "(n)<-[m:CUE_MENTIONS]-(o)"
    read: list[tuple[int, list[Any]]] = []
    cypher = _MENTIONS_OF.format(pattern=arrow)
    for some in chunks(list(keys)):
        for key, ends in rows(reader.tx, cypher, keys=some, parts=reader.parts, each=max(each, 0)):
            read += [(key, end) for end in ends]
    names = reader.ids.names(RecordId(*end[:3]) for _, end in read)
    found: dict[str, list[Mention]] = {}
    for key, (other, _, _, at) in read:
        pair = (keys[key], names[other]) if by == "source" else (names[other], keys[key])
        found.setdefault(keys[key], []).append(Mention(*pair, at))
    return {id_: sorted(some, key=lambda m: (-m.at, m.source, m.node)) for id_, some in found.items()}
