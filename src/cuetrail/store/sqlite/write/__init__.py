"""Writing to SQLite: one transaction with a table each for nodes, edges, facts and tombstones; usage of nodes.

May import: model, store.dream, store.shared, store.sqlite.changelog, store.sqlite.connection, store.sqlite.ids,
store.sqlite.index, store.sqlite.reader, store.sqlite.rows, store.sqlite.settings, store.transaction,
store.vector_space, text.
"""
