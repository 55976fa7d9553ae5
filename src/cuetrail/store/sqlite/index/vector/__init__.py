"""Vector.

May import: errors, model, store.ports, store.relationship_query, store.sqlite.connection, store.sqlite.index.directory,
store.sqlite.index.text, store.sqlite.reader, store.sqlite.rows.
"""
