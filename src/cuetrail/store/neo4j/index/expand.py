"""One level of spreading activation, computed by the server in one query; see `store.graph`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuetrail.model import UNKNOWN_WEIGHT, Scope
from cuetrail.store.graph import Candidate, Expanded, Frontier, share_out
from cuetrail.store.neo4j.connection import Tx, rows
from cuetrail.store.neo4j.ids import (
    FEW,
    PARTITION_COLUMNS,
    VISIBLE_PARTITIONS,
    Ids,
    RecordId,
    first_visible,
    scope_parameters,
)
from cuetrail.store.neo4j.reader import AMONG, node_filter
from cuetrail.store.neo4j.rows import short
from cuetrail.store.shared.ids import SIGN
from cuetrail.text.normalise import storable

# The visible partitions, closest first, and the owner part of ids in them: the rules of `Ids` and `place_labels`.
_IN_SIGHT = f"""{VISIBLE_PARTITIONS} WITH p ORDER BY p.owner <> $user, p.team <> $share, p.team, p.owner
WITH collect([{PARTITION_COLUMNS}]) AS places,
  collect(p.owner + CASE p.team WHEN '' THEN '' ELSE '/' + p.team END) AS whose
WITH places, [p IN places | p[0]] AS parts, [i IN range(0, size(places) - 1)
  | whose[i] + CASE WHEN whose[i] IN whose[..i] THEN '{SIGN}' + toString(places[i][0]) ELSE '' END] AS whose"""
# The node that each id means, in the given order. If there are many partitions, those that have the id are read.
# Indexes are named: a plan made while they were empty may scan everything.
_MEANT = f"""CALL (parts, whose) {{
  UNWIND range(0, size($level.asked) - 1) AS at
  CALL (parts, whose, at) {{
    CALL (parts, at) {{
      WITH parts, at WHERE size(parts) <= {FEW} UNWIND parts AS part
      MATCH (n:CueNode {{uid: toString(part) + ':' + $level.asked[at][0]}}) USING INDEX SEEK n:CueNode(uid)
      RETURN n.key AS key, n.part AS part
      UNION ALL
      WITH parts, at WHERE size(parts) > {FEW}
      MATCH (n:CueNode {{ref: $level.asked[at][0]}}) USING INDEX SEEK n:CueNode(ref) WHERE n.part IN parts
      RETURN n.key AS key, n.part AS part }}
    UNWIND range(0, size(parts) - 1) AS place
    WITH key, place WHERE parts[place] = part
      AND ($level.asked[at][1] IS NULL OR (size(parts) > 1 AND $level.asked[at][1] = whose[place]))
    WITH key ORDER BY place RETURN head(collect(key)) AS key }}
  WITH at, key ORDER BY at RETURN collect(coalesce(key, 0)) AS keys }}"""
# Lists are passed inside a map: for separate lists the server makes a new plan for every tenfold length. Every
# expression is written as in the rule, from left to right, so that both engines get the same doubles. Partitions of
# edges are compared by AMONG, and ends have no label: see there.
_STEPS = f"""CALL (parts, keys) {{
  UNWIND $level.nodes AS s
  MATCH (o:CueNode {{key: keys[s.at]}}) USING INDEX SEEK o:CueNode(key)
  WITH s, o, parts, COUNT {{ (o)-[x:CUE_EDGE]-() WHERE {AMONG.format("x", "parts")} }} AS degree,
    [at IN $level.visited[s.seed] | keys[at]] AS visited
  MATCH (o)-[e:CUE_EDGE]-(n)
  WHERE {AMONG.format("e", "parts")} AND n.part IN parts AND NOT n.key IN visited{{passing}}
  WITH s, o, e, n, parts, degree, coalesce(e.tags, []) AS all
  WITH s, o, e, n, parts, degree,
    reduce(once = [], tag IN all | CASE WHEN tag IN once THEN once ELSE once + tag END) AS own
  WITH s, o, e, n, parts, degree, size(own) AS count, size([tag IN own WHERE tag IN $level.tags]) AS shared
  WITH s, o, e, n, parts, s.energy * coalesce(e.weight, {UNKNOWN_WEIGHT}) / sqrt(degree)
    * CASE WHEN size($level.tags) = 0 THEN 1.0 WHEN count = 0 THEN $floor
      ELSE $floor + (1.0 - $floor) * shared / (count + size($level.tags) - shared) END AS energy
  WHERE energy > $least
  WITH s, o, e, n, parts, energy ORDER BY energy DESC, e.id, e.part
  WITH s, n, parts, head(collect([energy, e.uid, e.id, e.part, e.kind, e.weight, e.tags, startNode(e) = o])) AS best
  WITH s, n, parts, best ORDER BY best[0] DESC, n.id
  // A few more: if several partitions have an id, the id that each node has in this scope decides the order.
  WITH s, size(parts) - 1 AS spare, collect([n.key, n.id, n.part, best, n.ref]) AS steps
  RETURN collect([s.number, steps[..s.wanted + spare]]) AS found }}"""
# Other records with a found id decide what that one is called; with one partition there are none.
_RIVALS = """CALL (parts, found) {
  UNWIND found AS one UNWIND one[1] AS step WITH DISTINCT parts, step[4] AS ref WHERE size(parts) > 1
  UNWIND parts AS part MATCH (n:CueNode {uid: toString(part) + ':' + ref}) USING INDEX SEEK n:CueNode(uid)
  RETURN collect([n.key, n.id, n.part]) AS nodes }
CALL (parts, found) {
  UNWIND found AS one UNWIND one[1] AS step
  WITH DISTINCT parts, substring(step[3][1], size(toString(step[3][3])) + 1) AS ref WHERE size(parts) > 1
  UNWIND parts AS part MATCH ()-[e:CUE_EDGE {uid: toString(part) + ':' + ref}]->() USING INDEX SEEK e:CUE_EDGE(uid)
  RETURN collect([e.uid, e.id, e.part]) AS edges }"""
_LEVEL = "\n".join((_IN_SIGHT, _MEANT, _STEPS, _RIVALS, "RETURN places, keys, found, nodes, edges"))


def expand(tx: Tx, scope: Scope, level: Frontier) -> Expanded:
    """Returns the neighbours that energy can flow to from each frontier node, by one query; see `store.graph`."""
    every = dict.fromkeys([*(node.id for node in level.nodes), *(id_ for seen in level.visited for id_ in seen)])
    at = {id_: n for n, id_ in enumerate(id_ for id_ in every if storable(id_))}
    wanted = level.wanted()
    nodes = [
        {"number": n, "at": at[node.id], "energy": float(node.energy), "seed": node.seed, "wanted": most}
        for n, (node, most) in enumerate(zip(level.nodes, wanted, strict=True))
        if most > 0 and node.id in at
    ]
    passing, given = node_filter(level.where)
    given |= {"floor": float(level.tag_sim_floor), "least": float(level.min_activation)}
    lists = {
        "asked": [_named(id_) for id_ in at],
        "nodes": nodes,
        "visited": [[at[id_] for id_ in seen if id_ in at] for seen in level.visited],
        "tags": sorted(level.tags),
    }
    query = _LEVEL.replace("{passing}", passing)
    ((places, keys, found, *rivals),) = rows(tx, query, level=lists, **scope_parameters(scope), **given)
    known = {id_ for id_, n in at.items() if keys[n]}
    ids, steps = Ids(tx, scope, places), dict(found)
    offered = _candidates(ids, [steps.get(n, []) for n in range(len(wanted))], rivals, wanted)
    return Expanded(
        tuple(map(tuple, share_out(offered, level))),
        frozenset(node.id for node in level.nodes if node.id not in known),
    )


def _named(id_: str) -> list[str | None]:
    """Returns the plain id and the owner behind `@@`, None if the id has none."""
    plain, sign, whose = id_.partition(SIGN)
    return [short(plain), whose if sign else None]


def _candidates(
    ids: Ids, found: Sequence[list[Any]], rivals: Sequence[list[Any]], wanted: Sequence[int]
) -> tuple[tuple[Candidate, ...], ...]:
    """Returns the candidates of each frontier node, with the ids that nodes and edges have in this scope, best first.

    `rivals` are all visible nodes and edges with one of the found ids; they decide which ids need an owner. `wanted`
    limits the candidates of each frontier node.
    """
    every = [step for steps in found for step in steps]
    nodes, edges = (first_visible((RecordId(*row) for row in some), ids.parts) for some in rivals)
    others = ids.called((RecordId(*step[:3]) for step in every), nodes)
    along = ids.called((RecordId(*step[3][1:4]) for step in every), edges)
    made = []
    for steps, most in zip(found, wanted, strict=True):
        order = [
            (-energy, plain, edge, others[key], along[uid], kind, weight, tags, outgoing)
            for key, plain, _, (energy, uid, edge, _, kind, weight, tags, outgoing), _ in steps
        ]
        order.sort(key=lambda one: one[:5])
        made.append(
            tuple(
                Candidate(other, -energy, edge, kind, weight, tuple(tags or ()), outgoing)
                for energy, _, _, other, edge, kind, weight, tags, outgoing in order[:most]
            )
        )
    return tuple(made)
