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

from cuetrail.model import Claim, Direction, Edge, Neighbourhood, Node, Scope, Where

DREAMT = "dream:"
"""The `via` of an edge that a dream made begins with this."""


@dataclass(frozen=True, slots=True)
class EdgeFilter:
    """Says which edges pass. Empty tuples and None let all pass.

    A minimum or maximum rejects edges that lack the number. `types` and `exclude_types` are in lower case; a type that
    is in both is rejected. `at` rejects edges that are not valid at that time. `stated` rejects edges that a rule made.
    `undreamt` rejects edges that a dream made.
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
    undreamt: bool = False

    def passes(self, edge: Edge) -> bool:
        """True if an edge passes all filters."""
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
            and (not self.undreamt or not (edge.via or "").startswith(DREAMT))
        )


def _within(value: int | None, low: int | None, high: int | None) -> bool:
    if low is None and high is None:
        return True
    return value is not None and (low is None or value >= low) and (high is None or value <= high)


@dataclass(frozen=True, slots=True)
class StepQuery:
    """Asks, for each node of `ids`, for at most `each` edges that pass `ties` and lead to nodes that `where` admits."""

    ids: tuple[str, ...]
    each: int
    direction: Direction = "both"
    ties: EdgeFilter = field(default_factory=EdgeFilter)
    where: Where = field(default_factory=Where)


class Step(NamedTuple):
    """An edge, seen from one of its nodes: `other` is the id of the node at the other end, `outgoing` is true if the
    edge leads there. The other end of a self-loop is the node itself.
    """

    edge: Edge
    other: str
    outgoing: bool


class FrontierNode(NamedTuple):
    """A node that the last level reached: its energy (R), and the number of the seed that the energy came from."""

    id: str
    energy: float
    seed: int


@dataclass(frozen=True, slots=True)
class Frontier:
    """Asks for one more level of spreading activation: to which neighbours energy flows from the nodes reached last.

    `nodes` are those nodes. Several seeds may have reached the same node, each with its own energy. `visited` has one
    set of ids per seed: all nodes its energy has reached, which get no more of it. `where` filters the neighbours.
    `max_branches` is the number of neighbours that each node passes energy to. `claim` names the rule by which the
    nodes of one seed share neighbours, as each neighbour may be taken once; without a rule every node returns all
    neighbours it might take. `known` is a cache of the engine, from the answer for the level before.
    """

    nodes: tuple[FrontierNode, ...]
    visited: tuple[frozenset[str], ...]
    tags: frozenset[str] = frozenset()
    max_branches: int = 3
    min_activation: float = 0.005
    tag_sim_floor: float = 0.15
    where: Where = field(default_factory=Where)
    claim: Claim | None = None
    known: Mapping[str, int] = field(default_factory=dict)

    def wanted(self) -> list[int]:
        """Returns, for each frontier node, how many candidates its search must return.

        A node takes up to `max_branches`. Each other frontier node of its seed may take as many that this node would
        have preferred. With this many candidates, every sharing rule gives the same result as with all of them.
        """
        nodes = Counter(node.seed for node in self.nodes)
        return [max(self.max_branches, 0) * nodes[node.seed] for node in self.nodes]


class Candidate(NamedTuple):
    """A neighbour that energy can flow to, the energy that arrives, and the edge it flows along, by id. `weight` is
    that of the edge, None if it has none.
    """

    id: str
    energy: float
    edge: str
    kind: str
    weight: float | None
    tags: tuple[str, ...]
    outgoing: bool


@dataclass(frozen=True, slots=True)
class Expanded:
    """The candidates of each frontier node, in the order of the frontier, and the frontier ids that no visible node
    has.

    Candidates are the visible neighbours, along edges in either direction, that pass `where`, are not in `visited` of
    the seed, and receive more than `min_activation`. Each appears once, by the edge that transmits most energy (of
    equal edges, the lower id). They are ordered by energy, then neighbour id, then edge id, and limited to `wanted`.
    Ids are compared by code point without their `@@` suffix, then with it. With a sharing rule, only the candidates
    that each frontier node takes are included. `known` is a cache for the next level.
    """

    candidates: tuple[tuple[Candidate, ...], ...]
    missing: frozenset[str] = frozenset()
    known: Mapping[str, int] = field(default_factory=dict, compare=False)


class Expands(Protocol):
    """What an activation asks of a graph: one level at a time. Both engines and every graph of one's own have it."""

    def expand(self, scope: Scope, /, level: Frontier) -> Expanded:
        """Returns, for each node of a frontier (reached last by an activation), the nodes energy can flow to next."""


class Walks(Protocol):
    """What a traversal asks of a graph: the edges of many nodes at once, and the nodes that they lead to."""

    def steps(self, scope: Scope, /, query: StepQuery) -> dict[str, list[Step]]:
        """Returns, by node id, the edges that pass the filters of the query, the strongest first."""

    def get(self, scope: Scope, /, ids: Sequence[str]) -> dict[str, Node]:
        """Returns the nodes with these ids that exist, in this order."""


class Graph(Protocol):
    """The graph part of the engine protocol: steps from node to node along the edges that one scope sees."""

    def neighbours(self, scope: Scope, /, ids: Sequence[str], limit: int) -> dict[str, Neighbourhood]:
        """Returns the degree of each node and its `limit` strongest edges, by weight, then neighbour id, then edge id.

        The degree counts every visible edge, even one that leads to an invisible node.
        """

    def expand(self, scope: Scope, /, level: Frontier) -> Expanded:
        """Returns, for each node of a frontier (reached last by an activation), the nodes energy can flow to next."""

    def steps(self, scope: Scope, /, query: StepQuery) -> dict[str, list[Step]]:
        """Returns, by node id, the edges that pass the filters of the query, the strongest first."""

    def edge_tags(self, scope: Scope, /, names: Sequence[str] | None = None) -> list[str]:
        """Returns the tags of visible edges, by name: all of them, or those among `names`."""


Offer = TypeVar("Offer", bound=tuple[Any, ...])
"""A tuple that begins with the id of the neighbour and the energy that arrives there."""


def share_out(offered: Sequence[Sequence[Offer]], level: Frontier) -> list[list[Offer]]:
    """Returns, for each frontier node, the candidates that it takes of those `offered` to it. By the rule
    `level.claim`, each candidate goes to one frontier node of a seed only; without a rule, every node takes all.
    """
    if level.claim is None:
        return [list(steps) for steps in offered]
    nodes: dict[int, list[int]] = {}
    for number, node in enumerate(level.nodes):
        nodes.setdefault(node.seed, []).append(number)
    taken: list[list[Offer]] = [[] for _ in offered]
    for numbers in nodes.values():
        shares = CLAIMS[level.claim]([offered[number] for number in numbers], level.max_branches)
        for number, steps in zip(numbers, shares, strict=True):
            taken[number] = steps
    return taken


def claim_by_energy(offered: Sequence[Sequence[Offer]], most: int) -> list[list[Offer]]:
    """Returns which candidates each frontier node takes, at most `most`: highest energy first, ties in frontier order.

    A node that finds a candidate taken continues with its next one, without using up its share.
    """
    order = [(-step[1], node, place) for node, steps in enumerate(offered) for place, step in enumerate(steps)]
    order.sort()
    claimed: list[list[Offer]] = [[] for _ in offered]
    taken: set[str] = set()
    for _, node, place in order:
        mine, step = claimed[node], offered[node][place]
        if len(mine) < most and step[0] not in taken:
            taken.add(step[0])
            mine.append(step)
    return claimed


def claim_by_frontier(offered: Sequence[Sequence[Offer]], most: int) -> list[list[Offer]]:
    """Returns which candidates each frontier node takes, at most `most`: in frontier order, each its best free ones."""
    claimed: list[list[Offer]] = []
    taken: set[str] = set()
    for steps in offered:
        free = [step for step in steps if step[0] not in taken][:most]
        taken.update(step[0] for step in free)
        claimed.append(free)
    return claimed


CLAIMS = {"energy": claim_by_energy, "frontier": claim_by_frontier}
