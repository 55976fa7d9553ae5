"""A copy of the truth to try something on, in a folder inside the memory's own, so that nobody else can read it."""

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
    """A folder with the truth as it is now; it is deleted afterwards."""
    with tempfile.TemporaryDirectory(dir=directory, prefix=_PREFIX) as made:
        place = Path(made)
        with db.reading() as view, contextlib.closing(sqlite3.connect(place / "memory.db")) as copy:
            view.backup(copy)
        yield place


def left(directory: Path) -> list[Path]:
    """The copies that are there, of processes at work or killed."""
    return sorted(directory.glob(_PREFIX + "*"))


def sweep(directory: Path) -> None:
    """Delete the copies of processes that were killed: what is forgotten must not live on in one."""
    for copy in left(directory):
        shutil.rmtree(copy, ignore_errors=True)
