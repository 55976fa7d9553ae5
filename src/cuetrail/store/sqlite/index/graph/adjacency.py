"""The edges of the frontier of spreading activation, read from the adjacency tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

from cuetrail.formulas import counted_sim, tag_sim
from cuetrail.model import Where
from cuetrail.store.graph import Frontier
from cuetrail.store.sqlite.connection import marks
from cuetrail.store.sqlite.filters import narrowing
from cuetrail.store.sqlite.index.labels.tables import label_ids
from cuetrail.store.sqlite.reader import Reader

# The edges of at most so many nodes are read together: three parameters each stay below SQLite's limit.
TOGETHER = 256

Row = tuple[Any, ...]
"""A row of the adjacency table: rank, plain id and key of the other end, key and direction of the edge; if several
partitions are visible, also the partition of the other end, and the plain id and the partition of the edge.
"""
RANK, OTHER_ID, OTHER, EDGE, OUTGOING, OTHER_PART, EDGE_ID, EDGE_PART = range(8)

_COLUMNS = "a.rank, a.other_id, a.other, a.edge, a.outgoing"
_EDGE = " CROSS JOIN edges e ON e.key = a.edge"
_NODE = " CROSS JOIN nodes n ON n.key = a.other"
_TAGGED = (
    "adjacency_tags t CROSS JOIN adjacency a"
    " ON a.node = t.node AND a.rank = t.rank AND a.other_id = t.other_id AND a.edge = t.edge"
)
_QUARANTINE = "nodes o INDEXED BY nodes_in_quarantine WHERE o.provenance = 'quarantine'"
_ARCHIVE = "life o INDEXED BY life_archived WHERE o.state = 'archived'"
_ASIDE = f"SELECT EXISTS (SELECT 1 FROM {_QUARANTINE}), EXISTS (SELECT 1 FROM {_ARCHIVE})"


class Incident:
    """The edges from the frontier to neighbours that pass its filters, and their tag similarity.

    `same` is the column that identifies a node of `visited`, one set per seed: if only one partition is visible, the
    plain id.
    """

    def __init__(self, reader: Reader, level: Frontier) -> None:
        self.reader, self.tags, self.floor = reader, level.tags, level.tag_sim_floor
        self.several = len(reader.parts) > 1
        self.same = OTHER if self.several else OTHER_ID
        self.apart: Sequence[frozenset[Any]] = level.visited
        if self.several:
            self.apart = [frozenset(reader.keys(seen).values()) for seen in level.visited]
        self._tests, self._filters = self._conditions(level.where)
        self._columns = f"{_COLUMNS}, n.part, e.id, e.part" if self.several else _COLUMNS
        self._told = _EDGE if self.several else ""
        # Reading the node costs more than the rest of a row, so it is read only if a filter needs it.
        where = level.where
        narrowed = where.kinds or where.with_text or where.since is not None or where.until is not None
        if self.several or not reader.all or narrowed:
            self._told += _NODE
            self._tests += f" AND {reader.among('n.part')}"
        # Few tags occur very often.
        self._fits: dict[str | None, float] = {}

    def _conditions(self, where: Where) -> tuple[str, list[Any]]:
        """Returns the conditions on a row: it is visible, and the node it leads to passes the filters."""
        tests, values = narrowing(where, "a.other")
        tests.append(self.reader.among("a.part"))
        aside = self.reader.ids.once(_ASIDE)
        # Most memories have nothing quarantined; not testing for it saves a fifth of the time.
        for shown, any_, place in zip((where.quarantined, where.archived), aside, (_QUARANTINE, _ARCHIVE), strict=True):
            if any_ and not shown:
                tests.append(f"NOT EXISTS (SELECT 1 FROM {place} AND o.key = a.other)")
        return " AND ".join(tests), values

    # --- of many nodes with few edges

    def together(self, asked: list[Any]) -> Iterator[Row]:
        """Yields the edges of several nodes, each with the number of its node at the end, in any order.

        `asked` lists, for each node, a number, its key, and the rank below which its edges matter.
        """
        columns, tables = f"{self._columns}, s.number", f"s CROSS JOIN adjacency a{self._told}"
        where = "a.node = s.node AND a.rank < s.below"
        return self._each(asked, columns, tables, where, [])

    def tagged(self, asked: list[Any]) -> Iterator[Row]:
        """Yields the edges with a tag of the query, once per such tag; the last column but one is the number of their
        tags.
        """
        columns, tables = f"{self._columns}, t.size, s.number", f"{_TAGGED}{self._told}"
        # Labels come before the nodes in the join, so that each is looked up once.
        tables = f"labels l CROSS JOIN s CROSS JOIN {tables}"
        where = f"l.what = 't' AND l.name IN ({marks(len(self.tags))}) AND t.label = l.label"
        where += " AND t.node = s.node AND t.rank < s.below"
        return self._each(asked, columns, tables, where, list(self.tags))

    def _each(self, asked: list[Any], columns: str, tables: str, where: str, values: list[Any]) -> Iterator[Row]:
        given = filled(asked, 3)
        query = _query(len(given) // 3, columns, tables, f"{where} AND {self._tests}")
        return self.reader.db.execute(query, (*given, *values, *self._filters))

    # --- of a hub

    def fits(self, row: Row) -> float:
        """Returns the tag similarity of an edge of `lists` to the query."""
        if not self.tags:
            return 1.0
        packed = row[-1]
        known = self._fits.get(packed)
        if known is None:
            known = self._fits[packed] = tag_sim(frozenset(unpacked(packed)), self.tags, self.floor)
        return known

    @cached_property
    def _labels(self) -> list[int]:
        return list(label_ids(self.reader.db, {("t", tag) for tag in self.tags}).values())

    def lists(self, key: int) -> Iterator[tuple[float, Rows]]:
        """Returns lists that together contain all edges of a node, each with the highest tag similarity in it."""
        best = 1.0
        if self.tags:
            yield from sorted(self._by_tag(key), key=lambda pair: -pair[0])
            # Edges outside these lists have no tag of the query.
            best = self.floor
        query = f"{self._hub('adjacency a')} WHERE a.node = ? AND a.rank > ? AND {self._tests}"
        yield best, Rows(self.reader, f"{query} ORDER BY a.rank, a.other_id, a.edge", (key,), self._filters)

    def _by_tag(self, key: int) -> Iterator[tuple[float, Rows]]:
        where = f"t.label = ? AND t.node = ? AND t.size = ? AND t.rank > ? AND {self._tests}"
        query = f"{self._hub(_TAGGED)} WHERE {where} ORDER BY t.rank, t.other_id, t.edge"
        for label in self._labels:
            size = 0
            while size is not None:
                next_size = "SELECT min(size) FROM adjacency_tags WHERE label = ? AND node = ? AND size > ?"
                (size,) = self.reader.db.execute(next_size, (label, key, size)).fetchone()
                if size is not None:
                    best = counted_sim(min(size, len(self.tags)), size, len(self.tags), self.floor)
                    yield best, Rows(self.reader, query, (label, key, size), self._filters)

    def _hub(self, tables: str) -> str:
        """Returns the rows of these tables, with the tags of the edge at the end if they matter."""
        if not self.tags:
            return f"SELECT {self._columns} FROM {tables}{self._told}"
        edge = "" if self.several else _EDGE
        return f"SELECT {self._columns}, e.tags FROM {tables}{edge}{self._told}"


@lru_cache(1_000)
def _query(nodes: int, columns: str, tables: str, where: str) -> str:
    """Returns a query for so many nodes. Equal strings reuse the prepared statement."""
    places = ",".join(["(?,?,?)"] * nodes)
    return f"WITH s (number, node, below) AS (VALUES {places}) SELECT {columns} FROM {tables} WHERE {where}"


class Rows:
    """A list of edges, by weight, then by the id of the other end."""

    def __init__(self, reader: Reader, query: str, values: tuple[Any, ...], filters: list[Any]) -> None:
        self._db, self._query, self._values, self._filters = reader.db, query, values, filters

    def after(self, rank: float) -> Any:
        """Returns a cursor on the rows after this rank."""
        return self._db.execute(self._query, (*self._values, rank, *self._filters))


def degrees(reader: Reader, keys: Sequence[int]) -> dict[int, int]:
    """Returns the number of visible edges of each node; nodes without any are absent."""
    found: dict[int, int] = {}
    for start in range(0, len(keys), TOGETHER):
        given = filled(keys[start : start + TOGETHER])
        query = f"SELECT node, sum(degree) FROM degrees WHERE node IN ({marks(len(given))}) AND {reader.among()}"
        found.update(reader.db.execute(f"{query} GROUP BY node", given))
    return found


def edge_details(reader: Reader, keys: Sequence[int]) -> dict[int, tuple[str, str, float | None, str | None]]:
    """Returns plain id, kind, weight and packed tags of edges."""
    found = {}
    for start in range(0, len(keys), TOGETHER):
        given = filled(keys[start : start + TOGETHER])
        query = f"SELECT key, id, kind, weight, tags FROM edges WHERE key IN ({marks(len(given))})"
        for key, *told in reader.db.execute(query, given):
            found[key] = tuple(told)
    return found


def filled(values: Sequence[Any], width: int = 1) -> list[Any]:
    """Pads the values with None to one of a few sizes, so that each statement is prepared only once.

    >>> filled([7, 8, 9, 10, 11]), len(filled(range(9), 3))
    ([7, 8, 9, 10, 11, None, None, None], 12)
    """
    count = -(-len(values) // width)
    size = width * (1 << max(count - 1, 0).bit_length())
    return [*values, *[None] * (size - len(values))]


@lru_cache(maxsize=10_000)
def unpacked(packed: str | None) -> tuple[str, ...]:
    """Returns the tags of an edge."""
    return tuple(json.loads(packed)) if packed else ()
