"""Facts.

May import: model, store.neo4j.connection, store.neo4j.ids, store.neo4j.read, store.neo4j.rows, store.neo4j.schema,
store.neo4j.upkeep, store.neo4j.write, store.ports, store.shared, text.
"""
