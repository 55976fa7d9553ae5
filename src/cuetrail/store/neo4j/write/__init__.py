"""Write.

May import: errors, model, store.dream, store.neo4j.connection, store.neo4j.facts, store.neo4j.filters, store.neo4j.ids,
store.neo4j.index, store.neo4j.reader, store.neo4j.rows, store.shared, store.vector_space, store.write.
"""
