"""From the arguments of a caller to queries, filters and settings of the verbs that read. Raises InputError."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple, get_args

from cuetrail.errors import InputError
from cuetrail.explore.context import MOST_QUERIES, Query, Weights, trim_query
from cuetrail.model import Claim, Direction, Provenance, Where
from cuetrail.model.tags import make_tags
from cuetrail.recall.anchor.activation_seeds import Seeding
from cuetrail.recall.spread.activation import Flow
from cuetrail.recall.spread.traversal_pagerank import Hops, PageRank, TraversalFilter
from cuetrail.store.graph import EdgeFilter
from cuetrail.store.read import PagePosition, PageRequest
from cuetrail.text.normalise import clean
from cuetrail.validation.arguments import (
    LEVELS,
    check_length,
    check_range,
    check_share,
    chosen,
    is_number,
    is_whole,
    words,
)
from cuetrail.validation.limits import MOST, MOST_ITEMS

PARTS = ("semantic", "time", "salience")
DEFAULT_WEIGHTS: Weights = (0.3, 0.3, 0.4)
MOST_MATCHES = 50
# A random walk that returns to its start less often would take too long to settle.
MOST_DAMPING = 0.99
_BOUNDS = ("min_attitude", "max_attitude", "min_proximity", "max_proximity")
_TIES = (*_BOUNDS, "relationship_types", "exclude_relationship_types")
_POSITION = re.compile(r"(-?\d{1,18})\.(\d{1,18})")


# A list may repeat a text, but no more than so many items of it are read.
_MOST_READ = 1_000


def make_queries(given: Iterable[Any], matches: tuple[str, ...]) -> tuple[Query, ...]:
    """Returns the queries, each once. Raises InputError for a wrong one, or if there is nothing to look for."""
    found: dict[str, Query] = {}
    # One more than may be asked is enough for the refusal.
    for one in islice(given, _MOST_READ):
        if len(found) > MOST_QUERIES:
            break
        query = _query(one)
        if query.text:
            found.setdefault(query.text, query)
    if not found and not matches:
        raise InputError('say what to explore: give queries, such as ["the job offer"], or text_matches')
    if len(found) > MOST_QUERIES:
        raise InputError(f"at most {MOST_QUERIES} queries can be asked at once: ask fewer")
    return tuple(found.values())


def _query(given: Any) -> Query:
    if isinstance(given, str):
        return Query(trim_query(given))
    if not isinstance(given, Mapping) or not isinstance(given.get("query"), str):
        raise InputError(f'a query must be a text or {{"query": ..., "threshold": ...}}, not {given!r:.60}')
    strange = [name for name in given if name not in ("query", "threshold")]
    if strange:
        raise InputError(f"a query has no field {strange[0]!r:.60}: use query and threshold")
    threshold = given.get("threshold")
    if threshold is None:
        return Query(trim_query(given["query"]))
    if not is_number(threshold) or not 0 <= threshold <= 1:
        raise InputError(f"threshold must be from 0 to 1, not {threshold!r:.60}")
    return Query(trim_query(given["query"]), float(threshold))


def make_matches(given: Iterable[Any]) -> tuple[str, ...]:
    """Returns the texts to match names with, trimmed, each once and without empty ones. Raises InputError if one is not
    a text, or if there are more than MOST_MATCHES.
    """
    found: dict[str, None] = {}
    for one in islice(given, _MOST_READ):
        if len(found) > MOST_MATCHES + 1:
            break
        if not isinstance(one, str):
            raise InputError(f"text_matches must be a list of texts; {one!r:.60} in it is none")
        found[trim_query(one)] = None
    found.pop("", None)
    if len(found) > MOST_MATCHES:
        raise InputError(f"at most {MOST_MATCHES} text_matches can be looked for at once: give fewer")
    return tuple(found)


def make_weights(given: Mapping[str, Any] | None) -> Weights:
    """Returns the weights of meaning, time and salience, scaled to add up to 1; one that is not given has its default.
    Raises InputError for unknown or negative ones, and if all are 0.

    >>> make_weights(None), make_weights({"semantic": 2, "time": 2, "salience": 0})
    ((0.3, 0.3, 0.4), (0.5, 0.5, 0.0))
    """
    if given is None:
        return DEFAULT_WEIGHTS
    strange = [name for name in given if name not in PARTS]
    if strange:
        raise InputError(f"there is no weight {strange[0]!r:.60}: use {', '.join(PARTS)}")
    weights = [given.get(name, default) for name, default in zip(PARTS, DEFAULT_WEIGHTS, strict=True)]
    for name, weight in zip(PARTS, weights, strict=True):
        if not is_number(weight) or weight < 0:
            raise InputError(f"the weight of {name} must be a number from 0 on, not {weight!r:.60}")
    total = sum(weights)
    if not total:
        raise InputError("the weights cannot all be 0: nothing could be told apart")
    return weights[0] / total, weights[1] / total, weights[2] / total


def make_ties(given: Mapping[str, Any] | None, now: int | None) -> EdgeFilter:
    """Returns the filters on relationships. An edge that is not valid now never passes; without a time, all are valid.

    Raises InputError for an unknown filter, and for bounds that no relationship can meet.
    """
    given = {name: value for name, value in (given or {}).items() if value is not None}
    strange = [name for name in given if name not in _TIES]
    if strange:
        raise InputError(f"there is no relationship filter {strange[0]!r:.60}: use {', '.join(_TIES)}")
    for name in _BOUNDS:
        if name in given and (not is_whole(given[name]) or not LEVELS[0] <= given[name] <= LEVELS[1]):
            raise InputError(f"{name} must be a whole number from {LEVELS[0]} to {LEVELS[1]}, not {given[name]!r:.60}")
    for level in ("attitude", "proximity"):
        low, high = given.get(f"min_{level}", LEVELS[0]), given.get(f"max_{level}", LEVELS[1])
        if low > high:
            raise InputError(
                f"no relationship can be found: min_{level} {low} (--min-{level}) is more than max_{level} {high} "
                f"(--max-{level}). Swap them, or leave one out"
            )
    types, without = (
        tuple(clean(word).strip().lower() for word in words(name, given.get(name, ())))
        for name in ("relationship_types", "exclude_relationship_types")
    )
    bounds: dict[str, Any] = {name: given.get(name) for name in _BOUNDS}
    return EdgeFilter(types=types, exclude_types=without, at=now, **bounds)


class NarrativeSettings(NamedTuple):
    """The arguments of `recipes.narrative`, which finds entities and tells the facts about them."""

    anchors: int
    hops: int
    per_entity: int
    max_facts: int
    direction: Direction
    floor: float


def make_narrative_settings(
    anchors: int, hops: int, per_entity: int, max_facts: int, direction: Direction, floor: float
) -> NarrativeSettings:
    """Returns the settings of a narrative. Raises InputError for numbers out of range."""
    counts = {"anchors": anchors, "hops": hops, "per_entity": per_entity, "max_facts": max_facts}
    for name, count in counts.items():
        if count < 0:
            raise InputError(f"{name} must be 0 or more, not {count}")
    if hops == 0:
        raise InputError(
            "hops must be 1 or more: 1 tells the facts of the entities themselves, 2 their neighbours' too"
        )
    chosen("direction", direction, get_args(Direction))
    if not -1 <= floor <= 1:
        raise InputError(f"floor must be from -1 to 1, not {floor}")
    return NarrativeSettings(anchors, hops, per_entity, max_facts, direction, floor)


def make_traversal_filter(
    direction: Direction, filters: Mapping[str, Any] | None, where: Where, now: int | None
) -> TraversalFilter:
    """Returns which edges a traversal follows and which nodes it may reach. Raises InputError for an unknown direction,
    and as `make_ties` does.
    """
    return TraversalFilter(chosen("direction", direction, get_args(Direction)), make_ties(filters, now), where)


def make_page(where: Where, provenance: Provenance | None, limit: int, after: str | None) -> PageRequest:
    """Returns the request for the page of a timeline that follows the position `after`. Raises InputError if `limit` is
    below 1, or `after` is no position.
    """
    if limit < 1:
        raise InputError("limit must be at least 1: nothing could be listed otherwise")
    parts = None if after is None else _POSITION.fullmatch(after)
    if after is not None and parts is None:
        raise InputError(f"after must be what `more` of the list before says, not {after!r:.60}")
    return PageRequest(limit, where, provenance, PagePosition(int(parts[1]), int(parts[2])) if parts else None)


def make_starts(given: str | Iterable[Any]) -> list[str]:
    """Returns the ids or names where a traversal starts. Raises InputError if there are none or too many, or if one is
    no text.
    """
    starts = [given] if isinstance(given, str) else list(islice(given, MOST_ITEMS["start"] + 1))
    check_length("start", starts)
    if not starts:
        raise InputError("say where to start: give the id or the name of a node")
    for one in starts:
        if not isinstance(one, str):
            raise InputError(f"a start must be the id or the name of a node, not {one!r:.60}")
    return starts


def make_extent(mode: str, max_hops: int, limit: int, depth: int, damping: float, top_k: int) -> Hops | PageRank:
    """Returns how far a traversal goes: by hops, or by a random walk if the mode is "ppr". Raises InputError for an
    unknown mode and for numbers out of range.
    """
    for name, most in (("limit", limit), ("top_k", top_k)):
        if most < 1:
            raise InputError(f"{name} must be at least 1: nothing could be found otherwise")
    if chosen("mode", mode, ("hops", "ppr")) == "hops":
        check_range("max_hops", max_hops, 1, MOST["max_hops"])
        return Hops(max_hops, limit)
    check_range("depth", depth, 0, MOST["depth"])
    if not 0 <= damping <= MOST_DAMPING:
        raise InputError(f"damping must be from 0 to {MOST_DAMPING}, not {damping}")
    return PageRank(depth, damping, top_k)


def make_seeds(given: Iterable[Any]) -> dict[str, float]:
    """Returns the energy of each seed by id, 1 if none is given; a seed that is given twice has the larger. Raises
    InputError for too many seeds, and for an energy that is not above 0 and at most 1.
    """
    seeds: dict[str, float] = {}
    given = list(islice(given, MOST_ITEMS["seeds"] + 1))
    check_length("seeds", given)
    for seed in given:
        id_, score = (seed, 1.0) if isinstance(seed, str) else _pair(seed)
        if not is_number(score) or not 0 < score <= 1:
            raise InputError(f"the score of seed {id_!r:.60} must be above 0 and at most 1, not {score!r:.60}")
        seeds[id_] = max(score, seeds.get(id_, 0.0))
    return seeds


def _pair(seed: Any) -> tuple[str, Any]:
    if isinstance(seed, (list, tuple)) and len(seed) == 2 and isinstance(seed[0], str):
        return seed[0], seed[1]
    raise InputError(f'a seed must be an id, or an id and a score such as ("A0", 0.9), not {seed!r:.60}')


def make_query_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Returns tags in their stored form, each once. Raises InputError for what is no list of texts."""
    return tuple(tag.name for tag in make_tags(words("tags", tags)))


def make_flow(max_depth: int, max_branches: int, min_activation: float, tag_sim_floor: float, claim: Claim) -> Flow:
    """Returns the limits of an activation. Raises InputError for numbers out of range."""
    for name, count in (("max_depth", max_depth), ("max_branches", max_branches)):
        if count < 0:
            raise InputError(f"{name} must be 0 or more, not {count}")
    check_share("min_activation", min_activation)
    check_share("tag_sim_floor", tag_sim_floor)
    return Flow(max_depth, max_branches, min_activation, tag_sim_floor, claim)


def make_seeding(limit: int, text_weight: float, vector_weight: float) -> Seeding:
    """Returns how a query finds nodes to start from. Raises InputError for weights out of range, or if both are 0."""
    check_share("text_weight", text_weight)
    check_share("vector_weight", vector_weight)
    if not text_weight and not vector_weight:
        raise InputError("text_weight and vector_weight cannot both be 0: nothing could be found")
    return Seeding(limit, text_weight=text_weight, vector_weight=vector_weight)
