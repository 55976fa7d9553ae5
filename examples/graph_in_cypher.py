"""Activates a graph by Cypher of your own, where a mapping is not enough: here an edge's weight is computed.

Run it with NEO4J_URI, NEO4J_USER and NEO4J_PASSWORD set: python examples/graph_in_cypher.py ID
For labels, types and properties that only have other names, use a mapping: docs/own-graph.md.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from neo4j import Driver, GraphDatabase, RoutingControl

from cuetrail import Graph
from cuetrail.graph import GraphEdge, GraphSource, NodeEdges

EDGES = """UNWIND $ids AS id MATCH (n:Memory {id: id})
RETURN id, [(n)-[e:RELATES]-(m:Memory) |
  [elementId(e), m.id, e.strength / 10.0 * e.trust, e.topics, startNode(e) = n, type(e)]]"""


class CypherGraph(GraphSource):
    """The memories of a database; an edge weighs its strength, of 10, times the trust in it."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver

    def edges(self, ids: Sequence[str], /) -> Mapping[str, NodeEdges]:
        """Returns the edges of each node, by one query for all of them, in a read transaction."""
        found = self.driver.execute_query(EDGES, ids=list(ids), routing_=RoutingControl.READ).records
        return {id_: NodeEdges([GraphEdge(*edge) for edge in edges]) for id_, edges in found}


def main(seed: str) -> None:
    """Prints where energy flows from a node."""
    login = (os.environ["NEO4J_USER"], os.environ["NEO4J_PASSWORD"])
    with GraphDatabase.driver(os.environ["NEO4J_URI"], auth=login) as driver, Graph(CypherGraph(driver)) as graph:
        for found in graph.activate([(seed, 0.9)], tags=["camp"], max_depth=3):
            for path in found.paths:
                print(" -> ".join(path.ids), f"{path.hops[-1].energy:.3f}")


if __name__ == "__main__":
    main(sys.argv[1])
