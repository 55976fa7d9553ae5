"""One level of a walk by energy, reckoned by the server, in one transaction for all sparks; see `store.energy`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuetrail.store.energy import Candidate, Expanded, Level
from cuetrail.store.neo4j.connection import rows
from cuetrail.store.neo4j.filters import condition
from cuetrail.store.neo4j.ids import Found
from cuetrail.store.neo4j.read import UNKNOWN_WEIGHT, Reader

# Every expression stands as the rule has it, from left to right: so both engines come to the same doubles.
_SPARKS = f"""UNWIND $sparks AS s
MATCH (o:CueNode {{key: s.key}})
WITH s, o, COUNT {{ (o)-[x:CUE_EDGE]-() WHERE x.part IN $parts }} AS degree
MATCH (o)-[e:CUE_EDGE]-(n:CueNode)
WHERE e.part IN $parts AND n.part IN $parts AND NOT n.key IN $visited[s.seed]{{passing}}
WITH s, o, e, n, degree, coalesce(e.tags, []) AS all
WITH s, o, e, n, degree, reduce(once = [], tag IN all | CASE WHEN tag IN once THEN once ELSE once + tag END) AS own
WITH s, o, e, n, degree, size(own) AS count, size([tag IN own WHERE tag IN $tags]) AS shared
WITH s, o, e, n, s.energy * coalesce(e.weight, {UNKNOWN_WEIGHT}) / sqrt(degree)
  * CASE WHEN size($tags) = 0 THEN 1.0 WHEN count = 0 THEN $floor
    ELSE $floor + (1.0 - $floor) * shared / (count + size($tags) - shared) END AS energy
WHERE energy > $least
WITH s, o, e, n, energy ORDER BY energy DESC, e.id, e.part
WITH s, n, head(collect([energy, e.uid, e.id, e.part, e.kind, e.weight, e.tags, startNode(e) = o])) AS best
WITH s, n, best ORDER BY best[0] DESC, n.id
WITH s, collect([n.key, n.id, n.part, best]) AS steps RETURN s.number, steps[..s.wanted]"""


def expand(reader: Reader, level: Level) -> Expanded:
    """The candidates of every spark."""
    ids = dict.fromkeys(spark.id for spark in level.sparks)
    keys = reader.ids.keys([*ids, *(id_ for seen in level.visited for id_ in seen)])
    missing = frozenset(id_ for id_ in ids if id_ not in keys)
    wanted = level.wanted()
    sparks = [
        # A few more: where several places have an id, what they are called here decides which comes first.
        {"number": n, "key": keys[spark.id], "energy": float(spark.energy), "seed": spark.seed, "wanted": most + spare}
        for spare in [len(reader.parts) - 1]
        for n, (spark, most) in enumerate(zip(level.sparks, wanted, strict=True))
        if most > 0 and spark.id in keys
    ]
    found: dict[int, list[Any]] = dict(_ask(reader, level, sparks, keys)) if sparks else {}
    return Expanded(_candidates(reader, [found.get(n, []) for n in range(len(wanted))], wanted), missing)


def _ask(reader: Reader, level: Level, sparks: list[dict[str, Any]], keys: dict[str, int]) -> list[Any]:
    passing, given = condition(level.where)
    given |= {"floor": float(level.tag_sim_floor), "least": float(level.min_activation), "tags": sorted(level.tags)}
    visited = [[keys[id_] for id_ in seen if id_ in keys] for seen in level.visited]
    query = _SPARKS.replace("{passing}", passing)
    return rows(reader.tx, query, sparks=sparks, parts=reader.parts, visited=visited, **given)


def _candidates(reader: Reader, found: Sequence[list[Any]], wanted: Sequence[int]) -> tuple[tuple[Candidate, ...], ...]:
    """What the server found, under the ids that nodes and edges have in this scope, in the order of the rule."""
    every = [step for steps in found for step in steps]
    others = reader.ids.names(Found(*step[:3]) for step in every)
    edges = reader.ids.names((Found(*step[3][1:4]) for step in every), "edge")
    made = []
    for steps, most in zip(found, wanted, strict=True):
        order = [
            (-energy, plain, edge, others[key], edges[uid], kind, weight, tags, outgoing)
            for key, plain, _, (energy, uid, edge, _, kind, weight, tags, outgoing) in steps
        ]
        order.sort(key=lambda one: one[:5])
        made.append(
            tuple(
                Candidate(other, -energy, edge, kind, weight, tuple(tags or ()), outgoing)
                for energy, _, _, other, edge, kind, weight, tags, outgoing in order[:most]
            )
        )
    return tuple(made)
