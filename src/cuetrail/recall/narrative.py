"""A narrative: what is believed about the entities a cue means, told in sections within a budget.

anchor -> spread -> score -> render, as in any recall; see `telling` for the stages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cuetrail.model import Fact, Node, node_dict
from cuetrail.recall.anchor.hybrid_search import Anchored, Ask
from cuetrail.recall.query import looked_for
from cuetrail.recall.recipes import Recipe
from cuetrail.recall.score.tag_walk import Scored
from cuetrail.recall.spread.facts import NAMES, Line, header
from cuetrail.recall.spread.tag_walk import Reached
from cuetrail.store.read import facts_by_id
from cuetrail.store.shared.fact_validity import EVER, until


@dataclass(frozen=True, slots=True)
class Narrative:
    """What is told on a cue: text within the budget, and its lines with the fact each tells and why.

    `anchors` are the entities the cue means, also those of which nothing is told; `believed` counts the facts there
    were to tell, whether or not the budget had room for them. `degraded`: there were no vectors to find them by, so
    their names had to do. `cached`: it was told before; nothing of it has changed since. `until`: when the first of the
    facts it was made of ends.
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
        """Whether anything is told."""
        return bool(self.lines)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts that are told, in the order of the lines."""
        return tuple(line.fact for line in self.lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, the same in the CLI, REST and MCP."""
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
class Matter:
    """What a narrative is made of: the entities that are meant, and the facts around them."""

    anchored: Anchored
    reached: Reached


def narrate(ask: Ask, recipe: Recipe) -> Narrative:
    """What the memory believes about what a cue means. `.answerable` is False, and the text empty, if it is nothing."""
    return tell(ask, recipe, gather(ask, recipe))


def gather(ask: Ask, recipe: Recipe) -> Matter:
    """The entities that a cue means, and the facts around them."""
    anchored = recipe.anchor(ask)
    return Matter(anchored, recipe.spread(ask, anchored))


def renewed(ask: Ask, matter: Matter) -> Matter | None:
    """The same, with the use that was made of it meanwhile; None where some of it is gone."""
    facts = facts_by_id(ask.store, ask.scope, [told.fact.id for told in matter.reached.told])
    nodes = ask.store.get(ask.scope, list(matter.reached.entities))
    if len(facts) < len(matter.reached.told) or len(nodes) < len(matter.reached.entities):
        return None
    anchors = tuple(replace(anchor, node=nodes[anchor.node.id]) for anchor in matter.anchored.anchors)
    told = tuple(replace(told, fact=facts[told.fact.id]) for told in matter.reached.told)
    return Matter(
        replace(matter.anchored, anchors=anchors),
        replace(matter.reached, told=told, entities={id_: nodes[id_] for id_ in matter.reached.entities}),
    )


def tell(ask: Ask, recipe: Recipe, matter: Matter) -> Narrative:
    """What is told of facts, within the budget."""
    anchored, reached = matter.anchored, matter.reached
    scored = recipe.score(ask, anchored, reached)  # one number each, and why
    text, shown = recipe.render(ask, scored)  # as much as there is room for

    facts = {told.fact.id: told.fact for told in reached.told}
    lines = (line for hit in (*shown.anchors, *shown.walkers) for line in hit.why["lines"])
    return Narrative(
        ask.cue.raw,
        text,
        tuple(Line(facts[line["fact"]["id"]], line["text"], line["score"], line["why"]) for line in lines),
        tuple(anchor.node for anchor in anchored.anchors),
        reached.entities,
        degraded=anchored.attempt == NAMES,
        looked_for=looked_for(ask.cue),
        notices=(*ask.cue.notices, *anchored.notices, *_no_room(ask, scored, text)),
        believed=len(reached.told),
        until=min((until(told.fact) for told in reached.told), default=EVER),
    )


def _no_room(ask: Ask, scored: Scored, text: str) -> Iterator[str]:
    """That there is something to tell, and no room for any of it."""
    hits = (*scored.anchors, *scored.walkers)
    if hits and not text:
        lines = [f"{header(hit.node)}\n{line['text']}" for hit in hits for line in hit.why["lines"]]
        least, unit = min(map(ask.measure, lines)), "characters" if ask.measure is len else "tokens"
        facts = "1 fact is" if len(lines) == 1 else f"{len(lines)} facts are"
        yield f"the budget is too small: {facts} believed, and to tell one takes at least {least} {unit}"
