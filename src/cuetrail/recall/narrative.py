"""A narrative: the facts about the entities a cue is about, in sections within a budget.

anchor -> spread -> score -> render, as in any recall: `anchor/entities.py`, `spread/facts.py`, `score/facts.py`,
`render/sections.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cuetrail.model import Fact, Node, node_dict
from cuetrail.recall.anchor.entities import NAMES
from cuetrail.recall.query import query_terms
from cuetrail.recall.render.sections import header
from cuetrail.recall.score.facts import Line
from cuetrail.recall.stages import Anchored, Reached, RecallContext, Recipe, Scored
from cuetrail.store.read import facts_by_id
from cuetrail.store.shared.fact_validity import EVER, until


@dataclass(frozen=True, slots=True)
class Narrative:
    """The narrative of a cue: text within the budget, and its lines, each with its fact and the reasons for it.

    `anchors` are the entities the cue is about, also those without a line. `believed` counts all facts, also those the
    budget had no room for. `degraded`: entities were found by name, because there were no vectors. `cached`: it comes
    from the cache. `until`: when the first of its facts ends.
    """

    cue: str
    text: str
    lines: tuple[Line, ...]
    anchors: tuple[Node, ...]
    entities: Mapping[str, Node]
    degraded: bool = False
    looked_for: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    believed: int = 0
    cached: bool = field(default=False, compare=False)
    until: int = field(default=EVER, compare=False)

    @property
    def answerable(self) -> bool:
        """True if the narrative has any line."""
        return bool(self.lines)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts of the lines, in their order."""
        return tuple(line.fact for line in self.lines)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON, the same in the CLI, REST and MCP."""
        return {
            "cue": self.cue,
            "text": self.text,
            "answerable": self.answerable,
            "degraded": self.degraded,
            "cached": self.cached,
            "looked_for": list(self.looked_for),
            "notices": list(self.notices),
            "anchors": [node_dict(node) for node in self.anchors],
            "entities": {id_: node.name for id_, node in self.entities.items()},
            "lines": [line.to_dict() for line in self.lines],
        }


@dataclass(frozen=True, slots=True)
class NarrativeFacts:
    """Entities and facts of a narrative, before scoring: the results of the anchor and spread stages."""

    anchored: Anchored
    reached: Reached


def narrate(context: RecallContext, recipe: Recipe) -> Narrative:
    """Returns the narrative of a cue. If there are no facts, `.answerable` is False and the text empty."""
    return write_narrative(context, recipe, find_facts(context, recipe))


def find_facts(context: RecallContext, recipe: Recipe) -> NarrativeFacts:
    """Returns the entities that a cue is about, and the facts around them."""
    anchored = recipe.anchor(context)
    return NarrativeFacts(anchored, recipe.spread(context, anchored))


def reread_facts(context: RecallContext, found: NarrativeFacts) -> NarrativeFacts | None:
    """Returns the same entities and facts with their current access counts; None if any of them is gone."""
    facts = facts_by_id(context.store, context.scope, [one.fact.id for one in found.reached.facts])
    nodes = context.store.get(context.scope, list(found.reached.entities))
    if len(facts) < len(found.reached.facts) or len(nodes) < len(found.reached.entities):
        return None
    anchors = tuple(replace(anchor, node=nodes[anchor.node.id]) for anchor in found.anchored.anchors)
    current = tuple(replace(one, fact=facts[one.fact.id]) for one in found.reached.facts)
    return NarrativeFacts(
        replace(found.anchored, anchors=anchors),
        replace(found.reached, facts=current, entities={id_: nodes[id_] for id_ in found.reached.entities}),
    )


def write_narrative(context: RecallContext, recipe: Recipe, found: NarrativeFacts) -> Narrative:
    """Returns the narrative of these facts, within the budget."""
    anchored, reached = found.anchored, found.reached
    scored = recipe.score(context, anchored, reached)
    text, shown = recipe.render(context, scored)

    facts = {one.fact.id: one.fact for one in reached.facts}
    lines = (line for hit in (*shown.anchors, *shown.walkers) for line in hit.why["lines"])
    return Narrative(
        context.cue.raw,
        text,
        tuple(Line(facts[line["fact"]["id"]], line["text"], line["score"], line["why"]) for line in lines),
        tuple(anchor.node for anchor in anchored.anchors),
        reached.entities,
        degraded=anchored.attempt == NAMES,
        looked_for=query_terms(context.cue),
        notices=(*context.cue.notices, *anchored.notices, *_no_room(context, scored, text)),
        believed=len(reached.facts),
        until=min((until(one.fact) for one in reached.facts), default=EVER),
    )


def _no_room(context: RecallContext, scored: Scored, text: str) -> Iterator[str]:
    """Yields a notice if there are facts but the budget has no room for any."""
    hits = (*scored.anchors, *scored.walkers)
    if hits and not text:
        lines = [f"{header(hit.node)}\n{line['text']}" for hit in hits for line in hit.why["lines"]]
        least, unit = min(map(context.measure, lines)), "characters" if context.measure is len else "tokens"
        facts = "1 fact is" if len(lines) == 1 else f"{len(lines)} facts are"
        yield f"the budget is too small: {facts} believed, and to tell one takes at least {least} {unit}"
