"""The graph port: neighbours of nodes, the edges that pass filters, and one level of spreading activation.

Every request is for many nodes at once. Filters apply before anything is counted: an edge or a node that does not pass
takes no place among the `each` or `limit` best.

Spreading activation computes, in IEEE doubles and every expression from left to right:

    sim = 1                                            if `tags` is empty
          floor                                        if the edge has no tags
          floor + (1 - floor) * |E & tags| / |E | tags|    otherwise, E being the set of the edge's tags
    T   = R * w / sqrt(degree) * sim                   w is .01 if the edge has no weight

`degree` counts every edge at the node that the scope sees: parallel edges each, a self-loop once, and also an edge
whose other end is not visible. Filters do not change it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

from cuetrail.model import Claim, Direction, Edge, Neighbourhood, Scope, Where


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


class Spark(NamedTuple):
    """A node that energy flows on from: how much it has (R), and the number of the seed that this came from."""

    id: str
    energy: float
    seed: int


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a walk. The sparks of several seeds may be the same node, with an energy for each.

    `visited` has one set of ids per seed: where energy of that seed has been. It holds the seed's own sparks, so a
    self-loop leads nowhere. `where` holds for the nodes that energy comes to, not for the sparks. `claim` is the rule
    by which candidates are shared out among the sparks of a seed; without one, each spark is given all it may need.
    `known` is what the level before made known of its candidates, for the engine alone.
    """

    sparks: tuple[Spark, ...]
    visited: tuple[frozenset[str], ...]
    tags: frozenset[str] = frozenset()
    max_branches: int = 3
    min_activation: float = 0.005
    tag_sim_floor: float = 0.15
    where: Where = field(default_factory=Where)
    claim: Claim | None = None
    known: Mapping[str, int] = field(default_factory=dict)

    def wanted(self) -> list[int]:
        """How many candidates each spark may need.

        It takes `max_branches`, and each other spark of its seed may take as many that it would have liked: with so
        many, any rule for sharing them out comes to what it would with all.
        """
        sparks = Counter(spark.seed for spark in self.sparks)
        return [max(self.max_branches, 0) * sparks[spark.seed] for spark in self.sparks]


class Candidate(NamedTuple):
    """A step energy can take: to which node, with how much left, and along which edge. `weight` is None if unknown."""

    id: str
    energy: float
    edge: str
    kind: str
    weight: float | None
    tags: tuple[str, ...]
    outgoing: bool


@dataclass(frozen=True, slots=True)
class Expanded:
    """The candidates of each spark, in the order of the sparks, and which sparks no node in sight has the id of.

    Candidates of a spark are the neighbours, either way along an edge, that the scope sees, that pass `where`, that are
    not in `visited` of its seed, and that more than `min_activation` flows to; each once, by the edge that lets most
    through, of equals the one with the lower id. They come by energy, the most first, then by neighbour id, then by
    edge id, and no more than `wanted`. Ids are compared by code point, without what `@@` adds to them; where that
    makes two the same, as they are called. A spark that is not there has no candidates. With a rule to share them out,
    only what each spark takes is there.
    """

    candidates: tuple[tuple[Candidate, ...], ...]
    missing: frozenset[str] = frozenset()
    known: Mapping[str, int] = field(default_factory=dict, compare=False)


class Graph(Protocol):
    """Steps from node to node along the edges that one scope sees."""

    def neighbours(self, scope: Scope, /, ids: Sequence[str], limit: int) -> dict[str, Neighbourhood]: ...
    def expand(self, scope: Scope, /, level: Level) -> Expanded: ...
    def steps(self, scope: Scope, /, query: StepQuery) -> dict[str, list[Step]]: ...
    def edge_tags(self, scope: Scope, /, names: Sequence[str] | None = None) -> list[str]: ...


Offer = TypeVar("Offer", bound=tuple[Any, ...])
"""A step that begins with the id of the neighbour and the energy that comes to it."""


def share_out(offered: Sequence[Sequence[Offer]], level: Level) -> list[list[Offer]]:
    """What each spark takes of what it is offered, by the level's rule: among the sparks of a seed, each node once."""
    if level.claim is None:
        return [list(steps) for steps in offered]
    sparks: dict[int, list[int]] = {}
    for number, spark in enumerate(level.sparks):
        sparks.setdefault(spark.seed, []).append(number)
    taken: list[list[Offer]] = [[] for _ in offered]
    for numbers in sparks.values():
        shares = CLAIMS[level.claim]([offered[number] for number in numbers], level.max_branches)
        for number, steps in zip(numbers, shares, strict=True):
            taken[number] = steps
    return taken


def claim_by_energy(offered: Sequence[Sequence[Offer]], most: int) -> list[list[Offer]]:
    """Share candidates out, at most so many to each spark: those with the most energy first, then as the sparks stand.

    Who finds one taken goes on to its next, and has not used up its share by that.
    """
    order = [(-step[1], spark, place) for spark, steps in enumerate(offered) for place, step in enumerate(steps)]
    order.sort()
    claimed: list[list[Offer]] = [[] for _ in offered]
    taken: set[str] = set()
    for _, spark, place in order:
        mine, step = claimed[spark], offered[spark][place]
        if len(mine) < most and step[0] not in taken:
            taken.add(step[0])
            mine.append(step)
    return claimed


def claim_by_frontier(offered: Sequence[Sequence[Offer]], most: int) -> list[list[Offer]]:
    """Share candidates out, at most so many to each spark: spark by spark as they stand, each its best ones left."""
    claimed: list[list[Offer]] = []
    taken: set[str] = set()
    for steps in offered:
        free = [step for step in steps if step[0] not in taken][:most]
        taken.update(step[0] for step in free)
        claimed.append(free)
    return claimed


CLAIMS = {"energy": claim_by_energy, "frontier": claim_by_frontier}
