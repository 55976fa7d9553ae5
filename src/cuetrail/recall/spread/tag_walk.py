"""Tag walk: from the anchors to nodes that share their tags and buckets."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache, partial

from cuetrail.formulas import shares
from cuetrail.model import Label, Node, Rank, WalkQuery, WalkSeed
from cuetrail.model.records import maker
from cuetrail.recall.stages import Anchor, Anchored, Reached, RecallContext

_walk_seed = maker(WalkSeed)
_tag = lru_cache(1 << 14)(partial(Label, "tag"))
_bucket = lru_cache(1 << 10)(partial(Label, "bucket"))


def follow_labels(
    context: RecallContext, anchored: Anchored, *, harvest: int, generic: Collection[str], rank: Rank
) -> Reached:
    """Returns nodes that share a tag or bucket with one of the first `harvest` anchors and match no word of the cue.

    They pass all filters of the cue. Labels in `generic` and temporal tags are not followed.
    """
    seeds = tuple(walk_seed(anchor, generic) for anchor in anchored.anchors[:harvest])
    _, walkers = shares(context.tokens, context.limit)
    # If the answering query had its typos mended, so has the query of words to exclude.
    query = context.cue.query
    unlike = replace(query, mend=True) if anchored.query.mend else query
    walk = context.store.walk(context.scope, WalkQuery(seeds, unlike, rank), walkers, context.cue.where)
    return Reached(walk.found, seeds, walk.idfs, rank)


def walk_seed(anchor: Anchor, generic: Collection[str]) -> WalkSeed:
    """Returns an anchor as the start of a walk, with the labels to follow."""
    node = anchor.node
    labels = [label for label in labels_of(node) if label.name not in generic]
    return _walk_seed(node.id, tuple(labels), node.at, node.simhash, anchor.key)


def labels_of(node: Node) -> list[Label]:
    """Returns the labels that connect a node to others: its tags, except temporal ones, and its buckets, each once."""
    labels = [_tag(tag.name) for tag in node.tag_details if tag.origin != "temporal"]
    labels += [_bucket(bucket) for bucket in node.buckets]
    return labels if len(set(labels)) == len(labels) else list(dict.fromkeys(labels))
