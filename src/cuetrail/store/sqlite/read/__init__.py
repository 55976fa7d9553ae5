"""Read.

May import: model, store.listing, store.ports, store.shared, store.sqlite.connection, store.sqlite.dream,
store.sqlite.facts, store.sqlite.ids, store.sqlite.index, store.sqlite.rows, store.sqlite.schema, text.
"""
