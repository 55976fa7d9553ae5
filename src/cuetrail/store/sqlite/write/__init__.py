"""Write.

May import: model, store.dream, store.shared, store.sqlite.connection, store.sqlite.ids, store.sqlite.index,
store.sqlite.reader, store.sqlite.rows, store.sqlite.settings, store.transaction, store.vector_space.
"""
