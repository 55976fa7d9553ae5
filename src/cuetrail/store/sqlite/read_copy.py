"""Opens a memory in a folder that cannot be written to, such as one on a read-only disk: for reading, as a copy.

SQLite and the indexes keep locks beside their files even for reads. So `memory.db` and its indexes are copied to a
private temporary folder, which is deleted when the memory is closed. It shows the state at the time of opening.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from cuetrail.errors import MemoryError_
from cuetrail.files import MEMORY_FILE, PRIVATE, PRIVATE_FOLDER
from cuetrail.store.sqlite.connection import explained
from cuetrail.store.sqlite.engine import SqliteStore
from cuetrail.store.sqlite.unacknowledged import FILE as UNACKNOWLEDGED


def is_read_only(directory: Path) -> bool:
    """True if the folder has a memory that this process may not write to."""
    effective = os.access in os.supports_effective_ids
    places = (directory, directory / MEMORY_FILE)
    return places[1].is_file() and not all(os.access(place, os.W_OK, effective_ids=effective) for place in places)


class ReadOnlyStore(SqliteStore):
    """The store of a memory that is read from a copy. Writing raises MemoryError_, and accesses are not counted."""

    def __init__(self, directory: Path) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="cuetrail-", ignore_cleanup_errors=True)
        place = Path(self._folder.name)
        try:
            _copy(directory, place)
            super().__init__(place)
        except BaseException:
            self._folder.cleanup()
            raise
        self.db.refuse_writes(
            MemoryError_(f"{directory} cannot be written to: make it writable for you, or copy it to a place that is")
        )

    def touch(self, *_ids: Any, **_facts: Any) -> None:
        """Does nothing: accesses of a copy are not counted."""

    def close(self) -> None:
        super().close()
        self._folder.cleanup()


def _copy(directory: Path, place: Path) -> None:
    """Copies `memory.db` as one consistent view, and the indexes; a damaged copy of an index is rebuilt on use."""
    truth = directory / MEMORY_FILE
    log = truth.with_name(f"{MEMORY_FILE}-wal")
    # Without a log nobody is writing, and SQLite needs no lock beside the file.
    mode = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
    address = f"{truth.absolute().as_uri()}?{mode}"
    with explained(truth), contextlib.ExitStack() as stack:
        db = stack.enter_context(contextlib.closing(sqlite3.connect(address, uri=True)))
        db.backup(stack.enter_context(contextlib.closing(sqlite3.connect(place / MEMORY_FILE))))
    index = place / "index"
    with contextlib.suppress(OSError, shutil.Error):
        shutil.copytree(directory / "index", index, ignore=shutil.ignore_patterns("lock", "wanted", UNACKNOWLEDGED))
    for one in (index, *sorted(index.rglob("*"))) if index.exists() else ():
        # The modes of the original were copied too.
        one.chmod(PRIVATE_FOLDER if one.is_dir() else PRIVATE)
