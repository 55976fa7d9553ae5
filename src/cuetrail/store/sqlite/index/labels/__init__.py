"""The index of tags and buckets, and the tag walk on it.

May import: formulas, model, store.sqlite.changelog, store.sqlite.connection, store.sqlite.index.directory,
store.sqlite.index.text, store.sqlite.reader, store.sqlite.rows, store.write, text.
"""
