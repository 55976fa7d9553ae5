"""Writing to Neo4j: one transaction with a table each for nodes, edges, facts and tombstones; usage of nodes.

May import: model, store.dream, store.neo4j.changelog, store.neo4j.connection, store.neo4j.fact_ranks,
store.neo4j.filters, store.neo4j.ids, store.neo4j.index, store.neo4j.reader, store.neo4j.rows, store.neo4j.settings,
store.shared, store.transaction, store.vector_space, text.
"""
