"""Ids in a scope: the row an id means, and the id a row has; `store.shared.ids` has the rule."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from cuetrail.model import Scope
from cuetrail.store.shared.ids import SIGN, place_labels
from cuetrail.store.sqlite.changelog import MOMENT, moment
from cuetrail.store.sqlite.connection import Connection, chunks, marks
from cuetrail.text.normalise import storable

FEW = 8
# The number of scopes cached, and of keys cached for each.
MANY, MANY_KEYS = 1_000, 10_000


def find_keys(db: sqlite3.Connection, ids: Iterable[str], table: str, parts: Sequence[int]) -> dict[str, int]:
    """Returns the keys of ids in the given partitions, in the given order; if several have an id, the first partition
    wins.
    """
    order = {part: n for n, part in enumerate(parts)}
    best: dict[str, tuple[int, int]] = {}
    asked = [id_ for id_ in dict.fromkeys(ids) if storable(id_)]
    for id_, key, part in _rows(db, asked, table, parts):
        rank = order.get(part)
        if rank is not None and (id_ not in best or rank < best[id_][0]):
            best[id_] = (rank, key)
    return {id_: best[id_][1] for id_ in asked if id_ in best}


def _rows(
    db: sqlite3.Connection, ids: Sequence[str], table: str, parts: Sequence[int]
) -> Iterator[tuple[str, int, int]]:
    """Yields (id, key, partition) of the rows with these ids; if the partitions are many, of other partitions too."""
    # Entities named alike have the same id for every user, so a few partitions are looked up by number.
    among = f" AND part IN ({','.join(map(str, parts))})" if len(parts) <= FEW else ""
    for some in chunks(ids):
        yield from db.execute(f"SELECT id, key, part FROM {table} WHERE id IN ({marks(len(some))}){among}", some)


def ids_of(db: sqlite3.Connection, scope: Scope) -> Ids:
    """Returns the partitions of a scope, from a cache that lasts until another connection writes."""
    if not isinstance(db, Connection):
        return Ids(db, scope)
    kept = db.unchanged()
    if scope not in kept:
        if len(kept) >= MANY:
            kept.clear()
        kept[scope] = Ids(db, scope, lasting=True)
    found: Ids = kept[scope]
    return found


class Ids:
    """The partitions a scope may read, and the ids of rows in them.

    `parts` are the numbers of these partitions, closest first; `mine` those of the user, which alone it may change;
    `home` the one it writes to, None before the first write. `all` is true if there are no other partitions. `version`
    differs after every write to one of them. `lasting` is true if nobody writes while this object lives, so keys are
    cached too.
    """

    def __init__(self, db: sqlite3.Connection, scope: Scope, lasting: bool = False) -> None:
        self.db = db
        self._known: dict[str, int] | None = {} if lasting else None
        found = db.execute(
            f"SELECT part, owner, team, (SELECT count(*) FROM parts), {MOMENT}, version FROM parts"
            f" WHERE tenant = ? AND (owner = ? OR (team <> '' AND team IN ({marks(len(scope.teams))})))",
            (scope.tenant, scope.user, *scope.teams),
        ).fetchall()
        # Read together: a search needs both, and a statement costs more than the read itself.
        self._moment: tuple[str, int] | None = (found[0][4], found[0][5] or 0) if found else None
        share = scope.share or ""
        found.sort(key=lambda row: (row[1] != scope.user, row[2] != share, row[2], row[1]))
        self.parts: list[int] = [row[0] for row in found]
        self.mine: list[int] = [row[0] for row in found if row[1] == scope.user]
        self.home: int | None = found[0][0] if found and found[0][1:3] == (scope.user, share) else None
        self.all = bool(found) and len(found) == found[0][3]
        self.version = tuple((row[0], row[6]) for row in found)
        self._labels = place_labels([row[:3] for row in found])
        self._once: dict[str, tuple[Any, ...]] = {}

    def moment(self) -> tuple[str, int]:
        """Returns the memory's epoch and the number of the last change in this view."""
        return self._moment or moment(self.db)

    def once(self, query: str) -> tuple[Any, ...]:
        """Returns the first row of a query, cached until another connection writes. Not for values that an access of a
        node changes.
        """
        if query not in self._once:
            self._once[query] = self.db.execute(query).fetchone()
        return self._once[query]

    def keys(self, ids: Iterable[str], table: str = "nodes", mine: bool = False) -> dict[str, int]:
        """Returns the keys of ids, in the given order; ids of no visible row, or with `mine` of none of the user's, are
        absent.
        """
        if self._known is None or table != "nodes" or mine:
            return self._looked_up(ids, table, mine)
        asked, known = list(dict.fromkeys(ids)), self._known
        found = self._looked_up([id_ for id_ in asked if id_ not in known], table, mine)
        keys = {id_: known[id_] if id_ in known else found[id_] for id_ in asked if id_ in known or id_ in found}
        self.know(found)
        return keys

    def know(self, keys: Mapping[str, int]) -> None:
        """Caches the keys of nodes that were read, by their ids in this scope."""
        if self._known is not None:
            if len(self._known) > MANY_KEYS:
                self._known.clear()
            self._known.update(keys)

    def _looked_up(self, ids: Iterable[str], table: str, mine: bool) -> dict[str, int]:
        parts = self.mine if mine else self.parts
        asked = [id_ for id_ in dict.fromkeys(ids) if storable(id_)]
        found = find_keys(self.db, asked, table, parts)
        if len(self.parts) > 1 and len(found) < len(asked):
            found |= self._elsewhere([id_ for id_ in asked if id_ not in found and SIGN in id_], table, parts)
            found = {id_: found[id_] for id_ in asked if id_ in found}
        return found

    def _elsewhere(self, ids: Sequence[str], table: str, parts: Sequence[int]) -> dict[str, int]:
        """Returns the keys of ids that name their owner (`id@@owner`)."""
        places = {self._labels[part]: part for part in parts}
        meant = {id_: (bare, places.get(label)) for id_ in ids for bare, _, label in [id_.partition(SIGN)]}
        bare_ids = list(dict.fromkeys(bare for bare, _ in meant.values()))
        known = {(bare, part): key for bare, key, part in _rows(self.db, bare_ids, table, parts)}
        return {id_: known[bare, part] for id_, (bare, part) in meant.items() if part and (bare, part) in known}

    def names(self, rows: Iterable[tuple[int, str, int]], table: str = "nodes") -> dict[int, str]:
        """Returns the ids in this scope of visible rows, given as (key, id, partition), by key."""
        found = list(rows)
        if len(self.parts) < 2:
            return {key: id_ for key, id_, _ in found}
        meant = find_keys(self.db, (id_ for _, id_, _ in found), table, self.parts)
        # No row has the id if it was deleted since it was read.
        return {
            key: id_ if meant.get(id_, key) == key else f"{id_}{SIGN}{self._labels[part]}" for key, id_, part in found
        }


def partitions(db: sqlite3.Connection, scope: Scope | None) -> list[Scope]:
    """Returns the partitions of one user, or of everyone (None), as the scopes that write there."""
    whose, given = ("1", ()) if scope is None else ("tenant = ? AND owner = ?", (scope.tenant, scope.user))
    query = f"SELECT tenant, owner, team FROM parts WHERE {whose} ORDER BY tenant, owner, team"
    found = db.execute(query, given)
    return [Scope(tenant, owner, (team,) if team else (), team or None) for tenant, owner, team in found]
