"""Write.

May import: errors, model, store.dream, store.shared, store.sqlite.connection, store.sqlite.facts, store.sqlite.ids,
store.sqlite.index, store.sqlite.reader, store.sqlite.rows, store.write.
"""
