"""Recipes: values made of four plain functions. The numbers of TRAIL are in `recall/trail_constants.py`, all others
here.

A recipe of your own is another value:

    mine = replace(recipes.TAG_WALK, render=partial(two_lists, anchor_share=0.5, spill=True))
    memory.recall("antenna", recipe=mine)
"""

from __future__ import annotations

from functools import partial

from cuetrail.errors import InputError
from cuetrail.model import Direction, Rank
from cuetrail.model.tags import GENERIC_TAGS
from cuetrail.recall.anchor.activation_seeds import Chooser, Seeding, find_seeds
from cuetrail.recall.anchor.hybrid_search import find_anchors, hybrid_search
from cuetrail.recall.anchor.text_attempts import search_in_attempts
from cuetrail.recall.current_facts import facts_first, with_current_facts
from cuetrail.recall.narrative import find_entities, follow_facts, in_sections, rank_facts
from cuetrail.recall.render.text import one_list, two_lists
from cuetrail.recall.score.energy import rank_by_energy
from cuetrail.recall.score.explore import rank_by_salience
from cuetrail.recall.score.tag_walk_why import keep_order
from cuetrail.recall.score.trail import rank_by_signals
from cuetrail.recall.spread.activation import Flow, follow_edges
from cuetrail.recall.spread.tag_walk import follow_labels
from cuetrail.recall.spread.trail import follow_trails
from cuetrail.recall.stage_types import Anchored, Mode, Reached, RecallContext, Recipe
from cuetrail.recall.trail_constants import Trail

__all__ = [
    "BY_NAME", "ENERGY", "EXPLORE", "NARRATIVE", "TAG_WALK", "TRAIL", "Flow", "Recipe", "Seeding", "Trail", "energy",
    "explore", "narrative", "one_list", "tag_walk", "trail", "two_lists",
]  # fmt: skip

# Factors for the scores of internal memories and of all others.
MODES: dict[Mode, tuple[float, float]] = {"all": (2.0, 1.0), "internal": (3.0, 0.5), "external": (1.0, 1.5)}


def no_spread(_context: RecallContext, _anchored: Anchored) -> Reached:
    """Reaches nothing: a spread stage for recipes that score the anchors alone."""
    return Reached()


def trail(how: Trail = Trail()) -> Recipe:  # noqa: B008  # frozen
    """Returns the default recipe. It finds anchors by text, vectors and the names in the cue, follows names, edges,
    order, tags and facts from them, and ranks all candidates by one score.

    In the text, current facts that are about names in the cue and fit the rest of it come first.
    """
    return Recipe(
        "trail",
        anchor=partial(find_anchors, how=how),
        spread=partial(follow_trails, how=how),
        score=partial(with_current_facts, rank=partial(rank_by_signals, how=how), how=how),
        render=partial(facts_first, render=one_list, part=how.facts_share),
        limit=10,
    )


TRAIL = trail()


def tag_walk(mode: Mode = "all", rank: Rank = "idf", spill: bool = False, min_results: int = 10) -> Recipe:
    """Returns a recipe that finds anchors by text, then memories that share tags or buckets with them but have no word
    of the cue.

    If the cue finds fewer than `min_results`, its nouns are searched, then its names, then the cue with typos mended.
    `mode` gives internal or external memories more weight. With `spill`, anchors and walkers share their room.
    """
    return Recipe(
        "tag-walk",
        anchor=partial(search_in_attempts, harvest=10, least=min_results, factors=MODES[mode]),
        spread=partial(follow_labels, harvest=10, generic=GENERIC_TAGS, rank=rank),
        score=keep_order,
        render=partial(two_lists, anchor_share=0.7, spill=spill),
    )


TAG_WALK = tag_walk()


def energy(
    flow: Flow = Flow(max_depth=5, max_branches=3, min_activation=0.005, tag_sim_floor=0.15, claim="energy"),  # noqa: B008  # frozen
    seeding: Seeding = Seeding(limit=5, candidates=5, text_weight=0.5, vector_weight=0.5),  # noqa: B008  # frozen
    choose: Chooser | None = None,
) -> Recipe:
    """Returns a recipe that finds seeds by text and vectors, then the nodes that energy from the seeds reaches along
    edges. More energy passes an edge whose tags match those of the query, which `choose` may select.
    """
    return Recipe(
        "energy",
        anchor=partial(find_seeds, seeding=seeding),
        spread=partial(follow_edges, seeding=seeding, flow=flow, choose=choose),
        score=partial(rank_by_energy, seeding=seeding),
        render=partial(two_lists, anchor_share=0.5, spill=True),
    )


ENERGY = energy()


def narrative(
    anchors: int = 3, hops: int = 2, per_entity: int = 10, max_facts: int = 30, direction: Direction = "both",
    floor: float = 0.25,
) -> Recipe:  # fmt: skip
    """Returns a recipe that finds entities by vectors, then the facts up to `hops` away, and renders the facts with the
    highest score in one section per entity.

    An entity needs a cosine of at least `floor`; otherwise every cue would find some entity.
    """
    return Recipe(
        "narrative",
        anchor=partial(find_entities, limit=anchors, floor=floor),
        spread=partial(follow_facts, hops=hops, per_entity=per_entity, max_facts=max_facts, direction=direction),
        score=rank_facts,
        render=in_sections,
    )


NARRATIVE = narrative()


def explore(semantic: float = 0.3, time: float = 0.3, salience: float = 0.4, candidates: int = 50) -> Recipe:
    """Returns a recipe that finds anchors by text and vectors and scores them by relevance to the cue, freshness and
    salience, with these weights: the score of `Memory.explore`, as a recall.
    """
    return Recipe(
        "explore",
        anchor=partial(hybrid_search, candidates=candidates),
        spread=no_spread,
        score=partial(rank_by_salience, weights=(semantic, time, salience), vector_floor=0.2),
        render=one_list,
        limit=10,
    )


EXPLORE = explore()


def recipe_of(given: Recipe | str) -> Recipe:
    """Returns the recipe of a name; a recipe as it is. Case makes no difference, nor do hyphens and underscores. Raises
    InputError for an unknown name.

    >>> recipe_of("TAG_WALK") is recipe_of("tag-walk") is TAG_WALK
    True
    """
    if isinstance(given, Recipe):
        return given
    found = BY_NAME.get(given.strip().lower().replace("_", "-"))
    if found is None:
        raise InputError(f"there is no recipe {given!r:.60}: use {', '.join(sorted(BY_NAME))}")
    return found


BY_NAME: dict[str, Recipe] = {recipe.name: recipe for recipe in (TRAIL, TAG_WALK, ENERGY, NARRATIVE, EXPLORE)}
