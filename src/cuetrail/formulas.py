"""All scoring equations as pure functions, one each, with worked examples as doctests."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

BM25_K1 = 1.2
BM25_B = 0.75
HOUR = 3_600_000
DAY = 24 * HOUR
WEEK = 7 * DAY
SOURCE_WEIGHTS = {"user_edit": 2.0, "file": 1.5, "system": 1.2, "conversation": 1.0}
CONFIRMED_WEIGHT = 1.2
CHARS_PER_TOKEN = 4
DAMPING = 0.85
PER_HOUR = 1e-5
RRF_K = 60
# The SimHash distance assumed when a hash is unknown: unrelated texts differ in half of the 64 bits.
UNKNOWN_DISTANCE = 32.0


def idf(documents: int, holding: int) -> float:
    """Returns the inverse document frequency of a term in `holding` of all documents (Robertson and Zaragoza 2009).

    >>> round(idf(1000, 10), 4), round(idf(10, 10), 4)
    (4.5574, 0.0465)
    """
    return math.log(1 + (documents - holding + 0.5) / (holding + 0.5))


def bm25(frequency: int, length: float, mean_length: float, idf: float) -> float:
    """Returns the BM25 score of one term in one document.

    >>> round(bm25(1, 10, 10, 2.0), 4), round(bm25(3, 10, 10, 2.0), 4), bm25(0, 10, 10, 2.0)
    (2.0, 3.1429, 0.0)
    """
    norm = BM25_K1 * (1 - BM25_B + BM25_B * length / mean_length)
    return idf * (1 + BM25_K1) * frequency / (frequency + norm)


def share(size: int, part: float) -> int:
    """Returns the given part of a whole number, rounded down. Uses integers, because 0.7 * 10 may be less than 7.

    >>> share(8000, 0.7), share(10, 0.7), share(1, 0.7)
    (5600, 7, 0)
    """
    return size * round(part * 1000) // 1000


def shares(tokens: int, limit: int | None = None) -> tuple[int, int]:
    """Returns how many anchors (direct matches) and walkers (nodes related to them) fill a token budget, or a limit on
    their number, in the ratio 7 to 3.

    >>> shares(2000), shares(5000), shares(100), shares(0, 10), shares(0, 1)
    ((7, 3), (18, 7), (4, 2), (7, 3), (1, 0))
    """
    if limit is not None:
        most = max(limit, 0)
        return most - share(most, 0.3), share(most, 0.3)
    atoms = max(5, -(-tokens // 200))
    return atoms - share(atoms, 0.3), max(2, share(atoms, 0.3))


def gravity(shared: int, hours: float, distance: float) -> float:
    """Returns how strongly an anchor attracts a node: by labels in common, hours apart and SimHash bits that differ.

    >>> gravity(2, 0, 0), round(gravity(3, 24, 16), 6), round(gravity(1, -100_000, 32), 6)
    (1.7, 1.912041, 0.156349)
    """
    return DAMPING * shared * math.exp(-PER_HOUR * abs(hours)) * (1 - distance / 64)


def estimated_tokens(text: str) -> int:
    """Returns the estimated number of tokens: one per 4 ASCII characters, one per other character, rounded up.

    >>> estimated_tokens("four"), estimated_tokens("hello"), estimated_tokens("日本"), estimated_tokens("")
    (1, 2, 2, 0)
    """
    ascii_ = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return len(text) - ascii_ + -(-ascii_ // 4)


def bands(simhash: int) -> tuple[int, int, int]:
    """Splits a 64-bit hash into three parts. Hashes that differ in at most two bits share a part (Manku 2007).

    >>> bands(0b1 | 0b10 << 21 | 0b11 << 42)
    (1, 2, 3)
    """
    return simhash & 0x1FFFFF, simhash >> 21 & 0x1FFFFF, simhash >> 42


def mention_weight(times: int) -> float:
    """Returns the weight of the edge from a text to a name it mentions; it grows with the number of mentions.

    >>> mention_weight(1), mention_weight(2), mention_weight(5)
    (0.35, 0.4, 0.43)
    """
    return round(0.45 - 0.1 / times, 4)


def company(together: int, alone: int) -> float:
    """Returns the share of `together`, the texts with two names, in `alone`, all texts with the first of them.

    One text without the other name is added to the count, so one co-occurrence weighs less than many (Laplace).

    >>> company(1, 1), company(9, 9), company(1, 99)
    (0.5, 0.9, 0.01)
    """
    return together / (alone + 1)


def company_weight(share: float) -> float:
    """Returns the weight of an edge between two names that occur in the same texts. `share` is the larger of their two
    shares: of the texts with one name, how many have the other as well (`company`).

    >>> company_weight(0.0), company_weight(0.5), company_weight(0.9)
    (0.25, 0.35, 0.43)
    """
    return round(0.25 + 0.2 * share, 4)


def tag_sim(edge_tags: Collection[str], query_tags: Collection[str], floor: float) -> float:
    """Returns the Jaccard similarity of an edge's tags and a query's tags, scaled to the range from `floor` to 1.

    >>> query = {"demand_forecasting", "stockout", "safety_stock", "inventory_policy"}
    >>> round(tag_sim({"inventory_policy", "recommendation", "analysis_dependency"}, query, 0.15), 4)
    0.2917
    >>> tag_sim({"camp"}, set(), 0.15), tag_sim(set(), {"camp"}, 0.15), tag_sim({"camp"}, {"camp"}, 0.15)
    (1.0, 0.15, 1.0)
    """
    if not query_tags:
        return 1.0
    if not edge_tags:
        return floor
    return counted_sim(sum(tag in query_tags for tag in edge_tags), len(edge_tags), len(query_tags), floor)


def counted_sim(shared: int, edge_tags: int, query_tags: int, floor: float) -> float:
    """Returns `tag_sim` from the sizes of the two sets and of their intersection. Neither set may be empty.

    >>> round(counted_sim(1, 3, 4, 0.15), 4), counted_sim(0, 3, 4, 0.15), counted_sim(2, 2, 2, 0.15)
    (0.2917, 0.15, 1.0)
    """
    return floor + (1.0 - floor) * shared / (edge_tags + query_tags - shared)


def transfer(energy: float, weight: float, degree: int, sim: float) -> float:
    """Returns the energy that an edge passes to a neighbour. A node with many edges passes less along each.

    >>> sim = tag_sim({"a", "b", "c"}, {"a", "b"}, 0.15)
    >>> round(sim, 6), round(transfer(0.85, 0.9, 3, sim), 6)
    (0.716667, 0.316532)
    """
    return energy * weight / math.sqrt(degree) * sim


def seed_score(bm25: float, cosine: float | None, text_weight: float, vector_weight: float) -> float:
    """Returns the starting energy of a seed from its BM25 score and its cosine; None means no vector match.

    >>> seed_score(1.0, 0.0, 0.5, 0.5), round(seed_score(3.0, 0.8, 0.5, 0.5), 6), seed_score(0.0, 1.0, 0.5, 0.5)
    (0.5, 0.847584, 0.5)
    >>> round(seed_score(3.0, None, 0.5, 0.5), 6), seed_score(1e9, 1.0, 1.0, 1.0)
    (0.397584, 1.0)
    """
    by_text = 2 * math.atan(bm25) / math.pi
    by_vector = 0.0 if cosine is None else (1 + cosine) / 2
    return min(text_weight * by_text + vector_weight * by_vector, 1.0)


def source_weight(source: str) -> float:
    """Returns the weight of a fact's source: 2.0 for a user's edit, 1.0 for a conversation or an unknown source.

    >>> source_weight("user_edit"), source_weight("file"), source_weight("system"), source_weight("rumour")
    (2.0, 1.5, 1.2, 1.0)
    """
    return SOURCE_WEIGHTS.get(source, 1.0)


def recency(age: int) -> float:
    """Returns a factor for a fact last used `age` milliseconds ago: 5 % less per week after the first week.

    >>> recency(7 * DAY), round(recency(8 * DAY), 6), round(recency(21 * DAY), 4), recency(-DAY)
    (1.0, 0.992699, 0.9025, 1.0)
    """
    weeks = age / WEEK
    return math.pow(0.95, weeks - 1) if weeks > 1 else 1.0


def usage(accesses: int) -> float:
    """Returns a factor that grows with the number of accesses, by less for each further one.

    >>> usage(0), usage(9), round(usage(5), 6)
    (1.0, 1.5, 1.389076)
    """
    return 1 + 0.5 * math.log10(accesses + 1)


def fact_score(confidence: float, source: str, age: int, accesses: int, confirmed: bool) -> float:
    """Returns the current importance of a fact. `age` is the time since it was last used, or first stated, in ms.

    >>> fact_score(0.9, "conversation", 0, 0, False)
    0.9
    >>> round(fact_score(0.9, "conversation", 3 * WEEK, 5, False), 5)
    1.12828
    >>> round(fact_score(0.9, "conversation", 3 * WEEK, 5, True), 5)
    1.35393
    >>> round(fact_score(1.0, "user_edit", 0, 9, True), 9)
    3.6
    >>> round(fact_score(0.8, "file", 7 * DAY, 0, False), 9), round(fact_score(0.8, "file", 8 * DAY, 0, False), 5)
    (1.2, 1.19124)
    """
    status = CONFIRMED_WEIGHT if confirmed else 1.0
    return confidence * source_weight(source) * recency(age) * usage(accesses) * status


def freshness(days: float) -> float:
    """Returns a factor for the age in days, halved about every 35 days. A time in the future counts as now.

    >>> round(freshness(35), 4), freshness(0), freshness(-3)
    (0.4966, 1.0, 1.0)
    """
    return math.exp(-0.02 * max(days, 0.0))


def final_score(semantic: float, days: float, salience: float, weights: tuple[float, float, float]) -> float:
    """Returns the weighted sum of relevance to the query, freshness and salience.

    >>> round(final_score(0.8, 35, 0.5, (0.3, 0.3, 0.4)), 5)
    0.58898
    """
    by_meaning, by_time, by_salience = weights
    return by_meaning * max(semantic, 0.0) + by_time * freshness(days) + by_salience * salience


def rrf(ranks: Collection[int], k: int = RRF_K) -> float:
    """Returns the reciprocal rank fusion score of an item with these ranks in several lists; rank 1 is the best.

    >>> round(rrf([1, 1]), 6), rrf([])
    (0.032787, 0)
    """
    return sum(1 / (k + rank) for rank in ranks)


def fused(ranks: Collection[int], queries: int, k: int = RRF_K) -> float:
    """Returns the `rrf` score scaled to the range 0 to 1, where 1 means first in every list.

    >>> fused([1, 1], 2), round(fused([1], 2), 4), round(fused([1, 2], 2), 4)
    (1.0, 0.5, 0.9919)
    """
    return rrf(ranks, k) * (k + 1) / queries


# --- how sure a recall is of its first hit


class Coefficients(NamedTuple):
    """The weights that `confidence` gives to the fields of `Evidence`, and a constant term (`bias`)."""

    score: float
    matched: float
    rest: float
    near: float
    bias: float


# Fitted on questions to memories of 12 to 12,000 notes that have the answer, on the same questions to memories from
# which the answer was taken away, and on absent topics. Nearly all first hits that are right are answered; see
# docs/benchmarks/quality.md. The score already counts `rest`, too much for this purpose, so its weight is negative.
WORDS_IN_VECTORS = Coefficients(score=0.43, matched=1.79, rest=-1.98, near=6.01, bias=-4.1)
IN_CONTEXT = Coefficients(score=0.49, matched=1.44, rest=-2.0, near=6.8, bias=-3.7)
TEXT_ALONE = Coefficients(score=0.43, matched=2.03, rest=-2.23, near=0.0, bias=-1.7)
RERANKED = Coefficients(score=0.43, matched=1.66, rest=-1.36, near=0.0, bias=-2.0)
# With fewer candidates the memory is small: it lacks more words, and none is rare in it. This times the logarithm of
# how many times fewer they are is added.
FEW_CANDIDATES, SMALLNESS = 100, 0.75
# Added if the best hit is of a time that the cue names: the words of that time need not be in its text.
DATED = 2.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """Numbers about the best hit of a recall, and about the whole recall.

    `score` is the ranker's for the best hit. `matched` is how many of the cue's terms it contains, `rest` its BM25 for
    the cue without names, as a share of the best. `near` is None without vectors. With vectors of words without context
    it is the highest cosine of any memory with the cue; if they are `contextual`, whose cosines differ from model to
    model, it is how much closer the nearest memory is than the last one found, from 0 to 1. `candidates` counts all
    candidates. `dated`: the hit is of a time that the cue names. `reranked`: a reranker took part in its score.
    """

    score: float = 0.0
    matched: int = 0
    rest: float = 0.0
    near: float | None = None
    contextual: bool = False
    candidates: int = 0
    dated: bool = False
    reranked: bool = False


def confidence(evidence: Evidence) -> float:
    """Returns the confidence in the best hit, from 0 to 1: a logistic function of a weighted sum of its `Evidence`.
    The weights depend on the kind of vectors, and on whether a reranker took part.

    >>> one_word = Evidence(score=1.0, matched=1, rest=1.0, near=0.3, candidates=200)
    >>> whole_cue = Evidence(score=4.0, matched=4, rest=1.0, near=0.5, candidates=200)
    >>> round(confidence(one_word), 2), round(confidence(whole_cue), 2)
    (0.07, 0.82)
    """
    with_vectors = IN_CONTEXT if evidence.contextual else WORDS_IN_VECTORS
    by = RERANKED if evidence.reranked else TEXT_ALONE if evidence.near is None else with_vectors
    times_fewer = FEW_CANDIDATES / min(max(evidence.candidates, 1), FEW_CANDIDATES)
    total = (
        by.score * evidence.score
        + by.matched * math.log1p(evidence.matched)
        + by.rest * evidence.rest
        + by.near * (evidence.near or 0.0)
        + by.bias
        + SMALLNESS * math.log(times_fewer)
        + DATED * evidence.dated
    )
    return logistic(total)


def logistic(value: float) -> float:
    """Returns the logistic function of a number: from 0 to 1, and 0.5 for 0.

    >>> logistic(0.0), round(logistic(2.0), 4), round(logistic(-1e9), 9), logistic(1e9)
    (0.5, 0.8808, 0.0, 1.0)
    """
    # exp overflows beyond 709.
    return 1 / (1 + math.exp(min(-value, 700.0)))
