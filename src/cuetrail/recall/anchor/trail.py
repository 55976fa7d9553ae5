"""Anchors of TRAIL: hybrid search, the nodes the cue names, and searches for the rest of the cue and for its dates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from cuetrail.formulas import DAY
from cuetrail.model import Node, TextQuery, Where
from cuetrail.recall.anchor.hybrid_search import hybrid_search
from cuetrail.recall.anchor.query_dates import Span, read_dates
from cuetrail.recall.names import WordRun, nodes_named, nodes_named_with_accents, word_runs
from cuetrail.recall.query import asks_for_anything, without_answer_form
from cuetrail.recall.stages import Anchored, RecallContext
from cuetrail.recall.weights import Trail
from cuetrail.store.read import Page
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
# A cue with more words outside its quotes is a question, and what it quotes is a name; see `relax_query`.
_MOST_UNQUOTED = 2


@dataclass(frozen=True, slots=True)
class QueryName:
    """A name in the cue, the ids of the nodes that carry it, how rare it is, and how sure it is to be a name."""

    name: str
    ids: tuple[str, ...]
    rarity: float
    confidence: float


@dataclass(frozen=True, slots=True)
class TrailAnchors(Anchored):
    """Anchors of TRAIL, with the names and dates in the cue.

    `residual_query` is the cue without its names, `residual_scores` the BM25 of nodes that match it, 1 for the best.
    `dated_ids` are nodes found within the `dates`. `nodes` are all nodes that any of the searches found. `literal`: the
    cue has phrases, a prefix, typos to forgive or filters alone, so that only its text was searched.
    """

    names: tuple[QueryName, ...] = ()
    residual_query: str = ""
    residual_scores: Mapping[str, float] = field(default_factory=dict)
    dates: tuple[Span, ...] = ()
    dated_ids: frozenset[str] = frozenset()
    nodes: Mapping[str, Node] = field(default_factory=dict)
    literal: bool = False

    def name_scores(self) -> dict[str, float]:
        """Returns how surely the cue names each node, up to 1 for the rarest name in it."""
        scores: dict[str, float] = {}
        rarest = max((name.rarity for name in self.names), default=1.0)
        for name in self.names:
            for id_ in name.ids:
                value = name.confidence * name.rarity / rarest / math.sqrt(len(name.ids))
                scores[id_] = max(scores.get(id_, 0.0), value)
        return scores


def find_anchors(context: RecallContext, *, how: Trail) -> TrailAnchors:
    """Returns what the cue finds: by hybrid search, by its names, by its words without them, and by its dates."""
    context = relax_query(context)
    anchored, where = _search(context, how)
    made = partial(
        TrailAnchors, anchored.anchors, anchored.query,
        notices=anchored.notices, query_embedding=anchored.query_embedding,
    )  # fmt: skip
    nodes = {anchor.node.id: anchor.node for anchor in anchored.anchors}
    query = context.cue.query
    if query.phrases or query.prefix or query.fuzzy or not query.words:
        return made(nodes=nodes, literal=True)
    runs, ids = _names_in_cue(context)
    residual = residual_query(query, runs)
    found = context.store.text(context.scope, TextQuery(residual), how.texts, where, nodes=True) if residual else []
    nodes |= {one.id: one.node for one in found if one.node is not None}
    names = tuple(_query_name(context, run, ids[run.norm], where, nodes) for run in runs)
    named = context.store.get(context.scope, [id_ for name in names for id_ in name.ids if id_ not in nodes])
    nodes |= {id_: node for id_, node in named.items() if context.cue.where.admits(node)}
    dates, undated = read_dates(context.cue.raw, context.now)
    anything = asks_for_anything(undated)
    dated = {id_: node for span in dates for id_, node in _within(context, span, where, anything).items()}
    best = max((one.score for one in found), default=0.0) or 1.0
    scores = {one.id: one.score / best for one in found}
    return made(
        names=names, residual_query=residual, residual_scores=scores, dates=tuple(dates), dated_ids=frozenset(dated),
        nodes=nodes | dated,
    )  # fmt: skip


def _search(context: RecallContext, how: Trail) -> tuple[Anchored, Where]:
    """Returns the hybrid search among nodes with text, or among all if that finds nothing; and the filter it used.

    A search that also finds hundreds of bare names finds little else.
    """
    where = context.cue.where
    search = partial(hybrid_search, candidates=how.texts, vectors=how.vectors)
    if not where.kinds:
        with_text = replace(where, with_text=True)
        anchored = search(replace(context, cue=replace(context.cue, where=with_text)))
        if not all(how.is_weak(anchor) for anchor in anchored.anchors):
            return anchored, with_text
    return search(context), where


def _within(context: RecallContext, span: Span, where: Where, anything: bool) -> dict[str, Node]:
    """Returns nodes of that time that match the cue; also others if the span is short or the cue asks for anything."""
    since = span.start if where.since is None else max(span.start, where.since)
    until = span.end - 1 if where.until is None else min(span.end - 1, where.until)
    if since > until:
        return {}
    within = replace(where, since=since, until=until)
    found = context.store.text(context.scope, context.cue.query, MOST_PER_DATE, within, nodes=True)
    nodes = {one.id: one.node for one in found if one.node is not None}
    if len(nodes) < MOST_PER_DATE and (anything or until - since < SHORT_SPAN):
        listed = (one.node for one in context.store.page(context.scope, Page(MOST_PER_DATE, within)))
        nodes |= {node.id: node for node in listed if within.finds(node)}
    return nodes


def relax_query(context: RecallContext) -> RecallContext:
    """Returns the context of a question with quoted phrases as plain words, and without words for the answer's form.

    Other cues stay as they are: there a phrase is a condition.
    """
    query = context.cue.query
    words = query.words.split()
    if query.prefix or (query.phrases and len(words) <= _MOST_UNQUOTED):
        return context
    relaxed = " ".join((*without_answer_form(context.cue.raw, words), *query.phrases))
    return replace(context, cue=replace(context.cue, query=replace(query, words=relaxed, phrases=())))


def _names_in_cue(context: RecallContext) -> tuple[list[WordRun], dict[str, list[str]]]:
    """Returns the longest names in the cue, none inside another, and the ids of the nodes with each name."""
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


def _may_be_name(run: WordRun) -> bool:
    single = run.end - run.start == 1
    return len(run.norm) > 2 and not (single and (run.norm in FUNCTION_WORDS or run.norm.isdigit()))


def _query_name(
    context: RecallContext, run: WordRun, ids: list[str], where: Where, nodes: dict[str, Node]
) -> QueryName:
    """Returns a name of the cue with its rarity; adds the nodes whose text contains it to `nodes`."""
    found = context.store.text(context.scope, TextQuery("", (run.norm,)), MOST_MENTIONING, where, nodes=True)
    nodes |= {one.id: one.node for one in found if one.node is not None}
    confidence = 1.0 if run.capital else LOWER_CASE_CONFIDENCE
    return QueryName(run.norm, tuple(ids), 1 / (1 + math.log(1 + len(found))), confidence)


def residual_query(query: TextQuery, names: list[WordRun]) -> str:
    """Returns the words of a query without those of capitalised names."""
    gone = {word for run in names if run.capital for word in run.norm.split()}
    words = [(word, word.strip(".,;:!?'\"()“”’").casefold()) for word in query.words.split()]
    return " ".join(word for word, plain in words if plain.removesuffix("'s").removesuffix("’s") not in gone)
