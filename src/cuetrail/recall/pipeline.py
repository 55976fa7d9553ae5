"""READ FIRST. A recall on one screen: anchor -> spread -> score -> render.

The cue finds anchors, other memories are reached from them, all are scored, and the best are rendered as text within a
budget. A recipe says how each stage works. Nothing here has side effects; `memory.py` opens the store and records what
was read.
"""

from __future__ import annotations

from cuetrail.model import Budget, Recollection, Scope, Where
from cuetrail.recall.query import parse_cue, query_terms
from cuetrail.recall.render.text import budget_measure
from cuetrail.recall.stages import EmbedQuery, Measure, RecallContext, Recipe
from cuetrail.store.ports import Store


def recall(
    store: Store,
    scope: Scope,
    raw: str,
    *,
    recipe: Recipe,
    budget: Budget,
    limit: int | None,
    where: Where,
    embed: EmbedQuery | None,
    count_tokens: Measure | None = None,
    fuzzy: bool = False,
    now: int = 0,
) -> Recollection:
    """Returns what the memory holds on a cue. If that is nothing, `.answerable` is False and the text empty."""
    cue = parse_cue(raw, where, fuzzy)
    limit = recipe.limit if limit is None else limit
    context = RecallContext(store, scope, cue, *budget_measure(budget, count_tokens), limit, embed, now)

    anchored = recipe.anchor(context)  # nodes the cue finds
    reached = recipe.spread(context, anchored)  # nodes reached from them
    scored = recipe.score(context, anchored, reached)  # hits, each with a score and the reasons for it
    text, shown = recipe.render(context, scored)  # as much text as fits the budget

    return Recollection(
        raw, text, shown.anchors, shown.walkers,
        answerable=bool(scored.anchors), looked_for=query_terms(cue), notices=cue.notices + anchored.notices,
        attempt=anchored.attempt, attempts=anchored.attempts,
    )  # fmt: skip
