"""The tag walk along tags and buckets.

May import: formulas, model, store.neo4j.connection, store.neo4j.filters, store.neo4j.ids, store.neo4j.index.text,
store.neo4j.reader, store.neo4j.rows.
"""
