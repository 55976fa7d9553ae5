"""The vector index: a flat, memory-mapped file of 8-bit codes, scanned whole and rescored from the truth.

A scan is exact up to rounding, filters and deletions cost nothing, adding is appending, and there is no graph to build:
`bench/vectors` shows it beside an HNSW index. Rows are (codes, key, part); a deleted row has key 0.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import simsimd
from numpy.typing import NDArray

from cuetrail.store.base import Progress, VectorSpace
from cuetrail.store.local.db import Database, chunks, head, marks, meta
from cuetrail.store.local.indexdir import IndexDir, State

LAYOUT = "vectors-1"
OVERFETCH = 4
BATCH = 8192
FILES = ("codes", "keys", "parts")


@dataclass(frozen=True, slots=True)
class Rows:
    """The mapped file as of one state."""

    codes: NDArray[np.int8]
    keys: NDArray[np.int64]
    parts: NDArray[np.int32]
    state: State


def space_of(db: sqlite3.Connection) -> VectorSpace | None:
    """The model whose vectors the truth holds."""
    packed = meta(db, "vector_space")
    return VectorSpace(**json.loads(packed)) if packed else None


class VectorIndex:
    """Keeps the flat file in step with the truth and searches it."""

    def __init__(self, directory: Path, db: Database) -> None:
        self.dir = IndexDir(directory)
        self.db = db
        self._rows: Rows | None = None
        self._stamp = (-1, -1)

    def search(
        self, query: NDArray[np.float32], limit: int, parts: Sequence[int] | None
    ) -> list[tuple[int, float]]:
        """(key, cosine) of the nearest rows in the given parts (None: all), nearest first."""
        rows = self.view()
        if rows is None or limit <= 0 or not len(rows.keys) or query.shape[0] != rows.codes.shape[1]:
            return []
        distances = simsimd.cdist(quantised(query[None, :]), rows.codes, metric="cosine")
        scores = 1.0 - np.asarray(distances, dtype=np.float64)[0]
        hidden = (rows.keys == 0) | np.isnan(scores)
        if parts is not None:
            hidden = hidden | ~np.isin(rows.parts, np.asarray(parts, dtype=np.int32))
        scores[hidden] = -np.inf
        wanted = min(limit * OVERFETCH + 32, len(scores))
        best = np.argpartition(-scores, wanted - 1)[:wanted]
        keys = [int(rows.keys[i]) for i in best if scores[i] != -np.inf]
        return self._rescored(query, keys)[:limit]

    def _rescored(self, query: NDArray[np.float32], keys: Sequence[int]) -> list[tuple[int, float]]:
        found: list[tuple[int, float]] = []
        with self.db.reading() as db:
            for some in chunks(keys):
                query_text = f"SELECT key, vector FROM vectors WHERE key IN ({marks(len(some))})"
                for key, blob in db.execute(query_text, some):
                    vector = np.frombuffer(blob, dtype="<f2").astype(np.float64)
                    found.append((key, float(vector @ query)))
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))

    def view(self, progress: Progress | None = None) -> Rows | None:
        """The rows after every acknowledged write; None when the memory has no vectors yet."""
        with self.db.reading() as db:
            epoch, target, space = meta(db, "epoch"), head(db), space_of(db)
        if space is None:
            return None
        for _ in range(3):
            rows = self._current(epoch, space)
            if rows is not None and rows.state.seq >= target:
                return rows
            self.catch_up(progress)
        with self.dir.locked():
            self.catch_up(progress)
            return self._current(epoch, space)

    def _current(self, epoch: str, space: VectorSpace) -> Rows | None:
        stamp = self.dir.stamp()
        if self._rows is not None and stamp == self._stamp and self._rows.state.epoch == epoch:
            return self._rows
        state = self.dir.load()
        if state is None or state.epoch != epoch or state.layout != layout_of(space):
            return None
        if self.dir.dirty() or not self.dir.intact(state):
            return None
        rows = self._map(state, space.dim)
        self._rows, self._stamp = rows, stamp
        return rows

    def _map(self, state: State, dim: int) -> Rows:
        folder, count = self.dir.path / state.folder, state.extra["count"]
        if count == 0:
            return Rows(np.zeros((0, dim), np.int8), np.zeros(0, np.int64), np.zeros(0, np.int32), state)
        return Rows(
            np.memmap(folder / "codes", np.int8, "r", shape=(count, dim)),
            np.memmap(folder / "keys", np.int64, "r", shape=(count,)),
            np.memmap(folder / "parts", np.int32, "r", shape=(count,)),
            state,
        )

    def catch_up(self, progress: Progress | None = None) -> None:
        """Apply every change since the state, or rebuild where that is not possible."""
        with self.dir.locked(), self.db.reading() as db:
            space = space_of(db)
            if space is None:
                return
            state = self.dir.load()
            epoch, target = meta(db, "epoch"), head(db)
            if state is None or not self._usable(db, state, epoch, target, space):
                self._rebuild(db, epoch, target, space, progress)
            elif state.seq < target:
                self._apply(db, state, target, space, progress)

    def _usable(self, db: sqlite3.Connection, state: State, epoch: str, target: int, space: VectorSpace) -> bool:
        if state.epoch != epoch or state.layout != layout_of(space) or state.seq > target or self.dir.dirty():
            return False
        oldest = db.execute("SELECT min(seq) FROM changes").fetchone()[0]
        if state.seq < target and (oldest is None or oldest > state.seq + 1):
            return False
        return state.extra["dead"] <= max(1000, state.extra["count"] // 2) and self.dir.intact(state)

    def _rebuild(
        self, db: sqlite3.Connection, epoch: str, target: int, space: VectorSpace, progress: Progress | None
    ) -> None:
        folder = self.dir.next_folder()
        (self.dir.path / folder).mkdir(parents=True)
        for name in FILES:
            (self.dir.path / folder / name).touch()
        total = db.execute("SELECT count(*) FROM vectors").fetchone()[0]
        cursor = db.execute("SELECT v.key, n.part, v.vector FROM vectors v JOIN nodes n ON n.key = v.key ORDER BY v.key")
        count = 0
        while batch := cursor.fetchmany(BATCH):
            self._append(folder, batch, space.dim)
            count += len(batch)
            if progress:
                progress("indexing vectors", count, total)
        self._save(State(epoch, layout_of(space), target, folder, extra={"count": count, "dead": 0}))
        self.dir.mark_clean()
        self.dir.sweep(folder)

    def _apply(
        self, db: sqlite3.Connection, state: State, target: int, space: VectorSpace, progress: Progress | None
    ) -> None:
        runs = db.execute("SELECT low, high FROM changes WHERE seq > ? ORDER BY seq", (state.seq,)).fetchall()
        changed = {key for low, high in runs for key in range(low, high + 1)}
        self.dir.mark_dirty()
        dead = self._blank(state, space.dim, changed)
        count = state.extra["count"]
        for done, some in enumerate(chunks(sorted(changed), BATCH // 2), 1):
            query = (
                "SELECT v.key, n.part, v.vector FROM vectors v JOIN nodes n ON n.key = v.key"
                f" WHERE v.key IN ({marks(len(some))})"
            )
            batch = db.execute(query, some).fetchall()
            self._append(state.folder, batch, space.dim, at=count)
            count += len(batch)
            if progress:
                progress("indexing vectors", min(done * BATCH // 2, len(changed)), len(changed))
        self._save(replace(state, seq=target, extra={"count": count, "dead": state.extra["dead"] + dead}))
        self.dir.mark_clean()

    def _blank(self, state: State, dim: int, changed: Iterable[int]) -> int:
        """Overwrite the rows of changed keys, so that no trace of a forgotten vector stays; how many there were."""
        count = state.extra["count"]
        if not count:
            return 0
        folder = self.dir.path / state.folder
        keys = np.memmap(folder / "keys", np.int64, "r+", shape=(count,))
        rows = np.flatnonzero(np.isin(keys, np.fromiter(changed, np.int64)))
        if len(rows):
            codes = np.memmap(folder / "codes", np.int8, "r+", shape=(count, dim))
            codes[rows] = 0
            keys[rows] = 0
            codes.flush()
            keys.flush()
        return len(rows)

    def _append(self, folder: str, batch: Sequence[tuple[int, int, bytes]], dim: int, at: int | None = None) -> None:
        if not batch:
            return
        vectors = np.frombuffer(b"".join(blob for _, _, blob in batch), dtype="<f2").reshape(len(batch), dim)
        columns = (
            quantised(vectors.astype(np.float32)).tobytes(),
            np.array([key for key, _, _ in batch], np.int64).tobytes(),
            np.array([part for _, part, _ in batch], np.int32).tobytes(),
        )
        for name, width, data in zip(FILES, (dim, 8, 4), columns, strict=True):
            with (self.dir.path / folder / name).open("r+b") as file:
                # What a dead process appended beyond the state is overwritten.
                if at is not None:
                    file.truncate(at * width)
                file.seek(0, os.SEEK_END)
                file.write(data)

    def _save(self, state: State) -> None:
        self.dir.save(replace(state, files=self.dir.describe(state.folder, list(FILES))))

    def rebuild(self) -> None:
        """Make the index anew from the truth."""
        with self.dir.locked(), self.db.reading() as db:
            space = space_of(db)
            if space is not None:
                self._rebuild(db, meta(db, "epoch"), head(db), space, None)

    def keys(self) -> set[int]:
        """Every key the index holds; for doctor and tests."""
        rows = self.view()
        return set() if rows is None else {int(key) for key in rows.keys if key}


def layout_of(space: VectorSpace) -> str:
    """The layout's name with the model's identity in it, so that another model's index is never searched."""
    return f"{LAYOUT}:{space.model}:{space.dim}"


def quantised(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Unit vectors as 8-bit codes, each scaled by its own largest component so that small ones are not lost."""
    peak = np.abs(vectors).max(axis=1, keepdims=True)
    peak[peak == 0] = 1
    return np.rint(vectors / peak * 127).astype(np.int8)
