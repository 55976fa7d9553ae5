"""Everyone's memories at one moment: what a copy is made of."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from cuetrail.model import Scope
from cuetrail.store.ports import Meaning, Record, VectorSpace
from cuetrail.store.sqlite.connection import KEPT
from cuetrail.store.sqlite.dream import reads
from cuetrail.store.sqlite.index.vector import spaces
from cuetrail.store.sqlite.read.partition import Home
from cuetrail.store.sqlite.reader import Reader


class Moment:
    """A view that lasts as long as the connection's transaction."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self.db = db
        self.path = path

    def places(self) -> list[Scope]:
        return list(reads.places(self.db, None))

    def space(self) -> VectorSpace | None:
        return spaces.space_of(self.db)

    def scan(self, scope: Scope) -> Iterator[tuple[str | None, Record]]:
        return Reader(self.db, scope, self.path).scan()

    def vectors(self, scope: Scope, ids: Sequence[str], of: Meaning = "node") -> dict[str, bytes]:
        keys = Reader(self.db, scope, self.path).ids.keys(ids, f"{of}s")
        return spaces.of_keys(self.db, {key: id_ for id_, key in keys.items()})

    def roots(self, scope: Scope) -> dict[str, str]:
        return Home(self.db, scope, self.path).roots()

    def kept(self) -> dict[str, str]:
        query = "SELECT name, value FROM meta WHERE substr(name, 1, ?) = ?"
        return {name.removeprefix(KEPT): value for name, value in self.db.execute(query, (len(KEPT), KEPT))}
