"""Connections to `memory.db`: one writer, one reader per thread, and SQLite's errors in cuetrail's words."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

from cuetrail.errors import Busy, CorruptMemory, MemoryError_
from cuetrail.model import Scope
from cuetrail.store.local.schema import migrate

T = TypeVar("T")

BUSY_SECONDS = 60
CHUNK = 500
_DAMAGED = ("malformed", "not a database", "disk image", "disk I/O error", "corrupt")
_HEADER = b"SQLite format 3\x00"


@contextlib.contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ones that say what to do next."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise Busy(
                f"another process has been writing to {path.parent} for over {BUSY_SECONDS} s: try again later"
            ) from error
        _raise_damaged(path, error)
        raise MemoryError_(f"{path}: {error}") from error
    except sqlite3.DatabaseError as error:
        _raise_damaged(path, error)
        raise


def _raise_damaged(path: Path, error: sqlite3.Error) -> None:
    if any(word in str(error) for word in _DAMAGED):
        raise damaged(path, str(error)) from error


def damaged(path: Path, what: str) -> CorruptMemory:
    """The error for a damaged truth; nothing has been written to the file."""
    return CorruptMemory(
        f"{path} is damaged ({what}). It was left as it is. Put back a backup with "
        f"`cuetrail restore BACKUP --memory {path.parent}`"
    )


class Database:
    """`memory.db`, opened for one process. Threads may share it; SQLite's locks keep processes apart."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "memory.db"
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._guard = threading.Lock()
        self.write_lock = threading.RLock()
        self._check_header(directory)
        with explained(self.path):
            self.writer = self._connect()
            migrate(self.writer)
            self.writer.execute("INSERT OR IGNORE INTO meta VALUES ('epoch', ?)", (uuid.uuid4().hex,))
            self.writer.execute("INSERT OR IGNORE INTO meta VALUES ('next_key', 1)")

    def _check_header(self, directory: Path) -> None:
        # SQLite takes an empty file for a new database; here it is one that lost its content.
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            head = file.read(16)
        if head != _HEADER and (head or (directory / "index").exists()):
            raise damaged(self.path, "its first bytes are not those of a memory")

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        with self._guard:
            self._all.append(db)
        # FULL: an acknowledged write survives a power cut. secure_delete: forgotten bytes are overwritten.
        for pragma in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "secure_delete = ON",
            "cache_size = -131072",
            "temp_store = MEMORY",
        ):
            db.execute(f"PRAGMA {pragma}").fetchall()
        return db

    @property
    def reader(self) -> sqlite3.Connection:
        """This thread's reading connection."""
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if db is None:
            with explained(self.path):
                db = self._local.db = self._connect()
        return db

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent view for several statements. Nested calls share the outer view."""
        db = self.reader
        with explained(self.path):
            if db.in_transaction:
                yield db
                return
            db.execute("BEGIN")
            try:
                yield db
            finally:
                db.execute("COMMIT")

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: committed if the block ends, rolled back if it raises."""
        with self.write_lock, explained(self.path):
            self.writer.execute("BEGIN IMMEDIATE")
            try:
                yield self.writer
                self.writer.execute("COMMIT")
            except BaseException:
                if self.writer.in_transaction:
                    self.writer.execute("ROLLBACK")
                raise

    def erase_log(self) -> bool:
        """Move the write-ahead log into `memory.db` and empty it, so that no forgotten byte stays in it.

        False when a reader in another process still holds it.
        """
        with self.write_lock, explained(self.path):
            busy, _, _ = self.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def close(self) -> None:
        with self._guard:
            for db in self._all:
                with contextlib.suppress(sqlite3.Error):
                    db.close()
            self._all.clear()


def meta(db: sqlite3.Connection, name: str) -> Any:
    """A value of the meta table, None when absent."""
    row = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def head(db: sqlite3.Connection) -> int:
    """The number of the last change."""
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'changes'").fetchone()
    return int(row[0]) if row else 0


def moment(db: sqlite3.Connection) -> tuple[str, int]:
    """The memory's epoch and the number of the last change: what an index must have seen."""
    row = db.execute(
        "SELECT value, (SELECT seq FROM sqlite_sequence WHERE name = 'changes') FROM meta WHERE name = 'epoch'"
    ).fetchone()
    return str(row[0]), int(row[1] or 0)


def take_keys(db: sqlite3.Connection, count: int) -> int:
    """Reserve `count` keys; the first of them comes back."""
    first = int(meta(db, "next_key"))
    db.execute("UPDATE meta SET value = ? WHERE name = 'next_key'", (first + count,))
    return first


def log_changes(db: sqlite3.Connection, keys: Iterable[int]) -> None:
    """Append changed node keys to the log, as runs of consecutive keys."""
    runs: list[tuple[int, int]] = []
    for key in sorted(set(keys)):
        if runs and runs[-1][1] == key - 1:
            runs[-1] = (runs[-1][0], key)
        else:
            runs.append((key, key))
    db.executemany("INSERT INTO changes (low, high) VALUES (?, ?)", runs)


def own_part(db: sqlite3.Connection, scope: Scope) -> int:
    """The part this scope writes to, made on first use. Needs a write transaction."""
    row = (scope.tenant, scope.user, scope.share or "")
    db.execute("INSERT OR IGNORE INTO parts (tenant, owner, team) VALUES (?, ?, ?)", row)
    found = db.execute("SELECT part FROM parts WHERE tenant = ? AND owner = ? AND team = ?", row).fetchone()
    return int(found[0])


def _mine_of_all(db: sqlite3.Connection, scope: Scope) -> tuple[list[int], int]:
    """The parts this user owns, and how many parts there are, in one look."""
    rows = db.execute(
        "SELECT part, (SELECT count(*) FROM parts) FROM parts WHERE tenant = ? AND owner = ?", (scope.tenant, scope.user)
    ).fetchall()
    if rows:
        return [row[0] for row in rows], rows[0][1]
    return [], db.execute("SELECT count(*) FROM parts").fetchone()[0]


def my_parts(db: sqlite3.Connection, scope: Scope) -> list[int]:
    """The parts this user owns: the only ones it may change."""
    rows = db.execute("SELECT part FROM parts WHERE tenant = ? AND owner = ?", (scope.tenant, scope.user))
    return [row[0] for row in rows]


def visible_parts(db: sqlite3.Connection, scope: Scope) -> tuple[list[int], bool]:
    """The parts this scope may read, own ones first, and whether they are all there are."""
    mine, total = _mine_of_all(db, scope)
    shared: list[int] = []
    if scope.teams:
        rows = db.execute(
            f"SELECT part FROM parts WHERE tenant = ? AND owner <> ? AND team IN ({marks(len(scope.teams))}) AND team <> ''",
            (scope.tenant, scope.user, *scope.teams),
        )
        shared = [row[0] for row in rows]
    return mine + shared, len(mine) + len(shared) == total


def chunks(items: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    """Slices of at most `size`, to stay below SQLite's limit of parameters."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def marks(count: int) -> str:
    """`?,?,?` for an IN list."""
    return ",".join("?" * count)
