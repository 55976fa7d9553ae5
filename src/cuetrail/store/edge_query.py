"""What exploring asks an engine: the edges of many nodes with what they say, notes, and who mentions whom.

Every request is for many nodes at once. Filters hold before anything is counted: a node or an edge that does not pass
takes nobody's place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from cuetrail.model import Direction, Edge, Where

Side = Literal["source", "node"]


@dataclass(frozen=True, slots=True)
class Ties:
    """Filters on edges. A bound fails where the edge has no such number; `exclude_types` beats `types`.

    `types` and `exclude_types` are in lower case. `at` leaves out edges that are not valid at that time,
    `stated` those that a rule made.
    """

    kinds: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    exclude_types: tuple[str, ...] = ()
    min_attitude: int | None = None
    max_attitude: int | None = None
    min_proximity: int | None = None
    max_proximity: int | None = None
    at: int | None = None
    stated: bool = False

    @property
    def are_any(self) -> bool:
        """Whether an edge of one of the kinds counts, whatever else it is like."""
        return self == Ties(self.kinds)

    def passes(self, edge: Edge) -> bool:
        """Whether an edge counts."""
        kind = (edge.type or "").lower()
        return (
            (not self.kinds or edge.kind in self.kinds)
            and (not self.types or kind in self.types)
            and kind not in self.exclude_types
            and _within(edge.attitude, self.min_attitude, self.max_attitude)
            and _within(edge.proximity, self.min_proximity, self.max_proximity)
            and (self.at is None or edge.valid_from is None or edge.valid_from <= self.at)
            and (self.at is None or edge.valid_until is None or self.at < edge.valid_until)
            and (not self.stated or edge.via is None)
        )


def _within(value: int | None, low: int | None, high: int | None) -> bool:
    if low is None and high is None:
        return True
    return value is not None and (low is None or value >= low) and (high is None or value <= high)


@dataclass(frozen=True, slots=True)
class StepQuery:
    """The edges of these nodes that pass `ties` and lead to a node that passes `where`; at most `each` per node."""

    ids: tuple[str, ...]
    each: int
    direction: Direction = "both"
    ties: Ties = field(default_factory=Ties)
    where: Where = field(default_factory=Where)


class Step(NamedTuple):
    """One edge as seen from the node it was asked for. Of a self-loop the other end is the node itself."""

    edge: Edge
    other: str
    outgoing: bool
