"""Hybrid search, and the anchors of TRAIL: nodes that BM25 and vectors find, those the cue names, those of its dates.

Also how well any candidate matches the query: BM25 and cosine blended, and the query terms a text contains.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

from cuetrail.errors import EmbedderError
from cuetrail.formulas import DAY, fused
from cuetrail.model import FieldWeights, Node, SearchHit, TextQuery, Where
from cuetrail.model.searched_fields import searched_title
from cuetrail.recall.query import Span, asks_for_anything, only_asks, possible_topics, read_dates, without_answer_form
from cuetrail.recall.stage_types import Anchor, Anchored, RecallContext
from cuetrail.recall.trail_constants import BODY, Fusion, Trail
from cuetrail.store.graph import EdgeFilter, StepQuery
from cuetrail.store.read import PageRequest
from cuetrail.store.vector_space import QueryVector
from cuetrail.text.names import MOST_ALIASES, WordRun, fold, name_variants, other_spellings, word_runs
from cuetrail.text.normalise import folded, norm_name, terms_of
from cuetrail.text.word_lists import FUNCTION_WORDS

# A name that more nodes carry is too common to identify any of them.
MOST_WITH_NAME = 20
# How many texts that contain a name are read. From that number on the name counts as common.
MOST_MENTIONING = 20
# How many nodes are read for each date in the cue.
MOST_PER_DATE = 30
# Within a shorter span every node is a candidate, whatever its words.
SHORT_SPAN = 2 * DAY
# Confidence that a name in small letters is meant as a name.
LOWER_CASE_CONFIDENCE = 0.3
# A cue is about the title of a note that it contains if the words of the title are this share of its own.
TITLE_SHARE = 0.5
# A cue with more words outside its quotes is a question, and what it quotes is a name; see `relax_query`.
_MOST_UNQUOTED = 2
# How many passages below each title or heading are read, and how many levels of headings.
PASSAGES_BELOW, MOST_LEVELS = 10, 3
# How many nodes with a similar name are looked at, for how many words of the cue.
MOST_SIMILAR, MOST_SIMILAR_WORDS = 20, 16
# A shorter stem must match a whole word: it begins too many others.
SHORTEST_STEM = 4


@dataclass(frozen=True, slots=True)
class QueryName:
    """A name in the cue, normalised, with the ids of the nodes that have it.

    `rarity` is at most 1 and falls with the number of texts that contain the name. `confidence` that it is meant as a
    name is 1 if it is capitalised, else lower.
    """

    name: str
    ids: tuple[str, ...]
    rarity: float
    confidence: float


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
    topics = _topics_of_cue(context, nodes)
    if not query.words and not topics:
        return made(nodes=nodes, literal=True)
    runs, ids = _names_in_cue(context)
    residual = residual_query(query, runs)
    asked = TextQuery(residual, fields=how.fields)
    found = context.store.text(context.scope, asked, how.texts, where, nodes=True) if residual else []
    nodes |= {one.id: one.node for one in found if one.node is not None}
    names = tuple(_query_name(context, run, ids[run.norm], where, nodes) for run in runs)
    titled = bool(topics)
    topics = topics or _titles_in_cue(context, runs, names)
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


# --- names in the cue


def _names_in_cue(context: RecallContext) -> tuple[list[WordRun], dict[str, list[str]]]:
    """Returns the names in the cue, the longest that do not overlap, in order; and node ids by normalised name."""
    possible = [run for run in word_runs(context.cue.raw) if _may_be_name(run)]
    norms = list(dict.fromkeys(run.norm for run in possible))
    ids = nodes_named(context, norms, MOST_WITH_NAME + 1)
    ids |= nodes_named_with_accents(context, [run for run in possible if run.norm not in ids])
    chosen: list[WordRun] = []
    for run in sorted(possible, key=lambda run: (run.start - run.end, run.start)):
        apart = all(run.end <= other.start or other.end <= run.start for other in chosen)
        if apart and 0 < len(ids.get(run.norm, ())) <= MOST_WITH_NAME:
            chosen.append(run)
    return sorted(chosen, key=lambda run: run.start), ids


def _topics_of_cue(context: RecallContext, nodes: Mapping[str, Node]) -> list[str]:
    """Returns the ids of the nodes whose name, alias or title is the whole cue, apart from words that only ask.

    If there is none, returns the passages among `nodes` whose note has that title. Of several names the longest counts:
    "the storm of May" is not about May. Returns [] if more than MOST_WITH_NAME nodes have the name.
    """
    norms = list(dict.fromkeys(map(norm_name, possible_topics(context.cue.raw))))
    ids = _ids_by_name(context, norms, 0, MOST_WITH_NAME)
    for id_, node in nodes.items() if not ids else ():
        for title in searched_title(None, (), node.props).splitlines():
            ids.setdefault(norm_name(title), []).append(id_)
    found = next((ids[norm] for norm in norms if norm in ids), [])
    return sorted(found) if len(found) <= MOST_WITH_NAME else []


def _titles_in_cue(context: RecallContext, runs: Sequence[WordRun], names: Sequence[QueryName]) -> list[str]:
    """Returns the ids of the nodes whose name is at least half of the words of the cue: "the cold connector thing?".

    A name needs several words that are not function words, or one rare word that is capitalised inside the cue. So
    titles that are everyday words ("Home", "Ideas") are no topic of a longer cue. Of several names the longest counts.
    """
    asked = _telling_terms(context.cue.query.words)
    best: list[str] = []
    most = 0
    for run, name in zip(runs, names, strict=True):
        telling = _telling_terms(run.norm)
        rare = run.capital and run.start > 0 and name.rarity > _COMMON
        if telling and (len(telling) > 1 or rare) and len(telling & asked) >= TITLE_SHARE * len(asked):
            best = [*(best if len(telling) == most else ()), *name.ids] if len(telling) >= most else best
            most = max(most, len(telling))
    return sorted(set(best))


def _telling_terms(words: str) -> set[str]:
    return {term for word in words.split() if not only_asks(word) for term in terms_of(word)}


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


def _may_be_name(run: WordRun) -> bool:
    single = run.end - run.start == 1
    return len(run.norm) > 2 and not (single and (run.norm in FUNCTION_WORDS or run.norm.isdigit()))


def _query_name(
    context: RecallContext, run: WordRun, ids: list[str], where: Where, nodes: dict[str, Node]
) -> QueryName:
    """Returns a name of the cue with its rarity. Adds nodes whose text contains the name to the argument `nodes`."""
    query = TextQuery("", (run.norm,), fields=BODY)
    found = context.store.text(context.scope, query, MOST_MENTIONING, where, nodes=True)
    nodes |= {one.id: one.node for one in found if one.node is not None}
    confidence = 1.0 if run.capital else LOWER_CASE_CONFIDENCE
    return QueryName(run.norm, tuple(ids), _rarity(len(found)), confidence)


def _rarity(texts: int) -> float:
    """Returns the rarity of a name that so many texts contain: 1 for none, less for more."""
    return 1 / (1 + math.log(1 + texts))


_COMMON = _rarity(MOST_MENTIONING)


def residual_query(query: TextQuery, names: list[WordRun]) -> str:
    """Returns the words of a query without those of capitalised names."""
    gone = {word for run in names if run.capital for word in run.norm.split()}
    words = [(word, word.strip(".,;:!?'\"()“”’").casefold()) for word in query.words.split()]
    return " ".join(word for word, plain in words if plain.removesuffix("'s").removesuffix("’s") not in gone)


def nodes_named(context: RecallContext, norms: Iterable[str], each: int) -> dict[str, list[str]]:
    """Returns, for each normalised name, the ids of the nodes with that name or alias, then of the texts that have it
    as title or topic. Names that nothing has are left out.

    Other spellings of a name count only if nothing has its exact spelling. If `each` texts or more share a title or
    topic, none of these texts is returned. `each` also limits the nodes whose name continues with a bracket or comma.
    """
    norms = list(norms)
    others = {norm: other_spellings(norm) for norm in norms if norm[-1:] == "s" or not norm.isascii()}
    wanted = list(dict.fromkeys([*norms, *chain.from_iterable(others.values())]))
    ids = _ids_by_name(context, wanted, each, each - 1)
    by_other = {norm: next((ids[one] for one in some if one in ids), []) for norm, some in others.items()}
    return {norm: found for norm in norms if (found := ids.get(norm) or by_other.get(norm))}


def _ids_by_name(context: RecallContext, norms: Sequence[str], each: int, most: int) -> dict[str, list[str]]:
    """Returns, for each normalised name, the ids of the nodes with that name or alias, then of the texts that have it
    as title or topic, unless these texts are more than `most`.

    `each` limits the nodes whose name continues with a bracket or comma.
    """
    ids = context.store.named(context.scope, norms, each)
    for norm, texts in context.store.named(context.scope, norms, each, "topic").items():
        if len(texts) <= most:
            ids[norm] = list(dict.fromkeys([*ids.get(norm, ()), *texts]))
    return ids


def nodes_named_with_accents(context: RecallContext, runs: Sequence[WordRun]) -> dict[str, list[str]]:
    """Returns, by normalised run of words, the ids of the nodes whose name differs only in accents: "Jose" finds José.

    Runs without such a node are left out.
    """
    single = dict.fromkeys(run.norm for run in runs if run.end - run.start == 1)
    words = dict.fromkeys(fold(one) for norm in single for one in (norm, *other_spellings(norm)))
    if not words:
        return {}
    ids_by_variant: dict[str, list[str]] = {}
    for similar in context.store.named_like(context.scope, list(words)[:MOST_SIMILAR_WORDS], (), MOST_SIMILAR):
        for name in (similar.name, *similar.aliases[:MOST_ALIASES]):
            # A name without accents was found by its exact spelling already.
            for form in name_variants(folded(name)) if not name.isascii() else ():
                ids_by_variant.setdefault(form, []).append(similar.id)
    found: dict[str, list[str]] = {}
    for run in runs if ids_by_variant else ():
        spellings = (run.norm, *other_spellings(run.norm))
        ids = [id_ for one in spellings for id_ in ids_by_variant.get(fold(one), ())]
        if ids:
            found[run.norm] = sorted(set(ids))
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


# --- query terms


@dataclass(frozen=True, slots=True)
class TermCoverage:
    """Which query terms (stems) each text contains: `terms` by text id, and by term its `weights` and query `words`."""

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

    def total(self) -> float:
        """Returns the weight of all query terms."""
        return self._sum(self.weights)

    def _sum(self, terms: Iterable[str]) -> float:
        # Sets have another order in every process; fsum gives the same sum in any order.
        return math.fsum([self.weights[term] for term in terms])

    def missing(self, id_: str) -> frozenset[str]:
        """Returns the query terms that a text does not contain."""
        return frozenset(self.weights) - self.terms[id_]


def term_coverage(words: str, texts: Mapping[str, str]) -> TermCoverage:
    """Returns which stems of the query words each text contains; a stem that fewer of the texts contain weighs more.

    The texts are in lower case, with a space before and behind each word.

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
    forms = stem_forms(stem)
    return {id_ for id_, text in texts.items() if any(form in text for form in forms)}


def stem_forms(stem: str) -> tuple[str, ...]:
    """Returns what a folded text contains if it contains a word with this stem; short stems match whole words only.

    >>> stem_forms("happi"), stem_forms("owl")
    ((' happ',), (' owl ', ' owls '))
    """
    # The stem of "happy" is "happi".
    return (f" {stem.removesuffix('i')}",) if len(stem) >= SHORTEST_STEM else (f" {stem} ", f" {stem}s ")
