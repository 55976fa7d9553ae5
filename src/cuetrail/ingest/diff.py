"""What a file's new content changes: compared with its atoms in the memory, so that only the difference is written."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cuetrail.ingest import paragraph_match, user_edits
from cuetrail.ingest.build import Built, structure
from cuetrail.model import NEW_LIFE, Edge, Link, Node, Scope, Tag
from cuetrail.model.tags import is_path_tag
from cuetrail.store.ports import Store
from cuetrail.write import near_duplicates
from cuetrail.write.links import withdrawn

_GIVEN = ("auto", "temporal", "infected")


@dataclass(slots=True)
class Difference:
    """`changed` is to be written; of it `new` was not there, and `relabelled` has other tags or buckets of its own.

    `successors` says of `leaving`, by id, which of them live on in which other node.
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
        """The links to write. The engine cannot delete one, so one that ended stays as a row without words."""
        return self.links + [withdrawn(link) for link in self.ended]


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it should be, as it is in the memory, and as it was under the path it was moved from."""

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
    """The difference between files as built and as present. `moved` says which vanished file a new one was."""
    found = Difference()
    known = [document for source, documents in built.items() if present[source] for document in documents]
    edges = store.edges_via(scope, sorted({_mark(document) for document in known}))
    here = {node.id for source in built for node in present[source]}
    apart = _set_apart(store, scope, known, edges, here) if known else {}
    for source, documents in built.items():
        wanted = {node.id: node for document in documents for node in document.nodes}
        old = {node.id: node for node in present[source]}
        old |= {node.id: node for document in documents for node in apart.get(_mark(document), ())}
        before = {node.id: node for node in present[moved[source]]} if source in moved else {}
        _compare_nodes(found, _File(documents, wanted, old, before), now)
        if not present[source]:
            found.links += [link for document in documents for link in document.links]
            found.edges += [edge for document in documents for edge in document.edges]
    _compare_links(found, store, scope, known)
    _compare_edges(found, known, [edge for some in edges.values() for edge in some])
    return found


def _mark(document: Built) -> str:
    return structure(document.nodes[0].source or "")


def _set_apart(
    store: Store, scope: Scope, known: Sequence[Built], edges: Mapping[str, Sequence[Edge]], here: Collection[str]
) -> dict[str, list[Node]]:
    """Nodes that a person has stated again by their ids, and that name no file since, by the mark of their document.

    One that is no longer in the file and was given another text is the person's own.
    """
    marks = {end: mark for mark, some in edges.items() for edge in some for end in (edge.src, edge.dst)}
    wanted = {node.id: _mark(document) for document in known for node in document.nodes}
    marks |= wanted
    apart: dict[str, list[Node]] = defaultdict(list)
    for node in store.get(scope, sorted(marks.keys() - here)).values():
        is_mine = (node.owner, node.team) == (scope.user, scope.share)
        if is_mine and (node.id in wanted or not store.history(scope, node.id)):
            apart[marks[node.id]].append(node)
    return apart


def _compare_nodes(found: Difference, file: _File, now: int) -> None:
    records = user_edits.records((*file.old.values(), *file.moved.values()))
    successors = _successors(file)
    elders: dict[str, list[Node]] = defaultdict(list)
    for old, new in successors.items():
        elders[new].append(file.old.get(old) or file.moved[old])
    for id_, node in file.wanted.items():
        was, dated = file.old.get(id_), file.is_dated(id_)
        settled = node if was is None else _settled(node, was, records, dated)
        for elder in elders[id_]:
            settled = _inheriting(settled, elder, records, elder.id in file.moved and not dated)
        if was is None:
            found.new.append(settled)
            found.changed.append(settled)
        else:
            _compare_known(found, settled, was, now)
    found.leaving += [node for id_, node in file.old.items() if id_ not in file.wanted]
    found.successors |= successors


def _compare_known(found: Difference, settled: Node, was: Node, now: int) -> None:
    """Take note of a node that was there. Unless its own tags or buckets changed it keeps what it borrowed."""
    found.kept += settled.kind == "atom"
    bare = near_duplicates.own(was)
    relabelled = (settled.tag_details, settled.buckets) != (bare.tag_details, bare.buckets)
    if not relabelled and bare is not was:
        props = {**settled.props, near_duplicates.NOTED: was.props[near_duplicates.NOTED]}
        settled = replace(settled, tag_details=was.tag_details, buckets=was.buckets, props=props)
    if settled != was:
        settled = replace(settled, updated=now)
        found.changed.append(settled)
        if relabelled or settled.simhash != was.simhash:
            found.relabelled.append(settled)


def _compare_links(found: Difference, store: Store, scope: Scope, known: Sequence[Built]) -> None:
    """Links of files that were known. Names are judged by the whole file, so kept atoms may change theirs."""
    links = {(k.src, k.kind, k.norm): k for document in known for k in document.links}
    stored = store.links(scope, sorted({node.id for document in known for node in document.nodes}))
    had = {(k.src, k.kind, k.norm): k for some in stored.values() for k in some if k.display}
    found.links += [link for key, link in links.items() if key not in had]
    found.ended += [link for key, link in had.items() if key not in links]


def _compare_edges(found: Difference, known: Sequence[Built], present: Sequence[Edge]) -> None:
    edges = {edge.id: edge for document in known for edge in document.edges}
    have = {edge.id for edge in present}
    found.edges += [edge for id_, edge in edges.items() if id_ not in have]
    found.stale_edges += sorted(have - edges.keys())


def _settled(node: Node, old: Node, records: user_edits.Records, dated: bool) -> Node:
    """The node as it should be stored, without what it borrows.

    What people and rules gave the old one stays, and a date that only the file's time told does not move.
    """
    node = user_edits.put_on(node, user_edits.told_from(old, records.get(node.source)))
    return replace(
        node,
        tag_details=node.tag_details + _given(node, old),
        at=node.at if dated else old.at,
        created=old.created,
        updated=old.updated,
        life=old.life,
        owner=old.owner,
        team=old.team,
    )


def _inheriting(node: Node, elder: Node, records: user_edits.Records, same_time: bool) -> Node:
    """The node with the life of the one it was, and what people put on that one."""
    node = user_edits.put_on(node, user_edits.told_from(elder, records.get(elder.source or node.source)))
    same = node.text == elder.text
    return replace(
        node,
        tag_details=node.tag_details + (_given(node, elder) if same else ()),
        at=elder.at if same_time else node.at,
        created=min(node.created, elder.created),
        life=elder.life if node.life == NEW_LIFE else node.life,
    )


def _given(node: Node, old: Node) -> tuple[Tag, ...]:
    """The tags that dreams gave the old one: the same text would get them again."""
    tags = (tag for tag in near_duplicates.own(old).tag_details if tag.origin in _GIVEN and not is_path_tag(tag))
    return tuple(tag for tag in tags if tag.name not in node.tags)


def _successors(file: _File) -> dict[str, str]:
    """The nodes that live on in a node of the file, by id: all of the file it was, and its own edited ones."""
    found = paragraph_match.find(list(file.old.values()), list(file.wanted.values())) if file.old else {}
    if file.moved:
        now = dict(zip(_contents(list(file.wanted.values())), file.wanted, strict=True))
        before = dict(zip(file.moved, _contents(list(file.moved.values())), strict=True))
        found |= {id_: now[content] for id_, content in before.items() if content in now}
    return found


def _contents(nodes: Sequence[Node]) -> list[tuple[str, str, int]]:
    """What tells the nodes of a file apart, whatever its path: kind, text, and how many equal ones stand before."""
    seen = Counter[tuple[str, str]]()
    keys = []
    for node in nodes:
        keys.append((node.kind, node.text, seen[node.kind, node.text]))
        seen[node.kind, node.text] += 1
    return keys
