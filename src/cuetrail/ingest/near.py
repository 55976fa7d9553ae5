"""Near duplicates: two atoms whose SimHashes differ in at most two bits share their tags and buckets.

Who shares with whom depends only on which atoms there are, not on the order they came in:

- Sharing is between two, not handed on. In a chain A - B - C whose ends are far apart, B shares with both, and A and C
  do not share with each other. So the arrival of an atom touches only those near it.
- An atom with MOST_SHARING near ones or more is boilerplate and shares with nobody.
- A band of hashes that more than CROWD atoms carry tells near from far no more and joins nobody. This bounds the work
  that one more copy of a template makes.

Atoms that share are joined by a `near` edge. What an atom borrowed is noted in its `near` property, so that it goes
back when the other goes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from cuetrail.formulas import bands
from cuetrail.ingest.build import edge_id, is_path_tag
from cuetrail.model import Edge, Node, Scope, Tag
from cuetrail.store.base import Band, Batch, Store

NOTED = "near"
KIND = "near"
# The lowest of the topical band: a copy adds little to what its twin says.
WEIGHT = 0.25
DISTANCE = 2
# What stands in more places is boilerplate: what one place is tagged with says nothing about the others.
MOST_SHARING = 16
CROWD = 200

Hashes = Mapping[str, int]


def own(node: Node) -> Node:
    """The node without what it borrowed."""
    noted = node.props.get(NOTED)
    # A note's frontmatter may have a field of this name.
    if not isinstance(noted, dict):
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
    """Bring sharing in step with a batch; how many of the new and relabelled atoms are near others.

    `relabelled` are known atoms of the batch whose own tags or buckets changed; `leaving` go with it.
    """
    arriving = {node.id: node.simhash for node in (*new, *relabelled) if node.simhash is not None}
    gone = {node.id: node.simhash for node in leaving if node.simhash is not None}
    if not arriving and not gone:
        return 0
    ground = _Ground(store, scope, arriving, gone)
    touched = ground.touched()
    # One that becomes boilerplate, or is none any more, changes what those near it share.
    turned = [id_ for id_, hash_ in touched.items() if ground.has_turned(id_, hash_)]
    touched |= {other: hash_ for id_ in turned for other, hash_ in ground.near(id_, touched[id_]).items()}
    partners = {id_: ground.partners(id_, hash_) for id_, hash_ in touched.items()}
    _share(store, scope, batch, partners)
    before = {other for id_, hash_ in touched.items() for other in ground.near(id_, hash_, before=True)}
    _join(store, scope, batch, partners, before | touched.keys(), now)
    return sum(id_ in arriving and bool(ground.near(id_, hash_)) for id_, hash_ in touched.items())


class _Ground:
    """Which atoms are near which, before a batch and after it. The store is asked once for each band."""

    def __init__(self, store: Store, scope: Scope, arriving: Hashes, gone: Hashes) -> None:
        self._store = store
        self._scope = scope
        self._arriving = arriving
        self._gone = gone
        self._before: dict[Band, dict[str, int]] = {}
        self._after: dict[Band, dict[str, int]] = {}
        self._coming = _by_band(arriving)
        going = _by_band(gone)
        # One more than a crowd shows that it is one, also without those who leave.
        self._limit = CROWD + 1 + max(map(len, going.values()), default=0)

    def touched(self) -> dict[str, int]:
        """The atoms that may share with others after the batch than before."""
        centres = {**self._gone, **self._arriving}
        self._look(centres.values())
        touched: dict[str, int] = {}
        for id_, hash_ in centres.items():
            close = self.near(id_, hash_)
            touched |= close
            if close and id_ in self._arriving:
                touched[id_] = hash_
        for band in {band for hash_ in centres.values() for band in enumerate(bands(hash_))}:
            before, after = self._before[band], self._after[band]
            if (len(before) > CROWD) != (len(after) > CROWD):
                touched |= after
        self._look(touched.values())
        return touched

    def near(self, id_: str, hash_: int, before: bool = False) -> dict[str, int]:
        """The others near an atom, whose bands have been looked at."""
        known = self._before if before else self._after
        found: dict[str, int] = {}
        for band in enumerate(bands(hash_)):
            carriers = known[band]
            if len(carriers) <= CROWD:
                found |= {i: h for i, h in carriers.items() if i != id_ and (h ^ hash_).bit_count() <= DISTANCE}
        return found

    def has_turned(self, id_: str, hash_: int) -> bool:
        """Whether an atom has become boilerplate, or is none any more."""
        was, is_ = (len(self.near(id_, hash_, before)) >= MOST_SHARING for before in (True, False))
        return was != is_

    def partners(self, id_: str, hash_: int) -> set[str]:
        """The atoms it shares with after the batch."""
        self._look([hash_])
        close = self.near(id_, hash_)
        if len(close) >= MOST_SHARING:
            return set()
        self._look(close.values())
        return {other for other, h in close.items() if len(self.near(other, h)) < MOST_SHARING}

    def _look(self, hashes: Iterable[int]) -> None:
        unseen = {band for hash_ in hashes for band in enumerate(bands(hash_))} - self._before.keys()
        if not unseen:
            return
        found = self._store.simhash_bands(self._scope, sorted(unseen), self._limit)
        for band in unseen:
            self._before[band] = dict(found.get(band, ()))
            staying = {i: h for i, h in self._before[band].items() if i not in self._gone}
            self._after[band] = staying | self._coming.get(band, {})


def _by_band(hashes: Hashes) -> dict[Band, dict[str, int]]:
    found: dict[Band, dict[str, int]] = defaultdict(dict)
    for id_, hash_ in hashes.items():
        for band in enumerate(bands(hash_)):
            found[band][id_] = hash_
    return found


def _share(store: Store, scope: Scope, batch: Batch, partners: Mapping[str, Collection[str]]) -> None:
    """Let atoms borrow from their partners, in place of what they borrowed before."""
    nodes = {node.id: node for node in batch.nodes}
    wanted = partners.keys() | {other for others in partners.values() for other in others}
    known = {**store.get(scope, sorted(wanted - nodes.keys())), **nodes}
    for id_, others in partners.items():
        node = _borrowing(own(known[id_]), [own(known[other]) for other in sorted(others)])
        if node != known[id_]:
            nodes[id_] = node
    batch.nodes = list(nodes.values())


def _is_lent(tag: Tag) -> bool:
    """Tags of people and of files are lent; what a dream found in one text it finds in a near one itself."""
    return tag.origin == "user" or is_path_tag(tag)


def _borrowing(node: Node, lenders: Sequence[Node]) -> Node:
    """The node with the lenders' tags and buckets behind its own."""
    lent = {tag.name: tag for lender in reversed(lenders) for tag in lender.tag_details if _is_lent(tag)}
    tags = [Tag(name, lent[name].display, "infected") for name in sorted(lent.keys() - set(node.tags))]
    buckets = sorted({bucket for lender in lenders for bucket in lender.buckets} - set(node.buckets))
    if not tags and not buckets:
        return node
    return replace(
        node,
        tag_details=(*node.tag_details, *tags),
        buckets=(*node.buckets, *buckets),
        props={**node.props, NOTED: {"tags": [tag.name for tag in tags], "buckets": buckets}},
    )


def _join(
    store: Store,
    scope: Scope,
    batch: Batch,
    partners: Mapping[str, Collection[str]],
    suspects: Collection[str],
    now: int,
) -> None:
    """Edges between partners, in place of those their atoms had. Any of these begins at one of the `suspects`."""
    wanted = {
        edge.id: edge for id_, others in partners.items() for edge in (_edge(id_, other, now) for other in others)
    }
    stored = store.edges_via(scope, [_via(id_) for id_ in sorted(suspects)])
    present = {e.id for edges in stored.values() for e in edges if not partners.keys().isdisjoint((e.src, e.dst))}
    batch.edges += [edge for id_, edge in wanted.items() if id_ not in present]
    batch.remove_edges += sorted(present - wanted.keys())


def _edge(one: str, other: str, now: int) -> Edge:
    src, dst = sorted((one, other))
    return Edge(edge_id(KIND, src, dst), src, dst, KIND, WEIGHT, via=_via(src), created=now, updated=now)


def _via(id_: str) -> str:
    return f"near:{id_}"
