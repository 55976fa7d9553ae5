"""The rows of the tables: plain baselines and every recipe. `bench.rank` tells what each signal of TRAIL is worth.

The baselines are what textbooks have: words that are OR-ed, vectors alone, and both. For them a quoted title is words
like any other; in a recipe it is a condition, as for anybody who asks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from cuetrail import Budget, Memory
from cuetrail.evaluate import Question
from cuetrail.model import Hit, Node
from cuetrail.recall import recipes
from cuetrail.recall.anchor.hybrid_search import hybrid_search, redundant_titles
from cuetrail.recall.recipes import no_spread
from cuetrail.recall.render.text import one_list
from cuetrail.recall.stage_types import Anchor, Anchored, Reached, RecallContext, Recipe, Scored

Contender = Callable[[Memory, Question, int], Sequence[Node]]

CANDIDATES = 100
# How much words say in the blend, by embedder: chosen by hand on the development questions, as the weaker of two says
# less.
TEXT_SHARE = {"static": 0.7, "bge": 0.35}
# No text is cut: what is measured is the order.
ROOM = Budget(chars=1 << 30)
# When a question has no time of its own, it is asked on this day.
TODAY = 1_796_083_200_000  # 2026-12-01


def by_recipe(recipe: Recipe) -> Contender:
    def find(memory: Memory, question: Question, limit: int) -> list[Node]:
        now = TODAY if question.now is None else question.now
        found = memory.recall(question.cue, recipe=recipe, limit=limit, budget=ROOM, record_access=False, now=now)
        return [hit.node for hit in found.passages]

    return find


def contenders(embedder: str) -> dict[str, Contender]:
    """Every row by name; the first is what the others are held against."""
    share = TEXT_SHARE[embedder]
    rows: dict[str, Recipe] = {
        "TRAIL": recipes.TRAIL,
        "BM25": _plain("bm25", 1.0, vectors=False),
        "vectors": _plain("vectors", 0.0, words=False),
        "blend": _plain("blend", share),
        "TAG_WALK": recipes.TAG_WALK,
        "ENERGY": recipes.ENERGY,
        "NARRATIVE": recipes.NARRATIVE,
        "EXPLORE": recipes.EXPLORE,
    }
    return {name: by_recipe(recipe) for name, recipe in rows.items()}


def _plain(name: str, text_share: float, *, words: bool = True, vectors: bool = True) -> Recipe:
    return Recipe(
        name,
        anchor=partial(_anchor, words=words, vectors=vectors),
        spread=no_spread,
        score=partial(rank_by_blend, text_share=text_share, vector_floor=-1.0),
        render=one_list,
    )


def rank_by_blend(
    context: RecallContext, anchored: Anchored, _reached: Reached, *, text_share: float, vector_floor: float
) -> Scored:
    """Returns the anchors by BM25 and cosine together, without redundant titles."""
    hits = score_anchors(anchored.anchors, text_share, vector_floor)
    redundant = redundant_titles([hit.node for hit in hits])
    kept = [hit for hit in hits if hit.node.id not in redundant]
    return Scored(tuple(kept[: max(context.limit or 0, 0)]))


def score_anchors(anchors: Sequence[Anchor], text_share: float, vector_floor: float) -> list[Hit]:
    """Returns hits, best first, then newer, then by id, without those that only a cosine below the floor found."""
    best = max((a.bm25 for a in anchors if a.bm25 is not None), default=0.0)
    cosines = [a.cosine for a in anchors if a.cosine is not None]
    share = text_share if cosines else 1.0
    hits = []
    for anchor in anchors:
        if anchor.bm25 is None and (anchor.cosine or 0.0) < vector_floor:
            continue
        near = cosines if anchor.cosine is not None else []
        total = blend(anchor.bm25 or 0.0, best, anchor.cosine or 0.0, near, share)
        hits.append(Hit(anchor.node, total, anchor.why()))
    return sorted(hits, key=lambda hit: (-hit.score, -hit.node.at, hit.node.id))


def blend(text: float, best_text: float, cosine: float, cosines: Sequence[float], text_share: float) -> float:
    """Returns BM25 as a share of the best and cosine within the range found, blended; either adds its share or nothing.

    >>> blend(4.0, 8.0, .5, [.2, .8], .7), blend(8.0, 8.0, 0.0, [], .7)
    (0.5, 0.7)
    """
    by_text = text / best_text if best_text > 0 else 0.0
    low, high = (min(cosines), max(cosines)) if cosines else (0.0, 0.0)
    by_vector = 0.0
    if cosines and cosine >= low:
        by_vector = (cosine - low) / (high - low) if high > low else 1.0
    return text_share * by_text + (1 - text_share) * by_vector


def _anchor(context: RecallContext, *, words: bool, vectors: bool) -> Anchored:
    query = context.cue.query
    read = replace(query, words=" ".join((query.words, *query.phrases)), phrases=())
    plain = replace(context, cue=replace(context.cue, query=read), embed=context.embed if vectors else None)
    found = hybrid_search(plain, candidates=CANDIDATES)
    kept = found.anchors if words else tuple(anchor for anchor in found.anchors if anchor.cosine is not None)
    return replace(found, anchors=kept)
