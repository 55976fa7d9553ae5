"""Hybrid search, and the anchors of TRAIL: nodes that BM25 and vectors find, those the cue names, those of its dates.

Also how well any candidate matches the query: BM25 and cosine blended.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from cuetrail.errors import EmbedderError
from cuetrail.formulas import DAY, fused
from cuetrail.model import FieldWeights, Node, SearchHit, TextQuery, Where
from cuetrail.recall.anchor.names_in_cue import (
    LOWER_CASE_CONFIDENCE,
    QueryName,
    names_in_cue,
    query_name,
    residual_query,
    titles_in_cue,
    topics_of_cue,
)
from cuetrail.recall.dates_in_query import Span, read_dates
from cuetrail.recall.query import asks_for_anything, without_answer_form
from cuetrail.recall.stage_types import Anchor, Anchored, RecallContext
from cuetrail.recall.trail_constants import Fusion, Trail
from cuetrail.store.graph import EdgeFilter, StepQuery
from cuetrail.store.read import PageRequest
from cuetrail.store.vector_space import QueryVector

# How many nodes are read for each date in the cue.
MOST_PER_DATE = 30
# Within a shorter span every node is a candidate, whatever its words.
SHORT_SPAN = 2 * DAY
# A cue with more words outside its quotes is a question, and what it quotes is a name; see `relax_query`.
_MOST_UNQUOTED = 2
# How many passages below each title or heading are read, and how many levels of headings.
PASSAGES_BELOW, MOST_LEVELS = 10, 3


@dataclass(frozen=True, slots=True)
class TrailAnchors(Anchored):
    """The anchors (direct matches) of the default recipe TRAIL, with the names and dates in the cue.

    `residual_query` is the cue without its names, `residual_scores` the BM25 of nodes that match it, 1 for the best.
    `dated_ids` are nodes found within the `dates`. `topics` are the ids of nodes that the cue is about: their name or
    alias is the whole cue but for words that only ask (then `titled` is True), or else a large part of it. `nodes` are
    all nodes that any of the searches found. `literal` is True if the cue has phrases, a prefix, fuzzy words or only
    filters; then names and dates were not looked for.
    """

    names: tuple[QueryName, ...] = ()
    residual_query: str = ""
    residual_scores: Mapping[str, float] = field(default_factory=dict)
    dates: tuple[Span, ...] = ()
    dated_ids: frozenset[str] = frozenset()
    topics: frozenset[str] = frozenset()
    titled: bool = False
    nodes: Mapping[str, Node] = field(default_factory=dict)
    literal: bool = False

    def name_scores(self) -> dict[str, float]:
        """Returns a score from 0 to 1 for each node the cue names; higher for a rare name that few nodes have."""
        scores: dict[str, float] = {}
        rarest = max((name.rarity for name in self.names), default=1.0)
        for name in self.names:
            for id_ in name.ids:
                value = name.confidence * name.rarity / rarest / math.sqrt(len(name.ids))
                scores[id_] = max(scores.get(id_, 0.0), value)
        return {**dict.fromkeys(self.topics, LOWER_CASE_CONFIDENCE), **scores}


def find_anchors(context: RecallContext, *, how: Trail) -> TrailAnchors:
    """Returns the nodes that the cue finds: by hybrid search, by the names in it, by its words without these names, and
    by its dates. A cue with phrases, prefix or fuzzy search, or without words, is only searched as it is (`literal`).
    """
    context = relax_query(context)
    anchored, where = _search(context, how)
    made = partial(
        TrailAnchors, anchored.anchors, anchored.query,
        notices=anchored.notices, query_embedding=anchored.query_embedding,
    )  # fmt: skip
    nodes = {anchor.node.id: anchor.node for anchor in anchored.anchors}
    query = context.cue.query
    if query.phrases or query.prefix or query.fuzzy:
        return made(nodes=nodes, literal=True)
    topics = topics_of_cue(context, nodes)
    if not query.words and not topics:
        return made(nodes=nodes, literal=True)
    runs, ids = names_in_cue(context)
    residual = residual_query(query, runs)
    asked = TextQuery(residual, fields=how.fields)
    found = context.store.text(context.scope, asked, how.texts, where, nodes=True) if residual else []
    nodes |= {one.id: one.node for one in found if one.node is not None}
    names = tuple(query_name(context, run, ids[run.norm], where, nodes) for run in runs)
    titled = bool(topics)
    topics = topics or titles_in_cue(context, runs, names)
    named_ids = (*topics, *(id_ for name in names for id_ in name.ids))
    named = context.store.get(context.scope, [id_ for id_ in named_ids if id_ not in nodes])
    nodes |= {id_: node for id_, node in named.items() if context.cue.where.admits(node)}
    nodes |= _passages_below(context, [id_ for id_ in topics if id_ in nodes and is_title(nodes[id_])])
    dates, undated = read_dates(context.cue.raw, context.now)
    anything = asks_for_anything(undated)
    asked = replace(query, fields=how.fields)
    dated = {id_: node for span in dates for id_, node in _within(context, asked, span, where, anything).items()}
    best = max((one.score for one in found), default=0.0) or 1.0
    scores = {one.id: one.score / best for one in found}
    return made(
        names=names, residual_query=residual, residual_scores=scores, dates=tuple(dates), dated_ids=frozenset(dated),
        topics=frozenset(topics), titled=titled, nodes=nodes | dated,
    )  # fmt: skip


def _search(context: RecallContext, how: Trail) -> tuple[Anchored, Where]:
    """Returns the result of the hybrid search, and the filter that it used.

    Only nodes with text are searched, unless the cue filters by kind or this finds only weak vector matches: then all
    nodes. Otherwise hundreds of nodes without text could fill the result.
    """
    where = context.cue.where
    search = partial(hybrid_search, candidates=how.texts, vectors=how.vectors, fields=how.fields)
    if not where.kinds:
        with_text = replace(where, with_text=True)
        anchored = search(replace(context, cue=replace(context.cue, where=with_text)))
        if not all(how.is_weak(anchor) for anchor in anchored.anchors):
            return anchored, with_text
    return search(context), where


def _within(context: RecallContext, query: TextQuery, span: Span, where: Where, anything: bool) -> dict[str, Node]:
    """Returns the nodes dated within a span that match the query, at most MOST_PER_DATE.

    If there is room, and the span is short or the cue names no topic (`anything`), other nodes of that time are added.
    """
    since = span.start if where.since is None else max(span.start, where.since)
    until = span.end - 1 if where.until is None else min(span.end - 1, where.until)
    if since > until:
        return {}
    within = replace(where, since=since, until=until)
    found = context.store.text(context.scope, query, MOST_PER_DATE, within, nodes=True)
    nodes = {one.id: one.node for one in found if one.node is not None}
    if len(nodes) < MOST_PER_DATE and (anything or until - since < SHORT_SPAN):
        listed = (one.node for one in context.store.page(context.scope, PageRequest(MOST_PER_DATE, within)))
        nodes |= {node.id: node for node in listed if within.finds(node)}
    return nodes


def relax_query(context: RecallContext) -> RecallContext:
    """Returns the context with quoted phrases as plain words, without words for the form of the answer ("how many").

    The context comes back unchanged if the cue ends in a prefix, or has a phrase and at most two other words: then the
    phrase is a condition. A cue with more words is a question, and its phrase a name.
    """
    query = context.cue.query
    words = query.words.split()
    if query.prefix or (query.phrases and len(words) <= _MOST_UNQUOTED):
        return context
    relaxed = " ".join((*without_answer_form(context.cue.raw, words), *query.phrases))
    return replace(context, cue=replace(context.cue, query=replace(query, words=relaxed, phrases=())))


# --- passages below a title


def _passages_below(context: RecallContext, titles: Sequence[str]) -> dict[str, Node]:
    """Returns passages of the notes with these titles (given by id), also passages below their headings."""
    found: dict[str, Node] = {}
    above: Sequence[str] = titles
    for _ in range(MOST_LEVELS):
        if not above:
            break
        query = StepQuery(tuple(above), PASSAGES_BELOW, "in", EdgeFilter(kinds=("under",)), context.cue.where)
        steps = context.store.steps(context.scope, query)
        others = {step.other for some in steps.values() for step in some}
        # The passage behind the title is the first one of the note.
        others |= {other for some in context.store.beside(context.scope, above).values() for other in some}
        ids = sorted(others - found.keys())
        below = context.store.get(context.scope, ids)
        found |= {id_: node for id_, node in below.items() if context.cue.where.finds(node)}
        above = [id_ for id_ in ids if id_ in below and is_title(below[id_])]
    return found


# --- search by text and vectors


def hybrid_search(
    context: RecallContext, *, candidates: int, vectors: int | None = None, fields: FieldWeights | None = None
) -> Anchored:
    """Returns the nodes that text and vector search find, each once, unranked. If the embedder fails, text alone.

    `candidates` is the limit of each search; `vectors`, if given, is the limit of the vector search instead. `fields`
    are those of the text search; without them it searches names and texts.
    """
    notices: tuple[str, ...] = ()
    limit = max(candidates, context.limit or 0)
    query = replace(context.cue.query, fields=fields)
    by_text = context.store.text(context.scope, query, limit, context.cue.where, nodes=True)
    by_vector, embedding = list[SearchHit](), None
    try:
        embedding = _query_embedding(context)
        if embedding is not None:
            most = limit if vectors is None else max(vectors, context.limit or 0)
            by_vector = context.store.vector(context.scope, embedding.vector, most, context.cue.where, embedding.space)
    except EmbedderError as error:
        notices = (f"answered from text alone: {error}",)
    cosines = {found.id: found.score for found in by_vector}
    texts = {found.id: found for found in by_text}
    anchors = [
        Anchor(node, texts[id_].score, cosines.get(id_), texts[id_].boosted)
        if id_ in texts
        else Anchor(node, None, cosines[id_])
        for id_, node in _nodes(context, (*by_text, *by_vector)).items()
    ]
    return Anchored(tuple(anchors), context.cue.query, notices=notices, query_embedding=embedding)


def _nodes(context: RecallContext, found: Sequence[SearchHit]) -> dict[str, Node]:
    """Returns the nodes of search results in the same order; reads those that did not come with the result."""
    known = {one.id: one.node for one in found if one.node is not None}
    missing = context.store.get(context.scope, [one.id for one in found if one.id not in known])
    return {one.id: node for one in found if (node := known.get(one.id) or missing.get(one.id)) is not None}


def _query_embedding(context: RecallContext) -> QueryVector | None:
    query = context.cue.query
    words = " ".join((query.words, *query.phrases)).strip()
    # Vectors cannot check phrases, and a prefix or a misspelt word has no meaning to embed.
    literal = bool(query.phrases) or query.prefix or query.fuzzy
    return context.embed(words) if context.embed is not None and words and not literal else None


def redundant_titles(nodes: Sequence[Node]) -> set[str]:
    """Returns the ids of the titles whose source also has a passage, or an earlier title, among these nodes."""
    sources = {node.source for node in nodes if not is_title(node)}
    redundant, titled = set[str](), set[str]()
    for node in nodes:
        if node.source is not None and is_title(node):
            if node.source in sources or node.source in titled:
                redundant.add(node.id)
            titled.add(node.source)
    return redundant


def is_title(node: Node) -> bool:
    """True for a heading, and for a file without a text of its own."""
    return bool(node.props.get("level")) or (node.kind == "source" and not node.text)


# --- BM25 and cosine blended


def blend_anchors(anchors: Sequence[Anchor], text_share: float, fusion: Fusion) -> dict[str, float]:
    """Returns, by id, the weighted mean of the scaled BM25 (weight `text_share`) and the scaled cosine of each anchor.

    A search that did not find the anchor counts as 0.
    """
    texts = _scaled_to_best({a.node.id: a.bm25 for a in anchors if a.bm25 is not None}, fusion)
    cosines = _scaled_to_range({a.node.id: a.cosine for a in anchors if a.cosine is not None}, fusion)
    return _blended([a.node.id for a in anchors], texts, cosines, text_share)


def _blended(
    ids: Iterable[str], texts: Mapping[str, float], cosines: Mapping[str, float], share: float
) -> dict[str, float]:
    return {id_: share * texts.get(id_, 0.0) + (1 - share) * cosines.get(id_, 0.0) for id_ in ids}


def _scaled_to_best(values: Mapping[str, float], fusion: Fusion) -> dict[str, float]:
    """Returns each value divided by the largest; with the fusion "ranks", scores by reciprocal rank."""
    if fusion == "ranks":
        return _rank_scores(values)
    best = max(values.values(), default=0.0) or 1.0
    return {id_: value / best for id_, value in values.items()}


def _scaled_to_range(values: Mapping[str, float], fusion: Fusion) -> dict[str, float]:
    """Returns the values scaled so that the smallest is 0 and the largest 1; with the fusion "ranks", scores by
    reciprocal rank.
    """
    if fusion == "ranks":
        return _rank_scores(values)
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    return {id_: (value - low) / (high - low) if high > low else 1.0 for id_, value in values.items()}


def _rank_scores(values: Mapping[str, float]) -> dict[str, float]:
    """Returns scores by reciprocal rank, 1 for the largest value; equal values are ordered by id."""
    order = sorted(values, key=lambda id_: (-values[id_], id_))
    return {id_: fused([rank], 1) for rank, id_ in enumerate(order, 1)}


@dataclass(frozen=True, slots=True)
class Matches:
    """How well nodes match the query, from 0 to 1, by id: BM25 as a share of the best (`words`), the cosine within the
    range found (`meaning`), and both for the query without its names (`rest`, `rest_meaning`).
    """

    words: Mapping[str, float] = field(default_factory=dict)
    meaning: Mapping[str, float] = field(default_factory=dict)
    rest: Mapping[str, float] = field(default_factory=dict)
    rest_meaning: Mapping[str, float] = field(default_factory=dict)


class Relevance:
    """Scores any nodes against the query and against the residual query (the query without its names): BM25 and cosine
    blended. The vector of each node is read once.
    """

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

    def matches(self) -> Matches:
        """Returns the parts of the scores of all nodes scored so far."""
        return Matches(
            self.texts,
            _scaled_to_range(self.cosines, self.fusion),
            self.residual_texts,
            _scaled_to_range(self.residual_cosines, self.fusion),
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
