"""The verbs that write: they make a batch of records (links, facts, edits, quarantine), above both engines.

`pipeline` is the path of every write; READ FIRST. How an engine stores a batch is in `store.shared.write_order`,
`store.sqlite.write` and `store.neo4j.write`.

May import: dream, embed, errors, extract, facts, formulas, mirror, model, session, store, text, validation.
"""
