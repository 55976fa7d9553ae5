"""Keeps the files of the vector index: flat, memory-mapped blocks of 8-bit codes. `vector_search` scans them.

A scan is exact up to rounding, filters and deletions cost nothing, and there is no graph to build: `bench/vectors`
compares it with an HNSW index. A block file holds keys, partitions, kinds, scales and codes of up to BLOCK rows, by
key, and never changes: an update writes new versions of the blocks it touches and then switches to them, so nobody sees
half a block. New rows go to a small last block, so that adding one rewrites no large one.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import xxhash
from numpy.typing import NDArray

from cuetrail.store.sqlite.changelog import changes_since, head, mark_of, position
from cuetrail.store.sqlite.connection import Database, meta
from cuetrail.store.sqlite.index.directory import IndexDir, State, rebuilding
from cuetrail.store.sqlite.index.vector_search import Block, Runs, VectorView, kind_code, quantised, unpack_vectors
from cuetrail.store.sqlite.reader import held_space
from cuetrail.store.sqlite.rows import verified_vectors
from cuetrail.store.vector_space import NO_VECTORS, VectorSpace
from cuetrail.store.write import Progress

LAYOUT = "vectors-5"
BLOCK = 65_536
TAIL = 4_096
BATCH = 8_192
# Above every key.
END = 2**62

# The rows of an index whose keys lie in a range: of all nodes, of named nodes, of described relationships and notes.
# The last column is true for a node with a name but no text.
NODES = """SELECT v.key, n.part, n.kind, v.vector, n.text = '' AND n.kind <> 'source', v.check_sum FROM vectors v
  JOIN nodes n ON n.key = v.key
  WHERE v.key BETWEEN ?1 AND ?2 ORDER BY v.key"""
NAMED = NODES.replace(" ORDER", " AND n.name IS NOT NULL ORDER")
RELATIONS = """SELECT e.key AS key, e.part, 'edge', v.vector, 0, v.check_sum FROM edges e
  CROSS JOIN vectors v ON v.key = e.key
  WHERE e.via IS NULL AND e.text <> '' AND e.key BETWEEN ?1 AND ?2
  UNION ALL SELECT o.key, o.part, 'note', v.vector, 0, v.check_sum FROM notes o
  CROSS JOIN vectors v ON v.key = o.key
  WHERE +o.target_on = 'edge' AND o.key BETWEEN ?1 AND ?2 ORDER BY key"""


def space_of(db: sqlite3.Connection) -> VectorSpace | None:
    """Returns the model whose vectors are to be indexed; None if the memory holds no vectors."""
    space = held_space(db)
    return None if space == NO_VECTORS else space


class VectorIndex:
    """Updates the blocks from `memory.db` and opens views of them. `rows` is the query for the indexed records."""

    def __init__(self, directory: Path, db: Database, rows: str = NODES) -> None:
        self.dir = IndexDir(directory)
        self._query = rows
        self.db = db
        self.opened: VectorView | None = None
        db.on_close(self.close)

    def close(self) -> None:
        """Releases the memory-mapped files of the index."""
        self.opened = None

    def exists(self) -> bool:
        """True if the index is on disk."""
        return self.dir.load() is not None

    def view(self, progress: Progress | None = None) -> VectorView | None:
        """Returns a view that contains every acknowledged write; None if the memory has no vectors."""
        with self.db.reading_connection() as db:
            view = self.view_at(db, *position(db), progress)
        return None if view.space == NO_VECTORS else view

    def view_at(self, db: sqlite3.Connection, epoch: str, target: int, progress: Progress | None = None) -> VectorView:
        """Returns a view that contains the changes up to `target`, but may lack those that nobody has acknowledged yet;
        one without blocks if the memory has no vectors.
        """
        space = space_of(db)
        if space is None:
            return VectorView(epoch, target, None, NO_VECTORS, ())
        needed, opened = self.db.unacknowledged.needed(target), self.opened
        if needed < target and opened and (opened.epoch, opened.space) == (epoch, space) and opened.seq >= needed:
            # Its files may be changing at this moment; a view keeps those that it has opened.
            return opened
        target = needed
        for _ in range(3):
            view = self._current(epoch, space)
            if view is not None and view.seq >= target:
                return view
            self.catch_up(progress)
        # Other processes keep replacing the index; while the lock is held they cannot.
        with self.dir.locked():
            self.catch_up(progress)
            view = self._current(epoch, space)
        return view or VectorView(epoch, target, None, NO_VECTORS, ())

    def _current(self, epoch: str, space: VectorSpace) -> VectorView | None:
        """Returns the opened view if it is still the index on disk, else a new one; None if no index is usable."""
        view = self.opened
        if view is not None and (view.epoch, view.space) == (epoch, space) and view.files and view.files.unchanged():
            return view
        self.opened = None
        found = self.dir.read()
        if found is None or (found[0].epoch, found[0].layout) != (epoch, layout_of(space)):
            return None
        state, files = found
        try:
            blocks = tuple(block for _, block in self._blocks(state, space.dim))
        except (OSError, ValueError):
            return None
        self.opened = VectorView(epoch, state.seq, files, space, blocks)
        return self.opened

    def _blocks(self, state: State, dim: int) -> list[tuple[str, Block]]:
        return [(name, _mapped(self.dir.path / state.folder / name, dim)) for name in state.files]

    def catch_up(self, progress: Progress | None = None) -> None:
        """Applies every change since the index was last updated, or rebuilds it if that is not possible."""
        with self.dir.locked(), self.db.fresh() as db:
            space = space_of(db)
            if space is None:
                return
            try:
                self._bring_up(db, space, progress)
            except (ValueError, OSError):
                # Another program changed the files during the update.
                with rebuilding(self.dir):
                    self._rebuild(db, space, progress)

    def _bring_up(self, db: sqlite3.Connection, space: VectorSpace, progress: Progress | None) -> None:
        state = self.dir.load()
        if state is None or (state.epoch, state.layout) != (meta(db, "epoch"), layout_of(space)):
            self._rebuild(db, space, progress)
            return
        runs = changes_since(db, state.seq, state.mark)
        if runs is None or not self.dir.intact(state):
            self._rebuild(db, space, progress)
        elif runs:
            self._apply(db, state, runs, space.dim, progress)
        elif state.seq < (seq := head(db)):
            # Only labels changed.
            self.dir.save(replace(state, seq=seq, mark=mark_of(db, seq) or 0))

    def _rebuild(self, db: sqlite3.Connection, space: VectorSpace, progress: Progress | None) -> None:
        state = State(meta(db, "epoch"), layout_of(space), 0, 0, self.dir.next_folder())
        rows = _Rows(self.db.path, db, space.dim, progress, self._query)
        names = [self._write(state.folder, block) for block in rows.read([(0, END)])]
        self._save(db, state, names)

    def _apply(self, db: sqlite3.Connection, state: State, runs: Runs, dim: int, progress: Progress | None) -> None:
        """Rewrites the blocks with changed keys, appends new keys, and saves the new state."""
        rows = _Rows(self.db.path, db, dim, progress, self._query)
        blocks = self._blocks(state, dim)
        names: list[str] = []
        few = sum(high - low + 1 for low, high in runs) <= BLOCK
        low = 0
        for number, (name, block) in enumerate(blocks, 1):
            last = number == len(blocks)
            # A small last block takes the new rows; after a larger one they start a new block.
            high = END if last and few and len(block.keys) < TAIL else int(block.keys[-1])
            names += self._renewed(state.folder, name, block, rows, _within(runs, low, high))
            low = high + 1
        names += [self._write(state.folder, block) for block in rows.read(_within(runs, low, END))]
        self._save(db, state, self._gathered(state.folder, names, dim))

    def _renewed(self, folder: str, name: str, block: Block, rows: _Rows, runs: Runs) -> list[str]:
        """Returns the files of a block after the rows in these ranges are read again: new files, or its own one if
        nothing in it changed, as most changes concern records of another index.
        """
        now = list(rows.read(runs))
        if not now and not block.holds(runs):
            return [name]
        return [self._write(folder, piece) for piece in _split(_joined([block.without(runs), *now]))]

    def _gathered(self, folder: str, names: list[str], dim: int) -> list[str]:
        """Merges the last two block files if the last one holds at least TAIL vectors and both together at most BLOCK.
        Returns the names of all files after that.
        """
        ends = [_mapped(self.dir.path / folder / name, dim) for name in names[-2:]]
        if len(ends) < 2 or len(ends[1].keys) < TAIL or sum(len(b.keys) for b in ends) > BLOCK:
            return names
        return [*names[:-2], self._write(folder, _joined(ends))]

    def _write(self, folder: str, block: Block) -> str:
        """Writes a block to a new file, waits until it is on disk, and returns the file's name."""
        place = self.dir.path / folder
        name = str(max((int(p.name) for p in place.iterdir() if p.name.isdecimal()), default=0) + 1)
        with (place / name).open("xb") as file:
            for column in block.columns:
                file.write(np.ascontiguousarray(column).data)
            file.flush()
            os.fsync(file.fileno())
        return name

    def _save(self, db: sqlite3.Connection, state: State, names: list[str]) -> None:
        """Saves a state with these block files, and deletes all others."""
        epoch, seq = position(db)
        files = {n: state.files.get(n) or self.dir.describe(state.folder, n) for n in names}
        self.dir.save(replace(state, epoch=epoch, seq=seq, mark=mark_of(db, seq) or 0, files=files))
        self.dir.sweep(state.folder)
        for old in (self.dir.path / state.folder).iterdir():
            if old.name not in files:
                old.unlink(missing_ok=True)

    def rebuild(self) -> None:
        """Builds the index again from all vectors in `memory.db`; does nothing if it has none."""
        with self.dir.locked(), self.db.fresh() as db:
            space = space_of(db)
            if space is not None:
                self._rebuild(db, space, None)

    def differs(self) -> bool:
        """True if the index differs from `memory.db`; for doctor. Writers wait meanwhile, readers do not."""
        with self.dir.locked(), self.db.fresh() as db:
            space = space_of(db)
            if space is None:
                return False
            try:
                self._bring_up(db, space, None)
                state = self.dir.load()
                if state is None or not self.dir.intact(state, thorough=True):
                    return True
                read = _Rows(self.db.path, db, space.dim, None, self._query).read([(0, END)])
                return _digest(b for _, b in self._blocks(state, space.dim)) != _digest(read)
            except (ValueError, OSError):
                return True

    def keys(self) -> set[int]:
        """Returns the keys of all records in the index; for tests."""
        view = self.view()
        return set() if view is None else {int(key) for block in view.blocks for key in block.keys}


class _Rows:
    """Reads vectors from `memory.db` as blocks of at most BLOCK rows."""

    def __init__(self, path: Path, db: sqlite3.Connection, dim: int, progress: Progress | None, query: str) -> None:
        self.path, self.db, self.dim, self.progress, self.query = path, db, dim, progress, query
        self.done = 0

    def read(self, runs: Runs) -> Iterator[Block]:
        rows = (row for run in runs for row in self.db.execute(self.query, run))
        batches: list[Block] = []
        while some := list(islice(rows, BATCH)):
            batches.append(self._block(some))
            self.done += len(some)
            if self.progress:
                self.progress("indexing vectors", self.done, 0)
            if len(batches) == BLOCK // BATCH:
                yield _joined(batches)
                batches = []
        if batches:
            yield _joined(batches)

    def _block(self, rows: Sequence[tuple[int, int, str, bytes, bool, int]]) -> Block:
        verified = verified_vectors((row[0], row[3], row[5]) for row in rows)
        vectors = unpack_vectors(self.path, [vector for _, vector in verified], self.dim)
        keys, parts = np.array([row[0] for row in rows], np.int64), np.array([row[1] for row in rows], np.int32)
        kinds = np.array([kind_code(row[2], bool(row[4])) for row in rows], np.int32)
        codes = quantised(vectors.astype(np.float32))
        return Block(keys, parts, kinds, _scales(codes), codes)


def _mapped(place: Path, dim: int) -> Block:
    """Returns a block, memory-mapped from a file: all keys, then all partitions, kinds, scales and codes."""
    data = np.memmap(place, np.uint8, "r")
    count = len(data) // (dim + 20)
    return Block(
        data[: 8 * count].view(np.int64),
        data[8 * count : 12 * count].view(np.int32),
        data[12 * count : 16 * count].view(np.int32),
        data[16 * count : 20 * count].view(np.float32),
        data[20 * count :].view(np.int8).reshape(count, dim),
    )


def _within(runs: Runs, low: int, high: int) -> list[tuple[int, int]]:
    """Returns the parts of the ranges that lie from `low` to `high`."""
    return [(max(a, low), min(b, high)) for a, b in runs if a <= high and b >= low]


def _joined(blocks: Sequence[Block]) -> Block:
    """Returns the rows of several blocks as one block, by key."""
    keys = np.concatenate([b.keys for b in blocks])
    order = np.argsort(keys, kind="stable")
    columns = [np.concatenate([b.columns[n] for b in blocks])[order] for n in (1, 2, 3, 4)]
    return Block(keys[order], *columns)


def _split(block: Block) -> Iterator[Block]:
    """Yields a block in pieces of at most BLOCK rows; nothing if it is empty."""
    for at in range(0, len(block.keys), BLOCK):
        piece = slice(at, at + BLOCK)
        yield Block(*(column[piece] for column in block.columns))


def _digest(blocks: Iterable[Block]) -> bytes:
    """Returns a digest that is equal for equal rows, however they are split into blocks."""
    columns = [xxhash.xxh3_128() for _ in range(5)]
    for block in blocks:
        for column, data in zip(columns, block.columns, strict=True):
            column.update(np.ascontiguousarray(data).data)
    return b"".join(column.digest() for column in columns)


def layout_of(space: VectorSpace) -> str:
    """Returns the name of the file layout with the model in it, so that another model's index is never searched."""
    return f"{LAYOUT}:{space.model}:{space.dim}"


def _scales(codes: NDArray[np.int8]) -> NDArray[np.float32]:
    """Returns, for each code, 1 divided by its length, the factor that gives it unit length; 0 for a code of zeros."""
    lengths = np.sqrt(np.einsum("ij,ij->i", codes, codes, dtype=np.float32))
    scales: NDArray[np.float32] = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return scales
