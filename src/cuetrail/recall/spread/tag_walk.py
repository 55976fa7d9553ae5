"""The second stage: from the anchors to what belongs with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

from cuetrail.errors import MemoryError_
from cuetrail.formulas import shares
from cuetrail.model import Activation, Fact, Label, Node, Rank, WalkHit, WalkQuery, WalkSeed
from cuetrail.model.fast_dataclass import maker
from cuetrail.recall.anchor.hybrid_search import Anchor, Anchored, Ask
from cuetrail.recall.anchor.seeds import Chooser, Seeding, query_tags
from cuetrail.recall.spread.activation import Flow, activate, merge


@dataclass(frozen=True, slots=True)
class Told:
    """A fact that was come to: at which entity, how many hops from the anchors, and along which entities."""

    fact: Fact
    entity: str
    hop: int
    way: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reached:
    """What was reached, the best first; the anchors it was reached from, and how much each of their labels tells.

    `told` are facts, in the order they were come to, and `entities` their subjects and objects in that order.
    """

    walked: tuple[WalkHit, ...] = ()
    seeds: tuple[WalkSeed, ...] = ()
    idfs: Mapping[Label, float] = field(default_factory=dict)
    rank: Rank = "idf"
    activations: tuple[Activation, ...] = ()
    told: tuple[Told, ...] = ()
    entities: Mapping[str, Node] = field(default_factory=dict)


def nowhere(_ask: Ask, _anchored: Anchored) -> Reached:
    """Stay with the anchors."""
    return Reached()


def along_labels(ask: Ask, anchored: Anchored, *, harvest: int, generic: Collection[str], rank: Rank) -> Reached:
    """Memories that share a tag or bucket with one of the first anchors and match no word of the cue.

    All filters of the cue hold for them too. Names in `generic`, and tags that only say when, lead nowhere.
    """
    seeds = tuple(seed(anchor, generic) for anchor in anchored.anchors[:harvest])
    _, walkers = shares(ask.tokens, ask.limit)
    # What the answer's query forgave counts as matched, and so does every word of the cue.
    unlike = replace(ask.cue.query, mend=True) if anchored.query.mend else ask.cue.query
    walk = ask.store.walk(ask.scope, WalkQuery(seeds, unlike, rank), walkers, ask.cue.where)
    return Reached(walk.found, seeds, walk.idfs, rank)


def along_edges(ask: Ask, anchored: Anchored, *, seeding: Seeding, flow: Flow, choose: Chooser | None) -> Reached:
    """Memories that energy comes to from the anchors, along edges that fit the tags of the query.

    All filters of the cue hold for every node on the way.
    """
    tags = query_tags(ask, anchored.anchors, choose)
    energies = {anchor.node.id: seeding.energy(anchor) for anchor in anchored.anchors}
    found = tuple(activate(ask.store, ask.scope, energies, tags, flow, ask.cue.where))
    failure = next((one.error for one in found if one.error is not None), None)
    if failure is not None:
        raise MemoryError_(failure)
    reached = [one for one in merge(found) if one.id not in energies]
    nodes = ask.store.get(ask.scope, [one.id for one in reached])
    walked = tuple(WalkHit(nodes[one.id], one.energy) for one in reached if one.id in nodes)
    return Reached(walked, activations=found)


_foothold = maker(WalkSeed)


def seed(anchor: Anchor, generic: Collection[str]) -> WalkSeed:
    """The anchor as a place to walk on from."""
    node = anchor.node
    labels = [label for label in labels_of(node) if label.name not in generic]
    return _foothold(node.id, tuple(labels), node.at, node.simhash, anchor.key)


def labels_of(node: Node) -> list[Label]:
    """The labels by which a node is joined to others: its tags but for temporal ones, and its buckets, each once."""
    labels = [_tag(tag.name) for tag in node.tag_details if tag.origin != "temporal"]
    labels += [_bucket(bucket) for bucket in node.buckets]
    return labels if len(set(labels)) == len(labels) else list(dict.fromkeys(labels))


# The same labels are asked for again and again.
_tag = lru_cache(1 << 14)(partial(Label, "tag"))
_bucket = lru_cache(1 << 10)(partial(Label, "bucket"))
