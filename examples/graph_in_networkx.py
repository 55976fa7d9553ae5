"""Activates a graph that lies in networkx, in place. Run it: python examples/graph_in_networkx.py

Any other store works the same way: one class with one method, which is called once per level of an activation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx

from cuetrail import Graph, Node
from cuetrail.graph import GraphEdge, GraphSource, NodeEdges


class NetworkxGraph(GraphSource):
    """An undirected graph of networkx, with `weight` and `tags` on its edges."""

    def __init__(self, graph: Any) -> None:
        self.graph = graph

    def edges(self, ids: Sequence[str], /) -> Mapping[str, NodeEdges]:
        """Returns the edges of each node; an id that no node has is left out."""
        return {id_: NodeEdges([self._edge(*edge) for edge in self.graph.edges(id_, data=True)])
                for id_ in ids if id_ in self.graph}  # fmt: skip

    def _edge(self, node: str, other: str, data: Mapping[str, Any]) -> GraphEdge:
        return GraphEdge("-".join(sorted((node, other))), other, data.get("weight"), data.get("tags", ()))

    def nodes(self, ids: Sequence[str], /) -> Mapping[str, Node]:
        """Returns the names that results show. Without this method they show ids."""
        return {id_: Node(id_, name=self.graph.nodes[id_].get("name")) for id_ in ids if id_ in self.graph}


def main() -> None:
    """Builds a small graph and prints where energy flows from one of its nodes."""
    camp = nx.Graph()
    camp.add_node("A0", name="The receiver went silent")
    camp.add_node("A1", name="Frost in the connector")
    camp.add_node("A2", name="The tea ran out")
    camp.add_edge("A0", "A1", weight=0.9, tags=["radio", "cold"])
    camp.add_edge("A0", "A2", weight=0.8, tags=["stores"])
    with Graph(NetworkxGraph(camp)) as graph:
        for found in graph.activate([("A0", 0.9)], tags=["radio"]):
            for path in found.paths:
                print(" -> ".join(path.ids), f"{path.hops[-1].energy:.3f}")
        print([node.name for node in graph.traverse("A1", max_hops=2).nodes])


if __name__ == "__main__":
    main()
