"""Exact BM25 search on the server's full-text index, and its corpus statistics.

May import: model, store.neo4j.changelog, store.neo4j.connection, store.neo4j.filters, store.neo4j.ids,
store.neo4j.reader, store.neo4j.schema, text.
"""
