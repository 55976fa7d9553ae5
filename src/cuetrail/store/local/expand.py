"""One level of a walk by energy: the strongest edges first, and no further than one could still matter."""

from __future__ import annotations

import contextlib
import heapq
import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from cuetrail.formulas import tag_sim, transfer
from cuetrail.model import Where
from cuetrail.store.energy import Candidate, Expanded, Level, Spark
from cuetrail.store.local.db import chunks, marks
from cuetrail.store.local.read import Reader

BEFORE_ALL = -2.0
"""Weights are at most 1, and an edge's rank is its weight below zero."""


class _Row(NamedTuple):
    """An edge as seen from the node it was read for."""

    rank: float
    other_id: str
    other: int
    edge: int
    outgoing: int
    edge_id: str
    edge_part: int
    other_part: int
    kind: str
    weight: float | None
    tags: str | None


_Step = tuple[float, str, str, _Row]
"""Energy below zero, plain ids of the neighbour and the edge, and the row: sorted, the best comes first."""


def expand(reader: Reader, level: Level) -> Expanded:
    """The candidates of every spark, as `store.energy` has it."""
    keys = reader.keys(spark.id for spark in level.sparks)
    degrees = _degrees(reader, keys.values())
    apart = [frozenset(reader.keys(seen).values()) for seen in level.visited]
    query, filters = _query(reader, level.where)
    found: list[list[_Step]] = []
    for spark, wanted in zip(level.sparks, level.wanted(), strict=True):
        degree = degrees.get(keys.get(spark.id, 0), 0)
        pick = _Pick(level, spark, degree, apart[spark.seed], wanted)
        if wanted and degree:
            pick.read(reader, query, keys[spark.id], filters)
        found.append(pick.steps)
    missing = frozenset(spark.id for spark in level.sparks if spark.id not in keys)
    return Expanded(_candidates(reader, found, level.wanted()), missing)


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

    def __init__(self, level: Level, spark: Spark, degree: int, apart: frozenset[int], wanted: int) -> None:
        self.level, self.spark, self.degree, self.apart, self.wanted = level, spark, degree, apart, wanted
        self.steps: list[_Step] = []
        self.least, self.last = level.min_activation, ""
        self._most: dict[int, tuple[float, str]] = {}
        self._news = 0

    def read(self, reader: Reader, query: str, key: int, filters: list[Any]) -> None:
        """Read edges by weight until no further one could matter."""
        after: float | None = BEFORE_ALL
        while after is not None:
            with contextlib.closing(reader.db.execute(query, (key, after, *filters))) as cursor:
                after = self._take(map(_Row._make, cursor))

    def _take(self, rows: Iterable[_Row]) -> float | None:
        """Take rows in; the rank behind which to go on, None at the end."""
        level, energy, degree = self.level, self.spark.energy, self.degree
        for row in rows:
            most = transfer(energy, -row.rank, degree, 1.0)
            if most <= level.min_activation or most < self.least:
                return None
            if row.other in self.apart:
                continue
            # Of one weight rows come by id. Behind the last one wanted, none of them can matter any more.
            if most == self.least and row.other_id > self.last:
                return row.rank
            tags = frozenset(json.loads(row.tags)) if row.tags and level.tags else frozenset()
            passed = transfer(energy, -row.rank, degree, tag_sim(tags, level.tags, level.tag_sim_floor))
            if passed > level.min_activation and passed >= self.least:
                self._add(passed, row)
        return None

    def _add(self, passed: float, row: _Row) -> None:
        self.steps.append((-passed, row.other_id, row.edge_id, row))
        if passed > self._most.get(row.other, (0.0, ""))[0]:
            self._most[row.other] = (passed, row.other_id)
            self._news += 1
            if len(self._most) >= self.wanted and self._news > self.wanted // 8:
                self._news = 0
                self.least = heapq.nlargest(self.wanted, self._most.values())[-1][0]
                self.last = max(id_ for most, id_ in self._most.values() if most == self.least)


def _candidates(reader: Reader, found: list[list[_Step]], wanted: list[int]) -> tuple[tuple[Candidate, ...], ...]:
    """Steps as candidates, under the ids that nodes and edges have in this scope: each neighbour once, by its best."""
    several = len(reader.parts) > 1
    rows = [step[3] for steps in found for step in steps] if several else []
    others = reader.ids.names((row.other, row.other_id, row.other_part) for row in rows)
    edges = reader.ids.names(((row.edge, row.edge_id, row.edge_part) for row in rows), "edges")

    def order(step: _Step) -> tuple[float, str, str, str, str]:
        row = step[3]
        return *step[:3], others.get(row.other, ""), edges.get(row.edge, "")

    made = []
    for steps, most in zip(found, wanted, strict=True):
        best: dict[int, _Step] = {}
        for step in sorted(steps, key=order):
            best.setdefault(step[3].other, step)
        made.append(tuple(_candidate(step, others, edges) for step in list(best.values())[:most]))
    return tuple(made)


def _candidate(step: _Step, others: dict[int, str], edges: dict[int, str]) -> Candidate:
    row = step[3]
    return Candidate(
        others.get(row.other, row.other_id), -step[0], edges.get(row.edge, row.edge_id), row.kind, row.weight,
        tuple(json.loads(row.tags)) if row.tags else (), bool(row.outgoing),
    )  # fmt: skip


def _query(reader: Reader, where: Where) -> tuple[str, list[Any]]:
    """The edges of a node to neighbours that pass the filters, the strongest first, and the values of the filters."""
    tests, values = [reader.among("a.part"), reader.among("n.part")], list[Any]()
    for tag in where.tags:
        tests.append(_LABELLED.format("= ?"))
        values += ["t", tag]
    if where.buckets:
        tests.append(_LABELLED.format(f"IN ({marks(len(where.buckets))})"))
        values += ["b", *where.buckets]
    if where.kinds:
        tests.append(f"n.kind IN ({marks(len(where.kinds))})")
        values += where.kinds
    for bound, test in ((where.since, "n.at >= ?"), (where.until, "n.at <= ?")):
        if bound is not None:
            tests.append(test)
            values.append(bound)
    if not where.quarantined:
        tests.append("n.provenance <> 'quarantine'")
    if not where.archived:
        tests.append("NOT EXISTS (SELECT 1 FROM life l WHERE l.key = a.other AND l.state = 'archived')")
    return (
        "SELECT a.rank, a.other_id, a.other, a.edge, a.outgoing, e.id, e.part, n.part, e.kind, e.weight, e.tags"
        " FROM adjacency a JOIN edges e ON e.key = a.edge JOIN nodes n ON n.key = a.other"
        f" WHERE a.node = ? AND a.rank > ? AND {' AND '.join(tests)} ORDER BY a.rank, a.other_id, a.edge"
    ), values


_LABELLED = (
    "EXISTS (SELECT 1 FROM labels l JOIN node_labels x ON x.label = l.label"
    " WHERE x.key = a.other AND l.what = ? AND l.name {})"
)
