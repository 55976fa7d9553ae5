"""What a walk by energy asks an engine: one request per level, for all seeds and all nodes their energy has come to.

The rule, in the scope of the reader and in IEEE doubles, every expression from left to right:

    sim = 1                                            where `tags` is empty
          floor                                        where the edge has no tags
          floor + (1 - floor) * |E & tags| / |E | tags|    else, E being the edge's tags, each once
    T   = R * w / sqrt(degree) * sim                   w is .01 where the edge has no weight

`degree` counts every edge at the node that the scope sees: parallel ones each, a self-loop once, and also one whose
other end is out of sight. Filters leave it as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from cuetrail.model import Claim, Where


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


# --- who takes what

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
