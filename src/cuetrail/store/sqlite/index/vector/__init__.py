"""Vector spaces, the vector index, and the search for nearest vectors.

May import: errors, model, store.sqlite.changelog, store.sqlite.connection, store.sqlite.index.directory,
store.sqlite.index.text, store.sqlite.reader, store.sqlite.rows, store.vector_space, store.write.
"""
