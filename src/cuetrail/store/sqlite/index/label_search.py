"""The tag walk: the best nodes that share labels (tags or buckets) with others, found exactly without reading most
nodes.

A label's code is twice its number in the table of labels, plus 1 for a temporal tag. Only even codes are joining codes:
temporal tags filter nodes, but connect none.

A node's value is at most `ceiling` times the sum of weights of the labels it shares. Labels are processed in rounds,
heaviest first: each round tests all nodes with one of the next labels. A node with none of the labels processed so far
can only share lighter ones, and no more of them than any node has. Once that is worth less than the last of the best
found, no remaining node can be among the best.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cuetrail.formulas import DAMPING, HOUR, PER_HOUR, UNKNOWN_DISTANCE, idf
from cuetrail.model import Label, Walk, WalkHit, WalkQuery, WalkSeed, Where
from cuetrail.model.records import maker
from cuetrail.store.sqlite.index.text_search import TextSearch, TextView
from cuetrail.store.sqlite.reader import CheckedFiles, Index, Reader, label_numbers
from cuetrail.store.sqlite.rows import hash64
from cuetrail.text.normalise import Terms, searchable_text, terms_of

QUARANTINED, ARCHIVED, SILENT, HASHED = 1, 2, 4, 8
"""Flags of a row. A silent node has no text, or only a heading. A hashed node has a SimHash."""
# The columns with one entry per row.
COLUMNS = ("keys", "parts", "kinds", "flags", "ats", "hashes")
Runs = Sequence[tuple[int, int]]
Ints = NDArray[np.int64]
RowNumbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class NodeRows:
    """A table of nodes with label codes. The codes of row i are `codes[starts[i] : starts[i + 1]]`, at least one."""

    keys: Ints
    parts: NDArray[np.int32]
    kinds: Ints
    flags: NDArray[np.uint8]
    ats: Ints
    hashes: NDArray[np.uint64]
    starts: Ints
    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, rows: NDArray[Any]) -> NodeRows:
        """Returns a table of the rows with these numbers, in this order. A number may occur twice."""
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate(([0], np.cumsum(lengths)))
        # The source position of each code: its offset in its row, plus the start of the row.
        places = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], lengths)
        columns: Any = {name: getattr(self, name)[rows] for name in COLUMNS}
        return NodeRows(**columns, starts=starts, codes=self.codes[places])

    def without(self, runs: Runs) -> NodeRows:
        """Returns the rows whose keys lie in none of the ranges. The rows must be sorted by key."""
        kept = np.ones(len(self), np.bool_)
        for low, high in runs:
            kept[np.searchsorted(self.keys, low) : np.searchsorted(self.keys, high, "right")] = False
        return self if kept.all() else self.take(np.flatnonzero(kept))

    def sums(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns each row's sum of the weights of its codes. A code beyond the end of `weights` has the last one."""
        if not len(self):
            return np.zeros(0)
        sums: NDArray[np.float64] = np.add.reduceat(weights.take(self.codes, mode="clip"), self.starts[:-1])
        return sums


class LabelRows(NamedTuple):
    """The numbers of the rows of one partition that have a code, in order. For a short list `codes` has their joining
    codes, one array column per row; else None.
    """

    part: int
    rows: RowNumbers
    codes: NDArray[np.int32] | None


@dataclass(frozen=True)
class LabelColumns:
    """The columns of a base, a table of nodes that is memory-mapped from a file, newest node first.

    The rows with one code in one partition are a slice of `carriers`. `forward` has the joining codes of each row,
    padded with 0. For short lists these codes are also in `near`, from `list_near` on (negative: a long list). Wide
    rows, those with more codes than `forward` has columns, have theirs in `wide_codes`. `most_tags` and `most_buckets`
    are the largest numbers of tags and buckets of a row that is not wide.
    """

    keys: Ints
    kinds: Ints
    ats: Ints
    hashes: NDArray[np.uint64]
    list_starts: Ints
    list_near: Ints
    wide_starts: Ints
    parts: NDArray[np.int32]
    by_key: Ints
    forward: NDArray[np.int32]
    list_codes: NDArray[np.int32]
    list_parts: NDArray[np.int32]
    carriers: RowNumbers
    near: NDArray[np.int32]
    wide_rows: RowNumbers
    wide_codes: NDArray[np.int32]
    flags: NDArray[np.uint8]
    most_tags: int
    most_buckets: int
    # Filled on demand.
    _pieces: dict[int, list[LabelRows]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def wide(self) -> NodeRows:
        """Returns the wide rows, which have too many label codes for `forward`, with their joining codes."""
        columns: Any = {name: getattr(self, name)[self.wide_rows] for name in COLUMNS}
        return NodeRows(**columns, starts=self.wide_starts, codes=self.wide_codes)

    @cached_property
    def part_counts(self) -> dict[int, int]:
        """Returns the number of nodes in the index, by partition."""
        parts, counts = np.unique(self.parts, return_counts=True)
        return dict(zip(parts.tolist(), counts.tolist(), strict=True))

    def pieces(self, code: int) -> list[LabelRows]:
        """Returns the rows of nodes that have a label code, one `LabelRows` per partition."""
        if code not in self._pieces:
            first, last = np.searchsorted(self.list_codes, [code, code + 1]).tolist()
            self._pieces[code] = [self._piece(number) for number in range(first, last)]
        return self._pieces[code]

    def _piece(self, number: int) -> LabelRows:
        rows = self.carriers[self.list_starts[number] : self.list_starts[number + 1]]
        near = int(self.list_near[number])
        codes = self.near[:, near : near + len(rows)] if near >= 0 else None
        return LabelRows(int(self.list_parts[number]), rows, codes)

    def rows_of(self, keys: Ints) -> RowNumbers:
        """Returns the numbers of the rows with these keys; unknown keys are left out."""
        if not len(self):
            return np.zeros(0, np.int32)
        places = np.searchsorted(self.keys, keys, sorter=self.by_key).clip(max=len(self) - 1)
        rows: RowNumbers = self.by_key[places].astype(np.int32)
        return rows[np.equal(self.keys[rows], keys)]

    def rows_in(self, runs: Runs) -> RowNumbers:
        """Returns the numbers of the rows whose keys lie in one of the ranges."""
        if not len(self):
            return np.zeros(0, np.int32)
        bounds = np.array([(low, high + 1) for low, high in runs], np.int64).ravel()
        places = np.searchsorted(self.keys, bounds, sorter=self.by_key).tolist()
        pieces = [self.by_key[low:high] for low, high in zip(places[::2], places[1::2], strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *pieces]).astype(np.int32)

    def codes_of(self, rows: RowNumbers) -> NDArray[np.int32]:
        """Returns the label codes, without those of temporal tags, of these rows, concatenated."""
        plain = self.forward[rows].ravel()
        wide = self.wide.take(np.flatnonzero(np.isin(self.wide_rows, rows)))
        return np.concatenate([plain[plain != 0], wide.codes])


class LabelStats(NamedTuple):
    """A label in use: its code, the rows of the base that have it, the number of these rows, and its inverse document
    frequency (idf) in the scope.
    """

    code: int
    pieces: list[LabelRows]
    size: int
    idf: float


@dataclass(frozen=True, slots=True)
class LabelView:
    """The label index after one change: the rows of the base except `dead` ones, which changed since it was written,
    and the changed nodes as they are now (`delta`).
    """

    base: LabelColumns
    dead: RowNumbers
    delta: NodeRows
    epoch: str
    seq: int
    mark: int
    files: CheckedFiles | None
    # Codes of labels, filled on demand; None for an unused label.
    codes: dict[Label, int | None] = field(default_factory=dict)
    # For each set of partitions (None: all) the labels asked for so far; None for an unused label.
    stats: dict[tuple[int, ...] | None, dict[Label, LabelStats | None]] = field(default_factory=dict)
    _shown: dict[int, NDArray[np.bool_] | None] = field(default_factory=dict)

    def shown(self, hidden: int) -> NDArray[np.bool_] | None:
        """Returns a mask of the rows of the index file that are still right and have no flag of `hidden`; None: all
        rows.
        """
        if hidden not in self._shown:
            shown = self.base.flags & np.uint8(hidden) == 0
            shown[self.dead] = False
            self._shown[hidden] = None if shown.all() else shown
        return self._shown[hidden]


def label_kind_code(kind: str) -> int:
    """Returns a 64-bit hash of a kind of nodes, as the column `kinds` stores it."""
    return hash64(kind.encode())


# How many nodes are tested in the first round, and by which factor each further round grows.
FIRST, GROWTH = 16_000, 3.0
# Weights are integer multiples of this: sums then do not depend on their order, and equal values stay equal.
GRAIN = 2.0**-32
ROUNDING, TINY = 1e-12, 1e-300
# The values of the best of so many rows are a lower bound for the best of all: most other rows need no sorting.
SAMPLE = 1_024
NO_ROWS = np.zeros(0, np.int32)

Floats = NDArray[np.float64]
Queue = Sequence[tuple[float, int, Label, LabelStats]]
"""Labels, heaviest first: the negative weight, the number of nodes with it, the label, and its statistics."""
Column = Callable[[str], NDArray[Any]]
"""A column of the tested nodes: times, hashes or flags."""


@dataclass(frozen=True, slots=True)
class Pull:
    """A ranking rule: each shared label has a weight, and `worth` turns a node's sum of weights into its value.

    `worth` also gets a function that returns a column of the nodes. A value is at most `ceiling` times the sum.
    """

    weights: Mapping[Label, float]
    ceiling: float
    worth: Callable[[Floats, Column], Floats]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The best nodes found: `base` has (key, value) of nodes of the base, best first; `others` has values by key of
    nodes outside its order, which the caller sorts in.
    """

    base: list[tuple[int, float]]
    others: dict[int, float]


def by_rarity(weights: Mapping[Label, float]) -> Pull:
    """Returns the ranking rule by which a node is worth the sum of the weights of its labels."""
    return Pull(weights, 1.0, lambda sums, _: sums)


def by_gravity(seed: WalkSeed) -> Pull:
    """Returns the ranking rule by attraction to one seed: that of `formulas.gravity`, for many nodes at once."""

    def worth(sums: Floats, column: Column) -> Floats:
        hours = np.abs(column("ats").astype(np.float64) - seed.at) / HOUR
        distances = np.full(len(sums), UNKNOWN_DISTANCE)
        if seed.simhash is not None:
            hashed = column("flags") & HASHED != 0
            distances[hashed] = np.bitwise_count(column("hashes")[hashed] ^ np.uint64(seed.simhash))
        return DAMPING * sums * np.exp(-PER_HOUR * hours) * (1 - distances / 64)

    return Pull(dict.fromkeys(seed.labels, 1.0), DAMPING, worth)


class LabelWalk:
    """One tag walk on one view, in the partitions `parts` (None: all). `labels` are those that nodes may share, `where`
    filters the nodes.
    """

    def __init__(
        self,
        view: LabelView,
        db: sqlite3.Connection,
        parts: Sequence[int] | None,
        where: Where,
        labels: Iterable[Label],
    ) -> None:
        self.view, self.base, self.where = view, view.base, where
        self.parts = None if parts is None else list(parts)
        self.codes = _codes(db, view, [label for condition in _conditions(where) for label in condition])
        self.stats = self._stats(db, dict.fromkeys(labels))
        self.shown = self._shown()
        self.loose = [rows for rows in (self._wide(), self._passing(view.delta)) if len(rows)]

    def idfs(self) -> dict[Label, float]:
        """Returns the inverse document frequency of each label in the visible partitions, without unused labels."""
        return {label: stats.idf for label, stats in self.stats.items()}

    def _stats(self, db: sqlite3.Connection, labels: Iterable[Label]) -> dict[Label, LabelStats]:
        """Returns the statistics of those labels that visible nodes have, from a cache of the view."""
        known = self.view.stats.setdefault(None if self.parts is None else tuple(self.parts), {})
        missing = [label for label in labels if label not in known]
        if missing:
            codes = _codes(db, self.view, missing)
            known.update(dict.fromkeys(missing))
            known.update(self._statistics(codes))
        return {label: stats for label in labels if (stats := known[label]) is not None}

    def _statistics(self, codes: Mapping[Label, int]) -> Iterator[tuple[Label, LabelStats]]:
        """Yields those labels that visible nodes have, with their statistics. `codes` maps labels to codes."""
        pieces = [self._carriers(code) for code in codes.values()]
        sizes = [_size(some) for some in pieces]
        counts = np.array(sizes, np.int64)
        total = sum(n for part, n in self.base.part_counts.items() if self.parts is None or part in self.parts)
        if len(self.view.dead):
            dead = self._seen(self.view.dead)
            counts -= _count(self.base.codes_of(dead), codes)
            total -= len(dead)
        if len(self.view.delta):
            delta = self._within(self.view.delta)
            counts += _count(delta.codes, codes)
            total += len(delta)
        for (label, code), some, size, holding in zip(codes.items(), pieces, sizes, counts.tolist(), strict=True):
            if holding:
                yield label, LabelStats(code, some, size, round(idf(total, holding) / GRAIN) * GRAIN)

    def best(self, pulls: Sequence[Pull], limit: int, these: Ints | None = None) -> Candidates:
        """Returns the `limit` best nodes of the index file; and, of nodes that are wide or changed since it was
        written, the `limit` best and all that tie with the last.

        If a node has several values by different `pulls`, the highest counts. With `these`, only nodes with one of
        these keys are considered.
        """
        known, loose = (self.stats, self.loose) if these is None else self._narrowed(these)
        values: dict[int, float] = {}
        others: dict[int, float] = {}
        for pull in pulls:
            given = pull.weights.items()
            queue = sorted([(-weight, one.size, label, one) for label, weight in given if (one := known.get(label))])
            weights = _by_code(queue)
            _strongest(values, self._best_of_base(pull, queue, weights, limit))
            for rows in loose:
                _strongest(others, _best_rows(rows, pull, weights, limit))
        first = _best_first(values)[:limit]
        keys = self.base.keys[[row for row, _ in first]].tolist() if first else []
        return Candidates([(key, value) for key, (_, value) in zip(keys, first, strict=True)], others)

    def _narrowed(self, these: Ints) -> tuple[dict[Label, LabelStats], list[NodeRows]]:
        """Returns the statistics of labels, and the rows outside the index file, for nodes with these keys only."""
        among = np.zeros(len(self.base), np.bool_)
        among[self.base.rows_of(these)] = True
        known = {}
        for label, stats in self.stats.items():
            rows = np.concatenate([NO_ROWS, *(piece.rows[among[piece.rows]] for piece in stats.pieces)])
            known[label] = stats._replace(pieces=[LabelRows(0, rows, None)], size=len(rows))
        return known, [rows.take(np.flatnonzero(np.isin(rows.keys, these))) for rows in self.loose]

    def _best_of_base(self, pull: Pull, queue: Queue, weights: Floats, limit: int) -> Iterable[tuple[int, float]]:
        """Returns (row number, value) of the best nodes in the index file, found in rounds; wide rows are left out."""
        best = _Best(limit, self.base.forward.shape[1])
        at, batch = 0, float(FIRST)
        most = self._most(queue)
        while at < len(queue) and pull.ceiling * most(at) >= best.floor:
            end = at + _first_of([size for _, size, _, _ in queue[at:]], batch)
            # A node whose heaviest label is one of the last of these may already be worth too little.
            while end > at + 1 and pull.ceiling * most(end - 1) < best.floor:
                end -= 1
            rows, codes = self._joined([piece for *_, stats in queue[at:end] for piece in stats.pieces])
            at, batch = end, batch * GROWTH
            sums = _sums(weights, codes)
            if best.floor and pull.ceiling < 1:
                # Values are computed only for rows that could enter.
                enough = np.flatnonzero(pull.ceiling * sums >= best.floor * (1 - ROUNDING))
                rows, sums = rows[enough], sums[enough]
            best.offer(rows, pull.worth(sums, self._column(rows)))
        return best.values.items()

    def _joined(self, pieces: Sequence[LabelRows]) -> tuple[RowNumbers, NDArray[np.int32]]:
        """Returns the row numbers in these pieces that pass the filters, and their label codes, one column per row."""
        forward = self.base.forward
        rows = np.concatenate([NO_ROWS, *(piece.rows for piece in pieces)])
        near = [forward.take(rows, axis=0).T if codes is None else codes for _, rows, codes in pieces]
        codes = np.concatenate([forward[:0].T, *near], axis=1)
        if self.shown is None:
            return rows, codes
        shown = self.shown.take(rows)
        return rows[shown], codes[:, shown]

    def _most(self, queue: Queue) -> Callable[[int], float]:
        """Returns a function: for a position in the queue, the highest sum of weights that a row can have from the
        labels at that position and after it.
        """
        kinds = [label.what == "tag" for _, _, label, _ in queue]
        tags = [-one[0] for one, is_tag in zip(queue, kinds, strict=True) if is_tag]
        buckets = [-one[0] for one, is_tag in zip(queue, kinds, strict=True) if not is_tag]
        before = [0, *accumulate(kinds)]
        most_tags, most_buckets = self.base.most_tags, self.base.most_buckets

        def most(at: int) -> float:
            tag, bucket = before[at], at - before[at]
            return sum(tags[tag : tag + most_tags]) + sum(buckets[bucket : bucket + most_buckets])

        return most

    def _column(self, rows: RowNumbers) -> Column:
        return lambda name: getattr(self.base, name)[rows]

    # --- rows in the visible partitions

    def _carriers(self, code: int) -> list[LabelRows]:
        """Returns the rows of nodes in the visible partitions that have a label code."""
        found = self.base.pieces(code)
        return found if self.parts is None else [piece for piece in found if piece.part in self.parts]

    def _seen(self, rows: RowNumbers) -> RowNumbers:
        """Returns those of these row numbers of the base that are in visible partitions."""
        return rows if self.parts is None else rows[np.isin(self.base.parts[rows], self.parts)]

    def _within(self, rows: NodeRows) -> NodeRows:
        return rows if self.parts is None else rows.take(np.flatnonzero(np.isin(rows.parts, self.parts)))

    # --- filters

    def _hidden(self) -> int:
        """Returns the flags that exclude a node: no text, and unless asked for, quarantined or archived."""
        return SILENT | (0 if self.where.quarantined else QUARANTINED) | (0 if self.where.archived else ARCHIVED)

    def _shown(self) -> NDArray[np.bool_] | None:
        """Returns a mask of the nodes in the index file that pass the filters, None: all. Partitions are not tested."""
        shown, where = self.view.shown(self._hidden()), self.where
        if not (where.tags or where.buckets or where.kinds or where.since is not None or where.until is not None):
            return shown
        passing = _in_time_and_kind(self.base.ats, self.base.kinds, where)
        if shown is not None:
            passing &= shown
        for codes in self._wanted():
            carrying = np.zeros(len(self.base), np.bool_)
            for piece in (piece for code in codes for piece in self._carriers(code)):
                carrying[piece.rows] = True
            passing &= carrying
        return passing

    def _wide(self) -> NodeRows:
        """Returns the visible nodes with very many labels that pass the filters; they are tested one by one."""
        rows = self.base.wide
        if len(rows) and self.shown is not None:
            rows = rows.take(np.flatnonzero(self.shown[self.base.wide_rows]))
        return self._within(rows)

    def _passing(self, rows: NodeRows) -> NodeRows:
        """Returns those of these rows that are in visible partitions and pass the filters."""
        if not len(rows):
            return rows
        rows = self._within(rows)
        passing = (rows.flags & np.uint8(self._hidden()) == 0) & _in_time_and_kind(rows.ats, rows.kinds, self.where)
        for codes in self._wanted() if len(rows) else ():
            passing &= np.add.reduceat(np.isin(rows.codes, codes), rows.starts[:-1], dtype=np.int64) > 0
        return rows if passing.all() else rows.take(np.flatnonzero(passing))

    def _wanted(self) -> list[list[int]]:
        """Returns, for each condition on labels, the codes of which a node must have one, also of temporal tags."""
        conditions = _conditions(self.where)
        return [[self.codes[label] + odd for label in c if label in self.codes for odd in (0, 1)] for c in conditions]


class _Best:
    """The best rows among those offered: by value, then by row number. One call of `offer` may contain a row up to
    `repeats` times. `floor` is the value a further row needs.
    """

    def __init__(self, limit: int, repeats: int) -> None:
        self.limit, self.enough = limit, limit * repeats
        self.values: dict[int, float] = {}
        self.floor = 0.0

    def offer(self, rows: RowNumbers, values: Floats) -> None:
        """Adds rows with their values and keeps the `limit` best. Only rows that could be among them are sorted."""
        # A rounding error must not keep a value out.
        least = max(self.floor * (1 - ROUNDING), TINY)
        if not self.floor and len(values) > self.enough:
            some = values[: max(SAMPLE, self.enough)]
            least = max(least, np.partition(some, -self.enough)[-self.enough])
        kept = np.flatnonzero(values >= least)
        rows, values = rows[kept], values[kept]
        if len(rows) > self.enough:
            floor = np.partition(values, -self.enough)[-self.enough]
            rows, values = self._first_among_equals(rows, values, floor)
        merged = self.values | dict(zip(rows.tolist(), values.tolist(), strict=True))
        best = _best_first(merged)[: self.limit]
        self.values = dict(best)
        self.floor = best[-1][1] if len(best) == self.limit else 0.0

    def _first_among_equals(self, rows: RowNumbers, values: Floats, floor: float) -> tuple[RowNumbers, Floats]:
        """Returns the rows above the floor and, of those equal to it, the first `enough` by number."""
        higher, level = values > floor, rows[values == floor]
        if len(level) > self.enough:
            level = np.partition(level, self.enough)[: self.enough]
        return np.concatenate([rows[higher], level]), np.concatenate([values[higher], np.full(len(level), floor)])


def _count(codes: NDArray[np.int32], labels: Mapping[Label, int]) -> Ints:
    """Returns how often the code of each label occurs in `codes`, in the order of `labels`."""
    numbers = np.zeros(2 + max(labels.values(), default=0), np.int64)
    numbers[list(labels.values())] = np.arange(1, len(labels) + 1)
    return np.bincount(numbers.take(codes, mode="clip"), minlength=len(labels) + 1)[1:]


def _by_code(queue: Queue) -> Floats:
    """Returns an array with the weight of each code, one longer than the highest code that has a weight. Its last entry
    is 0, for all codes beyond.
    """
    codes = [stats.code for *_, stats in queue]
    weights = np.zeros(2 + max(codes, default=0))
    weights[codes] = [-one[0] for one in queue]
    return weights


def _size(pieces: Sequence[LabelRows]) -> int:
    return sum(len(piece.rows) for piece in pieces)


def _best_first(values: Mapping[int, float]) -> list[tuple[int, float]]:
    """Returns (row, value) pairs, highest value first, then by row number."""
    return [(row, -negative) for negative, row in sorted([(-value, row) for row, value in values.items()])]


def _sums(weights: Floats, codes: NDArray[np.int32]) -> Floats:
    """Returns the sum of weights of each column of `codes`. A code beyond the end of `weights` has its last weight."""
    total: Floats = weights.take(codes[0], mode="clip")
    for row in codes[1:]:
        total += weights.take(row, mode="clip")
    return total


def _strongest(values: dict[int, float], found: Iterable[tuple[int, float]]) -> None:
    for key, value in found:
        if value > values.get(key, 0.0):
            values[key] = value


def _best_rows(rows: NodeRows, pull: Pull, weights: Floats, limit: int) -> Iterable[tuple[int, float]]:
    """Returns (key, value) of the `limit` best of these rows with a value above 0, and of all that tie with them."""
    values = pull.worth(rows.sums(weights), lambda name: getattr(rows, name))
    kept = np.flatnonzero(values > 0)
    if len(kept) > limit:
        order = kept[np.lexsort((-rows.ats[kept], -values[kept]))]
        last = order[limit - 1]
        tied = (values[order] == values[last]) & (rows.ats[order] == rows.ats[last])
        kept = np.union1d(order[:limit], order[tied])
    return zip(rows.keys[kept].tolist(), values[kept].tolist(), strict=True)


def _first_of(sizes: Sequence[int], many: float) -> int:
    """Returns how many of the first lists have at most `many` rows together; at least one."""
    taken = 0
    for size in sizes:
        many -= size
        if taken and many < 0:
            break
        taken += 1
    return taken


def _conditions(where: Where) -> list[list[Label]]:
    """Returns the filters on tags and buckets as lists of labels; a node must have one label of each list."""
    tags = [[Label("tag", tag)] for tag in where.tags]
    return [*tags, [Label("bucket", bucket) for bucket in where.buckets]] if where.buckets else tags


def _in_time_and_kind(ats: Ints, kinds: Ints, where: Where) -> NDArray[np.bool_]:
    passing = np.ones(len(ats), np.bool_)
    if where.since is not None:
        passing &= ats >= _storable(where.since)
    if where.until is not None:
        passing &= ats <= _storable(where.until)
    if where.kinds:
        passing &= np.isin(kinds, [label_kind_code(kind) for kind in where.kinds])
    return passing


def _storable(at: int) -> int:
    return max(-(2**63), min(at, 2**63 - 1))


def _codes(db: sqlite3.Connection, view: LabelView, labels: Sequence[Label]) -> dict[Label, int]:
    """Returns the index's codes of labels, from a cache of the view; labels that no node ever had are absent."""
    missing = [label for label in labels if label not in view.codes]
    view.codes.update(dict.fromkeys(missing))
    tags = label_numbers(db, "t", [label.name for label in missing if label.what == "tag"])
    buckets = label_numbers(db, "b", [label.name for label in missing if label.what == "bucket"])
    view.codes.update((Label("tag", name), 2 * number) for name, number in tags.items())
    view.codes.update((Label("bucket", name), 2 * number) for name, number in buckets.items())
    return {label: code for label in labels if (code := view.codes[label]) is not None}


# A few more than wanted are requested: some match a word of the query and do not count. For a long query as many as are
# likely needed: counting the documents with its words costs less than a second round.
SPARE, LETTERS, LONG = 3, 32, 1_000
REQUEST_GROWTH = 8
# If most near nodes match the query, testing each costs more than searching for those that do not.
MOST_ASKED = 2_000
# Reading this many nodes is faster than testing them in the index.
FEW_TO_READ = 6

_walked = maker(WalkHit)

Pairs = list[tuple[int, float]]
"""Keys and values of nodes."""


def walk(
    reader: Reader,
    label_index: Index[LabelView],
    text_index: Index[TextView],
    query: WalkQuery,
    limit: int,
    where: Where,
) -> Walk:
    """Returns the best `limit` nodes that share a label with a seed, are not seeds, and contain no word of
    `query.unlike`; and the inverse document frequencies of the seeds' labels.
    """
    parts = None if reader.all else reader.parts
    given = [label for seed in query.seeds for label in seed.labels]
    labels = LabelWalk(reader.current_view(label_index), reader.db, parts, where, given)
    idfs = labels.idfs()
    if limit <= 0 or not idfs:
        return Walk((), idfs)
    texts = cache(lambda: TextSearch(reader.current_view(text_index), parts, where))
    walkers = _Walkers(reader, query, limit, texts)
    pulls = [by_rarity(idfs)] if query.rank == "idf" else [by_gravity(seed) for seed in query.seeds]
    # The seeds themselves share most, and some other nodes match a word of the query.
    most = limit + len(query.seeds)
    wanted = most + _spare(query, limit, texts)
    while wanted <= MOST_ASKED:
        first, whole = _first(labels.best(pulls, wanted), reader, wanted)
        found = walkers.unlike(first)
        if len(found) >= limit or whole:
            return Walk(found, idfs)
        wanted *= REQUEST_GROWTH

    these = np.array(texts().carriers(idfs, query.unlike), np.int64)
    left, _ = _first(labels.best(pulls, most, these), reader, most)
    return Walk(walkers.first(left), idfs)


def _spare(query: WalkQuery, limit: int, texts: Callable[[], TextSearch]) -> int:
    """Returns how many more nodes than `limit` to request, as some contain a word of the query; more for a long one."""
    letters = len(query.unlike.words)
    few = SPARE + letters // LETTERS
    if letters < LONG:
        return few
    # If words were independent, this share of documents would have none of them.
    likely = limit * math.exp(min(texts().mean_matches(query.unlike), 10.0))
    return max(few, min(round(likely * 1.5), MOST_ASKED // 2))


def _first(found: Candidates, reader: Reader, limit: int) -> tuple[Pairs, bool]:
    """Returns the first `limit` candidates by value, then newer, then id; and True if there are fewer than that."""
    order = found.base
    if found.others:
        # Rows changed since the base was made have no position in its order; ids order them.
        values = {**dict(found.base), **found.others}
        shown = reader.shown(list(values))
        rows = sorted((-value, -shown[key][1], shown[key][0], key) for key, value in values.items() if key in shown)
        order = [(key, values[key]) for _, _, _, key in rows]
    return order[:limit], len(order) < limit


class _Walkers:
    """Reads nodes and selects those that are not seeds and contain no word of the query; no more than needed."""

    def __init__(self, reader: Reader, query: WalkQuery, limit: int, texts: Callable[[], TextSearch]) -> None:
        self._reader, self._limit, self._query = reader, limit, query.unlike
        self._matching = cache(lambda: texts().holding_any(query.unlike))
        # A seed without a key is recognised by its id.
        self._keys = {seed.key for seed in query.seeds}
        self._ids = {seed.id for seed in query.seeds}

    def unlike(self, pairs: Pairs) -> tuple[WalkHit, ...]:
        """Returns the first of these nodes that are not seeds and contain no word of the query, at most the limit."""
        pairs = [pair for pair in pairs if pair[0] not in self._keys]
        found: list[WalkHit] = []
        query = self._query
        if not (query.fuzzy or query.mend or query.prefix):
            # Usually the first are enough, and reading a few costs less than testing their words in the index.
            words = Terms(terms_of(" ".join((query.words, *query.phrases))))
            some, pairs = pairs[: self._limit], pairs[self._limit :]
            found = self._without(words, some)
            if len(found) < self._limit and len(pairs) <= FEW_TO_READ:
                return (*found, *self._without(words, pairs))[: self._limit]
        if pairs and len(found) < self._limit:
            matching = self._matching()([key for key, _ in pairs])
            return self.first([pair for pair in pairs if pair[0] not in matching], found)
        return tuple(found)

    def _without(self, words: Terms, pairs: Pairs) -> list[WalkHit]:
        """Returns those of these nodes that are not seeds and contain none of the words."""
        return [
            walked
            for walked in self._read(pairs)
            if not words.any_in(searchable_text(walked.node.name, walked.node.aliases, walked.node.text))
        ]

    def first(self, pairs: Pairs, found: Sequence[WalkHit] = ()) -> tuple[WalkHit, ...]:
        """Returns `found`, followed by the first of these nodes that are not seeds, at most the limit."""
        walkers = list(found)
        while pairs and len(walkers) < self._limit:
            missing = self._limit - len(walkers)
            walkers += self._read(pairs[:missing])
            pairs = pairs[missing:]
        return tuple(walkers)

    def _read(self, pairs: Pairs) -> list[WalkHit]:
        nodes = self._reader.nodes_by_key([key for key, _ in pairs])
        read = [_walked(nodes[key], value) for key, value in pairs if key in nodes]
        return [walked for walked in read if walked.node.id not in self._ids]
