"""Settings of the whole memory, which callers store by name among the engine's own values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuetrail.store.neo4j.connection import rows

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx


PREFIX = "kept:"
"""Sets the names of settings apart from those of the engine's own values."""


def settings(tx: Tx, prefix: str = "") -> dict[str, str]:
    """Returns the settings whose names begin with a prefix."""
    query = "MATCH (m:CueMeta) WHERE m.name STARTS WITH $prefix RETURN m.name, m.value"
    return {name.removeprefix(PREFIX): value for name, value in sorted(rows(tx, query, prefix=PREFIX + prefix))}


def put(tx: Tx, name: str, value: str | None) -> None:
    """Stores a setting; None deletes it."""
    if value is None:
        rows(tx, "MATCH (m:CueMeta {name: $name}) DELETE m", name=PREFIX + name)
    else:
        rows(tx, "MERGE (m:CueMeta {name: $name}) SET m.value = $value", name=PREFIX + name, value=value)
