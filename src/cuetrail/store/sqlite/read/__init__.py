"""Reads of records for one scope: facts, lists, the partition that is written to, and consistent views.

May import: model, store.read, store.sqlite.connection, store.sqlite.filters, store.sqlite.ids, store.sqlite.index,
store.sqlite.reader, store.sqlite.rows, store.sqlite.schema, store.sqlite.settings, store.vector_space, text.
"""
