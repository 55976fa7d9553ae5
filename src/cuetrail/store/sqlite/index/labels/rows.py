"""The rows of the label index: for every node with tags or buckets, the columns that a walk needs.

A label's code is twice its number in the table `labels`, plus one for a temporal tag: temporal tags can be filtered by,
but never join two nodes.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from cuetrail.store.sqlite.connection import chunks, marks
from cuetrail.store.sqlite.rows import packed_buckets, packed_tags, signed, unpack_tag
from cuetrail.store.write import Progress

QUARANTINED, ARCHIVED, SILENT, HASHED = 1, 2, 4, 8
"""Flags of a row. A silent one has nothing to show: no text, or only a heading. A hashed one has a SimHash."""

# Above every key.
END = 2**62
BATCH = 8_192
EVERYTHING = ((0, END),)

ROWS = f"""SELECT n.key, n.part, n.kind, n.at, ifnull(n.simhash, 0), n.labels,
  {QUARANTINED} * (n.provenance = 'quarantine') + {ARCHIVED} * (l.state IS 'archived') + {SILENT} * (n.text = '')
  + {HASHED} * (n.simhash IS NOT NULL), CASE WHEN n.props LIKE '%"level"%' THEN n.props END
  FROM nodes n LEFT JOIN life l ON l.key = n.key WHERE n.labels IS NOT NULL AND n.key BETWEEN ? AND ? ORDER BY n.key"""

# The columns with one entry per row.
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
        """Returns these rows, in this order."""
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate(([0], np.cumsum(lengths)))
        # The source position of each code: its offset in its row, plus the start of the row.
        places = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], lengths)
        columns: Any = {name: getattr(self, name)[rows] for name in COLUMNS}
        return Rows(**columns, starts=starts, codes=self.codes[places])

    def without(self, runs: Runs) -> Rows:
        """Returns the rows whose keys lie in none of the ranges."""
        kept = np.ones(len(self), np.bool_)
        for low, high in runs:
            kept[np.searchsorted(self.keys, low) : np.searchsorted(self.keys, high, "right")] = False
        return self if kept.all() else self.take(np.flatnonzero(kept))

    def sums(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the sum of weights per row; a code beyond the end of `weights` has its last weight."""
        if not len(self):
            return np.zeros(0)
        sums: NDArray[np.float64] = np.add.reduceat(weights.take(self.codes, mode="clip"), self.starts[:-1])
        return sums


def joined(pieces: Sequence[Rows]) -> Rows:
    """Merges rows of several pieces, by key."""
    whole = pieces[0]
    if len(pieces) > 1:
        joint = {name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in (*COLUMNS, "codes")}
        lengths = np.concatenate([np.diff(piece.starts) for piece in pieces])
        whole = Rows(**joint, starts=np.concatenate(([0], np.cumsum(lengths))))
    in_order = bool((whole.keys[1:] > whole.keys[:-1]).all())
    return whole if in_order else whole.take(np.argsort(whole.keys, kind="stable"))


def kind_code(kind: str) -> int:
    """Returns a 64-bit number for a kind; collisions do not occur in practice."""
    return signed(xxhash.xxh3_64_intdigest(kind.encode()))


def read(db: sqlite3.Connection, runs: Runs = EVERYTHING, progress: Progress | None = None) -> Rows:
    """Reads the nodes of these ranges of keys that have labels from `memory.db`."""
    reader = _Reader(db)
    pieces = [_made((), ())]
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
    """Turns rows of `memory.db` into columns, and caches the codes of labels."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.tags: dict[str, int | None] = {}
        self.buckets: dict[str, int | None] = {}

    def rows(self, found: Sequence[tuple[Any, ...]]) -> Rows:
        tags, buckets = [packed_tags(row[5]) for row in found], [packed_buckets(row[5]) for row in found]
        self._learn(tags, buckets)
        labels = []
        for some, others in zip(tags, buckets, strict=True):
            codes = dict.fromkeys([*map(self.tags.__getitem__, some), *map(self.buckets.__getitem__, others)])
            # A label missing in its table joins nothing; doctor reports it.
            codes.pop(None, None)
            labels.append(codes)
        kept = [n for n, codes in enumerate(labels) if codes]
        return _made([found[n] for n in kept], [labels[n] for n in kept])

    def _learn(self, tags: Iterable[Iterable[str]], buckets: Iterable[Iterable[str]]) -> None:
        items = {item: unpack_tag(item) for item in {i for some in tags for i in some} - self.tags.keys()}
        numbers = self._numbers("t", {tag.name for tag in items.values()})
        for item, tag in items.items():
            number = numbers.get(tag.name)
            self.tags[item] = None if number is None else 2 * number + (tag.origin == "temporal")
        names = {name for some in buckets for name in some} - self.buckets.keys()
        numbers = self._numbers("b", names)
        self.buckets.update((name, 2 * numbers[name] if name in numbers else None) for name in names)

    def _numbers(self, what: str, names: Collection[str]) -> dict[str, int]:
        found: dict[str, int] = {}
        for some in chunks(list(names)):
            query = f"SELECT name, label FROM labels WHERE what = ? AND name IN ({marks(len(some))})"
            found.update(self.db.execute(query, (what, *some)).fetchall())
        return found


def _made(rows: Sequence[tuple[Any, ...]], labels: Sequence[Collection[int | None]]) -> Rows:
    """Returns the columns of rows of the ROWS query, with the codes of each."""
    kinds = {kind: kind_code(kind) for kind in {row[2] for row in rows}}
    levels = ((n, row[7]) for n, row in enumerate(rows) if row[7] is not None)
    flags = np.array([row[6] for row in rows], np.uint8)
    flags[[n for n, props in levels if json.loads(props).get("level")]] |= SILENT
    return Rows(
        keys=np.array([row[0] for row in rows], np.int64),
        parts=np.array([row[1] for row in rows], np.int32),
        kinds=np.array([kinds[row[2]] for row in rows], np.int64),
        flags=flags,
        ats=np.array([row[3] for row in rows], np.int64),
        hashes=np.array([row[4] for row in rows], np.int64).view(np.uint64),
        starts=np.concatenate(([0], np.cumsum(np.array([len(codes) for codes in labels], np.int64)))),
        codes=np.array([code for codes in labels for code in codes], np.int32),
    )
