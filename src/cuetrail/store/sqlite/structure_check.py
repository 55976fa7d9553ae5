"""Checks the structure of `memory.db` when it is opened, unless the file is as the last check left it.

Checksums of rows notice a changed row. They cannot notice a row that a damaged page hides, or that an index no longer
finds. SQLite's own check can, but it reads the whole file. So its result is noted in `index/checked`, with attributes
of the file: another process that finds them unchanged does not check again for a day.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from pathlib import Path

from cuetrail.files import replacing

# A larger file is checked without comparing each index with its table, in a third of the time.
LARGE_BYTES = 256 * 2**20
AGAIN_AFTER_SECONDS = 86_400.0


class StructureCheck:
    """The check of one file, from the opening of a memory to its closing."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._note = path.parent / "index" / "checked"
        self._seen: list[int] | None = None
        self._checked = 0.0

    def problem(self, db: sqlite3.Connection) -> str | None:
        """Returns the first thing wrong with the structure of the file, None if it is sound."""
        seen, now = self._attributes(), time.time()
        noted = self._noted()
        if noted is not None and noted[0] == seen and 0 <= now - noted[1] < AGAIN_AFTER_SECONDS:
            self._seen, self._checked = noted
            return None
        kind = "quick_check" if self._path.stat().st_size > LARGE_BYTES else "integrity_check"
        (said,) = db.execute(f"PRAGMA {kind}(1)").fetchone()
        if said != "ok":
            return str(said)
        self._checked = now
        self.note()
        return None

    def note(self) -> None:
        """Notes the present attributes of the file: SQLite has changed it since it was checked, and nobody else."""
        seen = self._attributes()
        if not self._checked or seen == self._seen:
            return
        with contextlib.suppress(OSError), replacing(self._note) as file:
            file.write(json.dumps([seen, self._checked]).encode())
            self._seen = seen

    def _attributes(self) -> list[int]:
        try:
            found = self._path.stat()
        except OSError:
            return []
        return [found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns]

    def _noted(self) -> tuple[list[int], float] | None:
        try:
            seen, checked = json.loads(self._note.read_bytes())
            return list(seen), float(checked)
        except (OSError, ValueError, TypeError):
            return None
