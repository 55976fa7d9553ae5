"""Recipes: values made of four plain functions, with every number of a recall visible.

A recipe of your own is another value:

    mine = replace(recipes.TAG_WALK, render=partial(two_lists, anchor_share=0.5, spill=True))
    memory.recall("antenna", recipe=mine)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from cuetrail.model import Direction, Rank
from cuetrail.model.tags import GENERIC_TAGS
from cuetrail.recall.anchor.hybrid_search import Anchored, Ask, by_words, by_words_and_meaning
from cuetrail.recall.anchor.seeds import Chooser, Seeding, by_hybrid
from cuetrail.recall.anchor.trail import find
from cuetrail.recall.render.text import one_list, two_lists
from cuetrail.recall.score.tag_walk import Scored, as_found, by_energy, by_salience
from cuetrail.recall.score.trail import follow, weigh
from cuetrail.recall.spread.activation import Flow
from cuetrail.recall.spread.facts import along_facts, by_entity, by_relevance, in_sections
from cuetrail.recall.spread.tag_walk import Reached, along_edges, along_labels, nowhere
from cuetrail.recall.weights import Trail

Mode = Literal["all", "internal", "external"]

# What the scores of internal memories and of all others are multiplied by.
MODES: dict[Mode, tuple[float, float]] = {"all": (2.0, 1.0), "internal": (3.0, 0.5), "external": (1.0, 1.5)}


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a recall works: what the cue finds, what is reached from there, how it is scored, how it is told.

    `limit` is the most hits where the caller names no number; None leaves it to the budget.
    """

    name: str
    anchor: Callable[[Ask], Anchored]
    spread: Callable[[Ask, Anchored], Reached]
    score: Callable[[Ask, Anchored, Reached], Scored]
    render: Callable[[Ask, Scored], tuple[str, Scored]]
    limit: int | None = None


def trail(how: Trail = Trail()) -> Recipe:  # noqa: B008  # frozen
    """Anchors by words and meaning and the names in the cue, then where names and edges lead, by one score."""
    return Recipe(
        "trail",
        anchor=partial(find, how=how),
        spread=partial(follow, how=how),
        score=partial(weigh, how=how),
        render=one_list,
        limit=10,
    )


TRAIL = trail()


def tag_walk(mode: Mode = "all", rank: Rank = "idf", spill: bool = False, min_results: int = 10) -> Recipe:
    """Direct hits by words, then memories that share their tags and buckets but not the words.

    Where the cue finds fewer than `min_results`, it is read again, more forgivingly.
    """
    return Recipe(
        "tag-walk",
        anchor=partial(by_words, harvest=10, least=min_results, favour=MODES[mode]),
        spread=partial(along_labels, harvest=10, generic=GENERIC_TAGS, rank=rank),
        score=as_found,
        render=partial(two_lists, anchor_share=0.7, spill=spill),
    )


TAG_WALK = tag_walk()


def energy(
    flow: Flow = Flow(max_depth=5, max_branches=3, min_activation=0.005, tag_sim_floor=0.15, claim="energy"),  # noqa: B008  # frozen
    seeding: Seeding = Seeding(limit=5, candidates=5, text_weight=0.5, vector_weight=0.5),  # noqa: B008  # frozen
    choose: Chooser | None = None,
) -> Recipe:
    """Seeds by words and meaning, then where their energy flows along edges, the better the more they fit."""
    return Recipe(
        "energy",
        anchor=partial(by_hybrid, seeding=seeding),
        spread=partial(along_edges, seeding=seeding, flow=flow, choose=choose),
        score=partial(by_energy, seeding=seeding),
        render=partial(two_lists, anchor_share=0.5, spill=True),
    )


ENERGY = energy()


def narrative(
    anchors: int = 3, hops: int = 2, per_entity: int = 10, max_facts: int = 30, direction: Direction = "both",
    floor: float = 0.25,
) -> Recipe:  # fmt: skip
    """Entities by meaning, then the facts around them, the most relevant first, in a section per entity.

    An entity must be at least as near as `floor`, or else nothing would ever be unknown.
    """
    return Recipe(
        "narrative",
        anchor=partial(by_entity, limit=anchors, floor=floor),
        spread=partial(along_facts, hops=hops, per_entity=per_entity, max_facts=max_facts, direction=direction),
        score=by_relevance,
        render=in_sections,
    )


NARRATIVE = narrative()


def explore(semantic: float = 0.3, time: float = 0.3, salience: float = 0.4, candidates: int = 50) -> Recipe:
    """What words and meaning find, by how much it has to do with the cue, how fresh and how salient it is.

    `Memory.explore` asks more than a recall can tell; this is its score for a recall.
    """
    return Recipe(
        "explore",
        anchor=partial(by_words_and_meaning, candidates=candidates),
        spread=nowhere,
        score=partial(by_salience, weights=(semantic, time, salience), vector_floor=0.2),
        render=one_list,
        limit=10,
    )


EXPLORE = explore()

BY_NAME: dict[str, Recipe] = {recipe.name: recipe for recipe in (TRAIL, TAG_WALK, ENERGY, NARRATIVE, EXPLORE)}
