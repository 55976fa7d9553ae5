"""A graph of one's own: activates, traverses and reads a graph that lies elsewhere, in place. Nothing is written.

May import: config, engines, errors, formulas, model, recall, store, validation.
"""

from cuetrail.graph.graph import Graph
from cuetrail.model.graph_mapping import GraphCheck, GraphFinding, GraphMapping
from cuetrail.store.graph_source import GraphEdge, GraphSource, NodeEdges

__all__ = ["Graph", "GraphCheck", "GraphEdge", "GraphFinding", "GraphMapping", "GraphSource", "NodeEdges"]
