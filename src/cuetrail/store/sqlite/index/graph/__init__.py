"""Graph.

May import: formulas, model, store.edge_query, store.expansion, store.ports, store.relationship_query,
store.sqlite.connection, store.sqlite.index.labels, store.sqlite.index.vector, store.sqlite.read, store.sqlite.rows.
"""
