"""One consistent view of everyone's memories, from which copies and backups are made."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from cuetrail.model import Scope
from cuetrail.store.read import Record
from cuetrail.store.sqlite import settings
from cuetrail.store.sqlite.ids import partitions
from cuetrail.store.sqlite.index.vector import spaces
from cuetrail.store.sqlite.read.partition import roots
from cuetrail.store.sqlite.reader import Reader
from cuetrail.store.vector_space import VectorKind, VectorSpace


class Moment:
    """A view that lasts as long as the connection's transaction."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self.db = db
        self.path = path

    def partitions(self) -> list[Scope]:
        return partitions(self.db, None)

    def space(self) -> VectorSpace | None:
        return spaces.space_of(self.db)

    def scan(self, scope: Scope) -> Iterator[tuple[str | None, Record]]:
        return Reader(self.db, scope, self.path).scan()

    def vectors(self, scope: Scope, ids: Sequence[str], of: VectorKind = "node") -> dict[str, bytes]:
        keys = Reader(self.db, scope, self.path).ids.keys(ids, f"{of}s")
        return spaces.of_keys(self.db, {key: id_ for id_, key in keys.items()})

    def roots(self, scope: Scope) -> dict[str, str]:
        return roots(Reader(self.db, scope, self.path))

    def kept(self) -> dict[str, str]:
        return settings.settings(self.db)
