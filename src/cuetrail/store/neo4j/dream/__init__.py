"""The dream port on Neo4j: what a pass reads and writes, and its ledger.

May import: errors, model, store.dream, store.neo4j.changelog, store.neo4j.connection, store.neo4j.filters,
store.neo4j.ids, store.neo4j.index, store.neo4j.read, store.neo4j.reader, store.neo4j.rows, store.neo4j.write,
store.shared, store.write, text.
"""
