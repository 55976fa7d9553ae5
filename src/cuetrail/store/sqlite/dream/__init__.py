"""The dream port on SQLite: what a pass reads and writes, its ledger, and copies for dry runs.

May import: errors, model, store.dream, store.shared, store.sqlite.changelog, store.sqlite.connection,
store.sqlite.index, store.sqlite.read, store.sqlite.rows, store.sqlite.schema, store.sqlite.write, store.write, text.
"""
