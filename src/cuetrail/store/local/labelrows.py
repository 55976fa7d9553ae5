"""The rows of the label index: of every node with tags or buckets, what a walk along them needs, as columns.

A label's code on a row is twice its number in the table `labels`, plus one where the tag only says when: temporal tags
can be filtered by, but never join two nodes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from cuetrail.store.base import Progress
from cuetrail.store.local.db import chunks, marks
from cuetrail.store.local.rows import label_parts, signed, unsigned

QUARANTINED, ARCHIVED, SILENT, HASHED = 1, 2, 4, 8
"""Flags of a row. A silent one has nothing to show: no text, or only a heading. A hashed one has a SimHash."""

# Above every key.
END = 2**62
BATCH = 8_192
EVERYTHING = ((0, END),)

ROWS = """SELECT n.key, n.part, n.kind, n.labels, n.at, n.provenance, n.simhash, l.state, n.text = '',
  CASE WHEN n.props LIKE '%"level"%' THEN n.props END
  FROM nodes n LEFT JOIN life l ON l.key = n.key WHERE n.labels IS NOT NULL AND n.key BETWEEN ? AND ? ORDER BY n.key"""

# The columns that have one entry for each row.
COLUMNS = ("keys", "parts", "kinds", "flags", "ats", "hashes")

Runs = Sequence[tuple[int, int]]
Ints = NDArray[np.int64]
RowNumbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows by key; the codes of row i are `codes[starts[i] : starts[i + 1]]`, at least one."""

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

    def take(self, rows: NDArray[Any]) -> Rows:
        """These rows, in this order."""
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate(([0], np.cumsum(lengths)))
        # Where each code comes from: its place in its row, behind where the row starts.
        places = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], lengths)
        columns: Any = {name: getattr(self, name)[rows] for name in COLUMNS}
        return Rows(**columns, starts=starts, codes=self.codes[places])

    def without(self, runs: Runs) -> Rows:
        """The rows whose keys lie in none of the runs."""
        kept = np.ones(len(self), np.bool_)
        for low, high in runs:
            kept[np.searchsorted(self.keys, low) : np.searchsorted(self.keys, high, "right")] = False
        return self if kept.all() else self.take(np.flatnonzero(kept))

    def sums(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the labels of each row weigh together; a code behind the last of `weights` weighs what that does."""
        if not len(self):
            return np.zeros(0)
        sums: NDArray[np.float64] = np.add.reduceat(weights.take(self.codes, mode="clip"), self.starts[:-1])
        return sums


def joined(pieces: Sequence[Rows]) -> Rows:
    """Rows of several pieces as one, by key."""
    whole = pieces[0]
    if len(pieces) > 1:
        joint = {name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in (*COLUMNS, "codes")}
        lengths = np.concatenate([np.diff(piece.starts) for piece in pieces])
        whole = Rows(**joint, starts=np.concatenate(([0], np.cumsum(lengths))))
    in_order = bool((whole.keys[1:] > whole.keys[:-1]).all())
    return whole if in_order else whole.take(np.argsort(whole.keys, kind="stable"))


def kind_code(kind: str) -> int:
    """A kind as a number. 64 bits: no two kinds that anybody has ever get the same."""
    return signed(xxhash.xxh3_64_intdigest(kind.encode()))


def read(db: sqlite3.Connection, runs: Runs = EVERYTHING, progress: Progress | None = None) -> Rows:
    """The nodes of these runs of keys that have labels, as the truth has them now."""
    reader = _Reader(db)
    pieces = [_made(())]
    done = 0
    for some in _batches(db, runs):
        pieces.append(reader.rows(some))
        done += len(some)
        if progress:
            progress("indexing labels", done, 0)
    return joined(pieces)


def _batches(db: sqlite3.Connection, runs: Runs) -> Iterator[list[tuple[Any, ...]]]:
    rows = (row for run in runs for row in db.execute(ROWS, run))
    while some := list(islice(rows, BATCH)):
        yield some


class _Reader:
    """Turns rows of the truth into columns; knows the numbers of the labels it has met."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.known: dict[tuple[str, str], int] = {}
        self.kinds: dict[str, int] = {}

    def rows(self, found: Sequence[tuple[Any, ...]]) -> Rows:
        parts = [label_parts(row[3]) for row in found]
        self._learn("t", {tag[0] for tags, _ in parts for tag in tags})
        self._learn("b", {bucket for _, buckets in parts for bucket in buckets})
        made = []
        for row, (tags, buckets) in zip(found, parts, strict=True):
            numbers = [(self.known.get(("t", tag[0])), tag[2:] == ["temporal"]) for tag in tags]
            numbers += [(self.known.get(("b", bucket)), False) for bucket in buckets]
            # A label that its table lacks is for doctor to find; here it joins nothing.
            codes = list(dict.fromkeys(2 * number + temporal for number, temporal in numbers if number is not None))
            if codes:
                made.append((row, codes, self._kind(row[2])))
        return _made(made)

    def _learn(self, what: str, names: set[str]) -> None:
        for some in chunks([name for name in names if (what, name) not in self.known]):
            query = f"SELECT name, label FROM labels WHERE what = ? AND name IN ({marks(len(some))})"
            self.known.update(((what, name), label) for name, label in self.db.execute(query, (what, *some)))

    def _kind(self, kind: str) -> int:
        if kind not in self.kinds:
            self.kinds[kind] = kind_code(kind)
        return self.kinds[kind]


def _made(found: Sequence[tuple[tuple[Any, ...], list[int], int]]) -> Rows:
    rows = [row for row, _, _ in found]
    lengths = [len(codes) for _, codes, _ in found]
    return Rows(
        keys=np.array([row[0] for row in rows], np.int64),
        parts=np.array([row[1] for row in rows], np.int32),
        kinds=np.array([kind for _, _, kind in found], np.int64),
        flags=np.array([_flags(row) for row in rows], np.uint8),
        ats=np.array([row[4] for row in rows], np.int64),
        hashes=np.array([0 if row[6] is None else unsigned(row[6]) for row in rows], np.uint64),
        starts=np.concatenate(([0], np.cumsum(np.array(lengths, np.int64)))),
        codes=np.array([code for _, codes, _ in found for code in codes], np.int32),
    )


def _flags(row: tuple[Any, ...]) -> int:
    silent = bool(row[8]) or (row[9] is not None and bool(json.loads(row[9]).get("level")))
    raised = ((QUARANTINED, row[5] == "quarantine"), (ARCHIVED, row[7] == "archived"), (SILENT, silent))
    return sum(flag for flag, is_raised in raised if is_raised) + (HASHED if row[6] is not None else 0)
