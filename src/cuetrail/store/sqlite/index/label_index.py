"""The label index: the tags and buckets of every node, updated from `memory.db`. A label is a tag or a bucket.

The base, a file of columns, has the state after one change; each process reads later changes from `memory.db` into
memory. When they become many, a new base replaces the old one. A small memory has no base: all of it is read. The first
tag walk makes the base, so memories without tag walks never need the time for it.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cuetrail.store.sqlite.changelog import FORGOTTEN, changes_since, head, mark_of, position
from cuetrail.store.sqlite.connection import Database, gone, meta
from cuetrail.store.sqlite.index.directory import IndexDir, State, rebuilding
from cuetrail.store.sqlite.index.label_search import (
    ARCHIVED,
    COLUMNS,
    HASHED,
    QUARANTINED,
    SILENT,
    Ints,
    LabelColumns,
    LabelView,
    NodeRows,
    RowNumbers,
    Runs,
    label_kind_code,
)
from cuetrail.store.sqlite.reader import CheckedFiles, label_numbers
from cuetrail.store.sqlite.rows import packed_buckets, packed_tags, unpack_tag
from cuetrail.store.write import Progress

# Above every key.
END = 2**62
BATCH = 8_192
EVERYTHING = ((0, END),)

ROWS = f"""SELECT n.key, n.part, n.kind, n.at, ifnull(n.simhash, 0), n.labels,
  {QUARANTINED} * (n.provenance = 'quarantine') + {ARCHIVED} * (l.state IS 'archived') + {SILENT} * (n.text = '')
  + {HASHED} * (n.simhash IS NOT NULL), CASE WHEN n.props LIKE '%"level"%' THEN n.props END
  FROM nodes n LEFT JOIN life l ON l.key = n.key WHERE n.labels IS NOT NULL AND n.key BETWEEN ? AND ? ORDER BY n.key"""


def merge_rows(pieces: Sequence[NodeRows]) -> NodeRows:
    """Returns the rows of several tables as one, sorted by key."""
    whole = pieces[0]
    if len(pieces) > 1:
        joint = {name: np.concatenate([getattr(piece, name) for piece in pieces]) for name in (*COLUMNS, "codes")}
        lengths = np.concatenate([np.diff(piece.starts) for piece in pieces])
        whole = NodeRows(**joint, starts=np.concatenate(([0], np.cumsum(lengths))))
    in_order = bool((whole.keys[1:] > whole.keys[:-1]).all())
    return whole if in_order else whole.take(np.argsort(whole.keys, kind="stable"))


def read_rows(db: sqlite3.Connection, runs: Runs = EVERYTHING, progress: Progress | None = None) -> NodeRows:
    """Reads the nodes that have labels and whose keys lie in these ranges from `memory.db`."""
    reader = _RowReader(db)
    pieces = [_rows_from((), ())]
    done = 0
    for some in _batches(db, runs):
        pieces.append(reader.rows(some))
        done += len(some)
        if progress:
            progress("indexing labels", done, 0)
    return merge_rows(pieces)


def _batches(db: sqlite3.Connection, runs: Runs) -> Iterator[list[tuple[Any, ...]]]:
    rows = (row for run in runs for row in db.execute(ROWS, run))
    while some := list(islice(rows, BATCH)):
        yield some


class _RowReader:
    """Converts rows of the ROWS query to columns, with a cache of label codes (see `label_search`)."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.tags: dict[str, int | None] = {}
        self.buckets: dict[str, int | None] = {}

    def rows(self, found: Sequence[tuple[Any, ...]]) -> NodeRows:
        tags, buckets = [packed_tags(row[5]) for row in found], [packed_buckets(row[5]) for row in found]
        self._learn(tags, buckets)
        labels = []
        for some, others in zip(tags, buckets, strict=True):
            codes = dict.fromkeys([*map(self.tags.__getitem__, some), *map(self.buckets.__getitem__, others)])
            # A label missing in its table joins nothing; doctor reports it.
            codes.pop(None, None)
            labels.append(codes)
        kept = [n for n, codes in enumerate(labels) if codes]
        return _rows_from([found[n] for n in kept], [labels[n] for n in kept])

    def _learn(self, tags: Iterable[Iterable[str]], buckets: Iterable[Iterable[str]]) -> None:
        items = {item: unpack_tag(item) for item in {i for some in tags for i in some} - self.tags.keys()}
        numbers = label_numbers(self.db, "t", {tag.name for tag in items.values()})
        for item, tag in items.items():
            number = numbers.get(tag.name)
            self.tags[item] = None if number is None else 2 * number + (tag.origin == "temporal")
        names = {name for some in buckets for name in some} - self.buckets.keys()
        numbers = label_numbers(self.db, "b", names)
        self.buckets.update((name, 2 * numbers[name] if name in numbers else None) for name in names)


def _rows_from(rows: Sequence[tuple[Any, ...]], labels: Sequence[Collection[int | None]]) -> NodeRows:
    """Returns rows of the ROWS query as columns; `labels` has the label codes of each row."""
    kinds = {kind: label_kind_code(kind) for kind in {row[2] for row in rows}}
    levels = ((n, row[7]) for n, row in enumerate(rows) if row[7] is not None)
    flags = np.array([row[6] for row in rows], np.uint8)
    flags[[n for n, props in levels if json.loads(props).get("level")]] |= SILENT
    return NodeRows(
        keys=np.array([row[0] for row in rows], np.int64),
        parts=np.array([row[1] for row in rows], np.int32),
        kinds=np.array([kinds[row[2]] for row in rows], np.int64),
        flags=flags,
        ats=np.array([row[3] for row in rows], np.int64),
        hashes=np.array([row[4] for row in rows], np.int64).view(np.uint64),
        starts=np.concatenate(([0], np.cumsum(np.array([len(codes) for codes in labels], np.int64)))),
        codes=np.array([code for codes in labels for code in codes], np.int32),
    )


LAYOUT = "labels-3"
# So many nodes are read from `memory.db` when a memory is opened; beside a large base, a share of it.
FEW = 2_000
SHARE = 100


class LabelIndex:
    """Updates the label index from `memory.db` and opens views of it."""

    def __init__(self, directory: Path, db: Database) -> None:
        self.dir = IndexDir(directory)
        self.db = db
        self.opened: LabelView | None = None
        db.on_close(self.close)

    def close(self) -> None:
        """Releases the memory-mapped file of the index."""
        self.opened = None

    def view_at(self, db: sqlite3.Connection, epoch: str, target: int, progress: Progress | None = None) -> LabelView:
        """Returns a view with the changes up to `target`, which is the last one that the transaction sees. Writes a new
        base if that is due.
        """
        for _ in range(3):
            view = self._followed(db, epoch, target)
            if view is not None:
                return view
            self.catch_up(progress)
        # Other processes keep replacing the base; while the lock is held they cannot.
        with self.dir.locked():
            self.catch_up(progress)
            view = self._followed(db, epoch, target)
        if view is None:
            raise gone(self.db.path)
        return view

    def _followed(self, db: sqlite3.Connection, epoch: str, target: int) -> LabelView | None:
        """Returns the opened view, updated to the change `target`; None if a new base (index file) is needed first."""
        view = self.opened
        if view is None or not _is_open(view, epoch) or (view := _after(db, view, target)) is None:
            view = self._opened(db, epoch)
            view = _after(db, view, target) if view is not None else None
        self.opened = view
        return view

    def _opened(self, db: sqlite3.Connection, epoch: str) -> LabelView | None:
        """Returns a view of the base (index file), or of all nodes of a small memory; None if a base must be
        written.
        """
        base = self._base(epoch)
        if base is not None:
            state, files, columns = base
            nothing = np.zeros(0, np.int32)
            return LabelView(columns, nothing, read_rows(db, ()), epoch, state.seq, state.mark, files)
        if db.execute("SELECT count(*) FROM (SELECT 1 FROM nodes LIMIT ?)", (FEW + 1,)).fetchone()[0] > FEW:
            return None
        seq = head(db)
        return LabelView(no_columns(), np.zeros(0, np.int32), read_rows(db), epoch, seq, mark_of(db, seq) or 0, None)

    def _base(self, epoch: str) -> tuple[State, CheckedFiles, LabelColumns] | None:
        found = self.dir.read()
        if found is None or (found[0].epoch, found[0].layout) != (epoch, LAYOUT):
            return None
        try:
            return *found, self._mapped(found[0])
        except (OSError, ValueError, KeyError):
            return None

    def _mapped(self, state: State) -> LabelColumns:
        (name,) = state.files
        return map_columns(self.dir.path / state.folder / name, state.extra)

    def exists(self) -> bool:
        """True if the file of the index (its base) is on disk."""
        return self.dir.load() is not None

    def catch_up(self, progress: Progress | None = None, erase: bool = False) -> int:
        """Writes a new base if one is due: there is none, much has changed since, or something was forgotten.

        With `erase`, one is due if anything has changed. Returns the number of the last change that the base contains.
        """
        with self.dir.locked(), self.db.fresh() as db:
            try:
                return self._bring_up(db, progress, erase).seq
            except (ValueError, OSError, KeyError):
                # Another program changed the files during the update.
                with rebuilding(self.dir):
                    return self._write(db, read_rows(db, progress=progress)).seq

    def _bring_up(self, db: sqlite3.Connection, progress: Progress | None, erase: bool) -> State:
        state = self.dir.load()
        if state is None or (state.epoch, state.layout) != (meta(db, "epoch"), LAYOUT):
            return self._write(db, read_rows(db, progress=progress))
        runs = changes_since(db, state.seq, state.mark, vectors=False)
        if runs is None or not self.dir.intact(state):
            return self._write(db, read_rows(db, progress=progress))
        columns = self._mapped(state)
        # Forgotten nodes must not stay in the old base.
        erase = erase or (meta(db, FORGOTTEN) or 0) > state.seq
        if (erase and runs) or _is_much(runs, state.extra["rows"]):
            kept = _as_rows(columns).without(runs)
            return self._write(db, merge_rows([kept, read_rows(db, runs, progress)]))
        return state

    def _write(self, db: sqlite3.Connection, rows: NodeRows) -> State:
        """Writes a new base (index file) with these rows, deletes the old one, and returns the new state."""
        epoch, seq = position(db)
        folder = self.dir.next_folder()
        sizes = write_columns(self.dir.path / folder / "columns", build_columns(db, rows))
        files = {"columns": self.dir.describe(folder, "columns")}
        state = State(epoch, LAYOUT, seq, mark_of(db, seq) or 0, folder, files, sizes)
        self.dir.save(state)
        self.dir.sweep(folder)
        return state

    def rebuild(self) -> None:
        """Writes the file of the index (its base) again, from `memory.db`."""
        with self.dir.locked(), self.db.fresh() as db:
            self._write(db, read_rows(db))

    def differs(self) -> bool:
        """True if the index exists and differs from `memory.db`; for doctor."""
        if not self.exists():
            return False
        with self.dir.locked(), self.db.fresh() as db:
            try:
                state = self._bring_up(db, None, False)
                if not self.dir.intact(state, thorough=True):
                    return True
                runs = changes_since(db, state.seq, state.mark, vectors=False) or []
                present = merge_rows([_as_rows(self._mapped(state)).without(runs), read_rows(db, runs)])
                return differ(present, read_rows(db))
            except (ValueError, OSError, KeyError):
                return True

    def keys(self) -> set[int]:
        """Returns the keys of all nodes in the index; for tests."""
        with self.db.reading() as db:
            view = self.view_at(db, *position(db))
        living = np.delete(view.base.keys, view.dead)
        return set(living.tolist()) | set(view.delta.keys.tolist())


def _is_open(view: LabelView, epoch: str) -> bool:
    """True if the view belongs to the memory with this epoch and its file is still the one on disk."""
    return view.epoch == epoch and (view.files is None or view.files.unchanged())


def _after(db: sqlite3.Connection, view: LabelView, target: int) -> LabelView | None:
    """Returns the view updated to the change `target`; None if too much changed, or the change log cannot tell."""
    if view.seq >= target:
        return view
    runs = changes_since(db, view.seq, view.mark, vectors=False)
    if runs is None or _is_much(runs, len(view.base), len(view.delta)):
        return None
    seq = head(db)
    dead = np.union1d(view.dead, view.base.rows_in(runs))
    delta = merge_rows([view.delta.without(runs), read_rows(db, runs)])
    return replace(view, dead=dead, delta=delta, seq=seq, mark=mark_of(db, seq) or 0, codes={}, stats={}, _shown={})


def _is_much(runs: Runs, rows: int, more: int = 0) -> bool:
    """True if a new base (index file) is due: changed keys and `more` are many compared with its `rows` nodes."""
    return sum(high - low + 1 for low, high in runs) + more > max(FEW, rows // SHARE)


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


def build_columns(db: sqlite3.Connection, rows: NodeRows) -> LabelColumns:
    """Returns the columns of a new index file with these rows. `db` orders ids and says which labels are buckets."""
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
    return LabelColumns(
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


def _newest_first(db: sqlite3.Connection, rows: NodeRows) -> Ints:
    """Returns the row numbers sorted newest first, then by node id."""
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
    """Returns the smallest of WIDTHS such that few rows have more labels; `counts` are the rows' label numbers."""
    few = max(MOST_WIDE, len(counts) // WIDE_SHARE)
    return next((width for width in WIDTHS if np.count_nonzero(counts > width) <= few), WIDTHS[-1])


def _places(counts: Ints) -> Ints:
    """Returns, for each row, the numbers from 0 up to its count less one, concatenated."""
    starts = np.concatenate(([0], np.cumsum(counts)[:-1])) if len(counts) else np.zeros(0, np.int64)
    places: Ints = np.arange(int(counts.sum())) - np.repeat(starts, counts)
    return places


def _most(owners: RowNumbers) -> int:
    return int(np.bincount(owners).max()) if len(owners) else 0


def _inverted(rows: NodeRows, owners: RowNumbers) -> dict[str, Any]:
    """Returns the columns that list the rows of nodes by label code and partition. `owners` has the row of each
    code.
    """
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
    """Returns two columns that speed up reading short lists; a list has the rows (`carriers`) with one label in one
    partition. `near` repeats the label codes (`forward`) of the rows of each short list, one after another;
    `list_near` says where each list begins in it, -1 for a long list.
    """
    lengths = np.diff(starts)
    short = lengths <= max(SHORT, len(forward) // SHORT_SHARE)
    ends = np.cumsum(np.where(short, lengths, 0))
    return {
        "list_near": np.where(short, ends - lengths, -1).astype(np.int64),
        "near": forward[carriers[np.repeat(short, lengths)]].T,
    }


def write_columns(place: Path, base: LabelColumns) -> dict[str, int]:
    """Writes the columns to a new file and waits until it is on disk. Returns the sizes that `map_columns` needs."""
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


def map_columns(place: Path, sizes: Mapping[str, int]) -> LabelColumns:
    """Returns the columns of a file, memory-mapped. Raises ValueError or KeyError if it does not match `sizes`."""
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
    return LabelColumns(**found, most_tags=sizes["most_tags"], most_buckets=sizes["most_buckets"])


def _size(count: str, sizes: Mapping[str, int]) -> int:
    name, _, more = count.partition(" ")
    if more == "+ 1":
        return sizes[name] + 1
    return sizes[name] * sizes["width"] if more else sizes[name]


def no_columns() -> LabelColumns:
    """Returns the columns of an index without nodes."""
    zero: dict[str, Any] = {name: np.zeros(_size(count, _NONE), kind) for name, kind, count in _FILE}
    zero["forward"] = zero["forward"].reshape(0, _NONE["width"])
    zero["near"] = zero["near"].reshape(_NONE["width"], 0)
    return LabelColumns(**zero, most_tags=0, most_buckets=0)


_NONE: Mapping[str, int] = {
    **dict.fromkeys(("rows", "lists", "carriers", "near", "wide", "wide_codes"), 0),
    "width": WIDTHS[0],
}


def differ(one: NodeRows, other: NodeRows) -> bool:
    """True if two tables of rows differ; the order of a row's codes does not count."""
    if len(one) != len(other) or len(one.codes) != len(other.codes):
        return True
    if any(not np.array_equal(getattr(one, name), getattr(other, name)) for name in (*COLUMNS, "starts")):
        return True
    return not np.array_equal(_sorted_codes(one), _sorted_codes(other))


def _sorted_codes(rows: NodeRows) -> NDArray[np.int32]:
    owners = np.repeat(np.arange(len(rows)), np.diff(rows.starts))
    return rows.codes[np.lexsort((rows.codes, owners))]


def _as_rows(base: LabelColumns) -> NodeRows:
    """Returns the nodes of the index file with their label codes, sorted by key."""
    codes = np.repeat(base.list_codes, np.diff(base.list_starts))
    order = np.argsort(base.carriers, kind="stable")
    lengths = np.bincount(base.carriers, minlength=len(base))
    columns: Any = {name: getattr(base, name) for name in COLUMNS}
    return merge_rows([NodeRows(**columns, starts=np.concatenate(([0], np.cumsum(lengths))), codes=codes[order])])
