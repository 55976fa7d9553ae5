"""Text.

May import: model, store.ports, store.sqlite.connection, store.sqlite.index.directory, store.sqlite.reader,
store.sqlite.rows, text.
"""
