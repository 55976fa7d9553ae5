"""Index.

May import: errors, formulas, model, store.edge_query, store.expansion, store.ports, store.relationship_query,
store.sqlite.connection, store.sqlite.filters, store.sqlite.reader, store.sqlite.rows, text.
"""
