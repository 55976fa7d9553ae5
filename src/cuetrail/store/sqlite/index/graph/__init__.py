"""Graph.

May import: formulas, model, store.edge_query, store.expansion, store.ports, store.relationship_query,
store.sqlite.connection, store.sqlite.filters, store.sqlite.index.labels, store.sqlite.index.vector,
store.sqlite.reader, store.sqlite.rows.
"""
