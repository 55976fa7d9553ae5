"""Connections to `memory.db`: one writer, one reader per thread, and SQLite's errors turned into cuetrail's."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sqlite3
import threading
import uuid
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from cuetrail.errors import Busy, CorruptMemory, MemoryError_
from cuetrail.files import PRIVATE, sync_folder
from cuetrail.model import Scope
from cuetrail.store.sqlite.check_on_open import StructureCheck
from cuetrail.store.sqlite.page_gaps import RAW_FILES
from cuetrail.store.sqlite.restore_swap import recover, sweep, workplace
from cuetrail.store.sqlite.rows import RowDamaged, summed
from cuetrail.store.sqlite.schema import migrate
from cuetrail.store.sqlite.unacknowledged import FILE, Unacknowledged

T = TypeVar("T")

BUSY_SECONDS = 60.0
# How the folders begin in which new memories are made.
_NEW = ".new-"
# How long emptying the write-ahead log waits for readers, and the meta entry that says it could not be emptied.
ERASE_SECONDS = 2.0
UNERASED = "log_to_erase"
# The meta entry that counts how often the gaps of pages were cleared.
CLEARED = "gaps_cleared"
# Pages the write-ahead log may hold before it is written back; the second while many memories are written in a row.
# Their ids are spread over the whole index of ids, so many transactions change the same page: the longer the log, the
# fewer pages are written twice.
LOG_PAGES = 8_192
LONG_LOG_PAGES = 32_768
CHUNK = 500
# SQLite's primary result codes: IOERR, CORRUPT and NOTADB; a short read of a cut file is an IOERR.
_DAMAGED_CODES = (10, 11, 26)
_LOCKED_CODES = (5, 6)
_READ_ONLY_CODE = 8
_FULL_CODE = 13
_CANNOT_OPEN_CODE = 14
# Errors without a specific code: text that is no longer UTF-8, a schema that lost a table, a changed version number.
_DAMAGED_WORDS = (
    "decode to UTF-8", "no such table", "no such column", "unsupported file format", "malformed", "already exists",
    "duplicate column",
)  # fmt: skip


@contextlib.contextmanager
def explained(path: Path, seconds: float = BUSY_SECONDS) -> Iterator[None]:
    """Turns SQLite's errors in the block, and errors of decoding values, into cuetrail's, which say what to do next.

    `path` is that of `memory.db`, `seconds` how long SQLite waits for a lock.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise _in_our_words(path, seconds, error) from error
    except (json.JSONDecodeError, UnicodeDecodeError, RowDamaged) as error:
        raise damaged(path, str(error)) from error


def _in_our_words(path: Path, seconds: float, error: sqlite3.Error) -> MemoryError_:
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in _LOCKED_CODES:
        return Busy(f"another process has been writing to {path.parent} for over {seconds:g} s: try again later")
    if code == _FULL_CODE:
        return MemoryError_(f"there is no space left for {path}: free some and try again. Nothing was changed")
    if not path.exists():
        return gone(path)
    if code in _DAMAGED_CODES or any(word in str(error) for word in _DAMAGED_WORDS):
        return damaged(path, str(error))
    if code == _READ_ONLY_CODE:
        return MemoryError_(
            f"{path.parent} cannot be written to, and a memory keeps its locks there even while it is only read: "
            "make it writable for you, or copy it to a place that is"
        )
    if code == _CANNOT_OPEN_CODE:
        return MemoryError_(
            f"{path} cannot be opened: this process may have no file descriptors left (`ulimit -n`). Close some files. "
            "If you were writing, look whether it was done before you try again"
        )
    if "closed database" in str(error):
        return closed(path)
    return MemoryError_(f"{path}: {error}. If it stays so, run `cuetrail doctor --memory {path.parent}`")


def damaged(path: Path, what: str) -> CorruptMemory:
    """Returns the error to raise for a damaged `memory.db`; `what` describes the damage."""
    return CorruptMemory(
        f"{path} is damaged ({what}). It was left as it is. Put back a backup with "
        f"`cuetrail restore BACKUP --memory {path.parent}`"
    )


def gone(path: Path) -> MemoryError_:
    """Returns the error to raise if a memory was deleted or replaced while it was open."""
    return MemoryError_(f"{path} was deleted, moved or replaced while it was open: close this memory and open it again")


def forked(path: Path) -> MemoryError_:
    """Returns the error to raise if a memory is used in a child process that was forked while it was open."""
    return MemoryError_(
        f"the memory in {path.parent} was opened before this process was forked: its connections and locks belong "
        "to the parent. Open the memory again in this process"
    )


def closed(path: Path) -> MemoryError_:
    """Returns the error to raise if a memory is used after `close`."""
    return MemoryError_(f"the memory in {path.parent} was closed: open it again")


class CheckedConnection(sqlite3.Connection):
    """A connection to a checked file. `damaged` says what is damaged: by partition, or under None what affects all."""

    damaged: Mapping[int | None, str] = {}


class Connection(CheckedConnection):
    """A reading connection with a cache that is valid until another connection writes; see `unchanged`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._kept: dict[Any, Any] = {}
        self._version: int | None = None

    def unchanged(self) -> dict[Any, Any]:
        """Returns the cache, emptied if another connection has written since the last call. Writes of this connection
        do not empty it, so it must hold only values that this connection never writes.
        """
        (version,) = self.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self._kept, self._version = {}, version
        return self._kept


class _Reader:
    """A reading connection and the number of its current users. It is closed when its thread ends."""

    __slots__ = ("__weakref__", "db", "users")

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.users = 0
        weakref.finalize(self, db.close).atexit = False


class _GroupReader(_Reader):
    """The writing connection, as the thread of a group of writes reads from it."""

    __slots__ = ()

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db, self.users = db, 0


class _ReadingConnection:
    """The context manager of `reading_connection`. It is a class, because a generator is slower on every search."""

    __slots__ = ("_database", "_reader")

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> sqlite3.Connection:
        try:
            self._reader = self._database._taken()
        except (sqlite3.Error, ValueError) as error:
            self._database._explain(error)
            raise
        return self._reader.db

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._database._given_back(self._reader)
        if error is not None:
            self._database._explain(error)


_OPENED: weakref.WeakSet[Database] = weakref.WeakSet()


def _leave_to_parent() -> None:
    """Runs in a forked process: keeps it from ever closing the connections that the parent has opened."""
    for database in list(_OPENED):
        database.leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


class Database:
    """`memory.db`, opened for one process. Threads may share it; SQLite's locks keep processes apart.

    Opening and reading write nothing into the file, except migrations. Only SQLite and `page_gaps` may open
    `memory.db`: closing any other handle would drop the locks this process holds on it.
    """

    def __init__(self, directory: Path, busy_seconds: float | None = None) -> None:
        self.path = directory / "memory.db"
        self.busy_seconds = BUSY_SECONDS if busy_seconds is None else busy_seconds
        self.write_lock = threading.RLock()
        self._local = threading.local()
        self._guard = threading.Lock()
        self._readers: weakref.WeakSet[_Reader] = weakref.WeakSet()
        self._closing: list[Callable[[], None]] = []
        self._grouping: int | None = None
        self.unacknowledged = Unacknowledged(directory / "index" / FILE)
        self.on_close(self.unacknowledged.close)
        self._process = os.getpid()
        self._open = True
        self._damaged = False
        self._refusal: MemoryError_ | None = None
        with explained(self.path, self.busy_seconds):
            try:
                recover(directory)
                _make_if_missing(self.path)
                roll_back(self.path)
            except OSError as error:
                raise MemoryError_(f"no memory can be made in {directory}: {error}") from error
            self._place = self._where()
            self._structure = StructureCheck(self.path)
            self._probe = self._examined()
            try:
                self.writer = self._connect()
                if self.writer.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                    self.writer.execute("PRAGMA journal_mode = WAL").fetchall()
                migrate(self.writer)
            except BaseException:
                # The writer closes first: while another connection is open it does not write its log back.
                if hasattr(self, "writer"):
                    self.writer.close()
                self._probe.close()
                raise
            RAW_FILES.enter(self._place)

    def _examined(self) -> sqlite3.Connection:
        """Returns a read-only connection, after a check of the file. Raises CorruptMemory if the file is damaged."""
        db = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode=ro", uri=True, timeout=self.busy_seconds, check_same_thread=False
        )
        try:
            if not self.path.stat().st_size or not db.execute("PRAGMA user_version").fetchone()[0]:
                raise damaged(self.path, "it has lost its content")
            if meta(db, "epoch") is None or meta(db, "next_key") is None:
                raise damaged(self.path, "its first table is not whole")
            problem = self._structure.problem(db)
            if problem is not None:
                raise damaged(self.path, problem)
        except BaseException:
            db.close()
            raise
        return db

    def _connect(
        self, synchronous: str = "FULL", kind: type[CheckedConnection] = CheckedConnection
    ) -> CheckedConnection:
        db = sqlite3.connect(
            self.path, timeout=self.busy_seconds, isolation_level=None, check_same_thread=False, factory=kind
        )
        db.damaged = self._structure.damaged
        # FULL: an acknowledged write survives a power cut; NORMAL: it survives the end of this process. secure_delete
        # overwrites forgotten bytes. A longer log means that pages changed by many writes are written back once.
        for pragma in (
            f"synchronous = {synchronous}",
            "secure_delete = ON",
            "cache_size = -131072",
            "temp_store = MEMORY",
            f"wal_autocheckpoint = {LOG_PAGES}",
        ):
            db.execute(f"PRAGMA {pragma}").fetchall()
        return db

    def _where(self) -> tuple[int, int]:
        try:
            found = os.stat(self.path)  # noqa: PTH116  # half the time of Path.stat, on every read
        except FileNotFoundError:
            return (0, 0)
        return (found.st_dev, found.st_ino)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise forked(self.path)

    def refuse_writes(self, error: MemoryError_) -> None:
        """Makes every later write to this database raise this error."""
        self._refusal = error

    def _check_writable(self) -> None:
        if self._refusal is not None:
            raise self._refusal

    def _check_place(self) -> None:
        self._check_process()
        if not self._open:
            raise closed(self.path)
        if self._where() != self._place:
            raise gone(self.path)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self._explain(error)
            raise

    def _explain(self, error: BaseException) -> None:
        """Raises cuetrail's error if this is one of SQLite's, and remembers if the file is damaged; else returns."""
        try:
            with explained(self.path, self.busy_seconds):
                raise error
        except CorruptMemory:
            self._damaged = True
            raise
        except BaseException as same:
            if same is not error:
                raise

    def reading_connection(self) -> _ReadingConnection:
        """Returns a context with this thread's reading connection, for single statements. After `close`, the connection
        is closed when its last user leaves.
        """
        return _ReadingConnection(self)

    def _taken(self) -> _Reader:
        if self._grouping == threading.get_ident():
            return _GroupReader(self.writer)
        reader: _Reader | None = getattr(self._local, "reader", None)
        with self._guard:
            self._check_place()
            if reader is None:
                reader = self._local.reader = _Reader(self._connect("NORMAL", Connection))
                self._readers.add(reader)
            reader.users += 1
        return reader

    def _given_back(self, reader: _Reader) -> None:
        with self._guard:
            reader.users -= 1
            if not self._open and not reader.users and not isinstance(reader, _GroupReader):
                reader.db.close()

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Opens one consistent view for several statements. Nested calls share the outer view."""
        with self.reading_connection() as db:
            if db.in_transaction:
                yield db
                return
            db.execute("BEGIN")
            try:
                yield db
            finally:
                _end(db)

    @contextlib.contextmanager
    def fresh(self) -> Iterator[sqlite3.Connection]:
        """Opens a view of the present state. Inside an older view of this thread it uses another connection."""
        with self.reading_connection() as db:
            nested = db.in_transaction
        if not nested:
            with self.reading() as db:
                yield db
            return
        with self.apart() as db:
            yield db

    @contextlib.contextmanager
    def apart(self, damaged: bool = False) -> Iterator[sqlite3.Connection]:
        """Opens a view on a connection of its own, for views that stay open for long.

        With `damaged`, partitions in which the check found damage can be read too.
        """
        with self.connection() as db:
            if damaged:
                db.damaged = {}
            db.execute("BEGIN")
            yield db

    @contextlib.contextmanager
    def connection(self) -> Iterator[CheckedConnection]:
        """Opens a connection of its own, without a transaction, and closes it afterwards."""
        with self._explained():
            self._check_place()
            with contextlib.closing(self._connect()) as db:
                yield db

    @contextlib.contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Opens one write transaction: committed if the block ends, rolled back if it raises.

        In the thread of a `group` it is a part of the group's transaction, and rolled back alone.
        """
        if self._grouping == threading.get_ident():
            with self._explained(), self._part() as db:
                yield db
            return
        with self._transaction() as db:
            yield db

    @contextlib.contextmanager
    def group(self) -> Iterator[sqlite3.Connection]:
        """Joins all writes of this thread in the block into one transaction, committed if the block ends.

        A write that raises is rolled back alone. This thread reads what it wrote; others do when all is committed.
        """
        with self._transaction() as db:
            self._grouping = threading.get_ident()
            try:
                yield db
                if not db.in_transaction:
                    raise MemoryError_(f"SQLite has undone the writes to {self.path.parent}: try them again")
            finally:
                self._grouping = None

    @contextlib.contextmanager
    def _part(self) -> Iterator[sqlite3.Connection]:
        """Opens a part of a group's transaction, which is rolled back alone if the block raises."""
        if not self.writer.in_transaction:
            # A full disk, for instance, ends the whole transaction.
            raise MemoryError_(f"SQLite has undone the writes to {self.path.parent}: try them again")
        self.writer.execute("SAVEPOINT part")
        try:
            yield self.writer
        except BaseException:
            if self.writer.in_transaction:
                self.writer.execute("ROLLBACK TO part")
                self.writer.execute("RELEASE part")
            raise
        self.writer.execute("RELEASE part")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        # Before the lock: in a forked process nobody would release it.
        self._check_process()
        self._check_writable()
        with self.write_lock, self._explained():
            self._check_place()
            self.writer.execute("BEGIN IMMEDIATE")
            try:
                yield self.writer
                due = meta(self.writer, UNERASED) is not None
                self.writer.execute("COMMIT")
            except BaseException:
                if self.writer.in_transaction:
                    self.writer.execute("ROLLBACK")
                raise
            if due:
                self._erase(0)

    @contextlib.contextmanager
    def best_effort_write(self) -> Iterator[sqlite3.Connection]:
        """Opens a write transaction that waits neither for the disk nor for another writer. A power cut may lose what
        it wrote.

        It uses this thread's reading connection, because a write on another one would empty the cache. Raises Busy at
        once if another thread or process is writing, or if this thread is reading.
        """
        self._check_process()
        self._check_writable()
        if not self.write_lock.acquire(blocking=False):
            raise Busy(f"another thread is writing to {self.path.parent}")
        try:
            with self.reading_connection() as db:
                if db.in_transaction:
                    raise Busy(f"this thread is reading from {self.path.parent}")
                self._begin_at_once(db)
                try:
                    yield db
                    due = meta(db, UNERASED) is not None
                    db.execute("COMMIT")
                except BaseException:
                    _undo(db)
                    raise
            if due:
                with self._explained():
                    self._erase(0)
        finally:
            self.write_lock.release()

    def _begin_at_once(self, db: sqlite3.Connection) -> None:
        db.execute("PRAGMA busy_timeout = 0")
        try:
            db.execute("BEGIN IMMEDIATE")
        finally:
            db.execute(f"PRAGMA busy_timeout = {int(self.busy_seconds * 1000)}")

    @contextlib.contextmanager
    def long_log(self) -> Iterator[None]:
        """Lets the write-ahead log grow longer during the block, which makes many writes in a row faster."""
        self._check_process()
        with self._explained():
            self.writer.execute(f"PRAGMA wal_autocheckpoint = {LONG_LOG_PAGES}")
        try:
            yield
        finally:
            with contextlib.suppress(sqlite3.Error):
                self.writer.execute(f"PRAGMA wal_autocheckpoint = {LOG_PAGES}")

    def erase_log(self) -> bool:
        """Moves the write-ahead log into `memory.db`, empties it, and overwrites unused gaps of pages, so that no
        forgotten byte is left.

        Returns False if a reader still needs the log, or another process writes; every later write then tries again.
        """
        with self.write_lock, self._explained():
            self._check_place()
            return self._erase(min(ERASE_SECONDS, self.busy_seconds))

    def _erase(self, seconds: float) -> bool:
        self.writer.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
        try:
            busy, _, _ = self.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self.writer.execute(f"PRAGMA busy_timeout = {int(self.busy_seconds * 1000)}")
        if not busy and self._clear_gaps(seconds):
            return True
        put_meta(self.writer, UNERASED, 1)
        return False

    def _clear_gaps(self, seconds: float) -> bool:
        """Overwrites the unused gaps of all pages, and deletes the entry that says this is due. Returns False, and does
        nothing, while another process writes.

        It commits on a connection of its own, so that every other connection reads the pages anew. Otherwise one could
        write a page back from its cache together with the old gap.
        """
        log = self.path.with_name(self.path.name + "-wal")
        with contextlib.closing(self._connect()) as db:
            db.execute(f"PRAGMA busy_timeout = {int(seconds * 1000)}")
            try:
                db.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if (error.sqlite_errorcode & 0xFF) in _LOCKED_CODES:
                    return False
                raise
            try:
                empty = not log.exists() or not log.stat().st_size
                if empty:
                    RAW_FILES.clear_gaps(self.path, self._place)
                    count = int(meta(db, CLEARED) or 0) + 1
                    put_meta(db, CLEARED, count)
                    db.execute("DELETE FROM meta WHERE name = ?", (UNERASED,))
                db.execute("COMMIT")
            except BaseException:
                _undo(db)
                raise
        return empty

    def leave_to_parent(self) -> None:
        """Keeps this process, a forked one, from ever closing the connections, by never freeing them."""
        for db in (self._probe, self.writer, *(reader.db for reader in list(self._readers))):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(db))

    def tables_mended(self) -> None:
        """Allows reading again after the computed tables that differed were rebuilt."""
        self._structure.damaged.pop(None, None)

    def on_close(self, release: Callable[[], None]) -> None:
        """Registers a function to call on `close`, such as one that releases the files of an index."""
        self._closing.append(release)

    def close(self) -> None:
        """Closes every connection; one that another thread reads from is closed when that thread has finished.

        Does nothing in a forked process: closing a connection of the parent there would drop the parent's log.
        """
        if os.getpid() != self._process:
            return
        with self.write_lock:
            with self._guard:
                if not self._open:
                    return
                self._open = False
                idle = [reader for reader in self._readers if not reader.users]
            # The last connection to close writes the log back into `memory.db`. A damaged file must stay as it is: the
            # last one is then the one that cannot write.
            connections = [reader.db for reader in idle] + [self.writer]
            for db in [*connections, self._probe] if self._damaged else [self._probe, *connections]:
                with contextlib.suppress(sqlite3.Error):
                    db.close()
            if len(idle) == len(self._readers):
                RAW_FILES.leave(self._place)
            if not self._damaged and self._where() == self._place:
                self._structure.note()
        for release in self._closing:
            release()


def _undo(db: sqlite3.Connection) -> None:
    if db.in_transaction:
        db.execute("ROLLBACK")


def _end(db: sqlite3.Connection) -> None:
    """Commits a reading transaction, unless SQLite has ended it because of an error."""
    if db.in_transaction:
        db.execute("COMMIT")


def roll_back(path: Path) -> None:
    """Undoes a change that a killed process was making without the write-ahead log; only a restore makes such a change.

    SQLite undoes it as soon as a connection that may write reads the file. A journal with nothing to undo, of a process
    that was killed before it wrote, is deleted here.
    """
    journal = path.with_name(f"{path.name}-journal")
    if journal.exists():
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA user_version").fetchone()
            # While this connection has the log open, no process can write without the log.
            if db.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
                with contextlib.suppress(OSError):
                    journal.unlink(missing_ok=True)


def _make_if_missing(path: Path) -> None:
    """Creates a new memory unless one is there. It is made under a temporary name and renamed, so that no process sees
    half of one. Raises CorruptMemory if only the log or the index of a memory is there, MemoryError_ if the path is no
    file.
    """
    log = path.with_name(path.name + "-wal")
    # Checked before the file itself: a log appears only after it.
    left = log.exists() and log.stat().st_size > 0
    if path.exists():
        if not path.is_file():
            raise MemoryError_(
                f"{path} is not a file but a folder, pipe, socket or device: move it away or choose another"
            )
        sweep(path.parent, _NEW)
        return
    if left:
        raise damaged(path, f"it is missing, only {log.name} is there")
    if (path.parent / "index" / "text" / "state.json").exists() and not path.exists():
        raise damaged(path, "it is missing, only its index is there; delete that to begin anew")
    with workplace(path.parent, _NEW) as place:
        new = place / path.name
        with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = WAL").fetchall()
            migrate(db)
            put_meta(db, "epoch", uuid.uuid4().hex)
            put_meta(db, "next_key", 1)
            # Closing would write the log back as well, but says nothing if it fails, and the log stays behind.
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        # SQLite gives its log the same mode.
        new.chmod(PRIVATE)
        try:
            os.link(new, path)
        except FileExistsError:
            return
        except OSError:
            # This file system has no hard links.
            if not path.exists():
                new.replace(path)
    sync_folder(path.parent)


def meta(db: sqlite3.Connection, name: str) -> Any:
    """Returns the value of an entry of the meta table, None if there is no such entry."""
    row = db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return row[0] if row else None


def put_meta(db: sqlite3.Connection, name: str, value: Any) -> None:
    """Stores an entry of the meta table, with its checksum."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", summed((name, value)))


def take_keys(db: sqlite3.Connection, count: int) -> int:
    """Reserves `count` consecutive keys for new rows and returns the first of them."""
    first = int(meta(db, "next_key"))
    put_meta(db, "next_key", first + count)
    return first


def another_version(db: sqlite3.Connection, part: int | None = None) -> None:
    """Increases the version of a partition, or of all (None), so that answers cached for it are no longer used."""
    db.execute("UPDATE parts SET version = version + 1 WHERE ?1 IS NULL OR part = ?1", (part,))


def own_part(db: sqlite3.Connection, scope: Scope) -> int:
    """Returns the number of the partition this scope writes to, which is created on first use, and increases the
    versions of all partitions of the user. Needs a write transaction.
    """
    row = (scope.tenant, scope.user, scope.share or "")
    db.execute("INSERT OR IGNORE INTO parts (tenant, owner, team) VALUES (?, ?, ?)", row)
    # A user may change records in their other partitions as well.
    db.execute("UPDATE parts SET version = version + 1 WHERE tenant = ? AND owner = ?", row[:2])
    found = db.execute("SELECT part FROM parts WHERE tenant = ? AND owner = ? AND team = ?", row).fetchone()
    return int(found[0])


def chunks(items: Sequence[T], size: int = CHUNK) -> Iterator[Sequence[T]]:
    """Yields the items in slices of at most `size`, to stay below SQLite's limit of parameters."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def marks(count: int) -> str:
    """Returns `count` question marks with commas between them, for an IN list of a query."""
    return ",".join("?" * count)


SETTING = "kept:"
"""The prefix of settings in the meta table, which keeps them apart from the engine's own entries."""


def settings(db: sqlite3.Connection, prefix: str = "") -> dict[str, str]:
    """Returns the memory's settings whose names begin with a prefix, by name."""
    begin = SETTING + prefix
    found = db.execute("SELECT name, value FROM meta WHERE substr(name, 1, ?) = ?", (len(begin), begin))
    return {name.removeprefix(SETTING): value for name, value in found}


def put_setting(db: sqlite3.Connection, name: str, value: str | None) -> None:
    """Stores a setting of the memory under a name; the value None deletes it."""
    if value is None:
        db.execute("DELETE FROM meta WHERE name = ?", (SETTING + name,))
    else:
        put_meta(db, SETTING + name, value)
