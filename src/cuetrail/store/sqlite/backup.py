"""Backups: one consistent copy of `memory.db` in a tar file with its checksum. Indexes are rebuilt, not stored."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import tarfile
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path

from cuetrail.errors import Busy, CorruptMemory, InputError, MemoryError_, WrongVersion
from cuetrail.files import MEMORY_FILE, PRIVATE_FOLDER, is_special, replace_with, sync_file, sync_folder
from cuetrail.store.sqlite.check_on_open import damage
from cuetrail.store.sqlite.connection import BUSY_SECONDS, Database, explained, put_meta, roll_back
from cuetrail.store.sqlite.restore_swap import recover, swap, workplace
from cuetrail.store.sqlite.schema import VERSION, migrate

ABOUT = "backup.json"
ABOUT_BYTES = 2**16
TRUTH = MEMORY_FILE
LOG = TRUTH + "-wal"


def save(db: Database, path: Path) -> None:
    """Writes a backup while others continue to write. It replaces `path` only when it is complete.

    Raises InputError if `path` is a folder or `-`, MemoryError_ if it cannot be written.
    """
    if str(path) == "-":
        raise InputError("a backup is a file and is not written to standard output: name one, such as memory.tar")
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file for the backup, such as {path / 'memory.tar'}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with workplace(path.parent, ".backup-") as place:
            finished = _packed(db, place, path.suffix in (".gz", ".tgz"))
            sync_file(finished)
            replace_with(finished, path)
        sync_folder(path.parent)
    except OSError as error:
        raise MemoryError_(f"the backup cannot be written to {path}: {error}") from error


def _packed(db: Database, place: Path, zipped: bool) -> Path:
    copy, about, finished = place / TRUTH, place / ABOUT, place / "finished"
    with db.connection() as view:
        # A consistent snapshot: later writes neither wait for it nor enter it.
        view.execute("VACUUM INTO ?", (str(copy),))
    about.write_text(json.dumps({"cuetrail-backup": 1, "schema": VERSION, "sha256": _sha256(copy)}), "utf-8")
    with tarfile.open(finished, "w:gz") if zipped else tarfile.open(finished, "w") as tar:
        for file in (about, copy):
            tar.add(file, file.name, filter=_nameless)
    return finished


def _nameless(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Removes the user and group from a tar entry and returns it, so that the backup does not reveal the account."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member


def restore(path: Path, directory: Path, replace: bool) -> Path | None:
    """Replaces the memory in `directory` by a backup. A damaged memory is kept under another name there; returns the
    path of that copy, None if there was none.

    Raises InputError if the backup is not one or is damaged, or if a healthy memory is there and `replace` is False;
    Busy if a process has that memory open; WrongVersion if a newer cuetrail wrote the backup.
    """
    made = not directory.exists()
    directory.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
    try:
        recover(directory)
        with _disk_errors(directory), workplace(directory) as place:
            _renew(path, _unpacked(path, place))
            return _put(place, directory, replace)
    except BaseException:
        if made:
            with contextlib.suppress(OSError):
                directory.rmdir()
        raise


@contextlib.contextmanager
def _disk_errors(directory: Path) -> Iterator[None]:
    """Turns an OSError in the block into a MemoryError_ that says what to do."""
    try:
        yield
    except OSError as error:
        what = f"the backup could not be put into {directory} ({error.strerror or error})"
        raise MemoryError_(f"{what}: check the disk and its free space, then restore again") from error


def _unpacked(path: Path, place: Path) -> Path:
    """Extracts `memory.db` into `place`, compares it with its checksum, and returns its path. Other files in the
    archive are ignored.

    Raises InputError if the archive is missing, damaged or no backup, WrongVersion if a newer cuetrail wrote it.
    """
    if is_special(path):
        raise InputError(f"{path} is no backup, but a folder, pipe or device: give the file that `backup` wrote")
    try:
        with tarfile.open(path) as tar:
            if tar.getmember(ABOUT).size > ABOUT_BYTES:
                raise ValueError(f"{ABOUT} is too large")
            for name in (ABOUT, TRUTH):
                member = tar.extractfile(name)
                if member is None:
                    raise ValueError(f"{name} is not a file")
                with member, (place / name).open("wb") as file:
                    shutil.copyfileobj(member, file, 2**20)
        # In an archive it may be a link to a larger file.
        if (place / ABOUT).stat().st_size > ABOUT_BYTES:
            raise ValueError(f"{ABOUT} is too large")
        about = json.loads((place / ABOUT).read_text("utf-8"))
        wanted, schema = about["sha256"], int(about["schema"])
    except FileNotFoundError:
        raise InputError(f"there is no backup at {path}") from None
    except (
        tarfile.TarError,
        KeyError,
        TypeError,
        ValueError,
        OverflowError,
        RecursionError,
        OSError,
        EOFError,
        zlib.error,
    ) as error:
        why = "it is no tar file" if isinstance(error, tarfile.ReadError) else error
        raise InputError(f"{path} is not a whole cuetrail backup ({why}): nothing was changed") from error
    if wanted != _sha256(place / TRUTH):
        raise InputError(f"{path} is damaged (its checksum does not match): nothing was changed")
    if schema > VERSION:
        raise WrongVersion(
            f"{path} has schema {schema}, this cuetrail knows up to {VERSION}: upgrade with "
            "`pip install --upgrade cuetrail`"
        )
    return place / TRUTH


def _renew(path: Path, copy: Path) -> None:
    """Checks that the unpacked file is a memory, migrates it, and gives it a new epoch (a random name), so that indexes
    of the directory's earlier memory are not used for it. Raises InputError if it is no memory.
    """
    try:
        with contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as db:
            # A memory has neither: they would run when it is written to or read.
            strange = "type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL%'"
            if db.execute(f"SELECT 1 FROM sqlite_master WHERE {strange}").fetchone():
                raise InputError(f"{path} has triggers or views, which no memory has: nothing was changed")
            if not 0 < db.execute("PRAGMA user_version").fetchone()[0] <= VERSION:
                raise InputError(f"{path} holds no memory of a version that is known: nothing was changed")
            for table in ("nodes", "edges", "facts", "notes"):
                db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()
            db.execute("PRAGMA journal_mode = WAL").fetchall()
            migrate(db)
            put_meta(db, "epoch", uuid.uuid4().hex)
    except (sqlite3.Error, ValueError) as error:
        raise InputError(f"{path} does not hold a memory ({error}): nothing was changed") from error


def _put(place: Path, directory: Path, replace: bool) -> Path | None:
    """Replaces the memory in `directory` by the one in `place`. A damaged one is kept under another name; returns the
    path of that copy, else None. Raises InputError if a healthy memory is there and `replace` is False.
    """
    truth = directory / TRUTH
    healthy = _healthy(truth) if truth.exists() else None
    if healthy and not replace:
        raise InputError(f"{directory} already holds a memory: add --force to replace it by the backup")
    kept = _keep(directory) if healthy is False or (healthy is None and (directory / LOG).exists()) else None
    with _held(truth) if healthy else contextlib.nullcontext():
        swap(place)
    return kept


@contextlib.contextmanager
def _held(truth: Path) -> Iterator[None]:
    """Keeps every process from opening the memory during the block. Raises Busy if one has it open."""
    with explained(truth), contextlib.closing(sqlite3.connect(truth, timeout=0, isolation_level=None)) as db:
        try:
            # To leave WAL mode SQLite needs exclusive access to the file; in this locking mode it keeps that.
            db.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            db.execute("PRAGMA journal_mode = DELETE").fetchall()
            db.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            raise Busy(f"a process has {truth.parent} open: close it first. Nothing was changed") from None
        yield
        db.execute("ROLLBACK")


def _healthy(truth: Path) -> bool:
    if not truth.stat().st_size:
        return False
    try:
        with explained(truth):
            roll_back(truth)
        address = f"{truth.absolute().as_uri()}?mode=ro"
        with explained(truth), contextlib.closing(sqlite3.connect(address, uri=True, timeout=BUSY_SECONDS)) as db:
            return not any(damage(db))
    except CorruptMemory:
        return False


def _keep(directory: Path) -> Path:
    """Copies a damaged memory and its write-ahead log to new names beside them; returns the new path of the memory."""
    kept = directory / f"{TRUTH}.damaged-{uuid.uuid4().hex[:8]}"
    for name, ending in ((TRUTH, ""), (LOG, "-wal")):
        place = directory / name
        if place.exists():
            try:
                os.link(place, f"{kept}{ending}")
            except OSError:
                # This file system has no hard links.
                shutil.copyfile(place, f"{kept}{ending}")
    return kept


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
