"""Score of a narrative: each fact by confidence, source, age and use, grouped by subject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuetrail.formulas import CONFIRMED_WEIGHT, fact_score, recency, source_weight, usage
from cuetrail.model import Fact, Hit, Node, fact_dict
from cuetrail.recall.stages import Anchor, Anchored, Reached, ReachedFact, RecallContext, Scored
from cuetrail.text.normalise import snippet


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a narrative: its fact, the score of that, and `why` it is there, as data."""

    fact: Fact
    text: str
    score: float
    why: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {"text": self.text, "score": self.score, "fact": fact_dict(self.fact), "why": dict(self.why)}


def rank_facts(context: RecallContext, anchored: Anchored, reached: Reached) -> Scored:
    """Returns one hit per subject, in the order reached, anchors apart; `why` has its lines, highest score first."""
    lines: dict[str, list[Line]] = {}
    for one in reached.facts:
        lines.setdefault(one.fact.subject, []).append(_line(one, reached.entities, context.now))
    anchors = {anchor.node.id: anchor for anchor in anchored.anchors}
    hits = {
        id_: _hit(node, sorted(lines[id_], key=_order), anchors.get(id_))
        for id_, node in reached.entities.items()
        if id_ in lines
    }
    return Scored(
        tuple(hit for id_, hit in hits.items() if id_ in anchors),
        tuple(hit for id_, hit in hits.items() if id_ not in anchors),
    )


def _order(line: Line) -> tuple[float, int, str]:
    return (-line.score, -line.fact.created, line.fact.id)


def _hit(node: Node, lines: Sequence[Line], anchor: Anchor | None) -> Hit:
    why = {
        "role": "anchor" if anchor else "walker",
        "found_by": ["facts"] if anchor is None else ["vector" if anchor.cosine is not None else "name"],
        "parts": {"cosine": anchor.cosine} if anchor else {},
        "lines": [line.to_dict() for line in lines],
    }
    return Hit(node, lines[0].score, why)


def _line(reached: ReachedFact, entities: Mapping[str, Node], now: int) -> Line:
    fact = reached.fact
    age = now - (fact.created if fact.last_accessed is None else fact.last_accessed)
    confirmed = fact.status == "confirmed"
    why = {
        "anchor": reached.path[0],
        "hop": reached.hop,
        "path": list(reached.path),
        "direction": "out" if fact.subject == reached.entity else "in",
        "parts": {
            "confidence": fact.confidence,
            "source": source_weight(fact.source),
            "recency": recency(age),
            "usage": usage(fact.access_count),
            "status": CONFIRMED_WEIGHT if confirmed else 1.0,
        },
    }
    value = display_name(entities[fact.object]) if fact.object is not None else fact.value or ""
    score = fact_score(fact.confidence, fact.source, age, fact.access_count, confirmed)
    return Line(fact, f"- {fact.predicate}: {' '.join(value.split())}", score, why)


def display_name(node: Node) -> str:
    """Returns a node's name, else the beginning of its text, else its id."""
    return " ".join((node.name or snippet(node.text) or node.id).split())
