"""Edges, notes and mentions of nodes, relationships by words and vectors, and spreading activation.

May import: model, store.graph, store.neo4j.connection, store.neo4j.filters, store.neo4j.ids, store.neo4j.index.vector,
store.neo4j.reader, store.neo4j.rows, store.read, store.search, store.shared, store.vector_space, text.
"""
