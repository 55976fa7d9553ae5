"""Groups records the way other systems see them: named things, the texts of each, and relations between them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cuetrail.model import Edge, Fact, Node
from cuetrail.store.read import Record
from cuetrail.text.normalise import clean, norm_name

KINDS = frozenset({"person", "project", "concept", "decision", "preference", "file", "conversation", "entity"})
"""Types that are kept as the kind of the node; any other type becomes an `entity` with the type in its props."""

OBSERVATION_WEIGHT = 0.85
RELATION_WEIGHT = 0.65
LINK_WEIGHT = 0.45

STRUCTURE = frozenset({"observation", "part_of"})
"""Edge kinds that connect an atom to its owner. They are exported as the owner's content, not as relations."""

_LAST = 1 << 62


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed relation between two nodes that belong to no other node. `edge` is None if it comes from a fact."""

    src: Node
    dst: Node
    type: str
    edge: Edge | None = None


@dataclass(frozen=True, slots=True)
class GraphView:
    """Nodes grouped for other systems: owners, the texts that belong to each, and relations between owners.

    `owners` are the nodes that belong to no other node, in order. `parts` maps an owner's id to its atoms, in order;
    `values` maps it to its facts with a literal value.
    """

    owners: tuple[Node, ...]
    parts: dict[str, list[Node]]
    relations: tuple[Relation, ...]
    values: dict[str, list[Fact]]


def graph_view(records: Iterable[Record]) -> GraphView:
    """Groups records by the node that a text belongs to. Leaves out notes, derived and ended edges, inactive facts."""
    rows = list(records)
    nodes = {n.id: n for n in sorted((r for r in rows if isinstance(r, Node)), key=lambda n: (n.seq, n.id))}
    parts: dict[str, list[Node]] = {}
    owners: dict[str, Node] = {}
    for node in nodes.values():
        owner = nodes.get(str(node.props.get("of"))) if node.kind == "atom" else None
        if owner is not None and owner.kind != "atom":
            parts.setdefault(owner.id, []).append(node)
        else:
            owners[node.id] = node
    edges = sorted((r for r in rows if isinstance(r, Edge)), key=lambda e: (position(e), e.id))
    facts = [r for r in rows if isinstance(r, Fact) and r.status in ("staged", "confirmed")]
    relations = [
        Relation(owners[e.src], owners[e.dst], e.kind if e.type is None else e.type, e)
        for e in edges
        if e.src in owners and e.dst in owners and e.kind not in STRUCTURE and e.via is None and e.valid_until is None
    ]
    relations += [
        Relation(owners[f.subject], owners[f.object], f.predicate)
        for f in facts
        if f.subject in owners and f.object is not None and f.object in owners
    ]
    values: dict[str, list[Fact]] = {}
    for fact in facts:
        if fact.subject in owners and fact.object is None and fact.value is not None:
            values.setdefault(fact.subject, []).append(fact)
    return GraphView(tuple(owners.values()), parts, tuple(relations), values)


def position(edge: Edge) -> int:
    """Returns the position of the edge in the file it was imported from; last for any other edge."""
    seq = edge.props.get("seq")
    return seq if isinstance(seq, int) else _LAST


def label(node: Node) -> str:
    """Returns the name under which the node is exported: its own, or its id if it has none."""
    name = clean(node.name or "")
    return name if norm_name(name) else node.id


def is_placeholder(node: Node) -> bool:
    """True if the imported file only named the node and had no content for it."""
    return bool(node.props.get("placeholder"))
