"""Compares the new content of files with the stored one, so that only the difference is written.

`passage_match` finds the old passages that new ones continue, `user_edits` what users added to the nodes of a file.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cuetrail.ingest.build_nodes import Built, structure_via
from cuetrail.ingest.passage_match import containing_passages, continued_passages, passages_below_headings
from cuetrail.ingest.user_edits import Stated, stated_by_files, user_edits_on, with_edits
from cuetrail.model import NEW_LIFE, Edge, Link, Node, Scope, Tag
from cuetrail.model.tags import is_path_tag
from cuetrail.store.ports import Store
from cuetrail.write import near_duplicate_tags

_DREAM_ORIGINS = ("auto", "temporal", "infected")


@dataclass(slots=True)
class Difference:
    """The changes between the files and the memory.

    `changed` nodes are written, among them the `new` ones and those `relabelled`, that is with other tags, buckets or
    text hash of their own. `leaving` nodes are removed; `successors` maps those that were edited or moved to their
    replacement. `kept` counts the atoms that were stored before. `ended` links and `stale_edges` are removed.
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
        """Returns the links to write. One without its text ends."""
        return self.links + [replace(link, display="") for link in self.ended]


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
    """Returns the difference between the new content of files (`built`) and the stored nodes (`present`), by source.

    `moved` maps the new source of a file to the old one.
    """
    found = Difference()
    known = [document for source, documents in built.items() if present[source] for document in documents]
    edges = store.edges(scope, sorted({_via(document) for document in known}), "via")
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

    They are grouped by the `via` of their document's edges. A node that is no longer in the file and whose text the
    user changed is the user's own and is left out.
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
    stated = stated_by_files((*file.old.values(), *file.moved.values()))
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
    """Adds a node that is stored already to the difference, if it changed. Unless its own tags or buckets changed, it
    keeps those copied from near duplicates.
    """
    found.kept += node.kind == "atom"
    own = near_duplicate_tags.without_borrowed(stored)
    relabelled = (node.tag_details, node.buckets) != (own.tag_details, own.buckets)
    if not relabelled and own is not stored:
        props = {**node.props, near_duplicate_tags.BORROWED: stored.props[near_duplicate_tags.BORROWED]}
        node = replace(node, tag_details=stored.tag_details, buckets=stored.buckets, props=props)
    if node != stored:
        node = replace(node, updated=now)
        found.changed.append(node)
        if relabelled or node.simhash != stored.simhash:
            found.relabelled.append(node)


def _compare_links(found: Difference, store: Store, scope: Scope, known: Sequence[Built]) -> None:
    """Adds the new and the ended links of known files to `found`. Even an unchanged atom may get other links, as names
    depend on the whole file.
    """
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


def _merged(node: Node, old: Node, stated: Stated, dated: bool) -> Node:
    """Returns the node as it should be stored in place of `old`, without tags and buckets copied from near duplicates.

    Tags and other additions of users and dreams are kept, and the old time unless the file states a date (`dated`).
    """
    node = with_edits(node, user_edits_on(old, stated.get(node.source)))
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


def _inherit(node: Node, old: Node, stated: Stated, same_time: bool) -> Node:
    """Returns a new node with the usage of its predecessor `old`, and with what users added to that.

    It gets the tags from dreams only if the text is the same, the time of `old` only with `same_time`.
    """
    node = with_edits(node, user_edits_on(old, stated.get(old.source or node.source)))
    same = node.text == old.text
    return replace(
        node,
        tag_details=node.tag_details + (_dream_tags(node, old) if same else ()),
        at=old.at if same_time else node.at,
        created=min(node.created, old.created),
        life=old.life if node.life == NEW_LIFE else node.life,
    )


def _dream_tags(node: Node, old: Node) -> tuple[Tag, ...]:
    """Returns the tags that dreams gave the old node and that `node` lacks."""
    tags = (
        tag
        for tag in near_duplicate_tags.without_borrowed(old).tag_details
        if tag.origin in _DREAM_ORIGINS and not is_path_tag(tag)
    )
    return tuple(tag for tag in tags if tag.name not in node.tags)


def _successors(file: _File) -> dict[str, str]:
    """Maps old node ids to new ones: edited passages, and all nodes of the path that the file was moved from."""
    wanted = list(file.wanted.values())
    found = continued_passages(list(file.old.values()), wanted) if file.old else {}
    if file.moved:
        moved = list(file.moved.values())
        new = dict(zip(_content_keys(wanted), file.wanted, strict=True))
        same = {id_: new[key] for id_, key in zip(file.moved, _content_keys(moved), strict=True) if key in new}
        rest = [node for node in moved if node.id not in same]
        found |= containing_passages(rest, wanted) | passages_below_headings(rest, wanted) | same
    return found


def _content_keys(nodes: Sequence[Node]) -> list[tuple[str, str, int]]:
    """Returns a key per node that does not depend on the path: kind, text, and the number of equal nodes before it."""
    seen = Counter[tuple[str, str]]()
    keys = []
    for node in nodes:
        keys.append((node.kind, node.text, seen[node.kind, node.text]))
        seen[node.kind, node.text] += 1
    return keys
