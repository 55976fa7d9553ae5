"""From names to edges: a `[[wikilink]]` or a name in a text becomes an edge while the name means a node.

A name means the note with that title or alias; failing that, a name two or more atoms share becomes an entity of its
own. The outcome depends only on what is in the memory, not on the order it came in.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cuetrail.facts.resolve import entity_of
from cuetrail.model import Edge, Link, Node, Scope
from cuetrail.model.ids import derived_edge_id, entity_id
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch
from cuetrail.text.normalise import norm_name

# Bridge band: someone joined the two on purpose. Topical band: the text merely names the other.
LINK_WEIGHT = 0.65
NAME_WEIGHT = 0.35
FEWEST_SHARING = 2
FOUND = {"found": "shared name"}


def via(norm: str) -> str:
    """The mark of the edges made through a name."""
    return f"name:{norm}"


@dataclass(frozen=True, slots=True)
class Change:
    """What is about to happen to names and links.

    `links` and `ended` are the links atoms get and lose; `arriving` are named nodes, new or changed; `leaving` are ids.
    """

    links: Sequence[Link] = ()
    ended: Sequence[Link] = ()
    arriving: Sequence[Node] = ()
    leaving: Collection[str] = ()


def is_found(node: Node) -> bool:
    """Whether the node is an entity made here, of a shared name, and nobody has stated anything of it yet."""
    return node.kind == "entity" and node.props.get("found") == FOUND["found"]


def withdrawn(link: Link) -> Link:
    """What stays of a link whose atom no longer has it: a row without words."""
    return replace(link, display="")


def resolve(store: Store, scope: Scope, change: Change, batch: Batch, now: int) -> None:
    """Add to `batch` the edges and entities that the change brings, and the removal of those it ends."""
    gone = set(change.leaving)
    fresh: dict[str, list[Link]] = {}
    for link in change.links:
        fresh.setdefault(link.norm, []).append(link)
    arriving = _renamed(store, scope, change.arriving)
    unsettled = {norm for norms in arriving.values() for norm in norms}
    unsettled |= {link.norm for link in change.ended}
    unsettled |= {link.norm for links in store.links(scope, sorted(gone)).values() for link in links}
    unsettled |= {norm for node in store.get(scope, sorted(gone)).values() for norm in norms_of(node)}
    norms = sorted(unsettled | fresh.keys())
    if not norms:
        return
    named = store.named(scope, norms)
    nodes = store.get(scope, sorted({id_ for ids in named.values() for id_ in ids}))
    nodes.update((node.id, node) for node in change.arriving)
    outdated = gone | {node.id for node in change.arriving}
    names = _Names(named, nodes, _by_norm(change.arriving), outdated, (scope.user, scope.share))
    batch.heirs |= names.heirs(sorted({norm for norms in arriving.values() for norm in norms}))
    redo: list[str] = []
    for norm in norms:
        target = names.meant(norm)
        if norm not in unsettled and target is not None:
            batch.edges += _edges(norm, fresh[norm], target.id, now)
        elif norm not in unsettled and (entity := names.entity(norm)) is not None:
            batch.edges += _edges(norm, fresh[norm], entity.id, now)
            _rename(batch, entity, min(entity.name or "", *(link.display for link in fresh[norm])))
        else:
            redo.append(norm)
    _redo(store, scope, change, names, redo, batch, now)


@dataclass(frozen=True, slots=True)
class _Names:
    """Who carries which name once the batch is written."""

    named: Mapping[str, Sequence[str]]
    nodes: Mapping[str, Node]
    arriving: Mapping[str, Sequence[str]]
    outdated: Collection[str]
    place: tuple[str, str | None]

    def meant(self, norm: str) -> Node | None:
        """The node a name means: a note before anything else, then by id; never an entity that was made of the name."""
        staying = (id_ for id_ in self.named.get(norm, ()) if id_ not in self.outdated)
        nodes = (self.nodes[id_] for id_ in (*staying, *self.arriving.get(norm, ())))
        return min(
            (node for node in nodes if not is_found(node)),
            key=lambda node: (node.kind != "source", node.id),
            default=None,
        )

    def heirs(self, norms: Iterable[str]) -> dict[str, str]:
        """Notes that are about an entity of their name, with that: facts of the one are facts of the other."""
        found: dict[str, str] = {}
        for norm in norms:
            here = [self.nodes[id_] for id_ in self.named.get(norm, ()) if id_ not in self.outdated]
            here = [node for node in here if (node.owner, node.team) == self.place]
            here += [self.nodes[id_] for id_ in self.arriving.get(norm, ())]
            about = entity_of(here, norm)
            notes = [node for node in here if node.kind == "source" and norm_name(node.name or "") == norm]
            found |= {note.id: about.id for note in notes} if about is not None else {}
        return found

    def entity(self, norm: str) -> Node | None:
        """The entity made of this name before, in the place that is written to; others' are theirs."""
        id_ = entity_id(norm)
        node = self.nodes.get(id_) if id_ in self.named.get(norm, ()) else None
        return node if node is not None and is_found(node) and (node.owner, node.team) == self.place else None


def norms_of(node: Node) -> set[str]:
    """The names under which a node is found."""
    return {norm for norm in map(norm_name, (node.name or "", *node.aliases)) if norm}


def _by_norm(nodes: Iterable[Node]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for node in nodes:
        for norm in norms_of(node):
            found.setdefault(norm, []).append(node.id)
    return found


def _renamed(store: Store, scope: Scope, nodes: Iterable[Node]) -> dict[str, set[str]]:
    """The names that nodes are about to get or lose."""
    new = {node.id: norms_of(node) for node in nodes}
    old = {id_: norms_of(node) for id_, node in store.get(scope, sorted(new)).items()}
    return {id_: norms ^ old.get(id_, set()) for id_, norms in new.items()}


def _redo(
    store: Store, scope: Scope, change: Change, names: _Names, norms: Sequence[str], batch: Batch, now: int
) -> None:
    """Make the edges of names anew: their meaning changed, or the number of those who share them did."""
    stored = store.links(scope, norms, "name")
    present = store.edges_via(scope, [via(norm) for norm in norms])
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
    """The node the links lead to. An entity is made, renamed or removed as the number of those who share it asks."""
    target, entity = names.meant(norm), names.entity(norm)
    if target is None and len({link.src for link in links}) >= FEWEST_SHARING:
        display = min(link.display for link in links)
        if entity is None:
            id_ = entity_id(norm)
            batch.nodes.append(Node(id_, "entity", display, at=now, props=FOUND, created=now, updated=now))
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
            # With the name in the id, two names of one note linked from one atom are two edges that come and go apart.
            id_ = derived_edge_id(kind, link.src, target, norm)
            edges.append(Edge(id_, link.src, target, kind, weight, via=via(norm), created=now, updated=now))
    return edges
