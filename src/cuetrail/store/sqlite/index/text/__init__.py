"""The text index (tantivy) and exact BM25 search on it.

May import: model, store.sqlite.changelog, store.sqlite.connection, store.sqlite.index.directory, store.sqlite.reader,
store.sqlite.rows, store.write, text.
"""
