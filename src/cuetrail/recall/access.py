"""Recall, narrate, activate and traverse in an opened memory.

Each runs its pipeline and, with `record_access`, counts the nodes and facts that it shows as used, once: what is used
fades later. Apart from that count, nothing is written.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from cuetrail.errors import CuetrailError, InputError
from cuetrail.facts.resolve import require_node
from cuetrail.model import Budget, Recollection, Where
from cuetrail.recall.anchor.seeds import Chooser, Seeding, find_seeds, query_tags
from cuetrail.recall.narrative import Narrative, NarrativeFacts, find_facts, reread_facts, write_narrative
from cuetrail.recall.narrative_cache import CacheKey, VersionedCache
from cuetrail.recall.pipeline import recall as run_pipeline
from cuetrail.recall.query import Cue, parse_cue
from cuetrail.recall.render.text import budget_measure
from cuetrail.recall.spread.activation import Flow, Stream
from cuetrail.recall.spread.activation import activate as spread_activation
from cuetrail.recall.spread.pagerank import PageRank, personalised_pagerank
from cuetrail.recall.spread.traversal import Hops, Traversal, TraversalFilter, nodes_within_hops
from cuetrail.recall.stages import Measure, RecallContext, Recipe
from cuetrail.session import Session
from cuetrail.store.shared.fact_validity import EVER
from cuetrail.text.normalise import norm_name
from cuetrail.text.timestamps import now_ms

log = logging.getLogger("cuetrail")

DEFAULT_BUDGET = Budget(tokens=2000)
WALK_BUDGET = Budget(chars=8000)
PREWARMED = 20
"""The number of narratives that `prewarm` makes."""


def _count_use(session: Session, nodes: Sequence[str], facts: Sequence[str], now: int) -> None:
    session.store.touch(session.scope, nodes, now, facts)


def recall(
    session: Session,
    cue: str,
    *,
    recipe: Recipe,
    budget: Budget,
    limit: int | None,
    where: Where,
    fuzzy: bool,
    record_access: bool,
    count_tokens: Measure | None,
    now: int,
) -> Recollection:
    """Returns what the pipeline finds for a cue, with the notice on missing vectors if there is one."""
    found = run_pipeline(
        session.store, session.scope, cue, recipe=recipe, budget=budget, limit=limit, where=where,
        embed=session.vectors.of_query, count_tokens=count_tokens, fuzzy=fuzzy, now=now,
    )  # fmt: skip
    if record_access and found.hits:
        facts = [line["fact"]["id"] for hit in found.hits for line in hit.why.get("lines", ())]
        _count_use(session, [hit.node.id for hit in found.hits], facts, now)
    return replace(found, notices=session.with_notice(found.notices)) if session.vectors.notice else found


# --- activation


def activate(
    session: Session,
    seeds: str | Mapping[str, float],
    *,
    tags: tuple[str, ...] | None,
    flow: Flow,
    seeding: Seeding,
    choose_tags: Chooser | None,
    where: Where,
    record_access: bool,
    stop: threading.Event | None,
    now: int | None,
) -> Stream:
    """Returns the stream of activations from seeds, given with their energies, or found by a query."""
    if isinstance(seeds, str):
        context = RecallContext(
            session.store, session.scope, parse_cue(seeds, where), 0, len, 0, None, session.vectors.of_query
        )
        seeds, tags = _found_seeds(session, context, seeding, tags, choose_tags)
        where = context.cue.where
    found = spread_activation(session.store, session.scope, seeds, tags or (), flow, where, stop)
    return _counted(session, found, now) if record_access else found


def _found_seeds(
    session: Session, context: RecallContext, seeding: Seeding, tags: tuple[str, ...] | None, choose: Chooser | None
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Returns the seeds that a query finds, with their energies, and the tags it is about unless they are given."""
    anchored = find_seeds(context, seeding=seeding)
    for notice in session.with_notice(context.cue.notices + anchored.notices):
        log.warning(notice)
    if tags is None:
        tags = query_tags(context, anchored.anchors, choose)
    return {anchor.node.id: seeding.energy(anchor) for anchor in anchored.anchors}, tags


def _counted(session: Session, found: Stream, now: int | None) -> Stream:
    """Yields the same activations; when the stream ends or is closed, counts all nodes that it showed as used once."""
    shown: dict[str, None] = {}
    try:
        for one in found:
            shown.update(dict.fromkeys(id_ for path in one.paths for id_ in path.ids))
            if one.reason == "complete":
                shown[one.seed] = None
            yield one
    finally:
        found.close()
        # The caller has the activations already: a count that fails must not take them away.
        with contextlib.suppress(CuetrailError):
            if shown:
                session.store.touch(session.scope, list(shown), now_ms() if now is None else now)


# --- traversal


def traverse(
    session: Session,
    start: Iterable[object],
    edges: TraversalFilter,
    extent: Hops | PageRank,
    record_access: bool,
    now: int,
) -> Traversal:
    """Returns the nodes that edges lead to from a start, by hops or by a random walk. Raises NotFound, InputError."""
    store, scope = session.store, session.scope
    seeds: dict[str, None] = {}
    for one in start:
        if not isinstance(one, str):
            raise InputError(f"a start must be the id or the name of a node, not {one!r:.60}")
        seeds[require_node(store, scope, one)] = None
    if not seeds:
        raise InputError("say where to start: give the id or the name of a node")
    if isinstance(extent, Hops):
        found = nodes_within_hops(store, scope, list(seeds), edges, *extent)
    else:
        found = personalised_pagerank(store, scope, list(seeds), edges, extent)
    if record_access and found.arrivals:
        store.touch(scope, [node.id for node in found.nodes], now)
    return found


# --- narratives


class CachedNarrative(NamedTuple):
    """A narrative in the cache, what it was made of, and how often that had been used when it was made."""

    narrative: Narrative
    found: NarrativeFacts
    uses: Hashable


NarrativeCache = VersionedCache[CachedNarrative]


def narrate(
    session: Session,
    cache: NarrativeCache,
    cue: str,
    *,
    recipe: Recipe,
    parameters: Hashable,
    budget: Budget,
    as_of: int | None,
    use_cache: bool,
    record_access: bool,
    count_tokens: Measure | None,
    now: int,
) -> Narrative:
    """Returns the narrative on a cue; from the cache if nothing was written in this scope since it was made.

    `parameters` are those of the recipe: they belong to the key of the cache.
    """
    store, scope = session.store, session.scope
    parsed = _lower_case(parse_cue(cue, Where()))
    key = CacheKey(scope, (parsed.query, parsed.where), (parameters, budget, as_of, count_tokens))
    version, uses = store.version(scope) if use_cache else (None, None)
    cached = cache.get(key, version, now) if use_cache else None
    if cached is not None and cached.uses == uses:
        return replace(cached.narrative, cue=cue, cached=True)
    context = RecallContext(
        store, scope, parsed, *budget_measure(budget, count_tokens), None, session.vectors.of_query,
        now if as_of is None else as_of,
    )  # fmt: skip
    if cached is not None and (facts := reread_facts(context, cached.found)) is not None:
        # Only used since, perhaps by being narrated: the same facts, but other scores.
        narrative = replace(write_narrative(context, recipe, facts), notices=cached.narrative.notices)
        cache.renew(key, version, CachedNarrative(narrative, facts, uses))
        return replace(narrative, cue=cue, cached=True)
    facts = find_facts(context, recipe)
    narrative = write_narrative(context, recipe, facts)
    narrative = replace(narrative, notices=session.with_notice(narrative.notices))
    # A narrative made while the embedder failed is not kept: the embedder may be back in a moment.
    if use_cache and not (narrative.degraded and narrative.notices):
        until = _unchanged_until(session, narrative, now) if as_of is None else EVER
        cache.put(key, version, now, CachedNarrative(narrative, facts, uses), until)
    if record_access and narrative.lines:
        _count_use(session, list({fact.subject for fact in narrative.facts}), [one.id for one in narrative.facts], now)
    return narrative


def _lower_case(cue: Cue) -> Cue:
    """Returns the cue in lower case, so that case makes no difference to the narrative."""
    words, phrases = norm_name(cue.query.words), tuple(map(norm_name, cue.query.phrases))
    return replace(cue, query=replace(cue.query, words=words, phrases=phrases))


def _unchanged_until(session: Session, narrative: Narrative, now: int) -> int:
    """Returns the time until which the narrative stays the same if nobody writes: a fact of it ends, or one begins."""
    next_begin = session.store.next_belief(session.scope, now)
    return narrative.until if next_begin is None else min(narrative.until, next_begin)


def most_used_names(session: Session, limit: int) -> list[str]:
    """Returns the names of the most used entities."""
    used = session.store.get(session.scope, session.store.most_used(session.scope, limit))
    return [node.name for node in used.values() if node.name]
