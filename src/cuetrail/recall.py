"""READ FIRST. The whole idea on one screen: anchor -> score -> render.

A cue finds anchors by text and by vector, what was found is scored, and the answer is rendered inside a budget with the
reason for every line. Nothing here has side effects; `memory.py` opens the store and records what was read.
"""

from __future__ import annotations

from cuetrail.anchor import Embed, find_anchors, looked_for, parse_cue
from cuetrail.errors import EmbedderError
from cuetrail.model import Budget, Recollection, Scope, Where
from cuetrail.recipes import Recipe
from cuetrail.render import Measure, budget_measure, render
from cuetrail.score import score_anchors, without_echoes
from cuetrail.store.base import Store


def recall(
    store: Store,
    scope: Scope,
    raw: str,
    *,
    recipe: Recipe,
    budget: Budget,
    limit: int,
    where: Where,
    embed: Embed | None,
    count_tokens: Measure | None = None,
    fuzzy: bool = False,
) -> Recollection:
    """What the memory holds on a cue. `.answerable` is False, and the text empty, when nothing relevant is there."""
    size, measure = budget_measure(budget, count_tokens)
    cue = parse_cue(raw, where, fuzzy)
    notices: tuple[str, ...] = ()
    try:
        anchors = find_anchors(store, scope, cue, max(recipe.candidates, limit), embed)
    except EmbedderError as error:
        notices = (f"answered from text alone: {error}",)
        anchors = find_anchors(store, scope, cue, max(recipe.candidates, limit), None)
    nodes = store.get(scope, [a.id for a in anchors])
    hits = without_echoes(score_anchors(anchors, nodes, recipe.text_share, recipe.vector_floor))[: max(limit, 0)]
    text, shown = render(hits, size, measure)
    return Recollection(raw, text, tuple(shown), bool(hits), looked_for(cue), notices)
