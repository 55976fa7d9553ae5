"""A narrative: what is believed about the entities a cue means, told in sections within a budget.

anchor -> spread -> score -> render, as in any recall; see `telling` for the stages.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cuetrail.anchor import Ask
from cuetrail.cue import looked_for
from cuetrail.model import Fact, Node, node_dict
from cuetrail.recipes import Recipe
from cuetrail.store.facts import EVER, until
from cuetrail.telling import NAMES, Line


@dataclass(frozen=True, slots=True)
class Narrative:
    """What is told on a cue: text within the budget, and its lines with the fact each tells and why.

    `anchors` are the entities the cue means, also those of which nothing is told. `degraded`: there were no vectors to
    find them by, so their names had to do. `cached`: it was told before; nothing of it has changed since. `until`: when
    the first of the facts it was made of ends.
    """

    cue: str
    text: str
    lines: tuple[Line, ...]
    anchors: tuple[Node, ...]
    entities: Mapping[str, Node]
    degraded: bool = False
    looked_for: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
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


def narrate(ask: Ask, recipe: Recipe) -> Narrative:
    """What the memory believes about what a cue means. `.answerable` is False, and the text empty, if it is nothing."""
    anchored = recipe.anchor(ask)  # the entities that are meant
    reached = recipe.spread(ask, anchored)  # the facts around them
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
        notices=ask.cue.notices + anchored.notices,
        until=min((until(told.fact) for told in reached.told), default=EVER),
    )
