"""The rows of the label index: of every node with tags or buckets, what a walk along them needs, as columns.

A label's code on a row is twice its number in the table `labels`, plus one where the tag only says when: temporal tags
can be filtered by, but never join two nodes.
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
    """Turns rows of the truth into columns; knows the codes of the labels it has met."""

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
            # A label that its table lacks is for doctor to find; here it joins nothing.
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
    """Columns of rows of the ROWS query, with the codes of each."""
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
