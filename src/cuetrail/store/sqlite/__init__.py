"""The embedded engine: SQLite stores all records, text and vector indexes are derived from it.

May import: errors, files, formulas, model, store.dream, store.graph, store.read, store.search, store.shared,
store.transaction, store.upkeep, store.vector_space, store.write, text.
"""

from cuetrail.store.sqlite.engine import SqliteStore

__all__ = ["SqliteStore"]
