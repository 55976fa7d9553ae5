"""Spread of a narrative: the facts around the anchors, breadth first."""

from __future__ import annotations

from collections.abc import Sequence

from cuetrail.facts.predicates import one_each
from cuetrail.model import Direction, Fact, Node
from cuetrail.recall.stages import Anchored, Reached, ReachedFact, RecallContext
from cuetrail.store.shared.fact_validity import ends_of


def follow_facts(
    context: RecallContext, anchored: Anchored, *, hops: int, per_entity: int, max_facts: int, direction: Direction
) -> Reached:
    """Returns up to `max_facts` facts at most `hops` from the anchors, of each entity the most certain `per_entity`.

    Makes one request for all entities of a level.
    """
    nodes = {anchor.node.id: anchor.node for anchor in anchored.anchors}
    paths: dict[str, tuple[str, ...]] = {id_: (id_,) for id_ in nodes}
    reached: dict[str, ReachedFact] = {}
    level = list(nodes)
    for hop in range(hops):
        if not level or len(reached) >= max_facts:
            break
        found = _visible_facts(context, level, nodes, per_entity, direction)
        next_level: dict[str, None] = {}
        for entity, fact in ((id_, one) for id_ in level for one in found.get(id_, ())):
            if len(reached) >= max_facts:
                break
            if fact.id in reached:
                continue
            reached[fact.id] = ReachedFact(fact, entity, hop, paths[entity])
            for end in ends_of(fact):
                if end not in paths:
                    paths[end] = (*paths[entity], end)
                    next_level[end] = None
        level = list(next_level)
    return Reached(facts=tuple(reached.values()), entities={id_: nodes[id_] for id_ in paths if id_ in nodes})


def _visible_facts(
    context: RecallContext, level: Sequence[str], nodes: dict[str, Node], each: int, direction: Direction
) -> dict[str, list[Fact]]:
    """Returns for each entity its `each` most certain facts whose ends are visible nodes; adds those nodes to `nodes`.

    If some are hidden, more are read, so that hidden facts do not use up the limit.
    """
    visible: dict[str, list[Fact]] = {}
    limit = each
    while level:
        found = context.store.beliefs(context.scope, level, context.now, limit, direction)
        new = {end for facts in found.values() for fact in facts for end in ends_of(fact)} - nodes.keys()
        nodes |= context.store.get(context.scope, sorted(new)) if new else {}
        every = {fact.id: fact for facts in found.values() for fact in facts}
        shown = [
            fact
            for fact in every.values()
            if all(end in nodes and context.cue.where.admits(nodes[end]) for end in ends_of(fact))
        ]
        believed = {fact.id for fact in one_each(context.store, context.scope, shown)}
        for id_, facts in found.items():
            visible[id_] = [fact for fact in facts if fact.id in believed][:each]
        level = [id_ for id_ in level if len(found.get(id_, ())) == limit > len(visible.get(id_, ())) < each]
        limit *= 4
    return visible
