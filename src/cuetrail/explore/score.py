"""The ranking of an exploration: one score for each match, from how well it matches, its freshness and its salience.

Of a node's query and text matches the higher score counts. With several queries, the ranks in their result lists are
fused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from cuetrail.explore.context import ExploreContext
from cuetrail.formulas import DAY, final_score, freshness, fused
from cuetrail.model import Node
from cuetrail.model.records import SEMANTIC_KINDS


@dataclass(slots=True)
class Evidence:
    """How well one node or edge matches: its cosine and rank by query number, and its best text match: the score `text`
    and the text that `matched`.
    """

    cosines: dict[int, float] = field(default_factory=dict)
    ranks: dict[int, int] = field(default_factory=dict)
    text: float = 0.0
    matched: str | None = None

    def match(self, text: str, value: float) -> None:
        """Records a text match if it is better than the one so far."""
        if value > self.text:
            self.text, self.matched = value, text

    def is_match(self) -> bool:
        """True if any query or text matches."""
        return bool(self.cosines) or self.text > 0

    def joined(self, other: Evidence) -> Evidence:
        """Returns the better cosine per query and the better text match of the two. Ranks are left out."""
        numbers = self.cosines.keys() | other.cosines.keys()
        both = Evidence({n: max(self.cosines.get(n, 0.0), other.cosines.get(n, 0.0)) for n in sorted(numbers)})
        both.text, both.matched = max((self.text, self.matched), (other.text, other.matched), key=lambda one: one[0])
        return both

    def semantic(self, queries: int) -> float:
        """Returns the match from 0 to 1: the cosine of one query or the fused ranks of several, or the score of the
        best text match if that is higher. `queries` is the number of queries.
        """
        by_query = fused(self.ranks.values(), queries) if queries > 1 else max(self.cosines.values(), default=0.0)
        return max(by_query, self.text)


@dataclass(frozen=True, slots=True)
class EvidenceScore:
    """A score, and the parts it was computed from."""

    score: float
    why: Mapping[str, Any]


def score_evidence(context: ExploreContext, evidence: Evidence, time: int, salience: float) -> EvidenceScore:
    """Returns the weighted score of match, freshness and salience, with its parts. Freshness falls with the age of
    `time`.
    """
    semantic = evidence.semantic(len(context.queries))
    days = (context.now - time) / DAY
    why: dict[str, Any] = {
        "semantic": semantic,
        "time": freshness(days),
        "salience": salience,
        "weights": dict(zip(("semantic", "time", "salience"), context.weights, strict=True)),
        "cosines": {context.queries[n].text: value for n, value in evidence.cosines.items()},
        "ranks": {context.queries[n].text: rank for n, rank in evidence.ranks.items()},
    }
    if evidence.matched is not None:
        why["text_match"] = {"text": evidence.matched, "score": evidence.text}
    return EvidenceScore(final_score(semantic, days, salience, context.weights), why)


@dataclass(frozen=True, slots=True)
class QueryMatches:
    """Search results before scoring: cosines by id for each query, best text match by id, and nodes already read."""

    by_query: tuple[Mapping[str, float], ...]
    by_text: Mapping[str, tuple[str, float]]
    known: Mapping[str, Node]


def rank_matches(
    context: ExploreContext,
    kinds: Sequence[str],
    own: QueryMatches,
    also: Mapping[str, Evidence] = MappingProxyType({}),
) -> list[tuple[Node, EvidenceScore]]:
    """Returns the matching nodes with their scores, best first, then newer, then by id.

    `also` has further nodes that match for another reason, with the evidence for each.
    """
    found: dict[str, Evidence] = {}
    for number, near in enumerate(own.by_query):
        more = {id_: one.cosines[number] for id_, one in also.items() if number in one.cosines}
        best = {id_: max(value, more.pop(id_, 0.0)) for id_, value in near.items()} | more if more else near
        # Equal values keep the order of the search.
        for rank, (id_, value) in enumerate(sorted(best.items(), key=lambda pair: -pair[1]), 1):
            evidence = found.setdefault(id_, Evidence())
            evidence.cosines[number], evidence.ranks[number] = value, rank
    for id_, (text, value) in own.by_text.items():
        found.setdefault(id_, Evidence()).match(text, value)
    for id_, one in also.items():
        if one.matched is not None:
            found.setdefault(id_, Evidence()).match(one.matched, one.text)
    nodes = context.store.get(context.scope, [id_ for id_ in found if id_ not in own.known]) | dict(own.known)
    where = context.of_kinds(*kinds)
    nodes = {id_: node for id_, node in nodes.items() if id_ not in also or where.admits(node)}
    scored = [
        (node, score_evidence(context, found[id_], last_time_of(node), node.life.salience))
        for id_, node in nodes.items()
    ]
    return sorted(scored, key=lambda pair: (-pair[1].score, -pair[0].at, pair[0].id))


def last_time_of(node: Node) -> int:
    """Returns the time that freshness counts from: the last update of a node for a person or thing (SEMANTIC_KINDS),
    else the end of an episode, storyline or macro, else the node's own time.
    """
    if node.kind in SEMANTIC_KINDS:
        return node.updated
    end = node.props.get("end")
    return end if isinstance(end, int) else node.at
