"""The engine on a Neo4j server: nodes and edges of a memory are nodes and relationships there.

May import: errors, formulas, model, store.dream_port, store.edge_query, store.expansion, store.listing, store.ports,
store.relationship_query, store.shared, text.
"""

from cuetrail.store.neo4j.engine import Neo4jStore

__all__ = ["Neo4jStore"]
