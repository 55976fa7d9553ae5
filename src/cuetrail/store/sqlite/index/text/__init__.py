"""Text.

May import: model, store.ports, store.sqlite.connection, store.sqlite.index.directory, store.sqlite.read,
store.sqlite.rows, text.
"""
