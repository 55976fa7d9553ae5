"""Write.

May import: errors, model, store.dream_port, store.ports, store.shared, store.sqlite.connection, store.sqlite.facts,
store.sqlite.ids, store.sqlite.index, store.sqlite.reader, store.sqlite.rows.
"""
