"""Backups: one consistent copy of the truth in a tar file with its checksum. Indexes are not in it; they are rebuilt."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import sqlite3
import tarfile
import tempfile
import uuid
from pathlib import Path

from cuetrail.errors import CorruptMemory, InputError
from cuetrail.store.local.db import Database, explained
from cuetrail.store.local.schema import VERSION

ABOUT = "backup.json"
TRUTH = "memory.db"


def save(db: Database, path: Path) -> None:
    """Write a backup while others go on writing. It replaces `path` only when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".backup-") as place:
        copy = Path(place) / TRUTH
        with explained(db.path):
            # A snapshot of one moment: later writes neither wait for it nor get into it.
            db.reader.execute("VACUUM INTO ?", (str(copy),))
        about = Path(place) / ABOUT
        about.write_text(json.dumps({"cuetrail-backup": 1, "schema": VERSION, "sha256": _sha256(copy)}), "utf-8")
        finished = Path(place) / "finished"
        mode = "w:gz" if path.suffix in (".gz", ".tgz") else "w"
        with tarfile.open(finished, mode) as tar:  # type: ignore[call-overload]  # tarfile's stubs want a literal mode
            tar.add(about, ABOUT)
            tar.add(copy, TRUTH)
        os.replace(finished, path)


def restore(path: Path, directory: Path, replace: bool) -> Path | None:
    """Put a backup in place of the memory in `directory`. A damaged one there is kept beside it; its new path comes back.

    Raises InputError when the backup is not one, is damaged, or a healthy memory is there and `replace` is False.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory, prefix=".restore-") as place:
        copy = _unpack(path, Path(place))
        _renew(copy)
        truth = directory / TRUTH
        kept: Path | None = None
        if truth.exists():
            healthy = _healthy(truth)
            if healthy and not replace:
                raise InputError(f"{directory} already holds a memory: add --force to replace it by {path}")
            kept = None if healthy else truth.with_name(f"{TRUTH}.damaged-{uuid.uuid4().hex[:8]}")
        if kept is not None:
            os.replace(truth, kept)
        for left in (TRUTH + "-wal", TRUTH + "-shm"):
            (directory / left).unlink(missing_ok=True)
        os.replace(copy, truth)
    shutil.rmtree(directory / "index", ignore_errors=True)
    return kept


def _unpack(path: Path, place: Path) -> Path:
    try:
        with tarfile.open(path) as tar:
            for name in (ABOUT, TRUTH):
                tar.extract(name, place, filter="data")
        about = json.loads((place / ABOUT).read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(f"there is no backup at {path}") from None
    except (tarfile.TarError, KeyError, ValueError, OSError, EOFError) as error:
        raise InputError(f"{path} is not a whole cuetrail backup ({error}): nothing was changed") from error
    if about.get("sha256") != _sha256(place / TRUTH):
        raise InputError(f"{path} is damaged (its checksum does not match): nothing was changed")
    return place / TRUTH


def _renew(copy: Path) -> None:
    """A new epoch, so that no index of the directory's earlier memory is taken for this one's."""
    with contextlib.closing(sqlite3.connect(copy)) as db, db:
        db.execute("UPDATE meta SET value = ? WHERE name = 'epoch'", (uuid.uuid4().hex,))


def _healthy(truth: Path) -> bool:
    try:
        with explained(truth), contextlib.closing(sqlite3.connect(f"file:{truth}?mode=ro", uri=True)) as db:
            return bool(db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
    except (CorruptMemory, sqlite3.Error):
        return False


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
