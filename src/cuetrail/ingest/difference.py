"""What a file's new content changes: compared with its atoms in the memory, so that only the difference is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cuetrail.ingest import near
from cuetrail.ingest.build import Built, structure
from cuetrail.ingest.linking import withdrawn
from cuetrail.model import Edge, Link, Node, Scope
from cuetrail.store.base import Store

_GIVEN = ("temporal", "infected")


@dataclass(slots=True)
class Difference:
    """`changed` is to be written; of it `new` was not there, and `relabelled` has other tags or buckets of its own."""

    changed: list[Node] = field(default_factory=list)
    new: list[Node] = field(default_factory=list)
    relabelled: list[Node] = field(default_factory=list)
    leaving: list[Node] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    ended: list[Link] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    stale_edges: list[str] = field(default_factory=list)
    kept: int = 0

    def stored_links(self) -> list[Link]:
        """The links to write. The engine cannot delete one, so one that ended stays as a row without words."""
        return self.links + [withdrawn(link) for link in self.ended]


def compare(
    store: Store,
    scope: Scope,
    built: Mapping[str, Sequence[Built]],
    present: Mapping[str, Sequence[Node]],
    moved: Mapping[str, str],
    now: int,
) -> Difference:
    """The difference between files as built and as present. A moved file's atoms take over the old ones' lives."""
    found = Difference()
    for source, documents in built.items():
        old = {node.id: node for node in present[source]}
        before = _by_content(present[moved[source]]) if source in moved else {}
        _compare_nodes(found, documents, old, before, now)
        if old:
            _compare_rest(found, store, scope, documents, old)
        else:
            found.links += [link for document in documents for link in document.links]
            found.edges += [edge for document in documents for edge in document.edges]
    return found


def _compare_nodes(
    found: Difference,
    documents: Sequence[Built],
    old: Mapping[str, Node],
    before: Mapping[tuple[str, str, int], Node],
    now: int,
) -> None:
    wanted = {node.id: node for document in documents for node in document.nodes}
    dated = frozenset[str]().union(*(document.dated for document in documents))
    places = dict(zip(wanted, _contents(list(wanted.values())), strict=True)) if before else {}
    for id_, node in wanted.items():
        was = old.get(id_)
        if was is None:
            same = before.get(places[id_]) if before else None
            fresh = node if same is None else _living_on(node, same, id_ in dated)
            found.new.append(fresh)
            found.changed.append(fresh)
            continue
        found.kept += node.kind == "atom"
        settled, relabelled = _settled(node, was, id_ in dated)
        if settled != was:
            settled = replace(settled, updated=now)
            found.changed.append(settled)
            if relabelled:
                found.relabelled.append(settled)
    found.leaving += [node for id_, node in old.items() if id_ not in wanted]


def _compare_rest(
    found: Difference, store: Store, scope: Scope, documents: Sequence[Built], old: Mapping[str, Node]
) -> None:
    """Links and edges of a file that was known. Names are judged by the whole file, so kept atoms may change theirs."""
    links = {(k.src, k.kind, k.norm): k for document in documents for k in document.links}
    staying = sorted({src for src, _, _ in links} | {n.id for d in documents for n in d.nodes if n.id in old})
    stored = store.links_of(scope, staying)
    had = {(k.src, k.kind, k.norm): k for some in stored.values() for k in some if k.display}
    found.links += [link for key, link in links.items() if key not in had]
    found.ended += [link for key, link in had.items() if key not in links]
    edges = {edge.id: edge for document in documents for edge in document.edges}
    marks = sorted({structure(document.nodes[0].source or "") for document in documents})
    have = {edge.id for some in store.edges_via(scope, marks).values() for edge in some}
    found.edges += [edge for id_, edge in edges.items() if id_ not in have]
    found.stale_edges += sorted(have - edges.keys())


def _settled(node: Node, old: Node, dated: bool) -> tuple[Node, bool]:
    """The node as it should be stored, and whether its own tags or buckets changed.

    What others gave the old one stays, and a date that only the file's time told does not move.
    """
    bare = near.own(old)
    given = tuple(tag for tag in bare.tag_details if tag.origin in _GIVEN and tag.name not in node.tags)
    settled = replace(
        node,
        tag_details=node.tag_details + given,
        at=node.at if dated else old.at,
        created=old.created,
        updated=old.updated,
        life=old.life,
        owner=old.owner,
        team=old.team,
    )
    if (settled.tag_details, settled.buckets) != (bare.tag_details, bare.buckets):
        return settled, True
    props = {**settled.props, near.NOTED: old.props[near.NOTED]} if near.NOTED in old.props else settled.props
    return replace(settled, tag_details=old.tag_details, buckets=old.buckets, props=props), False


def _living_on(node: Node, old: Node, dated: bool) -> Node:
    """The node with the life of the one it was under another path."""
    return replace(node, created=old.created, life=old.life, at=node.at if dated else old.at)


def _by_content(nodes: Sequence[Node]) -> dict[tuple[str, str, int], Node]:
    return dict(zip(_contents(nodes), nodes, strict=True))


def _contents(nodes: Sequence[Node]) -> list[tuple[str, str, int]]:
    """What tells the nodes of a file apart, whatever its path: kind, text, and how many equal ones stand before."""
    seen = Counter[tuple[str, str]]()
    keys = []
    for node in nodes:
        keys.append((node.kind, node.text, seen[node.kind, node.text]))
        seen[node.kind, node.text] += 1
    return keys
