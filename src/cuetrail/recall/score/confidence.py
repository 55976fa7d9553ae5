"""Confidence: how likely the best hit of TRAIL answers the cue, by a logistic model of four figures.

The coefficients were fitted on development questions about two vaults of notes and on questions about topics that
neither vault has. A memory that holds little cannot be judged by the words it lacks, so it is believed more readily.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from cuetrail.model import Node, TextQuery
from cuetrail.recall.anchor.hybrid_search import TrailAnchors
from cuetrail.recall.spread.trail import TrailCandidates, query_coverage
from cuetrail.recall.stage_types import RecallContext
from cuetrail.text.word_lists import FUNCTION_WORDS


class Coefficients(NamedTuple):
    """The weights of the figures of `Evidence`, and the bias."""

    covered: float
    matched: float
    unseen: float
    gap: float
    bias: float


WITH_VECTORS = Coefficients(covered=1.68, matched=0.73, unseen=-2.55, gap=4.36, bias=-2.31)
TEXT_ALONE = Coefficients(covered=2.69, matched=0.72, unseen=-2.59, gap=0.0, bias=-1.89)
# A cue with fewer candidates is asked of a small memory. Up to this much is added for that.
MANY_CANDIDATES, SMALL_MEMORY = 100, 4.0
# Added if the best hit is of a time that the cue names: the words of that time need not be in its text.
DATED = 2.0
# How many texts are read at once to see whether any memory has a word, and how many times.
LOOKED_AT, MOST_LOOKS = 5, 4


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for the best hit.

    `covered` is the share of the cue's terms that it contains, rare terms counting more, and `matched` about how many
    these are. `unseen` is the share of terms that no memory contains. `gap` is how much closer to the cue the nearest
    vector is than the last one found, None without vectors. `candidates` counts all candidates. `dated`: the hit is of
    a time that the cue names.
    """

    covered: float
    matched: float
    unseen: float
    gap: float | None
    candidates: int
    dated: bool = False


def confidence(evidence: Evidence) -> float:
    """Returns the confidence in a hit, from 0 to 1.

    >>> [round(confidence(Evidence(share, 5 * share, 1 - share, 0.2, 200)), 2) for share in (0.2, 0.5, 1.0)]
    [0.08, 0.49, 0.98]
    """
    by = TEXT_ALONE if evidence.gap is None else WITH_VECTORS
    small = 1 - min(evidence.candidates, MANY_CANDIDATES) / MANY_CANDIDATES
    total = (
        by.covered * evidence.covered
        + by.matched * evidence.matched
        + by.unseen * evidence.unseen
        + by.gap * (evidence.gap or 0.0)
        + by.bias
        + SMALL_MEMORY * small
        + DATED * evidence.dated
    )
    return 1 / (1 + math.exp(-total))


def confidence_in(best: Node, context: RecallContext, anchored: TrailAnchors, reached: TrailCandidates) -> float:
    """Returns the confidence that the best hit answers the cue. A cue that only filters, or names its topic, is sure
    of what it finds.
    """
    coverage = reached.coverage
    if anchored.literal or anchored.titled or FUNCTION_WORDS.issuperset(map(str.casefold, coverage.words.values())):
        return 1.0
    covered = coverage.share(coverage.terms[best.id])
    cosines = [anchor.cosine for anchor in anchored.anchors if anchor.cosine is not None]
    found = frozenset[str]().union(*coverage.terms.values())
    missing = _unseen(context, [word for term, word in coverage.words.items() if term not in found])
    return confidence(
        Evidence(
            covered,
            covered * len(coverage.weights),
            coverage.share([term for term, word in coverage.words.items() if word in missing]),
            (max(cosines) - min(cosines)) / max(1 - min(cosines), 1e-9) if cosines else None,
            len(reached.nodes),
            best.id in anchored.dated_ids,
        )
    )


def _unseen(context: RecallContext, words: Sequence[str]) -> set[str]:
    """Returns the words that no memory contains, of those that no candidate contains."""
    left = list(dict.fromkeys(words))
    where = replace(context.cue.where, with_text=False)
    for _ in range(MOST_LOOKS):
        if not left:
            break
        found = context.store.text(context.scope, TextQuery(" ".join(left)), LOOKED_AT, where, nodes=True)
        nodes = {one.id: one.node for one in found if one.node is not None}
        seen = query_coverage(" ".join(left), nodes)
        known = {seen.words[term] for terms in seen.terms.values() for term in terms}
        if not known:
            break
        left = [word for word in left if word not in known]
    return set(left)
