"""Index.

May import: errors, formulas, model, store.edge_query, store.expansion, store.ports, store.relationship_query,
store.sqlite.connection, store.sqlite.read, store.sqlite.rows, text.
"""
