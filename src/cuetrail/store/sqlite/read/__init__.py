"""Read.

May import: model, store.listing, store.ports, store.sqlite.connection, store.sqlite.dream, store.sqlite.filters,
store.sqlite.index, store.sqlite.reader, store.sqlite.rows, text.
"""
