"""One consistent view of everyone's memories, from which copies and backups are made."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from cuetrail.model import Scope
from cuetrail.store.read import Record
from cuetrail.store.sqlite import connection
from cuetrail.store.sqlite.read.partition import roots
from cuetrail.store.sqlite.reader import Reader, held_space, partitions, vectors_by_key
from cuetrail.store.vector_space import VectorKind, VectorSpace


class Moment:
    """A view that lasts as long as the connection's transaction."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self.db = db
        self.path = path

    def partitions(self) -> list[Scope]:
        return partitions(self.db, None)

    def space(self) -> VectorSpace | None:
        return held_space(self.db)

    def scan(self, scope: Scope) -> Iterator[tuple[str | None, Record]]:
        return Reader(self.db, scope, self.path).scan()

    def vectors(self, scope: Scope, ids: Sequence[str], of: VectorKind = "node") -> dict[str, bytes]:
        keys = Reader(self.db, scope, self.path).ids.keys(ids, f"{of}s")
        return vectors_by_key(self.db, {key: id_ for id_, key in keys.items()})

    def roots(self, scope: Scope) -> dict[str, str]:
        return roots(Reader(self.db, scope, self.path))

    def kept(self) -> dict[str, str]:
        return connection.settings(self.db)
