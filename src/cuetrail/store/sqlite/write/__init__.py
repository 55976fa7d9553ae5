"""How SQLite stores a batch that the package `write` made: the transaction, and a table for each kind of record.

May import: model, store.dream, store.shared, store.sqlite.changelog, store.sqlite.connection, store.sqlite.index,
store.sqlite.reader, store.sqlite.rows, store.sqlite.schema, store.transaction, store.vector_space, text.
"""
