"""Dream.

May import: errors, model, store.dream_port, store.ports, store.shared, store.sqlite.connection, store.sqlite.facts,
store.sqlite.index, store.sqlite.rows, store.sqlite.schema, store.sqlite.write, text.
"""
