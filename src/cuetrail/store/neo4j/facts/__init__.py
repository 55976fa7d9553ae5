"""Facts.

May import: model, store.neo4j.connection, store.neo4j.ids, store.neo4j.reader, store.neo4j.rows, store.neo4j.settings,
store.neo4j.write, store.shared.
"""
