"""Dry runs of dreams: they write to a copy of `memory.db`, which is deleted afterwards."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cuetrail.store.sqlite.connection import Database

_PREFIX = ".rehearsal-"


@contextlib.contextmanager
def copied(db: Database, directory: Path) -> Iterator[Path]:
    """Yields a new folder with a copy of `memory.db`, for a dry run; it is deleted afterwards."""
    with tempfile.TemporaryDirectory(dir=directory, prefix=_PREFIX) as made:
        place = Path(made)
        with db.reading() as view, contextlib.closing(sqlite3.connect(place / "memory.db")) as copy:
            view.backup(copy)
        yield place


def left(directory: Path) -> list[Path]:
    """Returns the folders with copies for dry runs, of running or killed processes."""
    return sorted(directory.glob(_PREFIX + "*"))


def sweep(directory: Path) -> None:
    """Deletes all copies for dry runs: forgotten texts must not survive in the copy of a killed process. The caller
    holds the dream lock, so none is in use.
    """
    for copy in left(directory):
        shutil.rmtree(copy, ignore_errors=True)
