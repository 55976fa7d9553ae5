"""Exports activations: a graph to draw, lines for a language model, a script for Neo4j Browser.

    found = list(m.activate("silent receiver"))
    nodes = m.nodes(*ids_of(found))
    print(to_context(found, nodes))

Without `nodes`, ids are shown in place of names and texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cuetrail.model import Activation, Hop, Node
from cuetrail.recall.spread.activation import merge
from cuetrail.text.normalise import one_line, snippet

WIDTH = 120
_WORD = re.compile(r"\W+")


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


def to_cypher(found: Iterable[Activation], nodes: Mapping[str, Node] | None = None) -> str:
    """Returns a Cypher statement that merges the paths as `Activated` nodes and returns them, for Neo4j Browser."""
    graph = to_graph(found, nodes)
    names = {node["id"]: f"n{number}" for number, node in enumerate(graph["nodes"])}
    lines = [
        f"MERGE ({names[node['id']]}:Activated {{id: {_quoted(node['id'])}}}) SET {names[node['id']]}.name = "
        f"{_quoted(node['label'])}, {names[node['id']]}.energy = {node['energy']!r}"
        for node in graph["nodes"]
    ]
    for number, edge in enumerate(graph["edges"]):
        kind = _WORD.sub("_", edge["kind"]).upper()
        weight = "" if edge["weight"] is None else f", e{number}.weight = {edge['weight']!r}"
        lines.append(
            f"MERGE ({names[edge['source']]})-[e{number}:`{kind}` {{id: {_quoted(edge['id'])}}}]->"
            f"({names[edge['target']]}) SET e{number}.energy = {edge['energy']!r}{weight}"
        )
    return "\n".join([*lines, "RETURN *"]) if graph["nodes"] else "RETURN 'nothing was activated' AS paths"


def _quoted(text: str) -> str:
    """Returns a Cypher string literal; JSON escapes the same characters."""
    return json.dumps(text)
