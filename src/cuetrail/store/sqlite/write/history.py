"""The history of nodes: the names and texts that they had before they were edited."""

from __future__ import annotations

from collections.abc import Sequence

from cuetrail.model import Version
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import chunks, marks
from cuetrail.store.sqlite.write.state import WriteState


class History:
    """Reads and writes earlier versions in one transaction. `store.transaction` documents the methods."""

    def __init__(self, state: WriteState) -> None:
        self.state = state
        self.db = state.db

    def texts(self, partition: int, ids: Sequence[str]) -> list[tuple[str, str]]:
        query = "SELECT id, coalesce(CASE WHEN text <> '' THEN text ELSE name END, '') FROM history"
        found: list[tuple[str, str]] = []
        for some in chunks(ids):
            found += self.db.execute(f"{query} WHERE part = ? AND id IN ({marks(len(some))})", (partition, *some))
        return found

    def last_times(self, ids: Sequence[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for some in chunks(ids):
            query = f"SELECT id, max(at) FROM history WHERE part = ? AND id IN ({marks(len(some))}) GROUP BY id"
            found |= self.db.execute(query, (self.state.partition, *some))
        return found

    def put(self, versions: Sequence[Version]) -> None:
        table = [rows.summed((self.state.partition, v.id, v.at, v.name, v.text)) for v in versions]
        self.db.executemany("INSERT OR IGNORE INTO history VALUES (?, ?, ?, ?, ?, ?)", table)

    def drop(self, versions: Sequence[Version]) -> None:
        which = [(self.state.partition, one.id, one.at) for one in versions]
        self.db.executemany("DELETE FROM history WHERE part = ? AND id = ? AND at = ?", which)

    def remove(self, partition: int, ids: Sequence[str]) -> None:
        self.db.executemany("DELETE FROM history WHERE part = ? AND id = ?", [(partition, id_) for id_ in ids])
