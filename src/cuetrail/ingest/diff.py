"""Compares the new content of files with the stored one, so that only the difference is written."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cuetrail.ingest import paragraph_match, user_edits
from cuetrail.ingest.build import Built, structure_via
from cuetrail.model import NEW_LIFE, Edge, Link, Node, Scope, Tag
from cuetrail.model.records import is_path_tag
from cuetrail.store.ports import Store
from cuetrail.write import near_duplicates
from cuetrail.write.links import withdrawn

_DREAM_ORIGINS = ("auto", "temporal", "infected")


@dataclass(slots=True)
class Difference:
    """The changes between the files and the memory.

    `changed` nodes are written: `new` ones, and `relabelled` ones whose own tags or buckets changed. `leaving` nodes
    are removed; `successors` maps those that were edited or moved to their replacement. `kept` counts unchanged atoms.
    """

    changed: list[Node] = field(default_factory=list)
    new: list[Node] = field(default_factory=list)
    relabelled: list[Node] = field(default_factory=list)
    leaving: list[Node] = field(default_factory=list)
    successors: dict[str, str] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    ended: list[Link] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    stale_edges: list[str] = field(default_factory=list)
    kept: int = 0

    def stored_links(self) -> list[Link]:
        """Returns the links to write. Engines cannot delete a link, so an ended one is stored without its text."""
        return self.links + [withdrawn(link) for link in self.ended]


@dataclass(frozen=True, slots=True)
class _File:
    """A file: its new nodes (`wanted`), its stored nodes (`old`), and the nodes of the path it was `moved` from."""

    documents: Sequence[Built]
    wanted: Mapping[str, Node]
    old: Mapping[str, Node]
    moved: Mapping[str, Node]

    def is_dated(self, id_: str) -> bool:
        return any(id_ in document.dated for document in self.documents)


def compare(
    store: Store,
    scope: Scope,
    built: Mapping[str, Sequence[Built]],
    present: Mapping[str, Sequence[Node]],
    moved: Mapping[str, str],
    now: int,
) -> Difference:
    """Returns the difference between built and stored files. `moved` maps a new source to the old one."""
    found = Difference()
    known = [document for source, documents in built.items() if present[source] for document in documents]
    edges = store.edges_via(scope, sorted({_via(document) for document in known}))
    stored = {node.id for source in built for node in present[source]}
    detached = _detached(store, scope, known, edges, stored) if known else {}
    for source, documents in built.items():
        wanted = {node.id: node for document in documents for node in document.nodes}
        old = {node.id: node for node in present[source]}
        old |= {node.id: node for document in documents for node in detached.get(_via(document), ())}
        before = {node.id: node for node in present[moved[source]]} if source in moved else {}
        _compare_nodes(found, _File(documents, wanted, old, before), now)
        if not present[source]:
            found.links += [link for document in documents for link in document.links]
            found.edges += [edge for document in documents for edge in document.edges]
    _compare_links(found, store, scope, known)
    _compare_edges(found, known, [edge for some in edges.values() for edge in some])
    return found


def _via(document: Built) -> str:
    return structure_via(document.nodes[0].source or "")


def _detached(
    store: Store, scope: Scope, known: Sequence[Built], edges: Mapping[str, Sequence[Edge]], stored: Collection[str]
) -> dict[str, list[Node]]:
    """Returns nodes of these documents that lost their source because a user added them again by id.

    The key is the `via` of the document's edges. A node that is no longer in the file and has another text now belongs
    to the user and is left out.
    """
    vias = {end: via for via, some in edges.items() for edge in some for end in (edge.src, edge.dst)}
    wanted = {node.id: _via(document) for document in known for node in document.nodes}
    vias |= wanted
    detached: dict[str, list[Node]] = defaultdict(list)
    for node in store.get(scope, sorted(vias.keys() - stored)).values():
        is_mine = (node.owner, node.team) == (scope.user, scope.share)
        if is_mine and (node.id in wanted or not store.history(scope, node.id)):
            detached[vias[node.id]].append(node)
    return detached


def _compare_nodes(found: Difference, file: _File, now: int) -> None:
    stated = user_edits.stated_by_files((*file.old.values(), *file.moved.values()))
    successors = _successors(file)
    predecessors: dict[str, list[Node]] = defaultdict(list)
    for old, new in successors.items():
        predecessors[new].append(file.old.get(old) or file.moved[old])
    for id_, node in file.wanted.items():
        stored, dated = file.old.get(id_), file.is_dated(id_)
        merged = node if stored is None else _merged(node, stored, stated, dated)
        for previous in predecessors[id_]:
            merged = _inherit(merged, previous, stated, previous.id in file.moved and not dated)
        if stored is None:
            found.new.append(merged)
            found.changed.append(merged)
        else:
            _compare_stored(found, merged, stored, now)
    found.leaving += [node for id_, node in file.old.items() if id_ not in file.wanted]
    found.successors |= successors


def _compare_stored(found: Difference, node: Node, stored: Node, now: int) -> None:
    """Adds a stored node to the difference. Unless its own labels changed, it keeps those of near duplicates."""
    found.kept += node.kind == "atom"
    own = near_duplicates.without_borrowed(stored)
    relabelled = (node.tag_details, node.buckets) != (own.tag_details, own.buckets)
    if not relabelled and own is not stored:
        props = {**node.props, near_duplicates.BORROWED: stored.props[near_duplicates.BORROWED]}
        node = replace(node, tag_details=stored.tag_details, buckets=stored.buckets, props=props)
    if node != stored:
        node = replace(node, updated=now)
        found.changed.append(node)
        if relabelled or node.simhash != stored.simhash:
            found.relabelled.append(node)


def _compare_links(found: Difference, store: Store, scope: Scope, known: Sequence[Built]) -> None:
    """Compares the links of known files. Names depend on the whole file, so an unchanged atom may get other links."""
    links = {(k.src, k.kind, k.norm): k for document in known for k in document.links}
    stored = store.links(scope, sorted({node.id for document in known for node in document.nodes}))
    old = {(k.src, k.kind, k.norm): k for some in stored.values() for k in some if k.display}
    found.links += [link for key, link in links.items() if key not in old]
    found.ended += [link for key, link in old.items() if key not in links]


def _compare_edges(found: Difference, known: Sequence[Built], present: Sequence[Edge]) -> None:
    edges = {edge.id: edge for document in known for edge in document.edges}
    stored = {edge.id for edge in present}
    found.edges += [edge for id_, edge in edges.items() if id_ not in stored]
    found.stale_edges += sorted(stored - edges.keys())


def _merged(node: Node, old: Node, stated: user_edits.Stated, dated: bool) -> Node:
    """Returns the node as it should be stored, without labels of near duplicates.

    It keeps what users and dreams gave the old node, and the old time if the file states no date.
    """
    node = user_edits.apply(node, user_edits.find(old, stated.get(node.source)))
    return replace(
        node,
        tag_details=node.tag_details + _dream_tags(node, old),
        at=node.at if dated else old.at,
        created=old.created,
        updated=old.updated,
        life=old.life,
        owner=old.owner,
        team=old.team,
    )


def _inherit(node: Node, old: Node, stated: user_edits.Stated, same_time: bool) -> Node:
    """Returns the node with the usage of its predecessor, and with the users' additions to that one."""
    node = user_edits.apply(node, user_edits.find(old, stated.get(old.source or node.source)))
    same = node.text == old.text
    return replace(
        node,
        tag_details=node.tag_details + (_dream_tags(node, old) if same else ()),
        at=old.at if same_time else node.at,
        created=min(node.created, old.created),
        life=old.life if node.life == NEW_LIFE else node.life,
    )


def _dream_tags(node: Node, old: Node) -> tuple[Tag, ...]:
    """Returns the old node's tags from dreams, which the same text would get again."""
    tags = (
        tag
        for tag in near_duplicates.without_borrowed(old).tag_details
        if tag.origin in _DREAM_ORIGINS and not is_path_tag(tag)
    )
    return tuple(tag for tag in tags if tag.name not in node.tags)


def _successors(file: _File) -> dict[str, str]:
    """Maps old node ids to new ones: edited paragraphs, and all nodes of the path that the file was moved from."""
    found = paragraph_match.find(list(file.old.values()), list(file.wanted.values())) if file.old else {}
    if file.moved:
        new = dict(zip(_content_keys(list(file.wanted.values())), file.wanted, strict=True))
        old = dict(zip(file.moved, _content_keys(list(file.moved.values())), strict=True))
        found |= {id_: new[key] for id_, key in old.items() if key in new}
    return found


def _content_keys(nodes: Sequence[Node]) -> list[tuple[str, str, int]]:
    """Returns a key per node that does not depend on the path: kind, text, and the number of equal nodes before it."""
    seen = Counter[tuple[str, str]]()
    keys = []
    for node in nodes:
        keys.append((node.kind, node.text, seen[node.kind, node.text]))
        seen[node.kind, node.text] += 1
    return keys
