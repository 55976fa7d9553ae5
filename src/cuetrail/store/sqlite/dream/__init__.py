"""Dream.

May import: errors, model, store.dream, store.shared, store.sqlite.connection, store.sqlite.index, store.sqlite.read,
store.sqlite.rows, store.sqlite.schema, store.sqlite.write, store.write, text.
"""
