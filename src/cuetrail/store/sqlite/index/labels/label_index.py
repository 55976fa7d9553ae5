"""The label index: the tags and buckets of every node, in step with `memory.db`.

A base of columns lies on disk; each process reads the changes since it was written from `memory.db` into memory. When
they become many, a new base replaces the old one. A small memory has no base: all of it is read. The first walk makes
the base, so memories without walks never pay for it.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cuetrail.model import Label
from cuetrail.store.sqlite.changelog import changes_since, head, mark_of, moment
from cuetrail.store.sqlite.connection import Database, gone, meta
from cuetrail.store.sqlite.index.directory import IndexDir, Seen, State, rebuilding
from cuetrail.store.sqlite.index.labels import columns as labelbase
from cuetrail.store.sqlite.index.labels import rows as labelrows
from cuetrail.store.sqlite.index.labels.columns import Base, Piece
from cuetrail.store.sqlite.index.labels.rows import RowNumbers, Rows, Runs, joined
from cuetrail.store.sqlite.index.text.text_index import FORGOTTEN
from cuetrail.store.write import Progress

LAYOUT = "labels-3"
# So many nodes are read from `memory.db` when a memory is opened; beside a large base, a share of it.
FEW = 2_000
SHARE = 100


class Told(NamedTuple):
    """A label in use: its code, the rows of the base that have it, their number, and its idf."""

    code: int
    pieces: list[Piece]
    size: int
    idf: float


@dataclass(frozen=True, slots=True)
class View:
    """The labels at one change: the base without the rows that changed since (`dead`), and those rows (`delta`)."""

    base: Base
    dead: RowNumbers
    delta: Rows
    epoch: str
    seq: int
    mark: int
    seen: Seen | None
    # Codes of labels, filled on demand; None for an unused label.
    codes: dict[Label, int | None] = field(default_factory=dict)
    # For each set of partitions (None: all) the labels asked for so far; None for an unused label.
    told: dict[tuple[int, ...] | None, dict[Label, Told | None]] = field(default_factory=dict)
    _shown: dict[int, NDArray[np.bool_] | None] = field(default_factory=dict)

    def is_current(self, epoch: str) -> bool:
        """True if the memory and the base are still those the view was made of."""
        return self.epoch == epoch and (self.seen is None or self.seen.unchanged())

    def shown(self, hidden: int) -> NDArray[np.bool_] | None:
        """Returns a mask of the rows of the base that are alive and have none of these flags; None: all rows."""
        if hidden not in self._shown:
            shown = self.base.flags & np.uint8(hidden) == 0
            shown[self.dead] = False
            self._shown[hidden] = None if shown.all() else shown
        return self._shown[hidden]


class LabelIndex:
    """Keeps the labels in step with `memory.db`."""

    def __init__(self, directory: Path, db: Database) -> None:
        self.dir = IndexDir(directory)
        self.db = db
        self._view: View | None = None
        db.on_close(self.close)

    def close(self) -> None:
        """Releases the mapped file."""
        self._view = None

    def view_of(self, db: sqlite3.Connection, epoch: str, target: int, progress: Progress | None = None) -> View:
        """Returns the labels after the changes up to `target`, which is the last one that the transaction sees."""
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

    def _followed(self, db: sqlite3.Connection, epoch: str, target: int) -> View | None:
        """Returns the view updated to the target; None if a base has to be written first."""
        view = self._view
        if view is None or not view.is_current(epoch) or (view := _after(db, view, target)) is None:
            view = self._opened(db, epoch)
            view = _after(db, view, target) if view is not None else None
        self._view = view
        return view

    def _opened(self, db: sqlite3.Connection, epoch: str) -> View | None:
        """Returns a view of the base on disk, or of all of a small memory."""
        base = self._base(epoch)
        if base is not None:
            state, seen, columns = base
            nothing = np.zeros(0, np.int32)
            return View(columns, nothing, labelrows.read(db, ()), epoch, state.seq, state.mark, seen)
        if db.execute("SELECT count(*) FROM (SELECT 1 FROM nodes LIMIT ?)", (FEW + 1,)).fetchone()[0] > FEW:
            return None
        seq = head(db)
        return View(
            labelbase.empty(), np.zeros(0, np.int32), labelrows.read(db), epoch, seq, mark_of(db, seq) or 0, None
        )

    def _base(self, epoch: str) -> tuple[State, Seen, Base] | None:
        found = self.dir.read()
        if found is None or (found[0].epoch, found[0].layout) != (epoch, LAYOUT):
            return None
        try:
            return *found, self._mapped(found[0])
        except (OSError, ValueError, KeyError):
            return None

    def _mapped(self, state: State) -> Base:
        (name,) = state.files
        return labelbase.mapped(self.dir.path / state.folder / name, state.extra)

    def exists(self) -> bool:
        """True if there is a base on disk."""
        return self.dir.load() is not None

    def catch_up(self, progress: Progress | None = None, erase: bool = False) -> int:
        """Writes a base if one is due: there is none, much has changed since, or something was forgotten.

        With `erase`, one is due if anything has changed. Returns the number of the last change the base has seen.
        """
        with self.dir.locked(), self.db.fresh() as db:
            try:
                return self._bring_up(db, progress, erase).seq
            except (ValueError, OSError, KeyError):
                # Another program changed the files during the update.
                with rebuilding(self.dir):
                    return self._write(db, labelrows.read(db, progress=progress)).seq

    def _bring_up(self, db: sqlite3.Connection, progress: Progress | None, erase: bool) -> State:
        state = self.dir.load()
        if state is None or (state.epoch, state.layout) != (meta(db, "epoch"), LAYOUT):
            return self._write(db, labelrows.read(db, progress=progress))
        runs = changes_since(db, state.seq, state.mark, vectors=False)
        if runs is None or not self.dir.intact(state):
            return self._write(db, labelrows.read(db, progress=progress))
        columns = self._mapped(state)
        # Forgotten nodes must not stay in the old base.
        erase = erase or (meta(db, FORGOTTEN) or 0) > state.seq
        if (erase and runs) or _is_much(runs, state.extra["rows"]):
            kept = columns.as_rows().without(runs)
            return self._write(db, joined([kept, labelrows.read(db, runs, progress)]))
        return state

    def _write(self, db: sqlite3.Connection, rows: Rows) -> State:
        """Replaces the old base by a new one."""
        epoch, seq = moment(db)
        folder = self.dir.next_folder()
        sizes = labelbase.write(self.dir.path / folder / "columns", labelbase.made(db, rows))
        files = {"columns": self.dir.describe(folder, "columns")}
        state = State(epoch, LAYOUT, seq, mark_of(db, seq) or 0, folder, files, sizes)
        self.dir.save(state)
        self.dir.sweep(folder)
        return state

    def rebuild(self) -> None:
        """Rebuilds the base from `memory.db`."""
        with self.dir.locked(), self.db.fresh() as db:
            self._write(db, labelrows.read(db))

    def differs(self) -> bool:
        """True if the index differs from `memory.db`; for doctor."""
        if not self.exists():
            return False
        with self.dir.locked(), self.db.fresh() as db:
            try:
                state = self._bring_up(db, None, False)
                if not self.dir.intact(state, thorough=True):
                    return True
                runs = changes_since(db, state.seq, state.mark, vectors=False) or []
                present = joined([self._mapped(state).as_rows().without(runs), labelrows.read(db, runs)])
                return labelbase.differ(present, labelrows.read(db))
            except (ValueError, OSError, KeyError):
                return True

    def keys(self) -> set[int]:
        """Returns every key the index holds; for tests."""
        with self.db.reading() as db:
            view = self.view_of(db, *moment(db))
        living = np.delete(view.base.keys, view.dead)
        return set(living.tolist()) | set(view.delta.keys.tolist())


def _after(db: sqlite3.Connection, view: View, target: int) -> View | None:
    """Returns the view with the changes up to the target; None if they are too many, or the log cannot tell."""
    if view.seq >= target:
        return view
    runs = changes_since(db, view.seq, view.mark, vectors=False)
    if runs is None or _is_much(runs, len(view.base), len(view.delta)):
        return None
    seq = head(db)
    dead = np.union1d(view.dead, view.base.rows_in(runs))
    delta = joined([view.delta.without(runs), labelrows.read(db, runs)])
    return replace(view, dead=dead, delta=delta, seq=seq, mark=mark_of(db, seq) or 0, codes={}, told={}, _shown={})


def _is_much(runs: Runs, rows: int, more: int = 0) -> bool:
    """True if so much changed that a new base is due."""
    return sum(high - low + 1 for low, high in runs) + more > max(FEW, rows // SHARE)
