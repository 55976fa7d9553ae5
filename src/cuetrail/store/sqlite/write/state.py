"""The state that the parts of one write transaction share, and new checksums of rows changed in place."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import chunks, marks
from cuetrail.store.sqlite.reader import Ids


@dataclass(slots=True)
class WriteState:
    """The state that the parts of one write transaction share: the connection, the partition written to, and the keys
    changed so far.

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
        """Returns the numbers of the user's own partitions, separated by commas, for a SQL `IN`."""
        return ",".join(map(str, self.ids.mine)) or "NULL"

    def taken(self, table: str, ids: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
        """Returns those of these (partition, id) that exist in a table."""
        found: set[tuple[int, str]] = set()
        for some in chunks(list({id_ for _, id_ in ids})):
            found.update(self.db.execute(f"SELECT part, id FROM {table} WHERE id IN ({marks(len(some))})", some))
        return found & set(ids)


def renew_sums(db: sqlite3.Connection, table: str, keys: Sequence[int]) -> None:
    """Stores new checksums of the rows with these keys, which were changed in place."""
    for some in chunks(keys):
        found = db.execute(f"SELECT * FROM {table} WHERE key IN ({marks(len(some))})", some).fetchall()
        sums = [(rows.row_sum(row[:-1]), row[0]) for row in found]
        db.executemany(f"UPDATE {table} SET check_sum = ? WHERE key = ?", sums)
