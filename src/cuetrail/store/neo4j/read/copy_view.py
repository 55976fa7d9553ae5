"""One consistent view of everyone's memories, from which copies and backups are made.

It is read at once into a temporary file; see `snapshot`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cuetrail.model import Scope
from cuetrail.store.neo4j import settings
from cuetrail.store.neo4j.connection import Connection, chunks
from cuetrail.store.neo4j.ids import partitions
from cuetrail.store.neo4j.index.vector import spaces
from cuetrail.store.neo4j.read.partition import roots
from cuetrail.store.neo4j.read.snapshot import Spool, read_unchanged, records_of
from cuetrail.store.neo4j.reader import Reader
from cuetrail.store.read import Record
from cuetrail.store.shared.copy import users_of
from cuetrail.store.vector_space import NO_VECTORS, VectorKind, VectorSpace

if TYPE_CHECKING:
    from cuetrail.store.neo4j.connection import Tx


class WholeView:
    """The memory as it was when it was read. `store.upkeep` documents it."""

    def __init__(self) -> None:
        self._spool = Spool()
        self._records: dict[Scope, list[int]] = {}
        self._vectors: dict[Scope, dict[tuple[VectorKind, str], int]] = {}
        self.roots: dict[Scope, dict[str, str]] = {}
        self.settings: dict[str, str] = {}
        self.space: VectorSpace | None = None

    def read(self, tx: Tx) -> None:
        """Reads everything into the temporary file."""
        self._spool.empty()
        self.space, self.settings = spaces.held(tx), settings.settings(tx)
        homes = {place: Reader(tx, place) for place in partitions(tx, None)}
        self.roots = {place: roots(home) for place, home in homes.items()}
        self._vectors = {place: dict(self._read_vectors(tx, home.home)) for place, home in homes.items()}
        self._records = {
            user: [self._spool.put(record) for record in records_of(tx, user)] for user in users_of(list(homes))
        }

    def _read_vectors(self, tx: Tx, part: int) -> Iterator[tuple[tuple[VectorKind, str], int]]:
        if self.space is None or self.space == NO_VECTORS:
            return
        for what in spaces.PLACES:
            for some in chunks(spaces.present(tx, self.space, part, what)):
                for id_, vector in spaces.stored(tx, self.space, dict(some), what).items():
                    yield (what, id_), self._spool.put(vector)

    def close(self) -> None:
        self._spool.close()

    def scan(self, scope: Scope) -> Iterator[tuple[str | None, Record]]:
        return (self._spool.get(at) for at in self._records.get(scope, ()))

    def vectors(self, scope: Scope, ids: Sequence[str], of: VectorKind = "node") -> dict[str, bytes]:
        # Partitions are known by a scope that has only their own team.
        home = Scope(scope.tenant, scope.user, (scope.share,) if scope.share else (), scope.share)
        known = self._vectors.get(home, {})
        return {id_: self._spool.get(known[of, id_]) for id_ in ids if (of, id_) in known}


@contextmanager
def whole_view(connection: Connection) -> Iterator[WholeView]:
    """Opens a view of everything as it is now, for the length of the block."""
    view = WholeView()
    try:
        read_unchanged(connection, view.read)
        yield view
    finally:
        view.close()
