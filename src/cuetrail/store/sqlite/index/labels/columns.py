"""The label index on disk: one immutable, mapped file of columns, with each row's labels and each label's rows.

Rows are ordered by time, newest first, then by id: of equals the lower row number always wins. Most nodes have few
labels, so a table of fixed width holds them; the few wide rows are stored separately and always read. The rows of a
label are stored per partition, so that a scope neither reads nor counts what lies outside it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cuetrail.store.sqlite.index.labels.rows import COLUMNS, Ints, RowNumbers, Rows, Runs, joined

WIDTHS = (4, 8, 16, 32, 64)
# A short list (at most one in so many rows) stores the codes of its rows beside it: reading them in sequence takes a
# third of the time. Long lists would make the file much larger, and are seldom read.
SHORT_SHARE, SHORT = 64, 1_000
# Nodes with more labels than the table is wide are tested one by one; so many of them cost little.
MOST_WIDE, WIDE_SHARE = 1_000, 200

# Columns in the order of the file, wide numbers first, so that each is aligned for its type.
_FILE: tuple[tuple[str, type[np.generic], str], ...] = (
    ("keys", np.int64, "rows"),
    ("kinds", np.int64, "rows"),
    ("ats", np.int64, "rows"),
    ("hashes", np.uint64, "rows"),
    ("list_starts", np.int64, "lists + 1"),
    ("list_near", np.int64, "lists"),
    ("wide_starts", np.int64, "wide + 1"),
    # As wide as numpy needs for `searchsorted`, which would otherwise convert the whole column each time.
    ("by_key", np.int64, "rows"),
    ("parts", np.int32, "rows"),
    ("forward", np.int32, "rows * width"),
    ("list_codes", np.int32, "lists"),
    ("list_parts", np.int32, "lists"),
    ("carriers", np.int32, "carriers"),
    ("near", np.int32, "near * width"),
    ("wide_rows", np.int32, "wide"),
    ("wide_codes", np.int32, "wide_codes"),
    ("flags", np.uint8, "rows"),
)


class Piece(NamedTuple):
    """The rows with a code in a partition, in order, and for a short list their joining codes by column."""

    part: int
    rows: RowNumbers
    codes: NDArray[np.int32] | None


@dataclass(frozen=True)
class Base:
    """The columns. The rows with a code in a partition are one slice of `carriers`, in order; their rows of `forward`
    are also in `near`, as columns, from `list_near` on, unless that is negative.

    `forward` has the joining codes of each row, padded with 0; those of a wide row are in `wide_codes`. `most_tags` and
    `most_buckets` are the maxima over all other rows.
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
    _pieces: dict[int, list[Piece]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def wide(self) -> Rows:
        """Returns the wide rows with their joining codes."""
        columns: Any = {name: getattr(self, name)[self.wide_rows] for name in COLUMNS}
        return Rows(**columns, starts=self.wide_starts, codes=self.wide_codes)

    @cached_property
    def part_counts(self) -> dict[int, int]:
        """Returns the number of rows of each partition."""
        parts, counts = np.unique(self.parts, return_counts=True)
        return dict(zip(parts.tolist(), counts.tolist(), strict=True))

    def pieces(self, code: int) -> list[Piece]:
        """Returns the rows with the code, by partition."""
        if code not in self._pieces:
            first, last = np.searchsorted(self.list_codes, [code, code + 1]).tolist()
            self._pieces[code] = [self._piece(number) for number in range(first, last)]
        return self._pieces[code]

    def _piece(self, number: int) -> Piece:
        rows = self.carriers[self.list_starts[number] : self.list_starts[number + 1]]
        near = int(self.list_near[number])
        codes = self.near[:, near : near + len(rows)] if near >= 0 else None
        return Piece(int(self.list_parts[number]), rows, codes)

    def rows_of(self, keys: Ints) -> RowNumbers:
        """Returns the rows with these keys; unknown keys are left out."""
        if not len(self):
            return np.zeros(0, np.int32)
        places = np.searchsorted(self.keys, keys, sorter=self.by_key).clip(max=len(self) - 1)
        rows: RowNumbers = self.by_key[places].astype(np.int32)
        return rows[np.equal(self.keys[rows], keys)]

    def rows_in(self, runs: Runs) -> RowNumbers:
        """Returns the rows whose keys lie in one of the ranges."""
        if not len(self):
            return np.zeros(0, np.int32)
        bounds = np.array([(low, high + 1) for low, high in runs], np.int64).ravel()
        places = np.searchsorted(self.keys, bounds, sorter=self.by_key).tolist()
        pieces = [self.by_key[low:high] for low, high in zip(places[::2], places[1::2], strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *pieces]).astype(np.int32)

    def codes_of(self, rows: RowNumbers) -> NDArray[np.int32]:
        """Returns the joining codes of these rows, concatenated."""
        plain = self.forward[rows].ravel()
        wide = self.wide.take(np.flatnonzero(np.isin(self.wide_rows, rows)))
        return np.concatenate([plain[plain != 0], wide.codes])

    def as_rows(self) -> Rows:
        """Returns all rows of the base as `Rows`, sorted by key."""
        codes = np.repeat(self.list_codes, np.diff(self.list_starts))
        order = np.argsort(self.carriers, kind="stable")
        lengths = np.bincount(self.carriers, minlength=len(self))
        columns: Any = {name: getattr(self, name) for name in COLUMNS}
        return joined([Rows(**columns, starts=np.concatenate(([0], np.cumsum(lengths))), codes=codes[order])])


def made(db: sqlite3.Connection, rows: Rows) -> Base:
    """Makes the columns of these rows; `db` orders their ids and tells which labels are buckets."""
    rows = rows.take(_newest_first(db, rows))
    lengths = np.diff(rows.starts)
    owners = np.repeat(np.arange(len(rows), dtype=np.int32), lengths)
    joins = rows.codes % 2 == 0
    counts = np.bincount(owners[joins], minlength=len(rows))
    width = _width(counts)
    wide = np.flatnonzero(counts > width).astype(np.int32)
    forward = np.zeros((len(rows), width), np.int32)
    narrow = joins & ~np.isin(owners, wide)
    narrow_owners, narrow_codes = owners[narrow], rows.codes[narrow]
    narrow_counts = np.bincount(narrow_owners, minlength=len(rows))
    forward[narrow_owners, _places(narrow_counts)] = narrow_codes
    in_bucket = np.isin(narrow_codes, _bucket_codes(db))
    broad = joins & np.isin(owners, wide)
    lists = _inverted(rows, owners)
    return Base(
        keys=rows.keys,
        kinds=rows.kinds,
        ats=rows.ats,
        hashes=rows.hashes,
        wide_starts=np.concatenate(([0], np.cumsum(counts[wide]))),
        parts=rows.parts,
        by_key=np.argsort(rows.keys, kind="stable").astype(np.int64),
        forward=forward,
        wide_rows=wide,
        wide_codes=rows.codes[broad],
        flags=rows.flags,
        most_tags=_most(narrow_owners[~in_bucket]),
        most_buckets=_most(narrow_owners[in_bucket]),
        **lists,
        **_beside(lists["list_starts"], lists["carriers"], forward),
    )


def _newest_first(db: sqlite3.Connection, rows: Rows) -> Ints:
    """Returns the order of rows by time, newest first, then by id. The index of ids gives their order."""
    by_id = np.fromiter((key for (key,) in db.execute("SELECT key FROM nodes ORDER BY id, part")), np.int64)
    order = np.argsort(by_id, kind="stable")
    ranks = order[np.searchsorted(by_id, rows.keys, sorter=order)]
    newest_first: Ints = np.lexsort((ranks, -rows.ats))
    return newest_first


def _bucket_codes(db: sqlite3.Connection) -> Ints:
    labels = (label for (label,) in db.execute("SELECT label FROM labels WHERE what = 'b'"))
    codes: Ints = np.fromiter((2 * label for label in labels), np.int64)
    return codes


def _width(counts: Ints) -> int:
    """Returns the width of the narrowest table that leaves few rows out."""
    few = max(MOST_WIDE, len(counts) // WIDE_SHARE)
    return next((width for width in WIDTHS if np.count_nonzero(counts > width) <= few), WIDTHS[-1])


def _places(counts: Ints) -> Ints:
    """Returns, for each row, the numbers 0, 1, 2 ... up to its count, concatenated."""
    starts = np.concatenate(([0], np.cumsum(counts)[:-1])) if len(counts) else np.zeros(0, np.int64)
    places: Ints = np.arange(int(counts.sum())) - np.repeat(starts, counts)
    return places


def _most(owners: RowNumbers) -> int:
    return int(np.bincount(owners).max()) if len(owners) else 0


def _inverted(rows: Rows, owners: RowNumbers) -> dict[str, Any]:
    """Returns the rows of each code and partition. Owners are in order, and a stable sort keeps them so."""
    parts, places = np.unique(rows.parts, return_inverse=True)
    lists = rows.codes.astype(np.int64) * max(len(parts), 1) + places[owners]
    order = np.argsort(lists, kind="stable")
    ids, starts = np.unique(lists[order], return_index=True)
    codes, which = np.divmod(ids, max(len(parts), 1))
    return {
        "list_starts": np.concatenate((starts, [len(owners)])).astype(np.int64),
        "list_codes": codes.astype(np.int32),
        "list_parts": parts[which],
        "carriers": owners[order],
    }


def _beside(starts: Ints, carriers: RowNumbers, forward: NDArray[np.int32]) -> dict[str, Any]:
    """Returns the codes of the rows of short lists."""
    lengths = np.diff(starts)
    short = lengths <= max(SHORT, len(forward) // SHORT_SHARE)
    ends = np.cumsum(np.where(short, lengths, 0))
    return {
        "list_near": np.where(short, ends - lengths, -1).astype(np.int64),
        "near": forward[carriers[np.repeat(short, lengths)]].T,
    }


def write(place: Path, base: Base) -> dict[str, int]:
    """Writes the columns to a new file, on disk before anything refers to it; returns the sizes to map it."""
    with place.open("xb") as file:
        for name, kind, _ in _FILE:
            file.write(np.ascontiguousarray(getattr(base, name), kind).data)
        file.flush()
        os.fsync(file.fileno())
    return {
        "rows": len(base),
        "width": base.forward.shape[1],
        "lists": len(base.list_codes),
        "carriers": len(base.carriers),
        "near": base.near.shape[1],
        "wide": len(base.wide_rows),
        "wide_codes": len(base.wide_codes),
        "most_tags": base.most_tags,
        "most_buckets": base.most_buckets,
    }


def mapped(place: Path, sizes: Mapping[str, int]) -> Base:
    """Maps the file's columns. Raises ValueError or KeyError if the file does not match `sizes`."""
    data = np.asarray(np.memmap(place, np.uint8, "r"))
    found: dict[str, Any] = {}
    start = 0
    for name, kind, count in _FILE:
        size = _size(count, sizes) * np.dtype(kind).itemsize
        found[name] = data[start : start + size].view(kind)
        start += size
    if start != len(data):
        raise ValueError(f"{place} has {len(data)} bytes instead of {start}")
    found["forward"] = found["forward"].reshape(-1, sizes["width"])
    found["near"] = found["near"].reshape(sizes["width"], -1)
    return Base(**found, most_tags=sizes["most_tags"], most_buckets=sizes["most_buckets"])


def _size(count: str, sizes: Mapping[str, int]) -> int:
    name, _, more = count.partition(" ")
    if more == "+ 1":
        return sizes[name] + 1
    return sizes[name] * sizes["width"] if more else sizes[name]


def empty() -> Base:
    """Returns columns without rows."""
    zero: dict[str, Any] = {name: np.zeros(_size(count, _NONE), kind) for name, kind, count in _FILE}
    zero["forward"] = zero["forward"].reshape(0, _NONE["width"])
    zero["near"] = zero["near"].reshape(_NONE["width"], 0)
    return Base(**zero, most_tags=0, most_buckets=0)


_NONE: Mapping[str, int] = {
    **dict.fromkeys(("rows", "lists", "carriers", "near", "wide", "wide_codes"), 0),
    "width": WIDTHS[0],
}


def differ(one: Rows, other: Rows) -> bool:
    """True if two sets of rows differ; the order of a row's codes does not count."""
    if len(one) != len(other) or len(one.codes) != len(other.codes):
        return True
    if any(not np.array_equal(getattr(one, name), getattr(other, name)) for name in (*COLUMNS, "starts")):
        return True
    return not np.array_equal(_sorted_codes(one), _sorted_codes(other))


def _sorted_codes(rows: Rows) -> NDArray[np.int32]:
    owners = np.repeat(np.arange(len(rows)), np.diff(rows.starts))
    return rows.codes[np.lexsort((rows.codes, owners))]
