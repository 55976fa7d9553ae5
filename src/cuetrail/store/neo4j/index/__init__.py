"""Searches on the server's indexes: text, vectors, labels, and the graph of edges.

May import: errors, formulas, model, store.graph, store.neo4j.changelog, store.neo4j.connection, store.neo4j.ids,
store.neo4j.reader, store.neo4j.rows, store.neo4j.schema, store.search, store.shared, store.vector_space, text.
"""
