"""Reads of records for one scope: edges, facts, lists, the partition that is written to, and consistent views.

May import: formulas, model, store.graph, store.neo4j.changelog, store.neo4j.connection, store.neo4j.ids,
store.neo4j.index, store.neo4j.reader, store.neo4j.rows, store.neo4j.schema, store.read,
store.shared, store.vector_space, text.
"""
