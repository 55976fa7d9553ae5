"""Confidence of TRAIL: how likely the best hit answers the cue, from 0 to 1. `formulas.confidence` has the equation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cuetrail.formulas import Evidence, confidence
from cuetrail.model import Node, TextQuery
from cuetrail.recall.anchor.hybrid_search import TrailAnchors
from cuetrail.recall.spread.trail import TrailCandidates, query_coverage
from cuetrail.recall.stage_types import RecallContext
from cuetrail.recall.trail_constants import BODY
from cuetrail.text.word_lists import FUNCTION_WORDS

# How many texts are read at once to see whether any memory has a word, and how many times.
LOOKED_AT, MOST_LOOKS = 5, 4


def confidence_in(
    best: Node, shown: Evidence, context: RecallContext, anchored: TrailAnchors, reached: TrailCandidates
) -> float:
    """Returns the confidence, from 0 to 1, that the best hit answers the cue. `shown` has the score of that hit.

    It is 1 for a literal cue (phrases, a prefix, fuzzy words or only filters), for one that is the name of a topic, and
    for one of function words alone.
    """
    coverage = reached.coverage
    if anchored.literal or anchored.titled or FUNCTION_WORDS.issuperset(map(str.casefold, coverage.words.values())):
        return 1.0
    covered = coverage.share(coverage.terms[best.id])
    evidence = replace(
        evidence_of(context, anchored, reached), score=shown.score, reranked=shown.reranked,
        matched=covered * len(coverage.weights), dated=best.id in anchored.dated_ids,
    )  # fmt: skip
    return confidence(evidence)


def evidence_of(context: RecallContext, anchored: TrailAnchors, reached: TrailCandidates) -> Evidence:
    """Returns the evidence that there is an answer at all, whichever hit is the best."""
    coverage = reached.coverage
    cosines = [anchor.cosine for anchor in anchored.anchors if anchor.cosine is not None]
    found = frozenset[str]().union(*coverage.terms.values())
    missing = _unseen(context, [word for term, word in coverage.words.items() if term not in found])
    return Evidence(
        unseen=coverage.share([term for term, word in coverage.words.items() if word in missing]),
        gap=(max(cosines) - min(cosines)) / max(1 - min(cosines), 1e-9) if cosines else None,
        candidates=len(reached.nodes),
        terms=len(coverage.weights),
    )


def _unseen(context: RecallContext, words: Sequence[str]) -> set[str]:
    """Returns those of the words that no memory in the scope contains, as far as a few text searches show."""
    left = list(dict.fromkeys(words))
    where = replace(context.cue.where, with_text=False)
    for _ in range(MOST_LOOKS):
        if not left:
            break
        found = context.store.text(context.scope, TextQuery(" ".join(left), fields=BODY), LOOKED_AT, where, nodes=True)
        nodes = {one.id: one.node for one in found if one.node is not None}
        seen = query_coverage(" ".join(left), nodes)
        known = {seen.words[term] for terms in seen.terms.values() for term in terms}
        if not known:
            break
        left = [word for word in left if word not in known]
    return set(left)
