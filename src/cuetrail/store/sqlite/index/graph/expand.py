"""One level of spreading activation: strongest edges first, and only as far as one could still matter."""

from __future__ import annotations

import contextlib
import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cuetrail.formulas import counted_sim, tag_sim, transfer
from cuetrail.store.graph import Candidate, Expanded, Frontier, FrontierNode, share_out
from cuetrail.store.sqlite.index.graph.adjacency import (
    EDGE,
    EDGE_ID,
    EDGE_PART,
    OTHER,
    OTHER_ID,
    OTHER_PART,
    OUTGOING,
    RANK,
    TOGETHER,
    Incident,
    Row,
    Rows,
    degrees,
    edge_details,
    unpacked,
)
from cuetrail.store.sqlite.reader import Reader

# Weights are at most 1, and an edge's rank is its negative weight.
BEFORE_ALL = -2.0
# Edges of a node with more edges than this are read one by one until none further could matter: with tags, and without
# them, where so many more than wanted would be read in vain.
HUB, SPARE = 300, 16
# More than the rounding error.
NEARLY = 1 - 1e-9

Step = tuple[float, str, str, Row]
"""Negative energy, plain ids of the neighbour and (if several partitions are visible) of the edge, and the row: sorted,
the best comes first.
"""
Offer = tuple[str, float, Row]
"""The neighbour's id in this scope, the energy that arrives there, and the row."""


def expand(reader: Reader, level: Frontier) -> Expanded:
    """Returns the candidates of every frontier node; see `store.graph`."""
    keys = _keys(reader, level)
    counts = degrees(reader, list(keys.values()))
    edges, wanted = Incident(reader, level), level.wanted()
    found: list[list[Step]] = [[] for _ in wanted]
    small: list[_Small] = []
    for number, (spark, most) in enumerate(zip(level.sparks, wanted, strict=True)):
        key = keys.get(spark.id, 0)
        degree = counts.get(key, 0)
        if most and 0 < degree <= (HUB if level.tags else most + SPARE):
            small.append((number, key, spark.energy, degree, edges.apart[spark.seed], found[number]))
        elif most and degree:
            pick = _Pick(edges, level, spark, degree, most, found[number])
            for ceiling, rows in edges.lists(key):
                pick.take(ceiling, rows)
    for start in range(0, len(small), TOGETHER):
        _take_together(edges, level, small[start : start + TOGETHER])
    offered, names = _offered(reader, found, wanted)
    taken = share_out(offered, level)
    missing = frozenset(spark.id for spark in level.sparks if spark.id not in keys)
    known = {id_: row[OTHER] for offers in taken for id_, _, row in offers}
    return Expanded(_candidates(reader, taken, names), missing, known)


def _keys(reader: Reader, level: Frontier) -> dict[str, int]:
    """Returns the keys of frontier nodes. Keys are never reused, so those known from the previous level still hold."""
    known = {spark.id: level.known[spark.id] for spark in level.sparks if spark.id in level.known}
    new = [spark.id for spark in level.sparks if spark.id not in known]
    return known | reader.keys(new) if new else known


# --- many nodes with few edges

_Small = tuple[int, int, float, int, frozenset[Any], list[Step]]
"""A frontier node with few edges: its number, key, energy and degree, the nodes visited by its seed, and its steps."""


def _take_together(edges: Incident, level: Frontier, sparks: Sequence[_Small]) -> None:
    """Adds every step from these nodes that transmits enough energy."""
    tags, floor, sim = level.tags, level.tag_sim_floor, 1.0
    at = {spark[0]: spark for spark in sparks}
    if tags:
        found: dict[tuple[int, int], list[Row]] = {}
        for row in edges.tagged(_asked(sparks, level, tag_sim(tags, tags, floor))):
            found.setdefault((row[-1], row[EDGE]), []).append(row)
        alike: dict[float, list[Row]] = {}
        for same in found.values():
            # Such an edge appears once per tag of the query that it has.
            fit = counted_sim(len(same), same[0][-2], len(tags), floor)
            alike.setdefault(fit, []).append(same[0])
        for fit, rows in alike.items():
            _take(edges, level, at, rows, fit)
        # Edges with a tag of the query appear again below as if without tags, with less energy, which changes nothing.
        sim = floor
    if sim > 0:
        _take(edges, level, at, edges.together(_asked(sparks, level, sim)), sim)


def _asked(sparks: Sequence[_Small], level: Frontier, sim: float) -> list[Any]:
    """Returns number and key of each frontier node, and the rank below which an edge of this similarity may transmit
    enough.
    """
    asked: list[Any] = []
    for number, key, energy, degree, _, _ in sparks:
        asked += (number, key, -level.min_activation * math.sqrt(degree) / energy / sim * NEARLY)
    return asked


def _take(edges: Incident, level: Frontier, at: Mapping[int, _Small], rows: Iterable[Row], sim: float) -> None:
    """Adds the steps along these rows, all of the same tag similarity. Their last column is the number of the frontier
    node.
    """
    same, several, least = edges.same, edges.several, level.min_activation
    for row in rows:
        _, _, energy, degree, apart, steps = at[row[-1]]
        if row[same] not in apart:
            passed = transfer(energy, -row[RANK], degree, sim)
            if passed > least:
                steps.append((-passed, row[OTHER_ID], row[EDGE_ID] if several else "", row))


# --- hubs


class _Pick:
    """The best steps from one frontier node, of the rows read so far.

    `least` is the energy a further step needs; with exactly that energy, its neighbour's id must not come after `last`.
    """

    def __init__(
        self, edges: Incident, level: Frontier, spark: FrontierNode, degree: int, wanted: int, steps: list[Step]
    ) -> None:
        self.fits, self.apart, self.wanted = edges.fits, edges.apart[spark.seed], wanted
        self.energy, self.degree, self.min_activation = spark.energy, degree, level.min_activation
        self.same, self.several = edges.same, edges.several
        self.steps = steps
        self.least, self.last = level.min_activation, ""
        self._most: dict[int, tuple[float, str]] = {}
        self._news = 0

    def take(self, ceiling: float, rows: Rows) -> None:
        """Adds rows, by weight, until none further could matter; none of them has a higher tag similarity than the
        ceiling.
        """
        after: float | None = BEFORE_ALL
        while after is not None:
            with contextlib.closing(rows.after(after)) as cursor:
                after = self._take(ceiling, cursor)

    def _take(self, ceiling: float, rows: Iterable[Row]) -> float | None:
        """Adds rows and returns the rank after which to continue, None at the end."""
        energy, degree, apart, same, floor = self.energy, self.degree, self.apart, self.same, self.min_activation
        for row in rows:
            most = transfer(energy, -row[RANK], degree, ceiling)
            if most <= floor or most < self.least:
                return None
            if row[same] in apart:
                continue
            # Rows of equal weight are ordered by id: after the last one wanted, none of them can matter.
            if most == self.least and row[OTHER_ID] > self.last:
                rank: float = row[RANK]
                return rank
            fit = self.fits(row)
            passed = most if fit == ceiling else transfer(energy, -row[RANK], degree, fit)
            if passed > floor and passed >= self.least:
                self.steps.append((-passed, row[OTHER_ID], row[EDGE_ID] if self.several else "", row))
                # If there are no more neighbours than wanted, none can be left out.
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


# --- what becomes of them


def _offered(reader: Reader, found: list[list[Step]], wanted: list[int]) -> tuple[list[list[Offer]], dict[int, str]]:
    """Returns steps as offers, each neighbour once, by its best edge, and the ids of edges where plain ids are
    ambiguous.
    """
    rows = [step[3] for steps in found for step in steps] if len(reader.parts) > 1 else []
    others = reader.ids.names((row[OTHER], row[OTHER_ID], row[OTHER_PART]) for row in rows)
    names = reader.ids.names(((row[EDGE], row[EDGE_ID], row[EDGE_PART]) for row in rows), "edges")

    def called(step: Step) -> tuple[float, str, str, str, str]:
        return *step[:3], others[step[3][OTHER]], names[step[3][EDGE]]

    best: list[dict[int, Step]] = []
    ties: list[_Tie] = []
    for steps, most in zip(found, wanted, strict=True):
        steps.sort(key=called if rows else None)
        best.append(_best(steps, most, ties))
    if ties and not rows:
        _settle(reader, ties)
    return [[(others.get(other, step[1]), -step[0], step[3]) for other, step in some.items()] for some in best], names


_Tie = tuple[dict[int, Step], Step]
"""The best steps by neighbour, and others that are equally good."""


def _best(steps: list[Step], most: int, ties: list[_Tie]) -> dict[int, Step]:
    """Returns the first step to each of so many neighbours; equally good ones are noted."""
    best: dict[int, Step] = {}
    for step in steps:
        row = step[3]
        there = best.get(row[OTHER])
        if there is None:
            if len(best) == most:
                break
            best[row[OTHER]] = step
        elif there[0] == step[0] and there[3][EDGE] != row[EDGE]:
            ties.append((best, step))
    return best


def _settle(reader: Reader, ties: list[_Tie]) -> None:
    """Chooses, of equally good parallel edges, the one with the lower id; only for these ids are read."""
    steps = [step for best, other in ties for step in (other, best[other[3][OTHER]])]
    ids = edge_details(reader, list({step[3][EDGE] for step in steps}))
    for best, step in ties:
        best[step[3][OTHER]] = min(step, best[step[3][OTHER]], key=lambda one: ids[one[3][EDGE]][0])


def _candidates(reader: Reader, taken: list[list[Offer]], names: dict[int, str]) -> tuple[tuple[Candidate, ...], ...]:
    """Turns offers into candidates: the edges are read only now, for those that are taken."""
    told = edge_details(reader, list({row[EDGE] for offers in taken for _, _, row in offers}))
    made = []
    for offers in taken:
        some = []
        for id_, energy, row in offers:
            edge, kind, weight, tags = told[row[EDGE]]
            edge = names.get(row[EDGE], edge)
            # Made like a plain tuple, which takes half of the time.
            some.append(tuple.__new__(Candidate, (id_, energy, edge, kind, weight, unpacked(tags), row[OUTGOING] == 1)))
        made.append(tuple(some))
    return tuple(made)
