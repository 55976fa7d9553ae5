"""One level of spreading activation: reads the edges of frontier nodes, strongest first, until none further could
matter.

The frontier are the nodes that the activation reached last; `store.graph` defines the computation.
"""

from __future__ import annotations

import contextlib
import heapq
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

from cuetrail.formulas import counted_sim, tag_sim, transfer
from cuetrail.model import Where
from cuetrail.store.graph import Candidate, Expanded, Frontier, FrontierNode, share_out
from cuetrail.store.sqlite.connection import marks
from cuetrail.store.sqlite.reader import Reader, content_filter, label_numbers

# The edges of at most so many nodes are read together: three parameters each stay below SQLite's limit.
TOGETHER = 256

Row = tuple[Any, ...]
"""A row of the adjacency table: rank (negative weight of the edge), plain id and key of the neighbour, key and
direction of the edge; if several partitions are visible, also the partition of the neighbour, and the plain id and
partition of the edge.
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
    """Reads the edges from the frontier to neighbours that pass its filters, and computes their tag similarity.

    `apart` has one set of visited nodes per seed, and `same` is the column to look up in it: the neighbour's key, or
    its plain id if only one partition is visible.
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
        self._joins = _EDGE if self.several else ""
        # Reading the node costs more than the rest of a row, so it is read only if a filter needs it.
        where = level.where
        narrowed = where.kinds or where.props or where.with_text or where.since is not None or where.until is not None
        if self.several or not reader.all or narrowed:
            self._joins += _NODE
            self._tests += f" AND {reader.among('n.part')}"
        # Few tags occur very often.
        self._fits: dict[str | None, float] = {}

    def _conditions(self, where: Where) -> tuple[str, list[Any]]:
        """Returns a SQL condition that is true for visible edges whose neighbour passes the filters, and its values."""
        tests, values = content_filter(where, "a.other")
        tests.append(self.reader.among("a.part"))
        aside = self.reader.ids.once(_ASIDE)
        # Most memories have nothing quarantined; not testing for it saves a fifth of the time.
        for shown, any_, place in zip((where.quarantined, where.archived), aside, (_QUARANTINE, _ARCHIVE), strict=True):
            if any_ and not shown:
                tests.append(f"NOT EXISTS (SELECT 1 FROM {place} AND o.key = a.other)")
        return " AND ".join(tests), values

    # --- of many nodes with few edges

    def together(self, asked: list[Any]) -> Iterator[Row]:
        """Yields the edges of several nodes, in any order. The last column of a row is the number of its node.

        `asked` is a flat list with a number, the key and a rank limit for each node. Only edges ranked below the limit
        are read.
        """
        columns, tables = f"{self._columns}, s.number", f"s CROSS JOIN adjacency a{self._joins}"
        where = "a.node = s.node AND a.rank < s.below"
        return self._each(asked, columns, tables, where, [])

    def tagged(self, asked: list[Any]) -> Iterator[Row]:
        """Yields the edges of `together` that have a tag of the query, once for each such tag. The last column but one
        is the number of all tags of the edge.
        """
        columns, tables = f"{self._columns}, t.size, s.number", f"{_TAGGED}{self._joins}"
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
        """Returns the similarity of an edge's tags to the query's tags. `row` is from one of `lists`."""
        if not self.tags:
            return 1.0
        packed = row[-1]
        known = self._fits.get(packed)
        if known is None:
            known = self._fits[packed] = tag_sim(frozenset(unpacked(packed)), self.tags, self.floor)
        return known

    @cached_property
    def _labels(self) -> list[int]:
        return list(label_numbers(self.reader.db, "t", self.tags).values())

    def lists(self, key: int) -> Iterator[tuple[float, Rows]]:
        """Yields lists that together contain all edges of a node, each with the highest tag similarity in it."""
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
        """Returns the beginning of a query on these tables: the columns of a row, with the tags of the edge at the end
        if the query has tags.
        """
        if not self.tags:
            return f"SELECT {self._columns} FROM {tables}{self._joins}"
        edge = "" if self.several else _EDGE
        return f"SELECT {self._columns}, e.tags FROM {tables}{edge}{self._joins}"


@lru_cache(1_000)
def _query(nodes: int, columns: str, tables: str, where: str) -> str:
    """Returns the text of a query for `nodes` nodes. Equal texts reuse the prepared statement."""
    places = ",".join(["(?,?,?)"] * nodes)
    return f"WITH s (number, node, below) AS (VALUES {places}) SELECT {columns} FROM {tables} WHERE {where}"


class Rows:
    """The edges of one node, perhaps only those with a certain tag, by weight, then by neighbour id; read on demand."""

    def __init__(self, reader: Reader, query: str, values: tuple[Any, ...], filters: list[Any]) -> None:
        self._db, self._query, self._values, self._filters = reader.db, query, values, filters

    def after(self, rank: float) -> Any:
        """Returns a database cursor on the edges with a rank above this one, that is the weaker edges."""
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
    """Returns plain id, kind, weight and packed tags of edges, by key."""
    found = {}
    for start in range(0, len(keys), TOGETHER):
        given = filled(keys[start : start + TOGETHER])
        query = f"SELECT key, id, kind, weight, tags FROM edges WHERE key IN ({marks(len(given))})"
        for key, *details in reader.db.execute(query, given):
            found[key] = tuple(details)
    return found


def filled(values: Sequence[Any], width: int = 1) -> list[Any]:
    """Returns the values, padded with None to one of a few sizes, so that each statement is prepared only once. `width`
    is the number of values that belong together.

    >>> filled([7, 8, 9, 10, 11]), len(filled(range(9), 3))
    ([7, 8, 9, 10, 11, None, None, None], 12)
    """
    count = -(-len(values) // width)
    size = width * (1 << max(count - 1, 0).bit_length())
    return [*values, *[None] * (size - len(values))]


@lru_cache(maxsize=10_000)
def unpacked(packed: str | None) -> tuple[str, ...]:
    """Returns the tags of an edge from the packed form in which they are stored."""
    return tuple(json.loads(packed)) if packed else ()


# Weights are at most 1, and an edge's rank is its negative weight.
BEFORE_ALL = -2.0
# Edges of a node with more edges than this are read one by one until none further could matter: with tags, and without
# them, where so many more than wanted would be read in vain.
HUB, SPARE = 300, 16
# More than the rounding error.
NEARLY = 1 - 1e-9

Step = tuple[float, str, str, Row]
"""A possible step to a neighbour: negative energy, plain ids of the neighbour and (if several partitions are visible)
of the edge, and the row. Sorted, the best step comes first.
"""
Offer = tuple[str, float, Row]
"""A neighbour offered to a frontier node: its id in this scope, the energy that arrives, and the row of the edge."""


def expand(reader: Reader, level: Frontier) -> Expanded:
    """Returns the neighbours that energy can flow to from each frontier node; see `store.graph`."""
    keys = _keys(reader, level)
    counts = degrees(reader, list(keys.values()))
    edges, wanted = Incident(reader, level), level.wanted()
    found: list[list[Step]] = [[] for _ in wanted]
    small: list[_Small] = []
    for number, (node, most) in enumerate(zip(level.nodes, wanted, strict=True)):
        key = keys.get(node.id, 0)
        degree = counts.get(key, 0)
        if most and 0 < degree <= (HUB if level.tags else most + SPARE):
            small.append((number, key, node.energy, degree, edges.apart[node.seed], found[number]))
        elif most and degree:
            pick = _Pick(edges, level, node, degree, most, found[number])
            for ceiling, rows in edges.lists(key):
                pick.take(ceiling, rows)
    for start in range(0, len(small), TOGETHER):
        _take_together(edges, level, small[start : start + TOGETHER])
    offered, names = _offered(reader, found, wanted)
    taken = share_out(offered, level)
    missing = frozenset(node.id for node in level.nodes if node.id not in keys)
    known = {id_: row[OTHER] for offers in taken for id_, _, row in offers}
    return Expanded(_candidates(reader, taken, names), missing, known)


def _keys(reader: Reader, level: Frontier) -> dict[str, int]:
    """Returns the keys of frontier nodes by id. Keys are never reused, so those of the previous level are right."""
    known = {node.id: level.known[node.id] for node in level.nodes if node.id in level.known}
    new = [node.id for node in level.nodes if node.id not in known]
    return known | reader.keys(new) if new else known


# --- many nodes with few edges

_Small = tuple[int, int, float, int, frozenset[Any], list[Step]]
"""A frontier node with few edges: its number, key, energy and degree, the nodes visited by its seed, and its steps."""


def _take_together(edges: Incident, level: Frontier, nodes: Sequence[_Small]) -> None:
    """Adds to the list of each of these frontier nodes all its steps to neighbours that transmit enough energy."""
    tags, floor, sim = level.tags, level.tag_sim_floor, 1.0
    at = {node[0]: node for node in nodes}
    if tags:
        found: dict[tuple[int, int], list[Row]] = {}
        for row in edges.tagged(_asked(nodes, level, tag_sim(tags, tags, floor))):
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
        _take(edges, level, at, edges.together(_asked(nodes, level, sim)), sim)


def _asked(nodes: Sequence[_Small], level: Frontier, sim: float) -> list[Any]:
    """Returns the parameters of `Incident.together`: number, key and rank limit of each node, in a flat list.

    A rank is a negative weight. Only an edge ranked below the limit transmits enough energy at the tag similarity
    `sim`.
    """
    asked: list[Any] = []
    for number, key, energy, degree, _, _ in nodes:
        asked += (number, key, -level.min_activation * math.sqrt(degree) / energy / sim * NEARLY)
    return asked


def _take(edges: Incident, level: Frontier, at: Mapping[int, _Small], rows: Iterable[Row], sim: float) -> None:
    """Adds steps along rows of the tag similarity `sim` to their frontier nodes, whose number is the last column."""
    same, several, least = edges.same, edges.several, level.min_activation
    for row in rows:
        _, _, energy, degree, apart, steps = at[row[-1]]
        if row[same] not in apart:
            passed = transfer(energy, -row[RANK], degree, sim)
            if passed > least:
                steps.append((-passed, row[OTHER_ID], row[EDGE_ID] if several else "", row))


# --- hubs


class _Pick:
    """Collects the best steps from one hub, a frontier node with many edges, in `steps`.

    `least` is the energy a further step needs; with exactly that energy, its neighbour's id must not come after `last`.
    """

    def __init__(
        self, edges: Incident, level: Frontier, node: FrontierNode, degree: int, wanted: int, steps: list[Step]
    ) -> None:
        self.fits, self.apart, self.wanted = edges.fits, edges.apart[node.seed], wanted
        self.energy, self.degree, self.min_activation = node.energy, degree, level.min_activation
        self.same, self.several = edges.same, edges.several
        self.steps = steps
        self.least, self.last = level.min_activation, ""
        self._most: dict[int, tuple[float, str]] = {}
        self._news = 0

    def take(self, ceiling: float, rows: Rows) -> None:
        """Adds edges by weight until none further could matter; `ceiling` is their highest tag similarity."""
        after: float | None = BEFORE_ALL
        while after is not None:
            with contextlib.closing(rows.after(after)) as cursor:
                after = self._take(ceiling, cursor)

    def _take(self, ceiling: float, rows: Iterable[Row]) -> float | None:
        """Adds rows, strongest first, as steps of the node. Returns the rank (negative weight) after which to continue
        reading, if the other rows of this rank cannot matter; None if all rows are read or no further row could
        matter.

        `ceiling` is the highest tag similarity that a row can have.
        """
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


# --- from steps to candidates


def _offered(reader: Reader, found: list[list[Step]], wanted: list[int]) -> tuple[list[list[Offer]], dict[int, str]]:
    """Returns the best steps of each frontier node as offers, each neighbour once, by its best edge; and the ids of
    edges in this scope by key, if several partitions are visible.
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
"""The best steps of a frontier node by neighbour, and another step that is as good as one of them."""


def _best(steps: list[Step], most: int, ties: list[_Tie]) -> dict[int, Step]:
    """Returns the first of the sorted steps to each of at most `most` neighbours, by the neighbour's key. Other edges
    to one of them that transmit equal energy are appended to `ties`.
    """
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
    """Replaces, of equally good parallel edges, the chosen one by the one with the lowest id, which is read here."""
    steps = [step for best, other in ties for step in (other, best[other[3][OTHER]])]
    ids = edge_details(reader, list({step[3][EDGE] for step in steps}))
    for best, step in ties:
        best[step[3][OTHER]] = min(step, best[step[3][OTHER]], key=lambda one: ids[one[3][EDGE]][0])


def _candidates(reader: Reader, taken: list[list[Offer]], names: dict[int, str]) -> tuple[tuple[Candidate, ...], ...]:
    """Turns the offers (id, energy and row of an edge) that each frontier node takes into candidates, one tuple per
    frontier node, in order. Only the details of these edges are read; `names` has the ids of edges by key where they
    differ from the stored ones.
    """
    details = edge_details(reader, list({row[EDGE] for offers in taken for _, _, row in offers}))
    made = []
    for offers in taken:
        some = []
        for id_, energy, row in offers:
            edge, kind, weight, tags = details[row[EDGE]]
            edge = names.get(row[EDGE], edge)
            # Made like a plain tuple, which takes half of the time.
            some.append(tuple.__new__(Candidate, (id_, energy, edge, kind, weight, unpacked(tags), row[OUTGOING] == 1)))
        made.append(tuple(some))
    return tuple(made)
