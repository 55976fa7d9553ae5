"""Score of the energy recipe: seeds by the energy they start with, other nodes by the energy that reached them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cuetrail.formulas import shares
from cuetrail.model import Activation, Hit, hop_dict
from cuetrail.recall.anchor.activation_seeds import Seeding
from cuetrail.recall.spread.activation import Activated, merge
from cuetrail.recall.stage_types import Anchored, Reached, RecallContext, Scored


def rank_by_energy(context: RecallContext, anchored: Anchored, reached: Reached, *, seeding: Seeding) -> Scored:
    """Returns the seeds with the most energy as anchors, and other nodes that energy reached as walkers.

    Seeds take at most half of the hits that the budget allows, other nodes the rest.
    """
    most = sum(shares(context.tokens, context.limit))
    seeds = [Hit(a.node, seeding.energy(a), {**a.why(), "role": "anchor"}) for a in anchored.anchors]
    seeds = seeds[: -(-most // 2)]
    activated = {one.id: one for one in merge(reached.activations)}
    walkers = [Hit(w.node, w.score, _why(activated[w.node.id], reached.activations)) for w in reached.walked]
    return Scored(tuple(seeds), tuple(walkers[: most - len(seeds)]))


def _why(one: Activated, activations: Sequence[Activation]) -> dict[str, Any]:
    """Returns the `why` of a node that energy reached: the seeds that reached it, the path from the seed that sent it
    most energy, and the query tags on that path.
    """
    best = next(iter(one.paths.values()))
    query_tags = {tag for activation in activations for tag in activation.tags}
    return {
        "role": "walker",
        "anchors": list(one.paths),
        "found_by": ["energy"],
        "parts": {"energy": one.energy},
        "tag_boost": False,
        "tags": sorted(query_tags & {tag for hop in best.hops for tag in hop.tags}),
        "path": [hop_dict(hop) for hop in best.hops],
    }
