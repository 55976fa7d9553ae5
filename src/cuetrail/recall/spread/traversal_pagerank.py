"""Traversal of edges: all nodes within some hops, or those that a random walk from the start visits most (PageRank).

    nodes_within_hops(store, scope, ["A0"], TraversalFilter(), 2, 100)
    personalised_pagerank(store, scope, ["A0"], TraversalFilter(), PageRank(depth=3, damping=.85, top_k=20))

Both make one request to the engine per level.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from cuetrail.facts.find_node import require_node
from cuetrail.model import UNKNOWN_WEIGHT, Direction, Node, Scope, Where, node_dict
from cuetrail.store.graph import EdgeFilter, StepQuery, Walks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cuetrail.session import Session

# How many of the strongest edges of a node are followed; more if the caller wants more nodes.
EDGES_PER_NODE = 1_000
# How many nodes PageRank reads the edges of, those with the most mass first.
MOST_NODES = 1_000
# PageRank ends when less mass than this is unsettled; a node with less is not expanded.
TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class TraversalFilter:
    """The edges that a traversal follows (`ties`), their direction, and the nodes it may reach (`where`)."""

    direction: Direction = "both"
    ties: EdgeFilter = field(default_factory=EdgeFilter)
    where: Where = field(default_factory=Where)

    def query(self, ids: Sequence[str], each: int = EDGES_PER_NODE) -> StepQuery:
        """Returns the request for the edges of these nodes."""
        return StepQuery(tuple(ids), each, self.direction, self.ties, self.where)


class Hops(NamedTuple):
    """The extent of a traversal by hops: up to `max_hops` edges away, at most `limit` nodes."""

    max_hops: int
    limit: int


@dataclass(frozen=True, slots=True)
class PageRank:
    """Options of PageRank: hops from the seeds, the probability to go on rather than restart, and how many results."""

    depth: int = 3
    damping: float = 0.85
    top_k: int = 20


@dataclass(frozen=True, slots=True)
class Arrival:
    """A node that was reached, after how many hops, and its PageRank, if that was computed.

    `path` are the ids from the start to the node, `edges` the ids of the edges between; both are empty for PageRank.
    """

    node: Node
    hops: int
    score: float | None = None
    path: tuple[str, ...] = ()
    edges: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        data = {"node": node_dict(self.node), "hops": self.hops, "score": self.score}
        return {**data, "path": list(self.path), "edges": list(self.edges)}


@dataclass(frozen=True, slots=True)
class Traversal:
    """The nodes that were reached, nearest or highest PageRank first. `cut`: there were more than the limit."""

    start: tuple[str, ...]
    mode: str
    arrivals: tuple[Arrival, ...]
    cut: bool = False

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes that were reached."""
        return tuple(one.node for one in self.arrivals)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        arrivals = [one.to_dict() for one in self.arrivals]
        return {"start": list(self.start), "mode": self.mode, "cut": self.cut, "arrivals": arrivals}


def traverse(
    session: Session,
    start: Iterable[str],
    edges: TraversalFilter,
    extent: Hops | PageRank,
    record_access: bool,
    now: int,
) -> Traversal:
    """Returns the nodes that edges lead to from the start nodes (ids or names), by hops or by PageRank.

    With `record_access`, these nodes count as used. Raises NotFound if a start does not exist.
    """
    store, scope = session.store, session.scope
    starts = list(dict.fromkeys(require_node(store, scope, one) for one in start))
    if isinstance(extent, Hops):
        found = nodes_within_hops(store, scope, starts, edges, *extent)
    else:
        found = personalised_pagerank(store, scope, starts, edges, extent)
    if record_access and found.arrivals:
        store.touch(scope, [node.id for node in found.nodes], now)
    return found


def nodes_within_hops(
    graph: Walks, scope: Scope, start: Sequence[str], edges: TraversalFilter, max_hops: int, limit: int
) -> Traversal:
    """Returns the nodes at most `max_hops` away, without the start: nearer first, then by the weight of the edge that
    leads to them, then newer, then by id.
    """
    paths: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {id_: ((id_,), ()) for id_ in start}
    found: list[Arrival] = []
    frontier, cut, most = list(start), False, max(EDGES_PER_NODE, limit)
    for hop in range(1, max_hops + 1):
        weights: dict[str, float] = {}
        around = graph.steps(scope, edges.query(frontier, most + 1))
        cut = cut or any(len(some) > most for some in around.values())
        for id_ in frontier:
            path, path_edges = paths[id_]
            for step in around.get(id_, []):
                if step.other not in paths:
                    paths[step.other] = ((*path, step.other), (*path_edges, step.edge.id))
                    weights[step.other] = UNKNOWN_WEIGHT if step.edge.weight is None else step.edge.weight
        nodes = graph.get(scope, list(weights))
        order = sorted(nodes.values(), key=lambda node: (-weights[node.id], -node.at, node.id))
        found += [Arrival(node, hop, None, *paths[node.id]) for node in order]
        if len(found) > limit or not weights:
            break
        frontier = [node.id for node in order]
    return Traversal(tuple(start), "hops", tuple(found[: max(limit, 0)]), cut or len(found) > limit)


# --- personalised PageRank, by forward push


def personalised_pagerank(
    graph: Walks, scope: Scope, seeds: Sequence[str], edges: TraversalFilter, how: PageRank
) -> Traversal:
    """Returns the `top_k` nodes with the highest personalised PageRank: how often a random walk visits a node that
    restarts at the seeds and follows edges in proportion to their weights.

    Edges beyond `depth` hops are not followed, so scores may be too low but never too high. They are exact if all that
    is reachable lies within the depth and is at most MOST_NODES nodes.
    """
    walk = _RandomWalk(seeds, how)
    frontier = list(seeds)
    for _ in range(how.depth + 1):
        if not frontier:
            break
        around = graph.steps(scope, edges.query(frontier))
        for id_ in frontier:
            steps = [
                (s.other, s.edge.id, UNKNOWN_WEIGHT if s.edge.weight is None else s.edge.weight) for s in around[id_]
            ]
            walk.add_edges(id_, sorted(steps))
        walk.push()
        frontier = walk.frontier()
    scores = walk.scores()
    best = sorted(scores.values(), reverse=True)[: max(how.top_k, 0)]
    nodes = graph.get(scope, [id_ for id_, score in scores.items() if best and score >= best[-1]])
    order = sorted(nodes.values(), key=lambda node: (-scores[node.id], -node.at, node.id))[: max(how.top_k, 0)]
    arrivals = tuple(Arrival(node, walk.distance[node.id], scores[node.id]) for node in order)
    return Traversal(tuple(seeds), "ppr", arrivals, len(scores) > len(arrivals))


class _RandomWalk:
    """The state of a PageRank by forward push: the edges read so far, and the probability mass of each node, settled
    (part of its score) and unsettled (still to be distributed).
    """

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
        """Marks a node as expanded and adds its edges, each as the id of the other node, the edge id and the weight."""
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
        """Returns the PageRank of each node within the depth, by id."""
        settling = 1 - self.how.damping
        return {
            id_: self._settled[n] + (0.0 if id_ in self._expanded else settling * self._unsettled[n])
            for id_, n in self.number.items()
            if self.distance[id_] <= self.how.depth
        }


def _padded(values: Sequence[float], count: int) -> NDArray[Any]:
    import numpy as np

    return np.array([*values, *[0.0] * (count - len(values))])
