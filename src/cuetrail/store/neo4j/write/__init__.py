"""How Neo4j stores a batch that the package `write` made: the transaction, and the tables that it changes.

May import: model, store.dream, store.neo4j.changelog, store.neo4j.connection, store.neo4j.fact_ranks,
store.neo4j.ids, store.neo4j.index, store.neo4j.reader, store.neo4j.rows, store.neo4j.settings, store.shared,
store.transaction, store.vector_space, text.
"""
