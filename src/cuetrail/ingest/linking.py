"""From names to edges: a `[[wikilink]]` or a name in a text becomes an edge while the name means a node.

A name means the note with that title or alias; failing that, a name two or more atoms share becomes an entity of its own.
The outcome depends only on what is in the memory, not on the order it came in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cuetrail.model import Edge, Link, Node, Scope
from cuetrail.store.base import Batch, Store
from cuetrail.text import digest, norm_name

# Bridge band: someone joined the two on purpose. Topical band: the text merely names the other.
LINK_WEIGHT = 0.65
NAME_WEIGHT = 0.35
FEWEST_SHARING = 2


def entity_id(norm: str) -> str:
    """The id of the entity a shared name stands for."""
    return digest("name", norm)


def via(norm: str) -> str:
    """The mark of the edges made through a name."""
    return f"name:{norm}"


@dataclass(frozen=True, slots=True)
class Change:
    """What a batch is about to do to names and links."""

    links: Sequence[Link]
    arriving: Sequence[Node]
    leaving: Collection[str]


def resolve(store: Store, scope: Scope, change: Change, batch: Batch, now: int) -> None:
    """Add to `batch` the edges and entities that the change brings, and the removal of those it ends."""
    gone = set(change.leaving)
    lost_links = store.links_of(scope, sorted(gone))
    fresh: dict[str, list[Link]] = {}
    for link in change.links:
        fresh.setdefault(link.norm, []).append(link)
    unsettled = {link.norm for links in lost_links.values() for link in links}
    unsettled |= {norm for node in change.arriving for norm in norms_of(node)}
    unsettled |= {norm for node in store.get(scope, sorted(gone)).values() for norm in norms_of(node)}
    norms = sorted(unsettled | fresh.keys())
    if not norms:
        return
    before = store.named(scope, norms)
    kinds = _kinds(store, scope, before, change.arriving)
    arriving: dict[str, list[str]] = {}
    for node in change.arriving:
        for norm in norms_of(node):
            arriving.setdefault(norm, []).append(node.id)
    redo: dict[str, str | None] = {}
    for norm in norms:
        was = _meant(norm, before.get(norm, ()), kinds)
        after = _meant(norm, [i for i in [*before.get(norm, ()), *arriving.get(norm, ())] if i not in gone], kinds)
        known = after is not None or entity_id(norm) in before.get(norm, ())
        if known and was == after and norm not in unsettled:
            batch.edges += _edges(norm, fresh[norm], after or entity_id(norm), now)
        else:
            redo[norm] = after
    links = store.links_to(scope, list(redo))
    edges = store.edges_via(scope, [via(norm) for norm in redo])
    for norm, target in redo.items():
        kept = [link for link in links.get(norm, ()) if link.src not in gone]
        every = list({(link.src, link.kind): link for link in [*kept, *fresh.get(norm, ())]}.values())
        has_entity = entity_id(norm) in before.get(norm, ())
        _redo(batch, norm, every, target, has_entity, {edge.id for edge in edges.get(via(norm), ())}, now)


def norms_of(node: Node) -> set[str]:
    """The names under which a node is found."""
    return {norm for norm in map(norm_name, (node.name or "", *node.aliases)) if norm}


def _kinds(
    store: Store, scope: Scope, named: Mapping[str, Sequence[str]], arriving: Iterable[Node]
) -> dict[str, str]:
    known = {i: n.kind for i, n in store.get(scope, sorted({i for ids in named.values() for i in ids})).items()}
    return {**known, **{node.id: node.kind for node in arriving}}


def _meant(norm: str, ids: Iterable[str], kinds: Mapping[str, str]) -> str | None:
    """The node a name means: a note before anything else, then by id; never the name's own entity."""
    candidates = [(kinds.get(i) != "source", i) for i in ids if i != entity_id(norm)]
    return min(candidates)[1] if candidates else None


def _redo(
    batch: Batch, norm: str, links: Sequence[Link], target: str | None, has_entity: bool, present: set[str], now: int
) -> None:
    """Make the edges of a name anew: its meaning changed, or the number of those who share it did."""
    if target is None and len({link.src for link in links}) >= FEWEST_SHARING:
        target = entity_id(norm)
        if not has_entity:
            batch.nodes.append(_entity(norm, links, now))
    elif has_entity:
        batch.remove_nodes.append(entity_id(norm))
    wanted = {edge.id: edge for edge in _edges(norm, links, target, now)} if target is not None else {}
    batch.remove_edges += sorted(present - wanted.keys())
    batch.edges += [edge for id_, edge in wanted.items() if id_ not in present]


def _entity(norm: str, links: Sequence[Link], now: int) -> Node:
    display = min(link.display for link in links)
    return Node(
        entity_id(norm), "entity", display, at=now, props={"found": "shared name"}, created=now, updated=now
    )


def _edges(norm: str, links: Sequence[Link], target: str, now: int) -> list[Edge]:
    edges = []
    for link in links:
        kind, weight = ("links", LINK_WEIGHT) if link.kind == "wikilink" else ("mentions", NAME_WEIGHT)
        if link.src != target:
            id_ = digest("edge", link.src, target, kind)
            edges.append(Edge(id_, link.src, target, kind, weight, via=via(norm), created=now, updated=now))
    return edges
