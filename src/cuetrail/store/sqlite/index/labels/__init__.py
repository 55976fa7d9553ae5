"""Labels.

May import: formulas, model, store.ports, store.sqlite.connection, store.sqlite.index.directory,
store.sqlite.index.text, store.sqlite.read, store.sqlite.rows, text.
"""
