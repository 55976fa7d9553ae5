"""Tag walk: from the anchors to nodes that share their tags and buckets."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from cuetrail.formulas import shares
from cuetrail.model import Rank, WalkQuery, WalkSeed
from cuetrail.model.records import labels_of, maker
from cuetrail.recall.stage_types import Anchor, Anchored, Reached, RecallContext

_walk_seed = maker(WalkSeed)


def follow_labels(
    context: RecallContext, anchored: Anchored, *, harvest: int, generic: Collection[str], rank: Rank
) -> Reached:
    """Returns nodes that share a tag or bucket with one of the first `harvest` anchors and match no word of the cue.

    They pass all filters of the cue. Tags and buckets in `generic` and temporal tags are not followed. `rank` is the
    order of the nodes.
    """
    seeds = tuple(walk_seed(anchor, generic) for anchor in anchored.anchors[:harvest])
    _, walkers = shares(context.tokens, context.limit)
    # If the answering query had its typos mended, so has the query of words to exclude.
    query = context.cue.query
    unlike = replace(query, mend=True) if anchored.query.mend else query
    walk = context.store.walk(context.scope, WalkQuery(seeds, unlike, rank), walkers, context.cue.where)
    return Reached(walk.found, seeds, walk.idfs, rank)


def walk_seed(anchor: Anchor, generic: Collection[str]) -> WalkSeed:
    """Returns an anchor as the start of a walk, with its tags and buckets except those in `generic`."""
    node = anchor.node
    labels = [label for label in labels_of(node) if label.name not in generic]
    return _walk_seed(node.id, tuple(labels), node.at, node.simhash, anchor.key)
