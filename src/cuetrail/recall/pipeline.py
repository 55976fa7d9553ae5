"""READ FIRST. The whole idea on one screen: anchor -> spread -> score -> render.

A cue finds anchors, from them other memories are reached, what was found is scored, and the answer is rendered inside a
budget with the reason for every line. A recipe says how each of the four is done. Nothing here has side effects;
`memory.py` opens the store and records what was read.
"""

from __future__ import annotations

from cuetrail.model import Budget, Recollection, Scope, Where
from cuetrail.recall.anchor.hybrid_search import Ask, Embed, Measure
from cuetrail.recall.query import looked_for, parse_cue
from cuetrail.recall.recipes import Recipe
from cuetrail.recall.render.text import budget_measure
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
    embed: Embed | None,
    count_tokens: Measure | None = None,
    fuzzy: bool = False,
    now: int = 0,
) -> Recollection:
    """What the memory holds on a cue. `.answerable` is False, and the text empty, when nothing relevant is there."""
    cue = parse_cue(raw, where, fuzzy)
    limit = recipe.limit if limit is None else limit
    ask = Ask(store, scope, cue, *budget_measure(budget, count_tokens), limit, embed, now)

    anchored = recipe.anchor(ask)  # what the cue finds
    reached = recipe.spread(ask, anchored)  # what belongs with it
    scored = recipe.score(ask, anchored, reached)  # one number each, and why
    text, shown = recipe.render(ask, scored)  # as much as there is room for

    return Recollection(
        raw, text, shown.anchors, shown.walkers,
        answerable=bool(scored.anchors), looked_for=looked_for(cue), notices=cue.notices + anchored.notices,
        attempt=anchored.attempt, attempts=anchored.attempts,
    )  # fmt: skip
