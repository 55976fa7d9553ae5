"""The engine on a Neo4j server: nodes and edges of a memory are nodes and relationships there.

May import: errors, formulas, model, store.dream, store.graph, store.ports, store.read, store.search, store.shared,
store.transaction, store.upkeep, store.vector_space, store.write, text.
"""

from cuetrail.store.neo4j.engine import Neo4jStore

__all__ = ["Neo4jStore"]
