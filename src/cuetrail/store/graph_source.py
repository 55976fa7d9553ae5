"""A graph of one's own: the small class that a graph in any store implements, and energy and steps computed from it.

    class Friends(GraphSource):
        def edges(self, ids):
            return {id_: NodeEdges([GraphEdge(f"{id_}-{other}", other, 0.8) for other in friends[id_]]) for id_ in ids}

`SourceGraph` makes of it what activation and traversal ask of an engine. Nothing is written anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from cuetrail.errors import CuetrailError, InputError, MemoryError_
from cuetrail.formulas import tag_sim, transfer
from cuetrail.model import UNKNOWN_WEIGHT, Edge, Node, Scope
from cuetrail.store.graph import Candidate, Expanded, Expands, Frontier, Step, StepQuery, Walks, share_out

T = TypeVar("T")


class GraphEdge(NamedTuple):
    """An edge as one of its nodes sees it: `other` is the id of the node at the other end, the node itself for a loop.

    `id` tells parallel edges apart, and is the same seen from both ends. `weight` is above 0 and at most 1; None counts
    as .01, and a larger one as 1. Edges without `outgoing` lead from `other` to this node; energy flows both ways.
    """

    id: str
    other: str
    weight: float | None = None
    tags: Sequence[str] = ()
    outgoing: bool = True
    kind: str = "relates"


class NodeEdges(NamedTuple):
    """The edges of a node, in any order: each parallel edge, and a loop once. `degree` is their number; give it if
    `edges` leaves some out.
    """

    edges: Sequence[GraphEdge]
    degree: int | None = None


class GraphSource(Protocol):
    """A graph in a store of your own. Implement `edges`; inherit or replace the rest."""

    def edges(self, ids: Sequence[str], /) -> Mapping[str, NodeEdges]:
        """Returns the edges of each of these nodes; an id that no node has is left out, and a node without edges is
        not. It is called once per level, with all nodes of the level.
        """
        ...

    def nodes(self, ids: Sequence[str], /) -> Mapping[str, Node]:
        """Returns the nodes with these ids, by id: their names, texts and times, which results show. Unless it is
        replaced, nodes that `edges` knows, with an id alone.
        """
        return {id_: Node(id_) for id_ in self.edges(ids)}

    def search(self, words: str, limit: int, /) -> Sequence[tuple[str, float]]:  # noqa: ARG002  # of those who replace it
        """Returns the ids of the nodes whose texts fit these words best, with their BM25, for activations that begin
        with a question. Raises InputError if this graph cannot be searched.
        """
        raise InputError('this graph cannot be searched: give ids to start from, such as [("A0", 0.9)]')


class OwnGraph(Expands, Walks, Protocol):
    """The methods by which a graph that is not a memory is activated, traversed and read. A `scope` is ignored."""

    def search(self, words: str, limit: int, /) -> Sequence[tuple[str, float]]:
        """Returns the ids of the nodes whose texts fit these words best, with their BM25. Raises InputError."""

    def close(self) -> None:
        """Closes connections."""


def usable_weight(weight: object) -> float | None:
    """Returns a weight within 0 and 1, None for one that is missing or no number.

    >>> usable_weight(None), usable_weight(float("nan")), usable_weight(7), usable_weight(-1)
    (None, None, 1.0, 0.0)
    """
    if isinstance(weight, bool) or not isinstance(weight, int | float) or math.isnan(weight):
        return None
    return min(max(float(weight), 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class SourceGraph:
    """A graph source as activation and traversal use it. Each request is one call of `source.edges`."""

    source: GraphSource

    def expand(self, _scope: Scope, /, level: Frontier) -> Expanded:
        """Returns the nodes energy can flow to next. Raises MemoryError_ if the source fails."""
        around = self._edges(dict.fromkeys(node.id for node in level.nodes))
        offered = [
            _best_steps(around[node.id], node.energy, level, level.visited[node.seed])[:most]
            if node.id in around
            else []
            for node, most in zip(level.nodes, level.wanted(), strict=True)
        ]
        missing = frozenset(node.id for node in level.nodes if node.id not in around)
        return Expanded(tuple(map(tuple, share_out(offered, level))), missing)

    def steps(self, _scope: Scope, /, query: StepQuery) -> dict[str, list[Step]]:
        """Returns the edges of each node, the strongest first. Raises MemoryError_ if the source fails."""
        around = self._edges(dict.fromkeys(query.ids))
        return {id_: _steps(id_, around[id_], query) if id_ in around else [] for id_ in query.ids}

    def get(self, _scope: Scope, /, ids: Sequence[str]) -> dict[str, Node]:
        """Returns the nodes with these ids that exist, in this order. Raises MemoryError_ if the source fails."""
        asked = list(dict.fromkeys(ids))
        found: dict[str, Any] = _answer("nodes", lambda: dict(self.source.nodes(asked)))
        wrong = next((node for node in found.values() if not isinstance(node, Node)), None)
        if wrong is not None:
            raise MemoryError_(f"`nodes` must return Node objects, not {wrong!r:.60}")
        return {id_: found[id_] for id_ in asked if id_ in found}

    def search(self, words: str, limit: int, /) -> Sequence[tuple[str, float]]:
        """Returns the ids of the nodes whose texts fit these words best. Raises InputError if it cannot search."""
        return _answer("search", lambda: list(self.source.search(words, limit)))[:limit]

    def close(self) -> None:
        """Does nothing: the source belongs to the caller."""

    def _edges(self, ids: Iterable[str]) -> dict[str, NodeEdges]:
        asked = list(ids)
        found: dict[str, Any] = _answer("edges", lambda: dict(self.source.edges(asked)))
        for id_, edges in found.items():
            if not isinstance(edges, NodeEdges):
                raise MemoryError_(f"`edges` must return a NodeEdges for each id, not {edges!r:.60} for {id_!r:.60}")
        return found


def _answer(what: str, ask: Callable[[], T]) -> T:
    """Returns the answer of a source. Raises MemoryError_ for what its code raises, except for cuetrail's errors."""
    try:
        return ask()
    except CuetrailError:
        raise
    except Exception as error:  # a source is the caller's own code
        raise MemoryError_(
            f"`{what}` of the graph failed ({type(error).__name__}: {error}): mend the source"
        ) from error


def _best_steps(around: NodeEdges, energy: float, level: Frontier, visited: Set[str]) -> list[Candidate]:
    """Returns the neighbours that get energy along these edges, each by its best edge; most energy first."""
    degree = len(around.edges) if around.degree is None else around.degree
    best: dict[str, Candidate] = {}
    for edge in around.edges:
        if edge.other in visited:
            continue
        weight, tags = usable_weight(edge.weight), tuple(dict.fromkeys(edge.tags))
        sim = tag_sim(tags, level.tags, level.tag_sim_floor)
        passed = transfer(energy, UNKNOWN_WEIGHT if weight is None else weight, max(degree, 1), sim)
        known = best.get(edge.other)
        if passed > level.min_activation and (known is None or (-passed, edge.id) < (-known.energy, known.edge)):
            best[edge.other] = Candidate(edge.other, passed, edge.id, edge.kind, weight, tags, edge.outgoing)
    return sorted(best.values(), key=lambda one: (-one.energy, one.id, one.edge))


def _steps(id_: str, around: NodeEdges, query: StepQuery) -> list[Step]:
    """Returns the edges of a node that pass the filters of a query, the strongest first, at most `query.each`."""
    found = []
    for one in around.edges:
        weight, tags = usable_weight(one.weight), tuple(dict.fromkeys(one.tags))
        ends = (id_, one.other) if one.outgoing else (one.other, id_)
        edge = Edge(one.id, *ends, kind=one.kind, weight=weight, tags=tags, type=one.kind)
        fits = query.direction == "both" or one.outgoing == (query.direction == "out") or one.other == id_
        # An edge of weight 0 passes nothing on, and a random walk never takes it.
        if fits and weight != 0 and query.ties.passes(edge):
            found.append(Step(edge, one.other, one.outgoing))
    return sorted(found, key=strongest_first)[: query.each]


def strongest_first(step: Step) -> tuple[float, str, str]:
    """Returns the key that orders the edges of a node: by weight, then neighbour id, then edge id."""
    return -(UNKNOWN_WEIGHT if step.edge.weight is None else step.edge.weight), step.other, step.edge.id
