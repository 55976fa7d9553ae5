"""Labels.

May import: formulas, model, store.ports, store.sqlite.connection, store.sqlite.index.directory,
store.sqlite.index.text, store.sqlite.reader, store.sqlite.rows, text.
"""
