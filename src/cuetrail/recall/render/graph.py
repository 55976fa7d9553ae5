"""Exports activations: a graph to draw, lines for a language model, a script for Neo4j Browser.

    found = list(m.activate("silent receiver"))
    nodes = m.nodes(*ids_of(found))
    print(to_context(found, nodes))

Without `nodes`, ids are shown in place of names and texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cuetrail.model import Activation, Hop, Node, Scope
from cuetrail.model.graph_mapping import GraphMapping
from cuetrail.recall.spread.activation import merge
from cuetrail.store.shared.ids import SIGN
from cuetrail.text.cypher import id_of, literal, one_of, property_of
from cuetrail.text.normalise import one_line, snippet

WIDTH = 120


def ids_of(found: Iterable[Activation]) -> list[str]:
    """Returns the ids of all nodes that energy reached, those with the most energy first."""
    return [one.id for one in merge(found)]


def to_graph(found: Iterable[Activation], nodes: Mapping[str, Node] | None = None) -> dict[str, list[dict[str, Any]]]:
    """Returns the nodes that activations reached and the edges that energy took, each once, as data for drawing.

    Edges keep the direction they are stored with. `nodes` gives labels and kinds.
    """
    found, known = list(found), nodes or {}
    seeds = {one.seed for one in found}
    drawn = [
        {"id": one.id, "label": _label(one.id, known), "kind": known[one.id].kind if one.id in known else "atom",
         "energy": one.energy, "seed": one.id in seeds, "from": list(one.paths)}
        for one in merge(found)
    ]  # fmt: skip
    return {"nodes": drawn, "edges": [_edge(hop) for hop in _hops(found)]}


def _edge(hop: Hop) -> dict[str, Any]:
    ends = (hop.src, hop.dst) if hop.outgoing else (hop.dst, hop.src)
    return {
        "id": hop.edge,
        "source": ends[0],
        "target": ends[1],
        "kind": hop.kind,
        "weight": hop.weight,
        "tags": list(hop.tags),
        "energy": hop.energy,
    }


def _hops(found: Sequence[Activation]) -> list[Hop]:
    """Returns one hop for every edge that energy took: of several hops along an edge, the one with the most energy."""
    best: dict[str, Hop] = {}
    for hop in (hop for one in found for path in one.paths for hop in path.hops):
        if hop.edge not in best or hop.energy > best[hop.edge].energy:
            best[hop.edge] = hop
    return list(best.values())


def to_context(found: Iterable[Activation], nodes: Mapping[str, Node] | None = None) -> str:
    """Returns one line per path, those with the most energy at the end first. A node's name or text appears once, later
    only its id.
    """
    known, written = nodes or {}, set[str]()
    paths = [path for one in found for path in one.paths]
    lines = []
    for path in sorted(paths, key=lambda path: (-path.hops[-1].energy, path.ids)):
        parts = [_described(path.hops[0].src, known, written)]
        for hop in path.hops:
            arrow = f"-{hop.kind} {hop.energy:.3f}->" if hop.outgoing else f"<-{hop.kind} {hop.energy:.3f}-"
            parts += [arrow, _described(hop.dst, known, written)]
        lines.append(one_line(" ".join(parts)))
    return "\n".join(lines)


def _described(id_: str, known: Mapping[str, Node], written: set[str]) -> str:
    if id_ in written or id_ not in known:
        return f"[{id_}]"
    written.add(id_)
    return f"[{id_}] {_label(id_, known)}"


def _label(id_: str, known: Mapping[str, Node]) -> str:
    node = known.get(id_)
    return id_ if node is None else node.name or snippet(node.text, WIDTH) or id_


MEMORY = GraphMapping(labels=("CueNode",), types=("CUE_EDGE",), id="ref", edge_id="id")
"""How cuetrail's own memory lies in a Neo4j database."""
_VISIBLE = """MATCH (p:CuePlace) WHERE p.tenant = {} AND (p.owner = {} OR p.team IN [{}])
WITH collect(p.part) AS parts
"""


def to_cypher(found: Iterable[Activation], mapping: GraphMapping = MEMORY, scope: Scope | None = None) -> str:
    """Returns a Cypher statement that finds the nodes and edges of the paths and returns them with their energy, for
    Neo4j Browser. It only reads.

    The `mapping` says how they lie in the database: without one, as in a memory of cuetrail. There, `scope` leaves out
    what other users have.
    """
    found = list(found)
    hops = sorted(_hops(found), key=lambda hop: (-hop.energy, hop.src, hop.dst, hop.edge))
    alone = [one for one in found if one.reason != "seed_not_found" and not one.paths]
    rows: list[tuple[str, str | None, str | None, float]] = [(hop.src, hop.edge, hop.dst, hop.energy) for hop in hops]
    rows += [(one.seed, None, None, one.score) for one in alone]
    if not rows:
        return "RETURN 'nothing was activated' AS paths"
    listed = ",\n".join(f"  [{_id(src, mapping)}, {literal(edge)}, {_id(dst, mapping)}, {literal(energy)}]"
                        for src, edge, dst, energy in rows)  # fmt: skip
    here = " AND a.part IN parts" if scope else ""
    visible = _VISIBLE.format(
        literal(scope.tenant), literal(scope.user), ", ".join(map(literal, scope.teams))
    ) if scope else ""  # fmt: skip
    return f"""{visible}UNWIND [
{listed}
] AS hop
MATCH (a{one_of(mapping.labels)}) WHERE {property_of("a", mapping.id)} = hop[0]{here}
OPTIONAL MATCH (a)-[e{one_of(mapping.types)}]-(b{one_of(mapping.labels)})
  WHERE {id_of("e", mapping.edge_id)} = hop[1] AND {property_of("b", mapping.id)} = hop[2]
RETURN a, e, b, hop[3] AS energy ORDER BY energy DESC"""


def _id(id_: str | None, mapping: GraphMapping) -> str:
    """Returns the literal of an id as the graph stores it: in a memory without the owner behind `@@` that a shared one
    shows. `null` for None.
    """
    if id_ is None:
        return "null"
    return literal(mapping.stored_id(id_.partition(SIGN)[0] if mapping == MEMORY else id_))
