"""Indexes derived from `memory.db`, and searches on them: text, vectors, labels, and the graph of edges.

May import: errors, formulas, model, store.graph, store.read, store.search, store.shared, store.sqlite.changelog,
store.sqlite.connection, store.sqlite.filters, store.sqlite.reader, store.sqlite.relationship_words,
store.sqlite.rows, store.vector_space, store.write, text.
"""
