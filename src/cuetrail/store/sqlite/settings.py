"""Settings of the whole memory, which callers store by name in the table of the engine's own values."""

from __future__ import annotations

import sqlite3

PREFIX = "kept:"
"""Sets the names of settings apart from those of the engine's own values."""


def settings(db: sqlite3.Connection, prefix: str = "") -> dict[str, str]:
    """Returns the settings whose names begin with a prefix."""
    begin = PREFIX + prefix
    found = db.execute("SELECT name, value FROM meta WHERE substr(name, 1, ?) = ?", (len(begin), begin))
    return {name.removeprefix(PREFIX): value for name, value in found}


def put(db: sqlite3.Connection, name: str, value: str | None) -> None:
    """Stores a setting; None deletes it."""
    if value is None:
        db.execute("DELETE FROM meta WHERE name = ?", (PREFIX + name,))
    else:
        db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (PREFIX + name, value))
