"""The façade of a graph of one's own: every verb with its signature, what it does, and a call that does it."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from cuetrail import engines
from cuetrail.config import without_password
from cuetrail.errors import InputError, NotFound
from cuetrail.formulas import seed_score
from cuetrail.model import Activation, Claim, Direction, Node, Scope, Where
from cuetrail.model.graph_mapping import GraphCheck, GraphMapping
from cuetrail.recall.render import graph as render
from cuetrail.recall.spread.activation import Stream, activate_seeds
from cuetrail.recall.spread.traversal_pagerank import Hops, Traversal, nodes_within_hops, personalised_pagerank
from cuetrail.store.graph_source import GraphSource, OwnGraph, SourceGraph
from cuetrail.validation import queries as valid
from cuetrail.validation.arguments import checked, words
from cuetrail.validation.graph_mapping import load_mapping, make_mapping

EDGE_FILTERS = ("relationship_types", "exclude_relationship_types")
# A graph has no users; the parts shared with memories ask for a scope.
_ANY = Scope()


class Graph:
    """A graph that lies elsewhere, read in place. Use it as a context manager or call `close`.

    `source` is a database of a Neo4j server, `neo4j://user@host:7687/database`, or a GraphSource: a small class of
    yours. The `mapping` says which labels, relationship types and properties of the database mean what: a GraphMapping,
    its fields as a mapping, or the path of a TOML file. Nothing is copied, and nothing written.
    """

    def __init__(
        self, source: str | GraphSource, mapping: GraphMapping | Mapping[str, Any] | str | Path | None = None
    ) -> None:
        self.mapping: GraphMapping | None = None
        if isinstance(source, str):
            self.mapping = load_mapping(mapping) if isinstance(mapping, str | Path) else make_mapping(mapping or {})
            self.address: str | None = without_password(source)
            self._graph: OwnGraph = engines.open_graph(source, self.mapping)
            return
        if mapping is not None:
            raise InputError("a mapping is for a Neo4j database: a GraphSource maps its graph itself, so leave it out")
        if not callable(getattr(source, "edges", None)):
            raise InputError(
                "a graph is an address such as neo4j://user@host:7687/database, or a GraphSource with a method "
                f"`edges`, not {source!r:.60}"
            )
        self.address = None
        self._graph = SourceGraph(source)

    def __enter__(self) -> Graph:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection to the server."""
        self._graph.close()

    @checked
    def activate(
        self, seeds: str | Iterable[str | tuple[str, float]], *, tags: Iterable[str] = (), max_depth: int = 5,
        max_branches: int = 3, min_activation: float = 0.005, tag_sim_floor: float = 0.15, claim: Claim = "energy",
        limit: int = 5, stop: threading.Event | None = None,
    ) -> Stream:  # fmt: skip
        """Spread energy from seeds along edges; yield one result per seed, as soon as its walk has ended.

        Seeds are ids with their initial energy (1 if none is given), or a question that finds at most `limit` of them
        by the full-text index of the mapping. `tags` are compared with those of edges as they are written. Each level
        is one request. Closing the stream, or `stop`, ends the walk.
        """
        flow = valid.make_flow(max_depth, max_branches, min_activation, tag_sim_floor, claim)
        energies = self._found(seeds, limit) if isinstance(seeds, str) else valid.make_seeds(seeds)
        asked = tuple(dict.fromkeys(words("tags", tags)))
        return activate_seeds(self._graph, _ANY, energies, asked, flow, Where(), stop)

    def _found(self, question: str, limit: int) -> dict[str, float]:
        """Returns the ids that a question finds in the full-text index, with the initial energy of each, made from its
        BM25.
        """
        return {id_: seed_score(bm25, None, 1.0, 0.0) for id_, bm25 in self._graph.search(question, max(limit, 0))}

    @checked
    def traverse(
        self, start: str | Iterable[str], *, mode: Literal["hops", "ppr"] = "hops", direction: Direction = "both",
        max_hops: int = 1, depth: int = 3, damping: float = 0.85, top_k: int = 20, limit: int = 100,
        relationship_filters: Mapping[str, Any] | None = None,
    ) -> Traversal:  # fmt: skip
        """Return the nodes that edges lead to from a start, given by ids: up to `max_hops` away or, with mode "ppr",
        where a random walk from the start is most often (personalised PageRank).

        `relationship_filters` are "relationship_types" and "exclude_relationship_types". Raises InputError for other
        filters, and NotFound for an unknown start.
        """
        strange = next((name for name in relationship_filters or {} if name not in EDGE_FILTERS), None)
        if strange is not None:
            raise InputError(f"there is no relationship filter {strange!r:.60} here: use {' or '.join(EDGE_FILTERS)}")
        extent = valid.make_extent(mode, max_hops, limit, depth, damping, top_k)
        edges = valid.make_traversal_filter(direction, relationship_filters, Where(), None)
        starts = list(dict.fromkeys(valid.make_starts(start)))
        there = self.nodes(*starts)
        missing = next((id_ for id_ in starts if id_ not in there), None)
        if missing is not None:
            raise NotFound(f"no node of the graph has the id {missing!r:.60}: give the id of one")
        if isinstance(extent, Hops):
            return nodes_within_hops(self._graph, _ANY, starts, edges, *extent)
        return personalised_pagerank(self._graph, _ANY, starts, edges, extent)

    @checked
    def get(self, id: str) -> Node | None:
        """Return the node with this id, None if there is none."""
        return self.nodes(id).get(id)

    @checked
    def nodes(self, *ids: str) -> dict[str, Node]:
        """Return the nodes with these ids, in this order; ids that no node has are left out."""
        return self._graph.get(_ANY, ids)

    def check(self) -> GraphCheck:
        """Return how the mapping fits the database: labels, types, properties, and which index is missing.

        Raises InputError for a GraphSource, which has no mapping.
        """
        return engines.check_graph(self._graph)

    def to_cypher(self, found: Iterable[Activation]) -> str:
        """Return a Cypher statement that draws activations in Neo4j Browser; it only reads. Raises InputError for a
        GraphSource.
        """
        if self.mapping is None:
            raise InputError("only a graph on a Neo4j server can be drawn by Cypher: use to_graph or to_context")
        return render.to_cypher(found, self.mapping)
