"""Vector spaces, and the search for nearest vectors on the server's vector index.

May import: errors, model, store.neo4j.connection, store.neo4j.filters, store.neo4j.ids, store.neo4j.reader,
store.neo4j.rows, store.vector_space.
"""
