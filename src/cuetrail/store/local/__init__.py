"""The embedded engine: SQLite is the truth, text and vector indexes are derived from it."""

from cuetrail.store.local.engine import LocalStore

__all__ = ["LocalStore"]
