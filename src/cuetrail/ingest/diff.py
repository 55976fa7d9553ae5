"""Compares the new content of files with the stored one, so that only the difference is written.

- A passage continues an old one if it has at least half of its lines, or of its words. Words are only compared between
  the same unchanged neighbours. Earlier versions stored each paragraph and each heading as a node of its own: a
  paragraph continues in the passage that contains it, a heading in the first passage below it, or in its document.
- Tags, names and properties that users added to the nodes of a file stay when the file is edited or renamed. The source
  node lists what its file states (FROM_FILE); all else was added by users. Tags in a text are found again in that text.
  If the list is missing, an earlier version ingested the source, and nothing on its nodes counts as a user's edit.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from cuetrail.extract.links_and_tags import find_tags
from cuetrail.ingest.build import HEADING_JOINT, Built, structure_via
from cuetrail.model import FROM_FILE, NEW_LIFE, Edge, Link, Node, Scope, Tag
from cuetrail.model.records import FORMER, into_quarantine, is_path_tag, make_tags
from cuetrail.store.ports import Store
from cuetrail.text.normalise import analysable
from cuetrail.write import near_duplicates

_DREAM_ORIGINS = ("auto", "temporal", "infected")
# Least share of the lines of an old passage in the new one, and least Dice coefficient of their words: twice the shared
# words over the words of both. Git uses 50 % for renames.
MIN_SIMILARITY = 0.5
# In a file that was rewritten completely, each passage is only compared with those near its position.
_WINDOW = 50
_WORD = re.compile(r"\w+")

Stated = Mapping[str | None, Mapping[str, Any]]
"""The labels and properties that each file states, by source."""
Words = Counter[str]
# A document, and the number of unchanged nodes before a gap in it.
Gap = tuple[str | None, int]


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
        for tag in near_duplicates.without_borrowed(old).tag_details
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
        found |= _containing(rest, wanted) | _below_headings(rest, wanted) | same
    return found


def _content_keys(nodes: Sequence[Node]) -> list[tuple[str, str, int]]:
    """Returns a key per node that does not depend on the path: kind, text, and the number of equal nodes before it."""
    seen = Counter[tuple[str, str]]()
    keys = []
    for node in nodes:
        keys.append((node.kind, node.text, seen[node.kind, node.text]))
        seen[node.kind, node.text] += 1
    return keys


# --- what users added to the nodes of a file


@dataclass(frozen=True, slots=True)
class UserEdits:
    """The additions of users to a node of a file. `leads` is True if their first bucket is the node's primary one."""

    tags: tuple[Tag, ...] = ()
    buckets: tuple[str, ...] = ()
    leads: bool = False
    name: str | None = None
    aliases: tuple[str, ...] = ()
    props: Mapping[str, Any] = field(default_factory=dict)
    valid_from: int | None = None
    valid_until: int | None = None


def stated_by_files(nodes: Iterable[Node]) -> Stated:
    """Returns, by source, the tags, buckets, aliases and properties that each file states about itself.

    They are listed on the nodes of kind `source` among these nodes; other nodes are ignored.
    """
    stated = {node.source: node.props.get(FROM_FILE) for node in nodes if node.kind == "source"}
    return {source: fields for source, fields in stated.items() if isinstance(fields, dict)}


def user_edits_on(node: Node, stated: Mapping[str, Any] | None) -> UserEdits:
    """Returns the additions of users to a stored node: all that `stated` does not list; none if `stated` is None."""
    if stated is None:
        return UserEdits()
    node = near_duplicates.without_borrowed(node)
    is_atom = node.kind == "atom"
    tags = {*stated.get("tags", ()), *(tag.name for tag in make_tags(find_tags(node.text)))}
    buckets = tuple(bucket for bucket in node.buckets if bucket not in stated.get("buckets", ()))
    names = {*stated.get("atom_props" if is_atom else "props", ()), FROM_FILE}
    return UserEdits(
        tags=tuple(tag for tag in node.tag_details if tag.origin == "user" and tag.name not in tags),
        buckets=buckets,
        leads=bool(buckets) and node.buckets[0] == buckets[0],
        name=node.name if is_atom else None,
        aliases=tuple(alias for alias in node.aliases if is_atom or alias not in stated.get("aliases", ())),
        props={name: value for name, value in node.props.items() if name not in names},
        valid_from=node.valid_from,
        valid_until=node.valid_until,
    )


def with_edits(node: Node, added: UserEdits) -> Node:
    """Returns the node as its file states it, with the users' additions. If both give a property or a name, the file
    wins; the users' period of validity, leading bucket and quarantine are kept.
    """
    if added == UserEdits():
        return node
    buckets = (*added.buckets, *node.buckets) if added.leads else (*node.buckets, *added.buckets)
    # Of two passages that were joined, the second name becomes an alias.
    other = (added.name,) if added.name and node.name and added.name != node.name else ()
    edited = replace(
        node,
        tag_details=node.tag_details + tuple(tag for tag in added.tags if tag.name not in node.tags),
        buckets=tuple(dict.fromkeys(buckets)),
        name=node.name or added.name,
        aliases=tuple(dict.fromkeys((*node.aliases, *added.aliases, *other))),
        props={**added.props, **node.props},
        valid_from=node.valid_from if added.valid_from is None else added.valid_from,
        valid_until=node.valid_until if added.valid_until is None else added.valid_until,
    )
    # A person may have put it into quarantine; then it stays there.
    return into_quarantine(edited) if FORMER in edited.props else edited


# --- edited passages


def continued_passages(old: Sequence[Node], new: Sequence[Node]) -> dict[str, str]:
    """Returns, by the id of each old atom that was edited, the id of the new atom that replaces it.

    `old` and `new` are the nodes of a file before and after, in reading order. A passage that was split continues in
    the most similar part; two that were joined both continue in the joined one.
    """
    unchanged = {node.id for node in old} & {node.id for node in new}
    gone = [node for node in old if node.id not in unchanged]
    contained = _containing(gone, [node for node in new if node.id not in unchanged])
    contained = _below_headings(gone, new) | contained
    removed, added = _by_gap(old, unchanged), _by_gap(new, unchanged)
    similar = (_pairs(removed[gap], added[gap], contained) for gap in removed.keys() & added.keys())
    found = contained | dict(chain.from_iterable(similar))
    # A node that a user added again by its id no longer has a position in the file.
    unplaced = [node for node in old if node.source is None and node.id not in unchanged]
    free = [node for node in new if node.id not in unchanged and node.id not in found.values()]
    return found | dict(_pairs(unplaced, free, found))


def _containing(old: Sequence[Node], new: Sequence[Node]) -> dict[str, str]:
    """Maps the ids of old atoms to the new atom that has most of their lines, if it has at least half of them."""
    where: dict[str, list[int]] = defaultdict(list)
    for number, node in enumerate(new):
        for line in dict.fromkeys(_lines(node.text)) if node.kind == "atom" else ():
            where[line].append(number)
    found: dict[str, str] = {}
    for place, node in enumerate(old):
        lines = _lines(node.text) if node.kind == "atom" else []
        shares = Counter[int]()
        for line in lines:
            for number in where.get(line, ())[:_WINDOW]:
                shares[number] += len(line)
        expected = place * len(new) / len(old)
        best = max(shares, key=lambda n: (shares[n], new[n].source == node.source, -abs(n - expected)), default=None)
        if best is not None and shares[best] >= MIN_SIMILARITY * sum(map(len, lines)):
            found[node.id] = new[best].id
    return found


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.split("\n") if line.strip()]


def _below_headings(old: Sequence[Node], new: Sequence[Node]) -> dict[str, str]:
    """Maps the ids of old nodes that are headings to the first new passage that has the heading above it or as a line;
    else to the document.
    """
    # Only headings that an earlier version stored as nodes have their own words as `heading`.
    words = {node.id: _spelling(node.text) for node in old if node.props.get("level")}
    headings = [node for node in old if words.get(node.id) == _spelling(str(node.props.get("heading", "")))]
    if not headings:
        return {}
    below: dict[str, str] = {}
    for node in new:
        inside = (line for line in node.text.split("\n") if line.endswith(":"))
        for heading in (*str(node.props.get("heading", "")).split(HEADING_JOINT), *inside):
            below.setdefault(_spelling(heading), node.id)
    top = next(node.id for node in new if node.kind == "source")
    return {node.id: below.get(words[node.id], top) for node in headings}


def _spelling(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _by_gap(nodes: Sequence[Node], unchanged: Collection[str]) -> dict[Gap, list[Node]]:
    """Groups the changed atoms by document and by the number of unchanged nodes before them."""
    found: dict[Gap, list[Node]] = defaultdict(list)
    before = Counter[str | None]()
    for node in nodes:
        if node.id in unchanged:
            before[node.source] += 1
        elif node.kind == "atom":
            found[node.source, before[node.source]].append(node)
    return found


def _pairs(old: Sequence[Node], new: Sequence[Node], contained: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields pairs of old and new ids: first the most similar, each once; then old ones that were joined with these.

    `contained` are pairs that were found before.
    """
    before, after = [_words(node.text) for node in old], [_words(node.text) for node in new]
    places = {node.id: place for place, node in enumerate(new)}
    # The words of each new passage that no old one has matched yet: joined passages each match their own words.
    free = [Counter(words) for words in after]
    paired, claimed = set[int](), set[int]()
    for i, node in enumerate(old):
        if node.id in contained:
            paired.add(i)
            if (j := places.get(contained[node.id])) is not None:
                claimed.add(j)
                free[j] -= before[i]
    # An earlier version may have stored many more nodes.
    scale = len(after) / max(1, len(before))
    similar = sorted(
        (-score, abs(place - j), i, j)
        for i, words in enumerate(before)
        if i not in paired
        for place in (round(i * scale),)
        for j in range(max(0, place - _WINDOW), min(len(after), place + _WINDOW + 1))
        if (score := _similarity(words, after[j])) >= MIN_SIMILARITY
    )
    for joining in (False, True):
        for _, _, i, j in similar:
            has_room = (
                (free[j] & before[i]).total() >= MIN_SIMILARITY * before[i].total() if joining else j not in claimed
            )
            if i not in paired and has_room:
                paired.add(i)
                claimed.add(j)
                free[j] -= before[i]
                yield old[i].id, new[j].id


def _words(text: str) -> Words:
    return Counter(_WORD.findall(analysable(text).lower()))


def _similarity(a: Words, b: Words) -> float:
    few, many = sorted((a.total(), b.total()))
    # The lengths alone rule out most pairs.
    if 2 * few < MIN_SIMILARITY * (few + many) or not few:
        return 0.0
    return 2 * (a & b).total() / (few + many)
