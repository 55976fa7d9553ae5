"""Tombstones in `memory.db`, as one user sees them."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence

from cuetrail.model import Node, Tombstone
from cuetrail.store.shared.tombstones import match
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import chunks, marks
from cuetrail.store.sqlite.reader import Ids, Reader


class Tombstones:
    """The tombstones (hashes of forgotten ids and texts) of one user. `store.transaction` documents the methods."""

    def __init__(self, db: sqlite3.Connection, ids: Ids) -> None:
        self.db = db
        self.partition = ids.home
        self.partitions = ids.mine

    @property
    def _own(self) -> str:
        return f"part IN ({','.join(map(str, self.partitions)) or 'NULL'})"

    def exist(self) -> bool:
        return self.db.execute(f"SELECT 1 FROM tombstones WHERE {self._own} LIMIT 1").fetchone() is not None

    def find(self, hashes: Collection[str]) -> Iterator[tuple[str, int]]:
        for some in chunks(list(hashes)):
            query = f"SELECT hash, part FROM tombstones WHERE {self._own} AND hash IN ({marks(len(some))})"
            yield from self.db.execute(query, some)

    def stored(self, ids: Collection[str]) -> dict[str, tuple[str | None, str]]:
        found: dict[str, tuple[str | None, str]] = {}
        for some in chunks(list(ids)):
            query = f"SELECT id, name, text FROM nodes WHERE id IN ({marks(len(some))}) AND part = ?"
            found |= {id_: (name, text) for id_, name, text in self.db.execute(query, (*some, self.partition))}
        return found

    def put(self, partition: int, tombstones: Sequence[Tombstone]) -> None:
        table = [rows.summed((partition, one.hash, one.at)) for one in tombstones]
        self.db.executemany("INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?, ?)", table)

    def remove(self, hashes: Collection[str]) -> None:
        pairs = [(part, hash_) for part in self.partitions for hash_ in sorted(hashes)]
        self.db.executemany("DELETE FROM tombstones WHERE part = ? AND hash = ?", pairs)


def redacted_texts(reader: Reader, nodes: Sequence[Node]) -> dict[str, str]:
    """Returns what is left of the texts of nodes that tombstones match, by id; "" if a node is kept out as a whole."""
    return {id_: one.rest for id_, one in match(Tombstones(reader.db, reader.ids), nodes).items()}
