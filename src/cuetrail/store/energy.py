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
from dataclasses import dataclass, field
from typing import NamedTuple

from cuetrail.model import Where


class Spark(NamedTuple):
    """A node that energy flows on from: how much it has (R), and the number of the seed that this came from."""

    id: str
    energy: float
    seed: int


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a walk. The sparks of several seeds may be the same node, with an energy for each.

    `visited` has one set of ids per seed: where energy of that seed has been. It holds the seed's own sparks, so a
    self-loop leads nowhere. `where` holds for the nodes that energy comes to, not for the sparks.
    """

    sparks: tuple[Spark, ...]
    visited: tuple[frozenset[str], ...]
    tags: frozenset[str] = frozenset()
    max_branches: int = 3
    min_activation: float = 0.005
    tag_sim_floor: float = 0.15
    where: Where = field(default_factory=Where)

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
    makes two the same, as they are called. A spark that is not there has no candidates.
    """

    candidates: tuple[tuple[Candidate, ...], ...]
    missing: frozenset[str] = frozenset()
