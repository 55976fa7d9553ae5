"""Edges, notes and mentions of nodes, relationships by words and vectors, and spreading activation.

May import: formulas, model, store.graph, store.read, store.search, store.shared, store.sqlite.connection,
store.sqlite.filters, store.sqlite.index.labels, store.sqlite.index.vector, store.sqlite.reader,
store.sqlite.relationship_words, store.sqlite.rows, store.vector_space, text.
"""
