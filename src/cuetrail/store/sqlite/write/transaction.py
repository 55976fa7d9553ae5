"""One write transaction on `memory.db`: a table for each kind of record. See `store.transaction` for the methods."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cuetrail.model import Scope
from cuetrail.store.sqlite.changelog import log_changes
from cuetrail.store.sqlite.connection import own_part
from cuetrail.store.sqlite.index import vector_spaces
from cuetrail.store.sqlite.reader import Ids, find_keys, held_space
from cuetrail.store.sqlite.write.edges import Edges
from cuetrail.store.sqlite.write.facts import Facts
from cuetrail.store.sqlite.write.history import History
from cuetrail.store.sqlite.write.links import Links
from cuetrail.store.sqlite.write.nodes import Nodes
from cuetrail.store.sqlite.write.notes import Notes
from cuetrail.store.sqlite.write.sources import Sources
from cuetrail.store.sqlite.write.state import WriteState
from cuetrail.store.sqlite.write.tombstones import Tombstones
from cuetrail.store.transaction import Kind
from cuetrail.store.vector_space import VectorKind, VectorSpace


class SqliteTransaction:
    """A transaction that writes to a scope's partition, created on first use. See `store.transaction`."""

    def __init__(self, db: sqlite3.Connection, path: Path, scope: Scope) -> None:
        self.db = db
        self.partition = own_part(db, scope)
        self.ids = Ids(db, scope)
        self.state = WriteState(db, path, self.partition, self.ids)
        self.tombstones = Tombstones(db, self.ids)
        self.notes = Notes(self.state)
        self.edges = Edges(self.state, self.notes)
        self.facts = Facts(self.state)
        self.nodes = Nodes(self.state, self.edges.remove_at, self.facts.topics_with_objects)
        self.history = History(self.state)
        self.links = Links(self.state)
        self.sources = Sources(self.state)

    def log(self, dreamed_by: str | None = None) -> None:
        """Appends the changed keys to the change log. `dreamed_by` names the dream pass that wrote, if it was one."""
        log_changes(self.db, self.state.changed, dreamt=dreamed_by)
        log_changes(self.db, self.state.revectored - self.state.changed, vectors_only=True)

    # --- ids

    def find(self, ids: Iterable[str], kind: Kind = "node") -> dict[str, int]:
        return self.ids.keys(ids, f"{kind}s")

    def find_own(self, ids: Iterable[str], kind: Kind = "node") -> dict[str, int]:
        return self.ids.keys(ids, f"{kind}s", mine=True)

    def find_here(self, ids: Iterable[str]) -> dict[str, int]:
        return find_keys(self.db, ids, "nodes", [self.partition])

    # --- vectors

    def vector_space(self) -> VectorSpace | None:
        return held_space(self.db)

    def put_vectors(self, kind: VectorKind, space: VectorSpace, vectors: Mapping[int, bytes]) -> None:
        del kind
        self.state.revectored |= vector_spaces.store(self.db, space, dict(vectors))

    def drop_vectors(self, keys: Sequence[int]) -> None:
        self.state.revectored |= vector_spaces.drop(self.db, keys)
