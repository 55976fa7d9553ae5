"""Indexes derived from `memory.db`, and searches on them.

`text_search`, `vector_search` and `label_search` (the tag walk) answer queries. `text_index`, `vector_index` and
`label_index` update the files after changes of `memory.db`, when `Reader.current_view` asks for it. `relationships`
finds edges by words and vectors, `expand` is one level of spreading activation.

May import: errors, files, formulas, model, store.graph, store.search, store.shared, store.sqlite.changelog,
store.sqlite.connection, store.sqlite.reader, store.sqlite.rows, store.sqlite.schema, store.vector_space, store.write,
text.
"""
