"""The rows of the tables: plain baselines, every recipe, and named variants of the default one.

The baselines are what textbooks have: words that are OR-ed, vectors alone, and both. For them a quoted title is words
like any other; in a recipe it is a condition, as for anybody who asks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from cuetrail import Budget, Memory
from cuetrail.evaluate import Question
from cuetrail.model import Node
from cuetrail.recall import recipes
from cuetrail.recall.anchor.hybrid_search import Anchored, Ask, by_words_and_meaning
from cuetrail.recall.recipes import Recipe
from cuetrail.recall.render.text import one_list
from cuetrail.recall.score.tag_walk import blended
from cuetrail.recall.spread.tag_walk import nowhere
from cuetrail.recall.weights import Trail, Weights

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
        return [hit.node for hit in found.hits]

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
        **variants(),
    }
    return {name: by_recipe(recipe) for name, recipe in rows.items()}


def variants() -> dict[str, Recipe]:
    """TRAIL with a part of it left out, by name: what each part is worth, each row with all of the one before."""
    anchors, hop = ("blend",), ("blend", "named", "walk", "link")
    second = (*hop, "hop", "left", "further")
    place = (*second, "near", "place", "spoken")
    ties = ("names", "edges", "tags")
    return {
        "TRAIL, anchors only": recipes.trail(_only(anchors)),
        "TRAIL, + names in the cue": recipes.trail(_only((*anchors, "named"))),
        "TRAIL, + one hop by names": recipes.trail(_only(hop, ties[:1])),
        "TRAIL, + along edges": recipes.trail(_only(hop, ties[:2])),
        "TRAIL, + along tags": recipes.trail(_only(hop, ties)),
        "TRAIL, + along facts": recipes.trail(_only(hop)),
        "TRAIL, + second hop": recipes.trail(_only(second)),
        "TRAIL, + what stands around": recipes.trail(_only(place)),
    }


def _only(kept: Sequence[str], along: tuple[str, ...] = Trail().along) -> Trail:
    """TRAIL with some signals and some kinds of ties alone."""
    full = Trail()
    return replace(
        full, named=_with(full.named, kept), noted=_with(full.noted, kept), told=_with(full.told, kept), along=along
    )


def _with(weights: Weights, kept: Sequence[str]) -> Weights:
    return replace(weights, **{name: 0.0 for name in weights.signals() if name not in kept})


def _plain(name: str, text_share: float, *, words: bool = True, vectors: bool = True) -> Recipe:
    return Recipe(
        name,
        anchor=partial(_anchor, words=words, vectors=vectors),
        spread=nowhere,
        score=partial(blended, text_share=text_share, vector_floor=-1.0),
        render=one_list,
    )


def _anchor(ask: Ask, *, words: bool, vectors: bool) -> Anchored:
    query = ask.cue.query
    read = replace(query, words=" ".join((query.words, *query.phrases)), phrases=())
    asked = replace(ask, cue=replace(ask.cue, query=read), embed=ask.embed if vectors else None)
    found = by_words_and_meaning(asked, candidates=CANDIDATES)
    kept = found.anchors if words else tuple(anchor for anchor in found.anchors if anchor.cosine is not None)
    return replace(found, anchors=kept)
