"""The part of the local engine that has to do with facts and the names of entities."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Hashable, Sequence

from cuetrail.errors import Busy
from cuetrail.model import Direction, Fact, Scope
from cuetrail.store.ports import Alike
from cuetrail.store.sqlite.connection import Database
from cuetrail.store.sqlite.facts import touch
from cuetrail.store.sqlite.ids import ids_of
from cuetrail.store.sqlite.read import facts as fact_rows
from cuetrail.store.sqlite.reader import Reader


class FactStore:
    """Facts of a memory in a directory."""

    db: Database

    def touch_facts(self, scope: Scope, ids: Sequence[str], now: int) -> None:
        """Count one use of each fact; while another process is writing they are not counted: a reader does not wait."""
        with contextlib.suppress(Busy), self.db.jotting() as db:
            touch(db, ids_of(db, scope).keys(ids, "facts").values(), now)

    def facts_by_id(self, scope: Scope, ids: Sequence[str]) -> dict[str, Fact]:
        with self.db.reading() as db:
            return fact_rows.by_id(Reader(db, scope, self.db.path), ids)

    def fact_ids(self, scope: Scope, prefix: str, limit: int) -> list[str]:
        with self.db.reading() as db:
            return fact_rows.beginning(Reader(db, scope, self.db.path), prefix, limit)

    def facts_from(self, scope: Scope, refs: Sequence[str]) -> list[Fact]:
        """The user's own active facts that were read out of these nodes."""
        with self.db.reading() as db:
            return fact_rows.from_refs(Reader(db, scope, self.db.path), refs)

    def beliefs(
        self, scope: Scope, ids: Sequence[str], at: int, limit: int, direction: Direction
    ) -> dict[str, list[Fact]]:
        """The most certain facts of each node that hold at a time, as subject, as object, or both."""
        with self.db.reading() as db:
            return fact_rows.beliefs(Reader(db, scope, self.db.path), ids, at, limit, direction)

    def most_used(self, scope: Scope, limit: int) -> list[str]:
        """The entities whose facts were used most often."""
        with self.db.reading() as db:
            return fact_rows.most_used(Reader(db, scope, self.db.path), limit)

    def next_belief(self, scope: Scope, after: int) -> int | None:
        """When the next fact begins to hold that was stated ahead of its time."""
        with self.db.reading() as db:
            return fact_rows.next_belief(Reader(db, scope, self.db.path), after)

    def version(self, scope: Scope) -> Hashable:
        """Another one after every write, in any process, to what the scope sees."""
        with self.db.looking() as db:
            return ids_of(db, scope).version

    def uses(self, scope: Scope) -> Hashable:
        """Another one whenever something that the scope sees was used, by any process."""
        with self.db.looking() as db:
            return fact_rows.uses(db, ids_of(db, scope).parts)

    def named_like(self, scope: Scope, words: Collection[str], beginnings: Collection[str], limit: int) -> list[Alike]:
        """Nodes with one of these words, or one that begins so, in their names."""
        with self.db.reading() as db:
            return Reader(db, scope, self.db.path).named_like(words, beginnings, limit)
