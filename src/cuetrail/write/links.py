"""From names to edges: a `[[wikilink]]` or a name in a text becomes an edge as soon as the name means a node.

A name means the note with that title or alias. If there is none, a name that two or more atoms share becomes an entity
of its own. The outcome depends only on the content of the memory, not on the order in which it was written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cuetrail.facts.resolve_entity import SHARED_NAME, entity_of, is_shared_name, link_target, norms_of
from cuetrail.model import Edge, Link, Node, Scope
from cuetrail.model.ids import derived_edge_id, entity_id
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch
from cuetrail.text.normalise import is_block_name, norm_name

# A wikilink joins two nodes on purpose; a name in a text only mentions the other node.
LINK_WEIGHT = 0.65
NAME_WEIGHT = 0.35
FEWEST_SHARING = 2


def via(norm: str) -> str:
    """Returns the value of `via` in edges that were made because a text contains this normalised name."""
    return f"name:{norm}"


@dataclass(frozen=True, slots=True)
class LinkChange:
    """The changes that a batch makes to links (names and wikilinks in texts) and to the names of nodes.

    `links` are added, `ended` links are removed. `arriving` are nodes with a name that are new or changed, `leaving`
    the ids of nodes that are removed.
    """

    links: Sequence[Link] = ()
    ended: Sequence[Link] = ()
    arriving: Sequence[Node] = ()
    leaving: Collection[str] = ()


NO_LINK_CHANGE = LinkChange()


def resolve_links(store: Store, scope: Scope, change: LinkChange, batch: Batch, now: int) -> None:
    """Adds to the batch the edges that the change makes necessary, the entities for names that two atoms share, and the
    removal of edges and entities that it makes obsolete.
    """
    gone = set(change.leaving)
    new_links: dict[str, list[Link]] = {}
    for link in change.links:
        new_links.setdefault(link.norm, []).append(link)
    renamed = _renamed(store, scope, change.arriving)
    # The names whose meaning, or whose number of atoms that share them, may change.
    unsettled = {norm for norms in renamed.values() for norm in norms}
    unsettled |= {link.norm for link in change.ended}
    unsettled |= {link.norm for links in store.links(scope, sorted(gone)).values() for link in links}
    unsettled |= {norm for node in store.get(scope, sorted(gone)).values() for norm in norms_of(node)}
    norms = sorted(unsettled | new_links.keys())
    if not norms:
        return
    named = store.named(scope, norms)
    nodes = store.get(scope, sorted({id_ for ids in named.values() for id_ in ids}))
    nodes.update((node.id, node) for node in change.arriving)
    outdated = gone | {node.id for node in change.arriving}
    names = _Names(named, nodes, _by_norm(change.arriving), outdated, (scope.user, scope.share))
    batch.fact_successors |= names.fact_successors(sorted({norm for norms in renamed.values() for norm in norms}))
    rebuild: list[str] = []
    for norm in norms:
        target = names.target(norm)
        if norm not in unsettled and target is not None:
            batch.edges += _edges(norm, new_links[norm], target.id, now)
        elif norm not in unsettled and (entity := names.entity(norm)) is not None:
            batch.edges += _edges(norm, new_links[norm], entity.id, now)
            _rename(batch, entity, min(entity.name or "", *(link.display for link in new_links[norm])))
        else:
            rebuild.append(norm)
    _rebuild(store, scope, change, names, rebuild, batch, now)


@dataclass(frozen=True, slots=True)
class _Names:
    """The nodes that each name refers to once the batch is written."""

    named: Mapping[str, Sequence[str]]
    nodes: Mapping[str, Node]
    arriving: Mapping[str, Sequence[str]]
    outdated: Collection[str]
    partition: tuple[str, str | None]

    def target(self, norm: str) -> Node | None:
        """Returns the node that links with this name lead to. Returns None if no node has the name, or only an entity
        that was made because several atoms share the name.
        """
        staying = (id_ for id_ in self.named.get(norm, ()) if id_ not in self.outdated)
        return link_target(self.nodes[id_] for id_ in (*staying, *self.arriving.get(norm, ())))

    def fact_successors(self, norms: Iterable[str]) -> dict[str, str]:
        """Returns, by note id, the entity of the same name: facts about the note are facts about the entity."""
        found: dict[str, str] = {}
        for norm in norms:
            here = [self.nodes[id_] for id_ in self.named.get(norm, ()) if id_ not in self.outdated]
            here = [node for node in here if (node.owner, node.team) == self.partition]
            here += [self.nodes[id_] for id_ in self.arriving.get(norm, ())]
            entity = entity_of(here, norm)
            notes = [node for node in here if node.kind == "source" and norm_name(node.name or "") == norm]
            found |= {note.id: entity.id for note in notes} if entity is not None else {}
        return found

    def entity(self, norm: str) -> Node | None:
        """Returns the entity made for this shared name in the partition that is written to; None if there is none."""
        id_ = entity_id(norm)
        node = self.nodes.get(id_) if id_ in self.named.get(norm, ()) else None
        in_partition = node is not None and is_shared_name(node) and (node.owner, node.team) == self.partition
        return node if in_partition else None


def _by_norm(nodes: Iterable[Node]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in nodes:
        for norm in norms_of(node):
            found.setdefault(norm, []).append(node.id)
    return found


def _renamed(store: Store, scope: Scope, nodes: Iterable[Node]) -> dict[str, set[str]]:
    """Returns, by node id, the names that the node gets or loses."""
    new = {node.id: norms_of(node) for node in nodes}
    old = {id_: norms_of(node) for id_, node in store.get(scope, sorted(new)).items()}
    return {id_: norms ^ old.get(id_, set()) for id_, norms in new.items()}


def _rebuild(
    store: Store, scope: Scope, change: LinkChange, names: _Names, norms: Sequence[str], batch: Batch, now: int
) -> None:
    """Computes all edges of these names and adds the difference to the batch: new edges, and edges to remove."""
    stored = store.links(scope, norms, "name")
    present = store.edges(scope, [via(norm) for norm in norms], "via")
    gone = set(change.leaving)
    links: dict[str, dict[tuple[str, str], Link]] = {
        norm: {(k.src, k.kind): k for k in stored.get(norm, ()) if k.src not in gone and k.display} for norm in norms
    }
    for link in change.ended:
        links[link.norm].pop((link.src, link.kind), None)
    for link in change.links:
        if link.norm in links:
            links[link.norm][link.src, link.kind] = link
    for norm in norms:
        every = list(links[norm].values())
        target = _target(batch, norm, every, names, now)
        wanted = {edge.id: edge for edge in _edges(norm, every, target, now)} if target is not None else {}
        have = {edge.id for edge in present.get(via(norm), ())}
        batch.remove_edges += sorted(have - wanted.keys())
        batch.edges += [edge for id_, edge in wanted.items() if id_ not in have]


def _target(batch: Batch, norm: str, links: Sequence[Link], names: _Names, now: int) -> str | None:
    """Returns the id of the node that the links lead to, None if there is none.

    Makes, renames or removes the entity for a shared name, depending on how many atoms share it.
    """
    target, entity = names.target(norm), names.entity(norm)
    if target is None and len({link.src for link in links}) >= FEWEST_SHARING and not is_block_name(norm):
        display = min(link.display for link in links)
        if entity is None:
            id_, props = entity_id(norm), {"found": SHARED_NAME}
            batch.nodes.append(Node(id_, "entity", display, at=now, props=props, created=now, updated=now))
            return id_
        _rename(batch, entity, display)
        return entity.id
    if entity is not None:
        batch.remove_nodes.append(entity.id)
    return target.id if target is not None else None


def _rename(batch: Batch, entity: Node, display: str) -> None:
    if display != entity.name:
        batch.nodes.append(replace(entity, name=display))


def _edges(norm: str, links: Sequence[Link], target: str, now: int) -> list[Edge]:
    edges = []
    for link in links:
        kind, weight = ("links", LINK_WEIGHT) if link.kind == "wikilink" else ("mentions", NAME_WEIGHT)
        if link.src != target:
            # With the name in the id, two names of one note linked from one atom are two independent edges.
            id_ = derived_edge_id(kind, link.src, target, norm)
            edges.append(Edge(id_, link.src, target, kind, weight, via=via(norm), created=now, updated=now))
    return edges
