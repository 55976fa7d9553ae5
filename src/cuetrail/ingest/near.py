"""Near duplicates: texts whose SimHashes differ in at most two bits form a group, and a group shares tags and buckets.

A group is kept as a star of `near` edges around its smallest id, so that it can be found again from any of its atoms.
What an atom borrowed is noted in its `near` property, so that it goes back when the group falls apart. The outcome
depends only on which atoms there are, not on the order they came in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cuetrail.ingest.build import edge_id
from cuetrail.model import Edge, Node, Scope, Tag
from cuetrail.store.base import Batch, Store

NOTED = "near"
KIND = "near"
# The lowest of the topical band: a copy adds little to what its twin says.
WEIGHT = 0.25
DISTANCE = 2
# What stands in more places is boilerplate: what one place is tagged with says nothing about the others.
MOST_SHARING = 16
_ALL = 1 << 30
_BANDS = ((0, 0x1FFFFF), (21, 0x1FFFFF), (42, 0x3FFFFF))
_LENT = ("user", "auto")


@dataclass(slots=True)
class _Groups:
    """Groups as stored: the edges of each hub, by member."""

    edges: dict[str, dict[str, str]] = field(default_factory=dict)

    def members(self) -> set[str]:
        return set(self.edges) | {member for spokes in self.edges.values() for member in spokes}


def own(node: Node) -> Node:
    """The node without what it borrowed."""
    noted = node.props.get(NOTED)
    if not noted:
        return node
    return replace(
        node,
        tag_details=tuple(tag for tag in node.tag_details if tag.name not in noted["tags"]),
        buckets=tuple(bucket for bucket in node.buckets if bucket not in noted["buckets"]),
        props={name: value for name, value in node.props.items() if name != NOTED},
    )


def regroup(
    store: Store,
    scope: Scope,
    batch: Batch,
    now: int,
    *,
    new: Collection[Node] = (),
    relabelled: Collection[Node] = (),
    leaving: Collection[Node] = (),
) -> int:
    """Bring groups in step with a batch; how many of the new and relabelled atoms are in one.

    `relabelled` are known atoms of the batch whose own tags or buckets changed; `leaving` go with it.
    """
    fresh = {node.id: node.simhash for node in new if node.simhash is not None}
    asked = {**fresh, **{node.id: node.simhash for node in relabelled if node.simhash is not None}}
    gone = {node.id for node in leaving if node.simhash is not None}
    if not asked and not gone:
        return 0
    nearest = store.simhash_near(scope, asked)
    stored = _stored(store, scope, sorted({*asked, *gone, *nearest.values()} - fresh.keys()))
    nodes = {node.id: node for node in batch.nodes}
    pool = (stored.members() | set(nearest.values()) | asked.keys()) - gone
    known = {**store.get(scope, sorted(pool - nodes.keys())), **{i: nodes[i] for i in pool if i in nodes}}
    wanted: dict[str, Edge] = {}
    grouped = 0
    for ids in _components({i: n.simhash for i, n in known.items() if n.simhash is not None}):
        if len(ids) == 1 and ids[0] in fresh:
            continue
        wanted.update(_star(ids, now))
        for node in _sharing([own(known[i]) for i in ids]):
            if node != known[node.id]:
                nodes[node.id] = node
        grouped += sum(i in asked for i in ids) if len(ids) > 1 else 0
    present = {edge for spokes in stored.edges.values() for edge in spokes.values()}
    batch.nodes = list(nodes.values())
    batch.edges += [edge for id_, edge in wanted.items() if id_ not in present]
    batch.remove_edges += sorted(present - wanted.keys())
    return grouped


def _stored(store: Store, scope: Scope, ids: Sequence[str]) -> _Groups:
    """The groups that any of these atoms is in."""
    out = store.edges_via(scope, [_via(id_) for id_ in ids])
    hubs = {edges[0].dst for edges in out.values()} | {id_ for id_ in ids if _via(id_) not in out}
    groups = _Groups()
    for hub, around in store.neighbours(scope, sorted(hubs), _ALL).items():
        spokes = {step.id: step.edge for step in around.neighbours if step.kind == KIND and not step.outgoing}
        if spokes:
            groups.edges[hub] = spokes
    return groups


def _via(member: str) -> str:
    return f"near:{member}"


def _star(ids: Sequence[str], now: int) -> dict[str, Edge]:
    """Edges from each atom of a group to the smallest id."""
    hub = min(ids)
    edges = (
        Edge(edge_id(KIND, i, hub), i, hub, KIND, WEIGHT, via=_via(i), created=now, updated=now)
        for i in ids
        if i != hub
    )
    return {edge.id: edge for edge in edges}


def _sharing(members: Sequence[Node]) -> Iterable[Node]:
    """The atoms of a group, each with the others' tags and buckets behind its own."""
    if not 1 < len(members) <= MOST_SHARING:
        return members
    members = sorted(members, key=lambda node: node.id)
    tags = {t.name: t for m in reversed(members) for t in m.tag_details if t.origin in _LENT}
    buckets = sorted({bucket for m in members for bucket in m.buckets})
    return [_borrowing(member, tags, buckets) for member in members]


def _borrowing(node: Node, tags: Mapping[str, Tag], buckets: Sequence[str]) -> Node:
    new_tags = [tags[name] for name in sorted(tags.keys() - set(node.tags))]
    new_buckets = [bucket for bucket in buckets if bucket not in node.buckets]
    if not new_tags and not new_buckets:
        return node
    return replace(
        node,
        tag_details=(*node.tag_details, *(Tag(tag.name, tag.display, "infected") for tag in new_tags)),
        buckets=(*node.buckets, *new_buckets),
        props={**node.props, NOTED: {"tags": [tag.name for tag in new_tags], "buckets": new_buckets}},
    )


def _components(hashes: Mapping[str, int]) -> list[list[str]]:
    """Ids whose hashes hang together over steps of at most DISTANCE bits, each list sorted."""
    by_hash: dict[int, list[str]] = defaultdict(list)
    for id_, value in hashes.items():
        by_hash[value].append(id_)
    parent = {value: value for value in by_hash}

    def root(value: int) -> int:
        while parent[value] != value:
            parent[value] = value = parent[parent[value]]
        return value

    for shift, mask in _BANDS:
        bands: dict[int, list[int]] = defaultdict(list)
        for value in by_hash:
            for other in bands[value >> shift & mask]:
                if (value ^ other).bit_count() <= DISTANCE:
                    parent[root(value)] = root(other)
            bands[value >> shift & mask].append(value)
    joined: dict[int, list[str]] = defaultdict(list)
    for value, ids in by_hash.items():
        joined[root(value)] += ids
    return [sorted(ids) for ids in joined.values()]
