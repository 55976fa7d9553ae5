"""The label index on disk: one immutable, mapped file of columns, with each row's labels and each label's rows.

Rows are ordered by time, newest first, then by id: among equals the lower row number wins, whatever else is asked. Most
nodes have few labels, so a table of fixed width holds them; the few that have more are kept apart and always looked
at. The rows of a label are kept per part, so that a scope neither reads nor counts what lies outside it.
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
# A list of at most one in so many rows has the codes of its rows beside it: read in one go, not row by row from all
# over the table, they take a third of the time. Long lists would make the file much larger, and are seldom walked.
SHORT_SHARE, SHORT = 64, 1_000
# Nodes with more labels than the table is wide are looked at one by one; so many of them cost little.
MOST_WIDE, WIDE_SHARE = 1_000, 200

# Columns in the order of the file, wide numbers first, so that each starts where its type may.
_FILE: tuple[tuple[str, type[np.generic], str], ...] = (
    ("keys", np.int64, "rows"),
    ("kinds", np.int64, "rows"),
    ("ats", np.int64, "rows"),
    ("hashes", np.uint64, "rows"),
    ("list_starts", np.int64, "lists + 1"),
    ("list_near", np.int64, "lists"),
    ("wide_starts", np.int64, "wide + 1"),
    # As wide as numpy wants it for `searchsorted`: it would convert the whole column each time.
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
    """The rows that carry a code in a part, in order, and where the list is short their joining codes by column."""

    part: int
    rows: RowNumbers
    codes: NDArray[np.int32] | None


@dataclass(frozen=True)
class Base:
    """The columns. The rows that carry a code in a part are one slice of `carriers`, in order; their rows of `forward`
    are also in `near`, as columns, from `list_near` on, unless that is negative.

    `forward` has the joining codes of each row, 0 where there are no more; those of a wide row are in `wide_codes`.
    `most_tags` and `most_buckets` are the most that any other row has.
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
    # As far as they were asked for.
    _pieces: dict[int, list[Piece]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def wide(self) -> Rows:
        """The wide rows with their joining codes."""
        columns: Any = {name: getattr(self, name)[self.wide_rows] for name in COLUMNS}
        return Rows(**columns, starts=self.wide_starts, codes=self.wide_codes)

    @cached_property
    def part_counts(self) -> dict[int, int]:
        """How many rows each part has."""
        parts, counts = np.unique(self.parts, return_counts=True)
        return dict(zip(parts.tolist(), counts.tolist(), strict=True))

    def pieces(self, code: int) -> list[Piece]:
        """The rows that carry the code, part by part."""
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
        """The rows with these keys; keys that are not here are left out."""
        if not len(self):
            return np.zeros(0, np.int32)
        places = np.searchsorted(self.keys, keys, sorter=self.by_key).clip(max=len(self) - 1)
        rows: RowNumbers = self.by_key[places].astype(np.int32)
        return rows[np.equal(self.keys[rows], keys)]

    def rows_in(self, runs: Runs) -> RowNumbers:
        """The rows whose keys lie in one of the runs."""
        if not len(self):
            return np.zeros(0, np.int32)
        bounds = np.array([(low, high + 1) for low, high in runs], np.int64).ravel()
        places = np.searchsorted(self.keys, bounds, sorter=self.by_key).tolist()
        pieces = [self.by_key[low:high] for low, high in zip(places[::2], places[1::2], strict=True)]
        return np.concatenate([np.zeros(0, np.int64), *pieces]).astype(np.int32)

    def codes_of(self, rows: RowNumbers) -> NDArray[np.int32]:
        """The joining codes of these rows, one after the other."""
        plain = self.forward[rows].ravel()
        wide = self.wide.take(np.flatnonzero(np.isin(self.wide_rows, rows)))
        return np.concatenate([plain[plain != 0], wide.codes])

    def as_rows(self) -> Rows:
        """The whole as plain rows, by key."""
        codes = np.repeat(self.list_codes, np.diff(self.list_starts))
        order = np.argsort(self.carriers, kind="stable")
        lengths = np.bincount(self.carriers, minlength=len(self))
        columns: Any = {name: getattr(self, name) for name in COLUMNS}
        return joined([Rows(**columns, starts=np.concatenate(([0], np.cumsum(lengths))), codes=codes[order])])


def made(db: sqlite3.Connection, rows: Rows) -> Base:
    """The columns of these rows; `db` tells how their ids compare and which labels are buckets."""
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
    """The order of rows by time, newest first, then by id. The index over ids has their order without reading texts."""
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
    """The narrowest table that leaves few rows out."""
    few = max(MOST_WIDE, len(counts) // WIDE_SHARE)
    return next((width for width in WIDTHS if np.count_nonzero(counts > width) <= few), WIDTHS[-1])


def _places(counts: Ints) -> Ints:
    """0, 1, 2 ... for each row as often as it counts."""
    starts = np.concatenate(([0], np.cumsum(counts)[:-1])) if len(counts) else np.zeros(0, np.int64)
    places: Ints = np.arange(int(counts.sum())) - np.repeat(starts, counts)
    return places


def _most(owners: RowNumbers) -> int:
    return int(np.bincount(owners).max()) if len(owners) else 0


def _inverted(rows: Rows, owners: RowNumbers) -> dict[str, Any]:
    """The rows of each code and part. Owners are in order, and a stable sort keeps them so."""
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
    """The codes of the rows of short lists."""
    lengths = np.diff(starts)
    short = lengths <= max(SHORT, len(forward) // SHORT_SHARE)
    ends = np.cumsum(np.where(short, lengths, 0))
    return {
        "list_near": np.where(short, ends - lengths, -1).astype(np.int64),
        "near": forward[carriers[np.repeat(short, lengths)]].T,
    }


def write(place: Path, base: Base) -> dict[str, int]:
    """Write the columns to a new file, on disk before anything refers to it; what it takes to map it comes back."""
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
    """The file's columns. Raises ValueError or KeyError when it is not what `sizes` says."""
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
    """No rows at all."""
    zero: dict[str, Any] = {name: np.zeros(_size(count, _NONE), kind) for name, kind, count in _FILE}
    zero["forward"] = zero["forward"].reshape(0, _NONE["width"])
    zero["near"] = zero["near"].reshape(_NONE["width"], 0)
    return Base(**zero, most_tags=0, most_buckets=0)


_NONE: Mapping[str, int] = {
    **dict.fromkeys(("rows", "lists", "carriers", "near", "wide", "wide_codes"), 0),
    "width": WIDTHS[0],
}


def differ(one: Rows, other: Rows) -> bool:
    """Whether two sets of rows are not the same; the order of a row's codes does not count."""
    if len(one) != len(other) or len(one.codes) != len(other.codes):
        return True
    if any(not np.array_equal(getattr(one, name), getattr(other, name)) for name in (*COLUMNS, "starts")):
        return True
    return not np.array_equal(_sorted_codes(one), _sorted_codes(other))


def _sorted_codes(rows: Rows) -> NDArray[np.int32]:
    owners = np.repeat(np.arange(len(rows)), np.diff(rows.starts))
    return rows.codes[np.lexsort((rows.codes, owners))]
