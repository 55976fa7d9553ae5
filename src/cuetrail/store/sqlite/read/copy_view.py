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
from cuetrail.store.vector_space import VectorKind


class WholeView:
    """A view that lasts as long as the connection's transaction. `store.upkeep` documents it."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self.db = db
        self.path = path
        self.space = held_space(db)
        self.settings = connection.settings(db)
        self.roots = {place: roots(Reader(db, place, path)) for place in partitions(db, None)}

    def scan(self, scope: Scope) -> Iterator[tuple[str | None, Record]]:
        return Reader(self.db, scope, self.path).scan()

    def vectors(self, scope: Scope, ids: Sequence[str], of: VectorKind = "node") -> dict[str, bytes]:
        keys = Reader(self.db, scope, self.path).ids.keys(ids, f"{of}s")
        return vectors_by_key(self.db, {key: id_ for id_, key in keys.items()})
