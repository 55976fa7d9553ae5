"""Personalised PageRank by forward push: the nodes that a random walk from the seeds visits most.

    personalised_pagerank(store, scope, ["A0"], TraversalFilter(), PageRank(depth=3, damping=.85, top_k=20))

It makes one request to the engine per level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cuetrail.model import UNKNOWN_WEIGHT, Scope
from cuetrail.recall.spread.traversal import Arrival, Traversal, TraversalFilter
from cuetrail.store.ports import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray


# How many nodes PageRank reads the edges of, those with the most mass first.
MOST_NODES = 1_000


# PageRank ends when less mass than this is unsettled; a node with less is not expanded.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class PageRank:
    """Options of PageRank: hops from the seeds, the probability to go on rather than restart, and how many results."""

    depth: int = 3
    damping: float = 0.85
    top_k: int = 20


def personalised_pagerank(
    store: Store, scope: Scope, seeds: Sequence[str], edges: TraversalFilter, how: PageRank
) -> Traversal:
    """Returns the nodes a random walk visits most that restarts at the seeds and follows edges in proportion to weight.

    Nodes beyond `depth` hops are left out, so a score is never too high. It is exact if everything reachable is within
    the depth and has at most MOST_NODES nodes.
    """
    walk = _RandomWalk(seeds, how)
    frontier = list(seeds)
    for _ in range(how.depth + 1):
        if not frontier:
            break
        around = store.steps(scope, edges.query(frontier))
        for id_ in frontier:
            steps = [
                (s.other, s.edge.id, UNKNOWN_WEIGHT if s.edge.weight is None else s.edge.weight) for s in around[id_]
            ]
            walk.add_edges(id_, sorted(steps))
        walk.push()
        frontier = walk.frontier()
    scores = walk.scores()
    best = sorted(scores.values(), reverse=True)[: max(how.top_k, 0)]
    nodes = store.get(scope, [id_ for id_, score in scores.items() if best and score >= best[-1]])
    order = sorted(nodes.values(), key=lambda node: (-scores[node.id], -node.at, node.id))[: max(how.top_k, 0)]
    arrivals = tuple(Arrival(node, walk.distance[node.id], scores[node.id]) for node in order)
    return Traversal(tuple(seeds), "ppr", arrivals, len(scores) > len(arrivals))


class _RandomWalk:
    """The state of a PageRank by forward push: known edges, and for each node its settled and its unsettled mass."""

    def __init__(self, seeds: Sequence[str], how: PageRank) -> None:
        self.how, self.seeds = how, len(seeds)
        self.number = {id_: n for n, id_ in enumerate(seeds)}
        self.distance = dict.fromkeys(seeds, 0)
        self._expanded: set[str] = set()
        self._from: list[int] = []
        self._to: list[int] = []
        self._share: list[float] = []
        self._dead_ends: list[int] = []
        self._settled: list[float] = []
        self._unsettled: list[float] = [1 / self.seeds] * self.seeds

    def add_edges(self, id_: str, steps: Sequence[tuple[str, str, float]]) -> None:
        """Adds the edges of a node: other node, edge id and weight of each, in a fixed order."""
        self._expanded.add(id_)
        here, total = self.number[id_], sum(weight for _, _, weight in steps)
        if not steps:
            self._dead_ends.append(here)
        for other, _, weight in steps:
            if other not in self.number:
                self.number[other] = len(self.number)
                self.distance[other] = self.distance[id_] + 1
            self._from.append(here)
            self._to.append(self.number[other])
            self._share.append(weight / total)

    def push(self) -> None:
        """Moves mass from expanded nodes along their edges until less than the tolerance is unsettled there."""
        import numpy as np

        count = len(self.number)
        settled, unsettled = _padded(self._settled, count), _padded(self._unsettled, count)
        expanded = np.zeros(count, np.bool_)
        expanded[[self.number[id_] for id_ in self._expanded]] = True
        restart = np.zeros(count)
        restart[: self.seeds] = 1 / self.seeds
        sources, targets, share = np.array(self._from, np.int64), np.array(self._to, np.int64), np.array(self._share)
        while True:
            moving = np.where(expanded, unsettled, 0.0)
            if moving.sum() <= TOLERANCE / 10:
                break
            settled += (1 - self.how.damping) * moving
            moved = np.bincount(targets, moving[sources] * share, count) if len(sources) else np.zeros(count)
            # At a dead end the walk restarts.
            moved += moving[self._dead_ends].sum() * restart
            unsettled = np.where(expanded, 0.0, unsettled) + self.how.damping * moved
        self._settled, self._unsettled = settled.tolist(), unsettled.tolist()

    def frontier(self) -> list[str]:
        """Returns the nodes to expand next, those with the most unsettled mass first."""
        waiting = [
            (-self._unsettled[n], id_)
            for id_, n in self.number.items()
            if id_ not in self._expanded and self.distance[id_] <= self.how.depth and self._unsettled[n] > TOLERANCE
        ]
        return [id_ for _, id_ in sorted(waiting)[: max(MOST_NODES - len(self._expanded), 0)]]

    def scores(self) -> dict[str, float]:
        """Returns the mass of each node within the depth."""
        settling = 1 - self.how.damping
        return {
            id_: self._settled[n] + (0.0 if id_ in self._expanded else settling * self._unsettled[n])
            for id_, n in self.number.items()
            if self.distance[id_] <= self.how.depth
        }


def _padded(values: Sequence[float], count: int) -> NDArray[Any]:
    import numpy as np

    return np.array([*values, *[0.0] * (count - len(values))])
