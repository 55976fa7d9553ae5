"""The last step of a restore: the new `memory.db` takes the place of the old one, at once or at the next open.

A restore builds the new memory in a folder `.restore-*`. When it is complete, the folder is renamed to READY. From then
on the restore counts as done: whoever finds READY, this process or the next one that opens the memory, finishes it.
Every step may be repeated. A folder with another name is left over from a restore that was killed, and is deleted.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from cuetrail.errors import Busy
from cuetrail.files import MEMORY_FILE, PRIVATE, sync_file, sync_folder

_PREFIX = ".restore-"
READY = f"{_PREFIX}ready"
TRIES = 100
# A restore holds this lock in its folder as long as it runs.
_LOCK = "lock"
# SQLite's own files. They belong to the old memory, and SQLite would apply them to the new one.
SIDE_FILES = tuple(MEMORY_FILE + ending for ending in ("-wal", "-shm", "-journal"))


@contextlib.contextmanager
def workplace(directory: Path, prefix: str = _PREFIX) -> Iterator[Path]:
    """Yields an empty folder to build something in, and deletes it afterwards, unless `swap` has renamed it.

    First deletes the folders with this prefix that killed processes left.
    """
    sweep(directory, prefix)
    place, lock = _locked_folder(directory, prefix)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        lock.release()


def sweep(directory: Path, prefix: str) -> None:
    """Deletes the folders with this prefix that killed processes left, except READY."""
    for place in directory.glob(f"{prefix}*"):
        if place.name != READY:
            _delete_if_left(place)


def _locked_folder(directory: Path, prefix: str) -> tuple[Path, FileLock]:
    """Returns a new folder and its lock, which this process holds. Raises Busy after TRIES attempts.

    Between making and locking a folder, another process may delete it as left over; then another one is made.
    """
    for _ in range(TRIES):
        place = Path(tempfile.mkdtemp(dir=directory, prefix=prefix))
        lock = FileLock(place / _LOCK, timeout=0, is_singleton=False)
        try:
            lock.acquire()
        except (Timeout, FileNotFoundError):
            continue
        if (place / _LOCK).exists():
            return place, lock
        lock.release()
    raise Busy(f"{directory} is being opened by many processes at once: try again later")


def swap(place: Path) -> None:
    """Replaces the memory by the one in the folder `place`. Raises Busy if another restore is at the same step."""
    old = place.parent / MEMORY_FILE
    (place / MEMORY_FILE).chmod(old.stat().st_mode & 0o777 if old.exists() else PRIVATE)
    sync_file(place / MEMORY_FILE)
    sync_folder(place)
    try:
        place.rename(place.with_name(READY))
    except OSError:
        raise Busy(f"{place.parent} is being restored by another process. Nothing was changed") from None
    sync_folder(place.parent)
    _finish(place.parent)


def recover(directory: Path) -> None:
    """Finishes a complete restore that was killed, and deletes the folders of incomplete ones. Raises Busy if another
    process is finishing one.
    """
    for place in sorted(directory.glob(f"{_PREFIX}*")):
        if place.name != READY:
            _delete_if_left(place)
            continue
        try:
            with FileLock(place / _LOCK, timeout=0, is_singleton=False):
                _finish(directory)
        except Timeout:
            raise Busy(f"{directory} is being restored by another process: try again later") from None


def _delete_if_left(place: Path) -> None:
    """Deletes a folder unless a process is working in it, which holds its lock."""
    with contextlib.suppress(OSError, Timeout), FileLock(place / _LOCK, timeout=0, is_singleton=False):
        shutil.rmtree(place, ignore_errors=True)


def _finish(directory: Path) -> None:
    new = directory / READY / MEMORY_FILE
    if new.exists():
        for name in SIDE_FILES:
            (directory / name).unlink(missing_ok=True)
        # The old log must be gone before the new memory is there, also after a power cut.
        sync_folder(directory)
        new.replace(directory / MEMORY_FILE)
        sync_folder(directory)
    shutil.rmtree(directory / "index", ignore_errors=True)
    shutil.rmtree(directory / READY, ignore_errors=True)
