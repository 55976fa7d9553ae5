"""The state of one write transaction, shared by the tables it writes to."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from cuetrail.store.sqlite.connection import chunks, marks
from cuetrail.store.sqlite.ids import Ids


@dataclass(slots=True)
class WriteState:
    """The connection, whose transaction it is, and the keys it changed so far.

    `changed` are keys of nodes. `revectored` are keys of nodes, edges and notes of which only the vector changed.
    """

    db: sqlite3.Connection
    path: Path
    partition: int
    ids: Ids
    changed: set[int] = field(default_factory=set)
    revectored: set[int] = field(default_factory=set)

    @property
    def own(self) -> str:
        """The user's own partitions, as the list of an SQL `IN`."""
        return ",".join(map(str, self.ids.mine)) or "NULL"

    def taken(self, table: str, ids: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        """Returns which of these (partition, id) exist in a table."""
        found: set[tuple[int, str]] = set()
        for some in chunks(list({id_ for _, id_ in ids})):
            found.update(self.db.execute(f"SELECT part, id FROM {table} WHERE id IN ({marks(len(some))})", some))
        return found & set(ids)
