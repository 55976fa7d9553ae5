"""Confidence of TRAIL: how likely the best hit answers the cue, from 0 to 1. `formulas.confidence` has the equation."""

from __future__ import annotations

from collections.abc import Mapping

from cuetrail.formulas import Evidence, confidence
from cuetrail.model import Node
from cuetrail.recall.anchor.hybrid_search import TrailAnchors
from cuetrail.recall.spread.trail import TrailCandidates
from cuetrail.text.word_lists import FUNCTION_WORDS


def confidence_in(best: Node, score: float, reranked: bool, anchored: TrailAnchors, reached: TrailCandidates) -> float:
    """Returns the confidence, from 0 to 1, that the best hit answers the cue. `score` is the ranker's, any number.

    It is 1 for a literal cue (phrases, a prefix, fuzzy words or only filters), for one that is the name of a topic, for
    one of function words alone, and for one with a single other word if the hit has that word.
    """
    content = {stem for stem, word in reached.coverage.words.items() if word.casefold() not in FUNCTION_WORDS}
    has_the_word = len(content) == 1 and content <= reached.coverage.terms[best.id]
    if anchored.literal or anchored.titled or not content or has_the_word:
        return 1.0
    return confidence(evidence_of(best, score, reranked, anchored, reached))


def evidence_of(best: Node, score: float, reranked: bool, anchored: TrailAnchors, reached: TrailCandidates) -> Evidence:
    """Returns the numbers from which the confidence in the best hit is computed."""
    contextual = anchored.query_embedding is not None and anchored.query_embedding.contextual
    return Evidence(
        score=score, matched=len(reached.coverage.terms[best.id]), rest=reached.matches.rest.get(best.id, 0.0),
        near=nearness({one.node.id: one.cosine for one in anchored.anchors if one.cosine is not None}, contextual),
        contextual=contextual, candidates=len(reached.nodes), dated=best.id in anchored.dated_ids, reranked=reranked,
    )  # fmt: skip


def nearness(cosines: Mapping[str, float], contextual: bool) -> float | None:
    """Returns the highest cosine; with a contextual embedder how far it is above the lowest, as a share of the way to
    1. None without cosines.
    """
    if not cosines:
        return None
    best, last = max(cosines.values()), min(cosines.values())
    return (best - last) / max(1 - last, 1e-9) if contextual else best
