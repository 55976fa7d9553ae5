"""READ FIRST. A recall on one screen: anchor -> spread -> score -> render.

The cue finds anchors, other memories are reached from them, all are scored, and the best are rendered as text within a
budget. A recipe says how each stage works. Apart from the count of what was used, nothing is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuetrail.model import Budget, Recollection, Where
from cuetrail.recall.query import Cue, parse_cue, query_terms, question_text
from cuetrail.recall.render.text import budget_measure, refusal
from cuetrail.recall.stage_types import ANSWERABLE_FROM, Measure, RecallContext, Recipe, Scored
from cuetrail.rerank.time_budget import Reranking

if TYPE_CHECKING:
    from cuetrail.session import Session

DEFAULT_BUDGET = Budget(tokens=2000)
WALK_BUDGET = Budget(chars=8000)


def recall(
    session: Session, raw: str, *, recipe: Recipe, budget: Budget, limit: int | None, where: Where, fuzzy: bool,
    record_access: bool, count_tokens: Measure | None, now: int,
) -> Recollection:  # fmt: skip
    """Runs the four stages of a recipe on the cue `raw` and returns the hits, and a text of them within the budget.

    `.answerable` is False if nothing was found, or the confidence is below ANSWERABLE_FROM; in the second case the text
    says what was looked for and shows the nearest memory. With `record_access`, the access count of each node and fact
    that is shown grows by one, and these decay more slowly.
    """
    store, scope = session.store, session.scope
    cue = parse_cue(raw, where, fuzzy)
    limit = recipe.limit if limit is None else limit
    size = budget_measure(budget, count_tokens)
    reranking = _reranking(session, cue)
    context = RecallContext(
        store, scope, cue, *size, limit, session.vectors.of_query, now, session.vectors.of_texts, reranking
    )

    anchored = recipe.anchor(context)  # nodes the cue finds
    reached = recipe.spread(context, anchored)  # nodes reached from them
    scored = recipe.score(context, anchored, reached)  # hits, each with a score and the reasons for it
    text, shown = recipe.render(context, scored)  # as much text as fits the budget

    found = bool(scored.anchors or scored.facts)
    confidence = float(found) if scored.facts or scored.confidence is None else scored.confidence
    answerable = found and confidence >= ANSWERABLE_FROM
    if found and not answerable:
        text = refusal(query_terms(cue), scored.anchors[0], context.size, context.measure)
    hits = shown.anchors + shown.walkers
    cut = _cut_notice(scored, shown) if answerable and limit is not None else ""
    late = reranking.notice if reranking else ""
    if record_access and answerable:
        facts = [line["fact"]["id"] for hit in hits for line in hit.why.get("lines", ())]
        facts += [one.fact.id for one in shown.facts]
        nodes = [one.node.id for hit in hits for one in (hit, *hit.more)] + [one.fact.subject for one in shown.facts]
        store.touch(scope, list(dict.fromkeys(nodes)), now, facts)
    if record_access:
        session.count_answer(text, [one.node for hit in hits for one in (hit, *hit.more)] if answerable else (), now)
    return Recollection(
        raw, text, shown.anchors, shown.walkers, facts=shown.facts, answerable=answerable, looked_for=query_terms(cue),
        notices=(*cue.notices, *anchored.notices, *filter(None, [session.vectors.notice, late, cut])),
        attempt=anchored.attempt, attempts=anchored.attempts, confidence=confidence,
    )  # fmt: skip


def _reranking(session: Session, cue: Cue) -> Reranking | None:
    """Returns the session's reranker for this cue; None without one, and for a cue with a prefix, with fuzzy words or
    without words.
    """
    question = question_text(cue)
    if session.reranker is None or cue.query.prefix or cue.query.fuzzy or not question:
        return None
    return Reranking(session.reranker, question, session.rerank_ms)


def _cut_notice(scored: Scored, shown: Scored) -> str:
    """Returns a notice of how many hits the budget shortened and how many it left out; "" if none."""
    hits = shown.anchors + shown.walkers
    cut = sum(hit.cut for hit in hits)
    missing = len(scored.anchors) + len(scored.walkers) - len(hits)
    parts = [f"{cut} shown in part"] * bool(cut) + [f"{missing} left out"] * bool(missing)
    return f"to fit the budget: {', '.join(parts)}" if parts else ""
