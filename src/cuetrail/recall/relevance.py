"""How well candidates match the query: BM25 and cosine blended, and which of the query's terms a text contains."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cuetrail.errors import EmbedderError
from cuetrail.formulas import fused
from cuetrail.model import Node
from cuetrail.recall.stages import Anchor, RecallContext
from cuetrail.recall.weights import Fusion
from cuetrail.store.vector_space import QueryVector
from cuetrail.text.normalise import terms_of

# A shorter stem must match a whole word: it begins too many others.
SHORTEST_STEM = 4


# --- BM25 and cosine


def blend_anchors(anchors: Sequence[Anchor], text_share: float, fusion: Fusion) -> dict[str, float]:
    """Returns the blend of BM25 and cosine of each anchor, by id."""
    texts = _scaled_to_best({a.node.id: a.bm25 for a in anchors if a.bm25 is not None}, fusion)
    cosines = _scaled_to_range({a.node.id: a.cosine for a in anchors if a.cosine is not None}, fusion)
    return _blended([a.node.id for a in anchors], texts, cosines, text_share)


def _blended(
    ids: Iterable[str], texts: Mapping[str, float], cosines: Mapping[str, float], share: float
) -> dict[str, float]:
    return {id_: share * texts.get(id_, 0.0) + (1 - share) * cosines.get(id_, 0.0) for id_ in ids}


def _scaled_to_best(values: Mapping[str, float], fusion: Fusion) -> dict[str, float]:
    """Returns each value divided by the largest, or its rank score."""
    if fusion == "ranks":
        return _rank_scores(values)
    best = max(values.values(), default=0.0) or 1.0
    return {id_: value / best for id_, value in values.items()}


def _scaled_to_range(values: Mapping[str, float], fusion: Fusion) -> dict[str, float]:
    """Returns the values scaled so that the smallest is 0 and the largest 1, or the rank scores."""
    if fusion == "ranks":
        return _rank_scores(values)
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    return {id_: (value - low) / (high - low) if high > low else 1.0 for id_, value in values.items()}


def _rank_scores(values: Mapping[str, float]) -> dict[str, float]:
    """Returns scores by reciprocal rank, 1 for the largest value; equal values are ordered by id."""
    order = sorted(values, key=lambda id_: (-values[id_], id_))
    return {id_: fused([rank], 1) for rank, id_ in enumerate(order, 1)}


class Relevance:
    """Blended scores of any candidates for the query, and for the residual query. Each vector is read once."""

    def __init__(
        self, context: RecallContext, anchors: Sequence[Anchor], embedding: QueryVector | None,
        residual: str, residual_scores: Mapping[str, float], text_share: float, fusion: Fusion,
    ) -> None:  # fmt: skip
        self.context, self.share, self.fusion = context, text_share, fusion
        self.texts = _scaled_to_best({a.node.id: a.bm25 for a in anchors if a.bm25 is not None}, fusion)
        self.residual_texts = _scaled_to_best(residual_scores, fusion)
        self.embedding = embedding
        self.residual_embedding = _embedding_of(context, residual) if embedding is not None else None
        self.read: set[str] = set()
        self.cosines: dict[str, float] = {}
        self.residual_cosines: dict[str, float] = {}

    def of(self, nodes: Mapping[str, Node]) -> tuple[dict[str, float], dict[str, float]]:
        """Returns the blended scores of these nodes for the query, and for the residual query."""
        self._read_vectors([id_ for id_ in nodes if id_ not in self.read])
        cosines = _scaled_to_range(self.cosines, self.fusion)
        residual = _scaled_to_range(self.residual_cosines, self.fusion)
        return (
            _blended(nodes, self.texts, cosines, self.share),
            _blended(nodes, self.residual_texts, residual, self.share),
        )

    def _read_vectors(self, ids: Sequence[str]) -> None:
        import numpy as np

        self.read.update(ids)
        if self.embedding is None or not ids:
            return
        vectors = self.context.store.vectors(self.context.scope, ids, self.embedding.space)
        if not vectors:
            return
        matrix = np.frombuffer(b"".join(vectors.values()), "<f2").reshape(len(vectors), -1).astype(np.float64)
        for cosines, query in ((self.cosines, self.embedding), (self.residual_cosines, self.residual_embedding)):
            if query is not None:
                # The last bits of a product depend on the position of its row; nine digits do not.
                products = (matrix @ np.frombuffer(query.vector, "<f2").astype(np.float64)).round(9)
                cosines.update(zip(vectors, products.tolist(), strict=True))


def _embedding_of(context: RecallContext, text: str) -> QueryVector | None:
    try:
        return context.embed(text) if context.embed is not None and text else None
    except EmbedderError:
        return None


# --- query terms


@dataclass(frozen=True, slots=True)
class TermCoverage:
    """Which query terms (stems) each text contains, by id; the weight of each term; and the query word of each term."""

    weights: Mapping[str, float]
    terms: Mapping[str, frozenset[str]]
    words: Mapping[str, str]

    def words_of(self, terms: Collection[str]) -> list[str]:
        """Returns the query words with these stems."""
        return [word for term, word in self.words.items() if term in terms]

    def share(self, terms: Iterable[str], among: Collection[str] | None = None) -> float:
        """Returns the weight of these terms as a share of the weight of all query terms, or of those in `among`."""
        part = self._sum(terms)
        return part / self._sum(self.weights if among is None else among) if part else 0.0

    def _sum(self, terms: Iterable[str]) -> float:
        # Sets have another order in every process; fsum gives the same sum in any order.
        return math.fsum([self.weights[term] for term in terms])

    def missing(self, id_: str) -> frozenset[str]:
        """Returns the query terms that a text does not contain."""
        return frozenset(self.weights) - self.terms[id_]


def term_coverage(words: str, texts: Mapping[str, str]) -> TermCoverage:
    """Returns which terms of the query words each padded text contains. Rarer terms weigh more.

    >>> found = term_coverage("tuning antennas", {"a": " the antenna hums ", "b": " tuned antennas ", "c": " tune "})
    >>> [sorted(found.terms[id_]) for id_ in "abc"], found.share(found.terms["c"]) > found.share(found.terms["a"])
    ([['antenna'], ['antenna', 'tune'], ['tune']], False)
    """
    stems = {stem: word for word in words.split() for stem in terms_of(word)}
    containing = {stem: _texts_with_stem(stem, texts) for stem in stems}
    weights = {stem: math.log((len(texts) + 1) / (len(ids) + 0.5)) for stem, ids in containing.items()}
    terms: dict[str, set[str]] = {id_: set() for id_ in texts}
    for stem, ids in containing.items():
        for id_ in ids:
            terms[id_].add(stem)
    return TermCoverage(weights, {id_: frozenset(some) for id_, some in terms.items()}, stems)


def _texts_with_stem(stem: str, texts: Mapping[str, str]) -> set[str]:
    if len(stem) >= SHORTEST_STEM:
        # The stem of "happy" is "happi".
        begin = f" {stem.removesuffix('i')}"
        return {id_ for id_, text in texts.items() if begin in text}
    singular, plural = f" {stem} ", f" {stem}s "
    return {id_ for id_, text in texts.items() if singular in text or plural in text}
