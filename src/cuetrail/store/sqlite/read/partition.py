"""What ingest asks: reads of the one place a scope writes to.

A file that is ingested for a team and one that is kept private are two, also where their paths are the same. So what a
rule finds and writes back in one place never carries a memory into another. Here every row has its plain id.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Sequence
from pathlib import Path

from cuetrail.model import Edge, Link, Node, Scope, SourceFile
from cuetrail.store.ports import Band
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import chunks, marks
from cuetrail.store.sqlite.reader import SAME, Reader, nodes_by_key

_BANDS = ("simhash & 2097151", "(simhash >> 21) & 2097151", "(simhash >> 42) & 4194303")


class Home:
    """One consistent view of the place a scope writes to."""

    def __init__(self, db: sqlite3.Connection, scope: Scope, path: Path) -> None:
        self.db = db
        self.path = path
        self.reader = Reader(db, scope, path)

    def here(self, column: str = "part") -> str:
        """A SQL condition that keeps rows inside the place."""
        home = self.reader.ids.home
        return f"{column} = {home}" if home is not None else "0"

    def source_files(self, under: str) -> dict[str, SourceFile]:
        """Ingested files whose path is `under` or lies below it."""
        query = (
            f"{rows.SOURCE} WHERE {self.here()} AND hash IS NOT NULL"
            " AND (path = ?1 OR substr(path, 1, length(?2)) = ?2) ORDER BY path"
        )
        below = under if not under or under.endswith("/") else under + "/"
        return {row[0]: SourceFile(*row) for row in self.db.execute(query, (under, below))}

    def roots(self) -> dict[str, str]:
        """Ingested folders by their short names."""
        return dict(self.db.execute(f"SELECT name, path FROM roots WHERE {self.here()} ORDER BY name").fetchall())

    def atoms_of(self, sources: Sequence[str]) -> dict[str, list[Node]]:
        """Nodes per file, in sequence; a file's chats (`file#id`) count as the file."""
        found: dict[str, list[Node]] = {path: [] for path in sources}
        query = f"SELECT source FROM sources WHERE {self.here()} AND {SAME}"
        owner = {key: path for path in sources for (key,) in self.db.execute(query, (path,))}
        for some in chunks(list(owner)):
            nodes = f"SELECT source, key FROM nodes WHERE source IN ({marks(len(some))}) ORDER BY source, seq, id"
            keys = {key: owner[source] for source, key in self.db.execute(nodes, some)}
            by_key = nodes_by_key(self.db, self.path, list(keys))
            for key, path in keys.items():
                found[path].append(by_key[key])
        return found

    def links_to(self, norms: Sequence[str]) -> dict[str, list[Link]]:
        """Links of atoms to each name, by source id."""
        here = self.here("l.part")
        found: dict[str, list[Link]] = {}
        for some in chunks(norms):
            query = f"{rows.LINK} WHERE l.norm IN ({marks(len(some))}) AND {here} ORDER BY n.id, l.kind"
            for row in self.db.execute(query, some):
                found.setdefault(row[1], []).append(Link(*row[:4]))
        return found

    def edges_via(self, norms: Sequence[str]) -> dict[str, list[Edge]]:
        """Rule-made edges per name they were made through."""
        here = self.here("e.part")
        found: dict[str, list[Edge]] = {}
        for some in chunks(norms):
            query = f"{rows.EDGE} WHERE e.via IN ({marks(len(some))}) AND {here} ORDER BY e.id"
            read = self.db.execute(query, some).fetchall()
            for row, edge in zip(read, self.reader.made_edges(read), strict=True):
                found.setdefault(row[13], []).append(edge)
        return found

    def simhash_bands(self, wanted: Collection[Band], limit: int) -> dict[Band, list[tuple[str, int]]]:
        """Nodes that carry each band of a SimHash, with their hashes; of each band at most `limit`."""
        here = self.here()
        found: dict[Band, list[tuple[str, int]]] = {}
        for number, expression in enumerate(_BANDS):
            # One seek a value. The list inside keeps a crowded band from being read to its end.
            carriers = f"SELECT key FROM nodes WHERE {expression} = w.value AND simhash IS NOT NULL AND {here} LIMIT ?"
            for some in chunks([value for band, value in wanted if band == number]):
                query = (
                    f"WITH w (value) AS (VALUES {','.join(['(?)'] * len(some))})"
                    f" SELECT w.value, n.id, n.simhash FROM w JOIN nodes n ON n.key IN ({carriers})"
                )
                for value, id_, simhash in self.db.execute(query, (*some, limit)):
                    found.setdefault((number, value), []).append((id_, rows.unsigned(simhash)))
        return found
