"""One level of a walk by energy: the strongest edges first, and no further than one could still matter."""

from __future__ import annotations

import contextlib
import heapq
import json
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import Any

from cuetrail.formulas import tag_sim, transfer
from cuetrail.model import Where
from cuetrail.store.energy import Candidate, Expanded, Level, Spark
from cuetrail.store.local.db import chunks, marks
from cuetrail.store.local.filters import narrowing
from cuetrail.store.local.labels import Label, label_ids
from cuetrail.store.local.read import Reader

# Weights are at most 1, and an edge's rank is its weight below zero.
BEFORE_ALL = -2.0
# With fewer edges, reading all of them costs less than looking up which of them have a tag of the query.
HUB = 300

Row = tuple[Any, ...]
"""An edge from a node: rank, plain id and key of the other end, key, direction, plain id, kind, weight and tags of the
edge; where several places are in sight, the parts of the other end and of the edge too."""
RANK, OTHER_ID, OTHER, EDGE, OUTGOING, EDGE_ID, KIND, WEIGHT, TAGS, OTHER_PART, EDGE_PART = range(11)

Step = tuple[float, str, str, Row]
"""Energy below zero, plain ids of the neighbour and the edge, and the row: sorted, the best comes first."""


def expand(reader: Reader, level: Level) -> Expanded:
    """The candidates of every spark, as `store.energy` has it."""
    keys = reader.keys(spark.id for spark in level.sparks)
    degrees = _degrees(reader, keys.values())
    edges = _Edges(reader, level)
    wanted = level.wanted()
    found: list[list[Step]] = []
    for spark, most in zip(level.sparks, wanted, strict=True):
        key = keys.get(spark.id, 0)
        pick = _Pick(edges, level, spark, degrees.get(key, 0), most)
        if most and pick.degree:
            for ceiling, rows in edges.of(key, pick.degree):
                pick.take(ceiling, rows)
        found.append(pick.steps)
    missing = frozenset(spark.id for spark in level.sparks if spark.id not in keys)
    return Expanded(_candidates(reader, found, wanted), missing)


def _degrees(reader: Reader, keys: Iterable[int]) -> dict[int, int]:
    found: dict[int, int] = {}
    for some in chunks(list(keys)):
        query = f"SELECT node, sum(degree) FROM degrees WHERE node IN ({marks(len(some))}) AND {reader.among()}"
        found.update(reader.db.execute(f"{query} GROUP BY node", some))
    return found


class _Pick:
    """The best steps from one spark, of the rows read so far.

    `least` is what a further step needs to come among those wanted; at just as much, `last` is the id of a neighbour
    it must not stand behind.
    """

    def __init__(self, edges: _Edges, level: Level, spark: Spark, degree: int, wanted: int) -> None:
        self.fits, self.apart, self.wanted = edges.fits, edges.apart[spark.seed], wanted
        self.energy, self.degree, self.min_activation = spark.energy, degree, level.min_activation
        self.same = edges.same
        self.steps: list[Step] = []
        self.least, self.last = level.min_activation, ""
        self._most: dict[int, tuple[float, str]] = {}
        self._news = 0

    def take(self, ceiling: float, rows: _Rows) -> None:
        """Take in rows, by weight, until none further could matter; none of them fits better than the ceiling."""
        after: float | None = BEFORE_ALL
        while after is not None:
            with contextlib.closing(rows.after(after)) as cursor:
                after = self._take(ceiling, cursor)

    def _take(self, ceiling: float, rows: Iterable[Row]) -> float | None:
        """The rank behind which to go on, None at the end."""
        energy, degree, apart, same, floor = self.energy, self.degree, self.apart, self.same, self.min_activation
        for row in rows:
            most = transfer(energy, -row[RANK], degree, ceiling)
            if most <= floor or most < self.least:
                return None
            if row[same] in apart:
                continue
            # Of one weight rows come by id. Behind the last one wanted, none of them can matter any more.
            if most == self.least and row[OTHER_ID] > self.last:
                rank: float = row[RANK]
                return rank
            fit = self.fits(row[TAGS])
            passed = most if fit == ceiling else transfer(energy, -row[RANK], degree, fit)
            if passed > floor and passed >= self.least:
                self.steps.append((-passed, row[OTHER_ID], row[EDGE_ID], row))
                # Where there are no more neighbours than wanted, none can be left out.
                if degree > self.wanted:
                    self._note(passed, row)
        return None

    def _note(self, passed: float, row: Row) -> None:
        if passed > self._most.get(row[OTHER], (0.0, ""))[0]:
            self._most[row[OTHER]] = (passed, row[OTHER_ID])
            self._news += 1
            if len(self._most) >= self.wanted and self._news > self.wanted // 8:
                self._news = 0
                self.least = heapq.nlargest(self.wanted, self._most.values())[-1][0]
                self.last = max(id_ for most, id_ in self._most.values() if most == self.least)


class _Rows:
    """A list of edges, by weight, then by the id of the other end."""

    def __init__(self, reader: Reader, query: str, values: tuple[Any, ...], filters: list[Any]) -> None:
        self._db, self._query, self._values, self._filters = reader.db, query, values, filters

    def after(self, rank: float) -> Any:
        """A cursor on the rows behind this rank."""
        return self._db.execute(self._query, (*self._values, rank, *self._filters))


class _Edges:
    """The edges of a level's sparks to neighbours that pass its filters, and how well their tags fit.

    `same` is the column by which a row is known to lead to one of the nodes `apart`: where only one place is in sight,
    plain ids tell.
    """

    def __init__(self, reader: Reader, level: Level) -> None:
        self.reader, self.tags, self.floor = reader, level.tags, level.tag_sim_floor
        self.several = len(reader.parts) > 1
        self.same = OTHER if self.several else OTHER_ID
        self.apart: list[frozenset[Any]] = list(level.visited)
        if self.several:
            self.apart = [frozenset(reader.keys(seen).values()) for seen in level.visited]
        columns, tests, self._filters = self._conditions(level.where)
        self._plain = (
            f"SELECT a.rank, {columns} WHERE a.node = ? AND a.rank > ? AND {tests} ORDER BY a.rank, a.other_id, a.edge"
        )
        self._tagged = (
            f"SELECT t.rank, {columns.replace('FROM', 'FROM adjacency_tags t CROSS JOIN', 1)}"
            " WHERE t.label = ? AND t.node = ? AND t.size = ? AND t.rank > ? AND a.node = t.node AND a.rank = t.rank"
            f" AND a.other_id = t.other_id AND a.edge = t.edge AND {tests} ORDER BY t.rank, t.other_id, t.edge"
        )
        # The same tags come again and again.
        self._fits: dict[str | None, float] = {}

    def fits(self, packed: str | None) -> float:
        """How well the tags of an edge fit those of the query."""
        if not self.tags:
            return 1.0
        known = self._fits.get(packed)
        if known is None:
            known = self._fits[packed] = tag_sim(frozenset(_unpacked(packed)), self.tags, self.floor)
        return known

    @cached_property
    def _labels(self) -> dict[Label, int]:
        return label_ids(self.reader.db, {("t", tag) for tag in self.tags})

    def of(self, key: int, degree: int) -> Iterator[tuple[float, _Rows]]:
        """Lists of a node's edges that together have all of them, and how well one of each can fit at most."""
        best = tag_sim(self.tags, self.tags, self.floor)
        if self.tags and degree > HUB:
            yield from sorted(self._by_tag(key), key=lambda pair: -pair[0])
            # Any edge not in these lists has no tag of the query.
            best = self.floor
        yield best, _Rows(self.reader, self._plain, (key,), self._filters)

    def _by_tag(self, key: int) -> Iterator[tuple[float, _Rows]]:
        for label in self._labels.values():
            size = 0
            while size is not None:
                query = "SELECT min(size) FROM adjacency_tags WHERE label = ? AND node = ? AND size > ?"
                (size,) = self.reader.db.execute(query, (label, key, size)).fetchone()
                if size is not None:
                    shared = min(size, len(self.tags))
                    best = self.floor + (1.0 - self.floor) * shared / (size + len(self.tags) - shared)
                    yield best, _Rows(self.reader, self._tagged, (label, key, size), self._filters)

    def _conditions(self, where: Where) -> tuple[str, str, list[Any]]:
        """The columns of a row, and on what conditions it counts: in sight, and what it leads to passes the filters."""
        tests, values = narrowing(where, "a.other")
        tests.append(self.reader.among("a.part"))
        for shown, place in ((where.quarantined, _QUARANTINE), (where.archived, _ARCHIVE)):
            # In most memories nothing is set aside, and not to look for it takes a fifth less time.
            if not shown and self.reader.db.execute(f"SELECT 1 FROM {place} LIMIT 1").fetchone():
                tests.append(f"NOT EXISTS (SELECT 1 FROM {place} AND o.key = a.other)")
        columns = "a.other_id, a.other, a.edge, a.outgoing, e.id, e.kind, e.weight, e.tags"
        tables = "FROM adjacency a CROSS JOIN edges e ON e.key = a.edge"
        # A look at the node costs more than all the rest of a row, so it is taken only where it can tell something.
        narrowed = where.kinds or where.since is not None or where.until is not None
        if self.several or not self.reader.all or narrowed:
            columns, tables = f"{columns}, n.part, e.part", f"{tables} CROSS JOIN nodes n ON n.key = a.other"
            tests.append(self.reader.among("n.part"))
        return f"{columns} {tables}", " AND ".join(tests), values


_QUARANTINE = "nodes o INDEXED BY nodes_in_quarantine WHERE o.provenance = 'quarantine'"
_ARCHIVE = "life o INDEXED BY life_archived WHERE o.state = 'archived'"


@lru_cache(maxsize=10_000)
def _unpacked(packed: str | None) -> tuple[str, ...]:
    return tuple(json.loads(packed)) if packed else ()


def _candidates(reader: Reader, found: list[list[Step]], wanted: list[int]) -> tuple[tuple[Candidate, ...], ...]:
    """Steps as candidates, under the ids that nodes and edges have in this scope: each neighbour once, by its best."""
    rows = [step[3] for steps in found for step in steps] if len(reader.parts) > 1 else []
    others = reader.ids.names((row[OTHER], row[OTHER_ID], row[OTHER_PART]) for row in rows)
    edges = reader.ids.names(((row[EDGE], row[EDGE_ID], row[EDGE_PART]) for row in rows), "edges")

    def called(step: Step) -> tuple[float, str, str, str, str]:
        return *step[:3], others[step[3][OTHER]], edges[step[3][EDGE]]

    made = []
    for steps, most in zip(found, wanted, strict=True):
        best: dict[int, Step] = {}
        for step in sorted(steps, key=called if rows else None):
            best.setdefault(step[3][OTHER], step)
            if len(best) == most:
                break
        made.append(tuple(_candidate(step, others, edges) for step in best.values()))
    return tuple(made)


def _candidate(step: Step, others: dict[int, str], edges: dict[int, str]) -> Candidate:
    energy, other, edge, row = step
    if others:
        other, edge = others[row[OTHER]], edges[row[EDGE]]
    return Candidate(other, -energy, edge, row[KIND], row[WEIGHT], _unpacked(row[TAGS]), row[OUTGOING] == 1)
