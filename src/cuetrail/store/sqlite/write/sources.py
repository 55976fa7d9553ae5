"""Writes the records of ingested files, and the paths of ingested folders."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from cuetrail.model import SourceFile
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import chunks, marks
from cuetrail.store.sqlite.write.state import WriteState

_NO_NODES = "NOT EXISTS (SELECT 1 FROM nodes n WHERE n.source = sources.source)"


class Sources:
    """Writes files and folders in one transaction. `store.transaction` documents the methods."""

    def __init__(self, state: WriteState) -> None:
        self.state = state
        self.db = state.db

    def put(self, files: Sequence[SourceFile]) -> None:
        self.db.executemany(
            f"{rows.INSERT_SOURCE} ON CONFLICT (part, path) DO UPDATE SET size = excluded.size,"
            " mtime_ns = excluded.mtime_ns, hash = excluded.hash, ingested = excluded.ingested,"
            " check_sum = excluded.check_sum",
            [rows.source_row(self.state.partition, f.path, f.size, f.mtime_ns, f.hash, f.ingested) for f in files],
        )

    def of_nodes(self, keys: Sequence[int]) -> set[tuple[int, str]]:
        query = "SELECT DISTINCT s.part, s.path FROM nodes n JOIN sources s ON s.source = n.source"
        found: set[tuple[int, str]] = set()
        for some in chunks(keys):
            found.update(self.db.execute(f"{query} WHERE n.key IN ({marks(len(some))})", some))
        return found

    def remove_empty(self, files: Collection[tuple[int, str]]) -> None:
        self.db.executemany(f"DELETE FROM sources WHERE part = ? AND path = ? AND {_NO_NODES}", list(files))

    def remove_unused_paths(self) -> None:
        """Removes the user's paths that were never ingested and that no node has any more as its source."""
        self.db.execute(f"DELETE FROM sources WHERE part IN ({self.state.own}) AND hash IS NULL AND {_NO_NODES}")

    def put_roots(self, roots: Mapping[str, str], removed: Sequence[str]) -> None:
        table = [rows.summed((self.state.partition, name, path)) for name, path in roots.items()]
        self.db.executemany("INSERT OR REPLACE INTO roots VALUES (?, ?, ?, ?)", table)
        gone = [(self.state.partition, name) for name in removed]
        self.db.executemany("DELETE FROM roots WHERE part = ? AND name = ?", gone)
