"""The graph of the reference MCP memory server as it is stored in a memory: entities, observations and relations.

Texts are stored normalised. Where that changes one, the property `given` keeps how it was given. The property `stated`
is the time at which a placeholder, which a relation only names, became an entity.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cuetrail.model import Edge, Node, TextQuery, Where
from cuetrail.store.graph import EdgeFilter, StepQuery
from cuetrail.text.normalise import clean, norm_name
from cuetrail.text.timestamps import now_ms
from cuetrail.transfer.formats.graph_view import KINDS, STRUCTURE, is_placeholder
from cuetrail.transfer.formats.mcp_memory import entity_id

if TYPE_CHECKING:
    from cuetrail.memory import Memory

MAX_NODES = 100_000
_WHERE = Where(kinds=tuple(sorted(KINDS)), quarantined=True, archived=True)
_ATOMS = Where(quarantined=True, archived=True)


@dataclass(frozen=True, slots=True)
class Observed:
    """An entity with the atoms of its observations in their order."""

    node: Node
    atoms: tuple[Node, ...]

    @property
    def type(self) -> str:
        return given_text(self.node, str(self.node.props.get("entityType", self.node.kind)), "given_type")

    @property
    def name(self) -> str:
        return given_text(self.node, self.node.name or "")

    @property
    def observations(self) -> list[str]:
        own = [self.node.text] if self.node.text else []
        return own + [given_text(atom, atom.text) for atom in self.atoms]

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "entityType": self.type, "observations": self.observations}

    def contains(self, query: str) -> bool:
        """True if its name, its type or an observation contains the lower-case query."""
        return any(query in text.lower() for text in (self.name, self.type, *self.observations))


def given_text(record: Node | Edge, stored: str, prop: str = "given") -> str:
    """Returns a stored text as it was given, unless it was changed since then."""
    kept = record.props.get(prop)
    given = json.loads(kept) if isinstance(kept, str) and kept.isascii() and kept[:1] == '"' else stored
    return given if clean(given).strip() == stored.strip() else stored


def spelling(text: str, prop: str = "given") -> dict[str, str]:
    """Returns the property that keeps how a text was given, if it is stored otherwise. In ASCII, it stays as it is."""
    return {} if text and clean(text).strip() == text else {prop: json.dumps(text)}


def entities_of(memory: Memory, nodes: Iterable[Node]) -> list[Observed]:
    """Returns those of the nodes that are entities, oldest first, with the atoms of their observations."""
    # Names that were extracted from a text, or that only a relation mentions, are not entities yet.
    stated = [node for node in nodes if node.name and not is_placeholder(node) and "found" not in node.props]
    stated.sort(key=lambda node: (node.props.get("stated", node.created), node.seq, node.id))
    query = StepQuery(tuple(node.id for node in stated), MAX_NODES, "in", EdgeFilter(kinds=("observation",)), _ATOMS)
    steps = memory.store.steps(memory.scope, query) if stated else {}
    atoms = memory.nodes(*{step.other for found in steps.values() for step in found})
    observed = {id_: [atoms[step.other] for step in found if step.other in atoms] for id_, found in steps.items()}
    return [
        Observed(node, tuple(sorted(observed.get(node.id, ()), key=lambda atom: (atom.seq, atom.id))))
        for node in stated
    ]


def all_nodes(memory: Memory) -> list[Node]:
    found = memory.store.text(memory.scope, TextQuery(""), MAX_NODES, _WHERE, nodes=True)
    return [one.node for one in found if one.node is not None]


def named_entities(memory: Memory, names: Iterable[str]) -> dict[str, Observed]:
    """Returns the entities with these names, by the name given."""
    norms = {name: norm_name(name) for name in names}
    ids = memory.store.named(memory.scope, list(norms.values()))
    nodes = memory.nodes(*(id_ for some in ids.values() for id_ in some))
    known = {one.node.id: one for one in entities_of(memory, [n for n in nodes.values() if n.kind in KINDS])}
    found = {name: [known[id_] for id_ in ids.get(norm, ()) if id_ in known] for name, norm in norms.items()}
    return {name: some[0] for name, some in found.items() if some}


def relations_of(memory: Memory, ids: Collection[str]) -> list[tuple[Edge, dict[str, Any]]]:
    """Returns the relations from or to one of these nodes, oldest first: each edge and its JSON."""
    if not ids:
        return []
    steps = memory.store.steps(memory.scope, StepQuery(tuple(ids), MAX_NODES, "both", EdgeFilter(at=now_ms()), _WHERE))
    edges = {step.edge.id: step.edge for some in steps.values() for step in some}
    stated = [edge for edge in edges.values() if edge.via is None and edge.kind not in STRUCTURE]
    stated.sort(key=lambda edge: (edge.created, edge.props.get("seq", 0), edge.id))
    nodes = memory.nodes(*{end for edge in stated for end in (edge.src, edge.dst)})
    names = {id_: given_text(node, node.name) for id_, node in nodes.items() if node.name}
    return [
        (edge, {"from": names[edge.src], "to": names[edge.dst], "relationType": _relation_type(edge)})
        for edge in stated
        if names.get(edge.src) and names.get(edge.dst)
    ]


def _relation_type(edge: Edge) -> str:
    return given_text(edge, "" if edge.type is None and "given" in edge.props else edge.type or edge.kind)


def placeholders_of(memory: Memory, names: Iterable[str]) -> dict[str, Node]:
    """Returns the placeholders of these names, by the name given."""
    ids = {name: entity_id(norm_name(name)) for name in names}
    nodes = memory.nodes(*ids.values())
    return {name: nodes[id_] for name, id_ in ids.items() if id_ in nodes and is_placeholder(nodes[id_])}
