"""From nodes along edges: so many hops away, or to where a random walk from them spends most of its time.

    hops(store, scope, ["A0"], Way(), 2, 100)
    rank(store, scope, ["A0"], Way(), Rank(depth=3, damping=.85, top_k=20))

Both ask the engine once per round, for all nodes of the round together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from cuetrail.model import UNKNOWN_WEIGHT, Direction, Node, Scope, Where, node_dict
from cuetrail.store.graph import StepQuery, Ties
from cuetrail.store.ports import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Of a hub so many of its strongest edges are followed, or more where more nodes are asked for.
EACH = 1_000
# A walk looks at the edges of so many nodes, those with the most to pass on first.
MOST_NODES = 1_000
# What may still be on its way when a walk is at its end, and what a node must have to be looked at.
LEFT_OVER = 1e-9


@dataclass(frozen=True, slots=True)
class Way:
    """Which edges are followed, which way, and which nodes they may lead to."""

    direction: Direction = "both"
    ties: Ties = field(default_factory=Ties)
    where: Where = field(default_factory=Where)

    def query(self, ids: Sequence[str], each: int = EACH) -> StepQuery:
        """The request for the edges of these nodes."""
        return StepQuery(tuple(ids), each, self.direction, self.ties, self.where)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A node that was come to: over how many hops, by which path, and how much of a walk's time is spent there.

    `path` are the ids from the start to the node, `edges` those of the edges between. A walk has no one path.
    """

    node: Node
    hops: int
    score: float | None = None
    path: tuple[str, ...] = ()
    edges: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        told = {"node": node_dict(self.node), "hops": self.hops, "score": self.score}
        return {**told, "path": list(self.path), "edges": list(self.edges)}


@dataclass(frozen=True, slots=True)
class Traversal:
    """Where a traversal came to, the nearest or the most visited first. `cut`: there was more than was asked for."""

    start: tuple[str, ...]
    mode: str
    arrivals: tuple[Arrival, ...]
    cut: bool = False

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes that were come to."""
        return tuple(one.node for one in self.arrivals)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        arrivals = [one.to_dict() for one in self.arrivals]
        return {"start": list(self.start), "mode": self.mode, "cut": self.cut, "arrivals": arrivals}


def hops(store: Store, scope: Scope, start: Sequence[str], way: Way, max_hops: int, limit: int) -> Traversal:
    """All nodes at most so many hops away, the start itself left out: nearer ones first, then by the weight of the
    edge that leads to them, then newer, then by id.
    """
    paths: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {id_: ((id_,), ()) for id_ in start}
    found: list[Arrival] = []
    frontier, cut, most = list(start), False, max(EACH, limit)
    for hop in range(1, max_hops + 1):
        weights: dict[str, float] = {}
        around = store.steps(scope, way.query(frontier, most + 1))
        cut = cut or any(len(some) > most for some in around.values())
        for id_ in frontier:
            path, edges = paths[id_]
            for step in around.get(id_, []):
                if step.other not in paths:
                    paths[step.other] = ((*path, step.other), (*edges, step.edge.id))
                    weights[step.other] = UNKNOWN_WEIGHT if step.edge.weight is None else step.edge.weight
        nodes = store.get(scope, list(weights))
        order = sorted(nodes.values(), key=lambda node: (-weights[node.id], -node.at, node.id))
        found += [Arrival(node, hop, None, *paths[node.id]) for node in order]
        if len(found) > limit or not weights:
            break
        frontier = [node.id for node in order]
    return Traversal(tuple(start), "hops", tuple(found[: max(limit, 0)]), cut or len(found) > limit)


class Hops(NamedTuple):
    """How far a traversal by hops goes: up to `max_hops` edges away, to at most `limit` nodes."""

    max_hops: int
    limit: int


@dataclass(frozen=True, slots=True)
class Rank:
    """How far a walk goes from its seeds, how likely each step goes on rather than home, and how many nodes count."""

    depth: int = 3
    damping: float = 0.85
    top_k: int = 20


def rank(store: Store, scope: Scope, seeds: Sequence[str], way: Way, how: Rank) -> Traversal:
    """The nodes on which a walk is most often that starts at the seeds and at each step may go home (PageRank,
    personalised). It goes along an edge as often as the edge weighs, and looks no further than `depth` hops.

    What it would find beyond that is left out, so a score is never too large; where all that can be reached is within
    the depth and no more than MOST_NODES nodes, it is exact.
    """
    walk = _Walk(seeds, how)
    frontier = list(seeds)
    for _ in range(how.depth + 1):
        if not frontier:
            break
        around = store.steps(scope, way.query(frontier))
        for id_ in frontier:
            steps = [
                (s.other, s.edge.id, UNKNOWN_WEIGHT if s.edge.weight is None else s.edge.weight) for s in around[id_]
            ]
            walk.learn(id_, sorted(steps))
        walk.push()
        frontier = walk.frontier()
    scores = walk.scores()
    best = sorted(scores.values(), reverse=True)[: max(how.top_k, 0)]
    nodes = store.get(scope, [id_ for id_, score in scores.items() if best and score >= best[-1]])
    order = sorted(nodes.values(), key=lambda node: (-scores[node.id], -node.at, node.id))[: max(how.top_k, 0)]
    arrivals = tuple(Arrival(node, walk.distance[node.id], scores[node.id]) for node in order)
    return Traversal(tuple(seeds), "ppr", arrivals, len(scores) > len(arrivals))


class _Walk:
    """The state of a walk: which nodes and whose edges are known, what has settled where, and what is on its way."""

    def __init__(self, seeds: Sequence[str], how: Rank) -> None:
        self.how, self.seeds = how, len(seeds)
        self.number = {id_: n for n, id_ in enumerate(seeds)}
        self.distance = dict.fromkeys(seeds, 0)
        self._known: set[str] = set()
        self._from: list[int] = []
        self._to: list[int] = []
        self._share: list[float] = []
        self._dead: list[int] = []
        self._settled: list[float] = []
        self._moving: list[float] = [1 / self.seeds] * self.seeds

    def learn(self, id_: str, steps: Sequence[tuple[str, str, float]]) -> None:
        """Take in the edges of a node: other end, edge and weight of each, in a fixed order."""
        self._known.add(id_)
        here, total = self.number[id_], sum(weight for _, _, weight in steps)
        if not steps:
            self._dead.append(here)
        for other, _, weight in steps:
            if other not in self.number:
                self.number[other] = len(self.number)
                self.distance[other] = self.distance[id_] + 1
            self._from.append(here)
            self._to.append(self.number[other])
            self._share.append(weight / total)

    def push(self) -> None:
        """Move what is on its way at nodes whose edges are known, until next to nothing is."""
        import numpy as np

        count = len(self.number)
        settled, waiting = _padded(self._settled, count), _padded(self._moving, count)
        known = np.zeros(count, np.bool_)
        known[[self.number[id_] for id_ in self._known]] = True
        home = np.zeros(count)
        home[: self.seeds] = 1 / self.seeds
        sources, targets, share = np.array(self._from, np.int64), np.array(self._to, np.int64), np.array(self._share)
        while True:
            moving = np.where(known, waiting, 0.0)
            if moving.sum() <= LEFT_OVER / 10:
                break
            settled += (1 - self.how.damping) * moving
            onward = np.bincount(targets, moving[sources] * share, count) if len(sources) else np.zeros(count)
            # Who cannot go on goes home.
            onward += moving[self._dead].sum() * home
            waiting = np.where(known, 0.0, waiting) + self.how.damping * onward
        self._settled, self._moving = settled.tolist(), waiting.tolist()

    def frontier(self) -> list[str]:
        """The nodes whose edges to ask for next, those with the most to pass on first."""
        waiting = [
            (-self._moving[n], id_)
            for id_, n in self.number.items()
            if id_ not in self._known and self.distance[id_] <= self.how.depth and self._moving[n] > LEFT_OVER
        ]
        return [id_ for _, id_ in sorted(waiting)[: max(MOST_NODES - len(self._known), 0)]]

    def scores(self) -> dict[str, float]:
        """How much has settled where, within the depth."""
        at_once = 1 - self.how.damping
        return {
            id_: self._settled[n] + (0.0 if id_ in self._known else at_once * self._moving[n])
            for id_, n in self.number.items()
            if self.distance[id_] <= self.how.depth
        }


def _padded(values: Sequence[float], count: int) -> NDArray[Any]:
    import numpy as np

    return np.array([*values, *[0.0] * (count - len(values))])
