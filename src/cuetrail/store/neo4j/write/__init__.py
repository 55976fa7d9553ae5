"""Writing to the server: one transaction, with a module for each kind of record.

May import: model, store.dream, store.neo4j.changelog, store.neo4j.connection, store.neo4j.ids, store.neo4j.index,
store.neo4j.reader, store.neo4j.rows, store.shared, store.transaction, store.vector_space, text.
"""
