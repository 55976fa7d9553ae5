"""Checks `memory.db` when it is opened, unless the file is unchanged since the last check.

Checksums show a changed row when it is read. They cannot show a row that a damaged page hides, or that an index or a
computed table no longer leads to. So opening the file runs SQLite's own check and compares all checksums and all
computed tables, which reads the whole file. The result is noted in `index/checked`, with attributes of the file:
another process that finds them unchanged does not check again for a day.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from cuetrail.files import replacing
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.computed_tables import differences
from cuetrail.store.sqlite.schema import LAYOUT, SUMMED, VERSION, layout_sum, sum_rows

# Of a file larger than the first, the checksums of all rows and the computed tables are not compared when it is opened:
# that takes eight times as long as the rest. Of one larger than the second, indexes are not compared with their tables
# either. Rows that are read are compared with their checksums all the same, and `doctor` compares everything.
MANY_BYTES = 64 * 2**20
LARGE_BYTES = 256 * 2**20
AGAIN_AFTER_SECONDS = 86_400.0
# Tables with keys from the counter in `meta`, whose partitions an index has too.
_KEYED = ("nodes", "edges", "facts", "notes")

Damage = tuple[int | None, str]
"""The damaged partition, None if all may be affected, and a description of the damage."""


def damage(db: sqlite3.Connection) -> Iterator[str]:
    """Yields descriptions of damage beyond repair: of the file itself, and of rows that differ from their checksums."""
    for (message,) in db.execute("PRAGMA integrity_check(20)"):
        if message != "ok":
            yield message
            return
    yield from (what for _, what in changed_rows(db))


def changed_rows(db: sqlite3.Connection) -> Iterator[Damage]:
    """Yields the rows that differ from their checksums, and damage of the table layout and of the counter of keys. In a
    memory of an older version only nodes are compared.
    """
    for row in db.execute("SELECT * FROM nodes"):
        if rows.check_sum(row) != row[6]:
            yield row[1], f"{row[2]!r} is not what was written"
    if db.execute("PRAGMA user_version").fetchone()[0] != VERSION:
        return
    for table in SUMMED:
        for found, wanted, first in sum_rows(db, table):
            if found != wanted:
                yield _partition(db, table, first), f"the row {first[0]!r} of {table} is not what was written"
    noted = dict(db.execute("SELECT name, value FROM meta WHERE name IN (?, 'next_key')", (LAYOUT,)).fetchall())
    if noted.get(LAYOUT) != layout_sum(db):
        yield None, "the description of its tables is not what was written"
    last = max(db.execute(f"SELECT max(key) FROM {table}").fetchone()[0] or 0 for table in _KEYED)
    if not isinstance(noted["next_key"], int) or last >= noted["next_key"]:
        yield None, "the counter of keys is not what was written"


def _partition(db: sqlite3.Connection, table: str, row: tuple[Any, ...]) -> int | None:
    """Returns the partition of a damaged row, None if it is not certain. `row` has the first columns."""
    if table in _KEYED:
        return row[1] if isinstance(row[1], int) else None
    if table in ("life", "vectors", "next_vectors"):
        for owner in _KEYED:
            found = db.execute(f"SELECT part FROM {owner} WHERE key = ?", row[:1]).fetchone()
            if found is not None:
                return int(found[0])
    return None


class StructureCheck:
    """The check of one file, from the opening of a memory to its closing.

    `damaged` describes the damage of each partition that has a damaged row; other partitions can be read. Under None it
    names a computed table that differs from the rows it is computed from; until that is rebuilt, nothing can be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._note = path.parent / "index" / "checked"
        self._seen: list[int] | None = None
        self._checked = 0.0
        self.damaged: dict[int | None, str] = {}

    def problem(self, db: sqlite3.Connection) -> str | None:
        """Checks the file unless it was checked lately. Returns a description of damage that cannot be repaired and may
        affect every partition, None if there is none. Other damage is stored in `damaged`.
        """
        seen, now = self._attributes(), time.time()
        noted = self._noted()
        if noted is not None and noted[0] == seen and 0 <= now - noted[1] < AGAIN_AFTER_SECONDS:
            self._seen, self._checked = noted
            return None
        found = self._examined(db)
        if found is None and not self.damaged:
            self._checked = now
            self.note()
        return found

    def _examined(self, db: sqlite3.Connection) -> str | None:
        size = self._path.stat().st_size
        (said,) = db.execute(f"PRAGMA {'quick_check' if size > LARGE_BYTES else 'integrity_check'}(1)").fetchone()
        if said != "ok":
            return str(said)
        if size > MANY_BYTES:
            return None
        db.execute("BEGIN")
        try:
            for part, what in changed_rows(db):
                if part is None:
                    return what
                self.damaged.setdefault(part, what)
            if not self.damaged and db.execute("PRAGMA user_version").fetchone()[0] == VERSION:
                for _, what, fix in islice(differences(db), 1):
                    self.damaged[None] = f"{what}: {fix}"
        finally:
            db.execute("ROLLBACK")
        return None

    def note(self) -> None:
        """Stores the present attributes of the file with the time of its check, so that the next process need not check
        again. Only SQLite has changed the file since that check.
        """
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
