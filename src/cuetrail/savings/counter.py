"""Counts answers per day and user: their tokens, and the tokens of the whole notes that they were made from.

The counts are numbers alone, in a small file beside the memory, so that counting never writes to the memory itself and
works the same for both engines. A count that cannot be stored is left out: no answer fails or waits because of it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from cuetrail.errors import CuetrailError, MemoryError_
from cuetrail.files import PRIVATE
from cuetrail.formulas import estimated_tokens
from cuetrail.model import Node, Saved, Savings, Scope
from cuetrail.store.ports import Store
from cuetrail.text.timestamps import utc_date

FILE = "savings.db"
# Milliseconds for which the size of a whole note is taken as unchanged, and the number of notes of which it is kept.
KEPT_MS, KEPT = 600_000, 4_096
# Seconds for which a count waits for another process; each holds the file for less than a millisecond.
PATIENCE = 0.05
_TABLE = """CREATE TABLE IF NOT EXISTS answers (
  day TEXT, tenant TEXT, user TEXT, answers INTEGER, tokens INTEGER, notes INTEGER, whole INTEGER,
  PRIMARY KEY (day, tenant, user)) WITHOUT ROWID"""
_COUNT = """INSERT INTO answers VALUES (?, ?, ?, 1, ?, ?, ?) ON CONFLICT DO UPDATE SET answers = answers + 1,
  tokens = tokens + excluded.tokens, notes = notes + excluded.notes, whole = whole + excluded.whole"""
_READ = """SELECT day, answers, tokens, notes, whole FROM answers
  WHERE tenant = ? AND user = ? AND day >= ? ORDER BY day"""


class AnswerCounter:
    """The counts of one memory. `folder` returns the folder of their file; `writable` is False for a memory that is
    only read, whose answers are not counted.
    """

    def __init__(self, store: Store, folder: Callable[[], Path], *, writable: bool) -> None:
        self._store, self._folder, self._writable = store, folder, writable
        self._sizes: dict[tuple[Scope, str], tuple[int, int]] = {}
        self._lock = threading.Lock()
        self._opened: tuple[int, sqlite3.Connection] | None = None

    def count(self, scope: Scope, tokens: int, nodes: Collection[Node], now: int) -> None:
        """Counts one answer of so many tokens, made from these nodes. The note of a node is its source; a node without
        one is a note itself.
        """
        if not self._writable:
            return
        alone = [estimated_tokens(node.text) for node in nodes if node.source is None]
        sources = list(dict.fromkeys(node.source for node in nodes if node.source is not None))
        with contextlib.suppress(OSError, sqlite3.Error, CuetrailError):
            whole = sum(alone) + self._whole(scope, sources, now)
            notes = len(alone) + len(sources)
            with self._lock:
                self._connection().execute(_COUNT, (utc_date(now), scope.tenant, scope.user, tokens, notes, whole))

    def savings(self, scope: Scope, since: int | None = None) -> Savings:
        """Returns the counts of a user, by day, from the day of `since` on. Raises MemoryError_ for a damaged file."""
        path = self._folder() / FILE
        if not path.exists():
            return Savings()
        first = "" if since is None else utc_date(since)
        try:
            with contextlib.closing(sqlite3.connect(path, timeout=1)) as db:
                rows = db.execute(_READ, (scope.tenant, scope.user, first)).fetchall()
        except sqlite3.Error as error:
            raise MemoryError_(f"{path} cannot be read ({error}): delete it, and counting begins anew") from error
        return Savings(tuple(Saved(*row) for row in rows))

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            if self._opened is not None and self._opened[0] == os.getpid():
                self._opened[1].close()
            self._opened = None

    def _whole(self, scope: Scope, sources: Sequence[str], now: int) -> int:
        """Returns the tokens of whole notes, given by source; those that are not known are read from the memory."""
        known = dict(self._known(scope, sources, now))
        missing = [source for source in sources if source not in known]
        if missing:
            read = self._store.source_tokens(scope, missing)
            known |= read
            if len(self._sizes) > KEPT:
                self._sizes = {}
            self._sizes.update({(scope, source): (size, now) for source, size in read.items()})
        return sum(known.values())

    def _known(self, scope: Scope, sources: Sequence[str], now: int) -> Iterator[tuple[str, int]]:
        for source in sources:
            size, at = self._sizes.get((scope, source), (0, now - KEPT_MS))
            if 0 <= now - at < KEPT_MS:
                yield source, size

    def _connection(self) -> sqlite3.Connection:
        """Returns the connection of this process; makes the file if there is none."""
        if self._opened is None or self._opened[0] != os.getpid():
            path = self._folder() / FILE
            path.touch(PRIVATE)
            db = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            # Counts need not outlive a power cut, and no answer shall wait for the disk.
            db.execute("PRAGMA journal_mode = MEMORY")
            db.execute("PRAGMA synchronous = OFF")
            db.execute(_TABLE)
            self._opened = os.getpid(), db
        return self._opened[1]
