"""A graph of one's own on a Neo4j server, read in place through a mapping. Nothing is written.

May import: errors, model, store.graph, store.neo4j.connection, text.
"""

from cuetrail.store.neo4j.mapped.graph import MappedGraph

__all__ = ["MappedGraph"]
