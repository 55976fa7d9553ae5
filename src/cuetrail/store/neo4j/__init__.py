"""The engine on a Neo4j server: nodes and edges of a memory are nodes and relationships there."""

from cuetrail.store.neo4j.engine import Neo4jStore

__all__ = ["Neo4jStore"]
