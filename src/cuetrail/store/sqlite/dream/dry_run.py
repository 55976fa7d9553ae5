"""Copies of `memory.db` for dry runs, in a folder inside the memory's own, so that nobody else can read them."""

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
    """Yields a folder with a copy of `memory.db`; it is deleted afterwards."""
    with tempfile.TemporaryDirectory(dir=directory, prefix=_PREFIX) as made:
        place = Path(made)
        with db.reading() as view, contextlib.closing(sqlite3.connect(place / "memory.db")) as copy:
            view.backup(copy)
        yield place


def left(directory: Path) -> list[Path]:
    """Returns the existing copies, of running or killed processes."""
    return sorted(directory.glob(_PREFIX + "*"))


def sweep(directory: Path) -> None:
    """Deletes the copies of killed processes: forgotten texts must not survive in one."""
    for copy in left(directory):
        shutil.rmtree(copy, ignore_errors=True)
