"""The embedded engine: SQLite is the truth, text and vector indexes are derived from it.

May import: errors, files, formulas, model, store.dream_port, store.edge_query, store.expansion, store.listing,
store.ports, store.relationship_query, store.shared, text.
"""

from cuetrail.store.sqlite.engine import LocalStore

__all__ = ["LocalStore"]
