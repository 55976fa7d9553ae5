"""Traversal of edges: all nodes within some hops. `pagerank` ranks them by a random walk instead.

    nodes_within_hops(store, scope, ["A0"], TraversalFilter(), 2, 100)

It makes one request to the engine per level.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from cuetrail.model import UNKNOWN_WEIGHT, Direction, Node, Scope, Where, node_dict
from cuetrail.store.graph import StepQuery, Ties
from cuetrail.store.ports import Store

if TYPE_CHECKING:
    pass

# How many of the strongest edges of a node are followed; more if the caller wants more nodes.
EDGES_PER_NODE = 1_000


@dataclass(frozen=True, slots=True)
class TraversalFilter:
    """Which edges are followed, in which direction, and to which nodes."""

    direction: Direction = "both"
    ties: Ties = field(default_factory=Ties)
    where: Where = field(default_factory=Where)

    def query(self, ids: Sequence[str], each: int = EDGES_PER_NODE) -> StepQuery:
        """Returns the request for the edges of these nodes."""
        return StepQuery(tuple(ids), each, self.direction, self.ties, self.where)


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


def nodes_within_hops(
    store: Store, scope: Scope, start: Sequence[str], edges: TraversalFilter, max_hops: int, limit: int
) -> Traversal:
    """Returns the nodes at most `max_hops` away, without the start: nearer first, then by the weight of the edge that
    leads to them, then newer, then by id.
    """
    paths: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {id_: ((id_,), ()) for id_ in start}
    found: list[Arrival] = []
    frontier, cut, most = list(start), False, max(EDGES_PER_NODE, limit)
    for hop in range(1, max_hops + 1):
        weights: dict[str, float] = {}
        around = store.steps(scope, edges.query(frontier, most + 1))
        cut = cut or any(len(some) > most for some in around.values())
        for id_ in frontier:
            path, path_edges = paths[id_]
            for step in around.get(id_, []):
                if step.other not in paths:
                    paths[step.other] = ((*path, step.other), (*path_edges, step.edge.id))
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
