"""Near duplicates: two atoms whose SimHashes differ in at most two bits share their tags and buckets.

Who shares with whom depends only on which atoms there are, not on the order they came in:

- Sharing is between two, not handed on. In a chain A - B - C whose ends are far apart, B shares with both, and A and C
  do not share with each other. So the arrival of an atom touches only those near it.
- An atom that more than MOST_SHARING atoms are near to, itself counted, is boilerplate and shares with nobody.
- A band of hashes that more than CROWD atoms carry tells near from far no more and joins nobody. This bounds the work
  that one more copy of a template makes.

What an atom borrowed is noted in its `near` property, so that it goes back when the other goes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from cuetrail.formulas import bands
from cuetrail.model import Node, Scope, Tag
from cuetrail.model.tags import is_path_tag
from cuetrail.store.ports import Store
from cuetrail.store.read import Band
from cuetrail.store.write import Batch

BORROWED = "near"
DISTANCE = 2
# What stands in more places is boilerplate: what one place is tagged with says nothing about the others.
MOST_SHARING = 16
CROWD = 200

Hashes = Mapping[str, int]
_NOBODY: Hashes = {}


def without_borrowed(node: Node) -> Node:
    """The node without what it borrowed."""
    noted = node.props.get(BORROWED)
    # A note's frontmatter may have a field of this name.
    if not isinstance(noted, dict):
        return node
    return replace(
        node,
        tag_details=tuple(tag for tag in node.tag_details if tag.name not in noted["tags"]),
        buckets=tuple(bucket for bucket in node.buckets if bucket not in noted["buckets"]),
        props={name: value for name, value in node.props.items() if name != BORROWED},
    )


def regroup(
    store: Store,
    scope: Scope,
    batch: Batch,
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
    _share(store, scope, batch, ground.partners(ground.touched()))
    return sum(len(ground.near(hash_)) > 1 for hash_ in arriving.values())


class _Ground:
    """Which atoms are near which, before a batch and after it. The store is asked once for each band."""

    def __init__(self, store: Store, scope: Scope, arriving: Hashes, gone: Hashes) -> None:
        self._store = store
        self._scope = scope
        self._arriving = arriving
        self._gone = gone
        self._coming = _by_band(arriving)
        # One more than a crowd shows that it is one, also without those who leave.
        self._limit = CROWD + 1 + max(map(len, _by_band(gone).values()), default=0)
        self._seen: set[Band] = set()
        self._stored: dict[Band, Hashes] = {}
        self._found: dict[tuple[int, bool], Hashes] = {}

    def touched(self) -> Hashes:
        """The atoms that may share with others after the batch than before."""
        left = set(self._gone.values())
        centres = left | set(self._arriving.values())
        self._look(centres)
        touched: dict[str, int] = {}
        for hash_ in centres:
            close = self.near(hash_)
            if len(close) > 1 or hash_ in left:
                touched |= close
        for band in self._stored:
            before, after = self._carriers(band, before=True), self._carriers(band)
            if (len(before) > CROWD) != (len(after) > CROWD):
                touched |= after
        hashes = set(touched.values())
        self._look(hashes)
        for hash_ in hashes:
            # One that becomes boilerplate, or is none any more, changes what those near it share.
            if self._is_boilerplate(hash_, before=True) != self._is_boilerplate(hash_):
                touched |= self.near(hash_)
        hashes = set(touched.values())
        self._look(hashes)
        still = {h for h in hashes if self._is_boilerplate(h, before=True) and self._is_boilerplate(h)}
        return {id_: hash_ for id_, hash_ in touched.items() if hash_ not in still}

    def partners(self, touched: Hashes) -> dict[str, list[str]]:
        """Whom each of these atoms shares with after the batch, in order."""
        close = {hash_: self.near(hash_) for hash_ in set(touched.values()) if not self._is_boilerplate(hash_)}
        self._look({other for some in close.values() for other in some.values()})
        sharing = {h: sorted(i for i, o in some.items() if not self._is_boilerplate(o)) for h, some in close.items()}
        return {id_: [other for other in sharing.get(hash_, ()) if other != id_] for id_, hash_ in touched.items()}

    def near(self, hash_: int, before: bool = False) -> Hashes:
        """The atoms near a hash whose bands have been looked at, those that have it included."""
        if (hash_, before) not in self._found:
            self._found[hash_, before] = {
                id_: other
                for band in _bands(hash_)
                if len(carriers := self._carriers(band, before)) <= CROWD
                for id_, other in carriers.items()
                if (other ^ hash_).bit_count() <= DISTANCE
            }
        return self._found[hash_, before]

    def _is_boilerplate(self, hash_: int, before: bool = False) -> bool:
        return len(self.near(hash_, before)) > MOST_SHARING

    def _carriers(self, band: Band, before: bool = False) -> Hashes:
        stored, coming = self._stored.get(band, _NOBODY), self._coming.get(band, _NOBODY)
        if before or not stored:
            return stored if before else coming
        return {**{i: h for i, h in stored.items() if i not in self._gone}, **coming}

    def _look(self, hashes: Iterable[int]) -> None:
        """Learn who carries the bands of these hashes."""
        unseen = {band for hash_ in hashes for band in _bands(hash_)} - self._seen
        if unseen:
            self._seen |= unseen
            found = self._store.simhash_bands(self._scope, sorted(unseen), self._limit)
            self._stored.update((band, dict(carriers)) for band, carriers in found.items())


@lru_cache(maxsize=65536)
def _bands(hash_: int) -> tuple[Band, ...]:
    return tuple(enumerate(bands(hash_)))


def _by_band(hashes: Hashes) -> dict[Band, dict[str, int]]:
    found: dict[Band, dict[str, int]] = defaultdict(dict)
    for id_, hash_ in hashes.items():
        for band in _bands(hash_):
            found[band][id_] = hash_
    return found


def _share(store: Store, scope: Scope, batch: Batch, partners: Mapping[str, Sequence[str]]) -> None:
    """Let atoms borrow from their partners, in place of what they borrowed before."""
    nodes = {node.id: node for node in batch.nodes}
    wanted = partners.keys() | {other for others in partners.values() for other in others}
    known = store.get(scope, sorted(wanted - nodes.keys())) | {id_: nodes[id_] for id_ in wanted if id_ in nodes}
    bare = {id_: without_borrowed(node) for id_, node in known.items()}
    for id_, others in partners.items():
        node = _borrowing(bare[id_], [bare[other] for other in others])
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
        props={**node.props, BORROWED: {"tags": [tag.name for tag in tags], "buckets": buckets}},
    )
