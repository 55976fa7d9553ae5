"""Graph.

May import: model, store.edge_query, store.expansion, store.neo4j.connection, store.neo4j.filters, store.neo4j.ids,
store.neo4j.index.vector, store.neo4j.reader, store.neo4j.rows, store.ports, store.relationship_query, store.shared,
text.
"""
