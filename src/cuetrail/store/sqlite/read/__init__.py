"""Reads of records for one scope: facts, lists, the partition that is written to, and consistent views.

May import: formulas, model, store.read, store.sqlite.connection, store.sqlite.reader, store.sqlite.rows,
store.sqlite.schema, store.shared, store.vector_space, text.
"""
