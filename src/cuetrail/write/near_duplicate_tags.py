"""Near duplicates: two atoms whose SimHashes differ in at most two bits share their tags and buckets.

The result depends only on which atoms are stored, not on the order in which they arrived:

- Sharing is between two atoms and not transitive. In a chain A - B - C whose ends are far apart, B shares with both, A
  and C do not share with each other. A new atom therefore affects only the atoms near it.
- An atom with more than MOST_SHARING atoms near it, itself included, is boilerplate and shares with none.
- A band of hashes with more than CROWD atoms is ignored. This bounds the work that one more copy of a template causes.

Borrowed labels are listed in the property `near` of an atom, so that they can be removed when the other atom goes.
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
# Text with more copies is boilerplate: the tags of one copy say nothing about the others.
MOST_SHARING = 16
CROWD = 200

Hashes = Mapping[str, int]
_NO_HASHES: Hashes = {}


def without_borrowed(node: Node) -> Node:
    """Returns the node without the tags and buckets copied from near duplicates, and without the list of them."""
    borrowed = node.props.get(BORROWED)
    # The frontmatter of a note may have a field of this name.
    if not isinstance(borrowed, dict):
        return node
    return replace(
        node,
        tag_details=tuple(tag for tag in node.tag_details if tag.name not in borrowed["tags"]),
        buckets=tuple(bucket for bucket in node.buckets if bucket not in borrowed["buckets"]),
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
    """Adds to a batch the nodes whose borrowed tags and buckets change, that is those copied from near duplicates.

    `relabelled` are stored atoms of the batch whose own tags or buckets changed; `leaving` are atoms that it removes.
    Returns how many of the new and relabelled atoms have a near duplicate.
    """
    arriving = {node.id: node.simhash for node in (*new, *relabelled) if node.simhash is not None}
    gone = {node.id: node.simhash for node in leaving if node.simhash is not None}
    if not arriving and not gone:
        return 0
    neighbours = _Neighbours(store, scope, arriving, gone)
    _share(store, scope, batch, neighbours.partners(neighbours.affected()))
    return sum(len(neighbours.near(hash_)) > 1 for hash_ in arriving.values())


class _Neighbours:
    """Finds the atoms whose SimHash is near a given one, before and after a batch. Each band of hashes is read once; a
    band holds the atoms that have one part of their hash in common.
    """

    def __init__(self, store: Store, scope: Scope, arriving: Hashes, gone: Hashes) -> None:
        self._store = store
        self._scope = scope
        self._arriving = arriving
        self._gone = gone
        self._coming = _by_band(arriving)
        # Enough rows to recognise a crowd, even after the leaving atoms are gone.
        self._limit = CROWD + 1 + max(map(len, _by_band(gone).values()), default=0)
        self._seen: set[Band] = set()
        self._stored: dict[Band, Hashes] = {}
        self._found: dict[tuple[int, bool], Hashes] = {}

    def affected(self) -> Hashes:
        """Returns the SimHashes, by id, of the atoms whose near duplicates may change with the batch."""
        gone = set(self._gone.values())
        centres = gone | set(self._arriving.values())
        self._read(centres)
        affected: dict[str, int] = {}
        for hash_ in centres:
            close = self.near(hash_)
            if len(close) > 1 or hash_ in gone:
                affected |= close
        for band in self._stored:
            before, after = self._carriers(band, before=True), self._carriers(band)
            if (len(before) > CROWD) != (len(after) > CROWD):
                affected |= after
        hashes = set(affected.values())
        self._read(hashes)
        for hash_ in hashes:
            # An atom that becomes boilerplate, or stops being it, affects the atoms near it.
            if self._is_boilerplate(hash_, before=True) != self._is_boilerplate(hash_):
                affected |= self.near(hash_)
        hashes = set(affected.values())
        self._read(hashes)
        still = {h for h in hashes if self._is_boilerplate(h, before=True) and self._is_boilerplate(h)}
        return {id_: hash_ for id_, hash_ in affected.items() if hash_ not in still}

    def partners(self, affected: Hashes) -> dict[str, list[str]]:
        """Returns the sorted ids of the atoms that each of these shares tags and buckets with after the batch."""
        close = {hash_: self.near(hash_) for hash_ in set(affected.values()) if not self._is_boilerplate(hash_)}
        self._read({other for some in close.values() for other in some.values()})
        sharing = {h: sorted(i for i, o in some.items() if not self._is_boilerplate(o)) for h, some in close.items()}
        return {id_: [other for other in sharing.get(hash_, ()) if other != id_] for id_, hash_ in affected.items()}

    def near(self, hash_: int, before: bool = False) -> Hashes:
        """Returns the atoms near a hash or with the same hash, after the batch or `before` it. Reads nothing: the bands
        of the hash must have been read.
        """
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
        stored, coming = self._stored.get(band, _NO_HASHES), self._coming.get(band, _NO_HASHES)
        if before or not stored:
            return stored if before else coming
        return {**{i: h for i, h in stored.items() if i not in self._gone}, **coming}

    def _read(self, hashes: Iterable[int]) -> None:
        """Reads from the store the atoms that share a band (a slice of the SimHash) with one of these hashes, and keeps
        them in `_stored`. Bands that were read before are skipped.
        """
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
    """Replaces, in the batch, the copied tags and buckets of atoms by those of their near duplicates in `partners`."""
    nodes = {node.id: node for node in batch.nodes}
    wanted = partners.keys() | {other for others in partners.values() for other in others}
    known = store.get(scope, sorted(wanted - nodes.keys())) | {id_: nodes[id_] for id_ in wanted if id_ in nodes}
    own = {id_: without_borrowed(node) for id_, node in known.items()}
    for id_, others in partners.items():
        node = _borrowing(own[id_], [own[other] for other in others])
        if node != known[id_]:
            nodes[id_] = node
    batch.nodes = list(nodes.values())


def _is_copied(tag: Tag) -> bool:
    """True if near duplicates copy this tag from each other: tags given by users or by file paths. Tags made by dreams
    are not copied, because dreams find them in each text.
    """
    return tag.origin == "user" or is_path_tag(tag)


def _borrowing(node: Node, duplicates: Sequence[Node]) -> Node:
    """Returns the node with the duplicates' tags and buckets after its own, and a property that lists these copies."""
    copied = {tag.name: tag for duplicate in reversed(duplicates) for tag in duplicate.tag_details if _is_copied(tag)}
    tags = [Tag(name, copied[name].display, "infected") for name in sorted(copied.keys() - set(node.tags))]
    buckets = sorted({bucket for duplicate in duplicates for bucket in duplicate.buckets} - set(node.buckets))
    if not tags and not buckets:
        return node
    return replace(
        node,
        tag_details=(*node.tag_details, *tags),
        buckets=(*node.buckets, *buckets),
        props={**node.props, BORROWED: {"tags": [tag.name for tag in tags], "buckets": buckets}},
    )
