"""Score of the explore recipe: relevance to the cue, freshness and salience."""

from __future__ import annotations

from cuetrail.formulas import DAY, final_score, freshness
from cuetrail.model import Hit
from cuetrail.model.records import SEMANTIC_KINDS
from cuetrail.recall.anchor.hybrid_search import redundant_titles
from cuetrail.recall.stage_types import Anchored, Reached, RecallContext, Scored


def rank_by_salience(
    context: RecallContext,
    anchored: Anchored,
    _reached: Reached,
    *,
    weights: tuple[float, float, float],
    vector_floor: float,
) -> Scored:
    """Returns the anchors with the highest weighted sum of relevance, freshness and salience; `weights` in this order.

    Titles are left out if a passage of their source is a hit, and so are anchors that only a cosine below
    `vector_floor` found.
    """
    best = max((a.bm25 for a in anchored.anchors if a.bm25 is not None), default=0.0)
    hits = []
    for anchor in anchored.anchors:
        by_text = anchor.bm25 / best if anchor.bm25 is not None and best > 0 else 0.0
        semantic = max(by_text, anchor.cosine or 0.0)
        if anchor.bm25 is None and semantic < vector_floor:
            continue
        node = anchor.node
        days = (context.now - (node.updated if node.kind in SEMANTIC_KINDS else node.at)) / DAY
        parts = {"semantic": semantic, "time": freshness(days), "salience": node.life.salience}
        why = anchor.why()
        score = final_score(semantic, days, node.life.salience, weights)
        hits.append(Hit(node, score, {**why, "parts": {**why["parts"], **parts}}))
    redundant = redundant_titles([hit.node for hit in hits])
    kept = (hit for hit in hits if hit.node.id not in redundant)
    ranked = sorted(kept, key=lambda hit: (-hit.score, -hit.node.at, hit.node.id))
    return Scored(tuple(ranked[: max(context.limit or 0, 0)]))
