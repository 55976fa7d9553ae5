"""The directory of a derived index: a lock, a checked state file, and checksums of its data files.

The state file names the last change that the index contains. If the file is missing, damaged, too old or contradicted
by the data files, the index is rebuilt from `memory.db`; damage in here is never an error for the user.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import xxhash
from filelock import FileLock, Timeout

from cuetrail.errors import Busy, MemoryError_
from cuetrail.files import PRIVATE_FOLDER
from cuetrail.store.sqlite.connection import forked
from cuetrail.store.sqlite.reader import CheckedFiles

LOCK_SECONDS = 600.0
POLL_SECONDS = 0.01
# How often a waiting process repeats its request: another one that got the lock meanwhile deletes the note.
ASK_SECONDS = 0.2
FULL_CHECK_BYTES = 64 * 2**20
_BLOCK = 2**22


@dataclass(frozen=True, slots=True)
class State:
    """The content of a state file: the memory (`epoch`) and file layout of an index, the number and random mark of the
    last change it contains, the folder of its data files, and these files: name -> (size, mtime_ns, hash).
    """

    epoch: str
    layout: str
    seq: int
    mark: int
    folder: str
    files: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    extra: dict[str, int] = field(default_factory=dict)


class IndexDir:
    """The directory of one index. Data files are in a numbered folder; a rebuild makes the next and switches to it."""

    def __init__(self, path: Path, wait_seconds: float | None = None) -> None:
        self.path = path
        self._wait = LOCK_SECONDS if wait_seconds is None else wait_seconds
        self._lock = FileLock(path / "lock", timeout=self._wait, poll_interval=POLL_SECONDS)
        self._threads = threading.RLock()
        self._wanted = path / "wanted"
        self._process = os.getpid()
        self._state_file = path / "state.json"
        # Files whose hash was checked, with their attributes at that time.
        self._hashed: dict[str, tuple[tuple[int, int, int], str]] = {}

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the lock, so that only one thread of one process changes the index at a time."""
        self.acquire()
        try:
            yield
        finally:
            self.release()

    def acquire(self, wait: bool = True) -> bool:
        """Takes the lock and returns True; returns False at once if it is not free and `wait` is False.

        Raises Busy after a long wait, MemoryError_ if the directory cannot be written.
        """
        try:
            return self._acquire(wait)
        except OSError as error:
            raise unwritable(self.path, error) from error

    def _acquire(self, wait: bool) -> bool:
        if os.getpid() != self._process:
            # Releasing it here would release the parent's lock.
            raise forked(self.path.parent)
        self._make_folder()
        patience = time.monotonic() + self._wait
        while not self._taken(ASK_SECONDS if wait else 0):
            if not wait:
                return False
            if time.monotonic() >= patience:
                raise Busy(f"another process has been indexing in {self.path} for {self._wait:g} s: try again later")
        try:
            self._wanted.unlink(missing_ok=True)
        except BaseException:
            self.release()
            raise
        return True

    def _taken(self, seconds: float) -> bool:
        """Tries to take the lock for up to `seconds`; returns False if it is not free. While it waits, the file
        `wanted` tells the holder so.
        """
        if not self._threads.acquire(blocking=False):
            if seconds:
                self._wanted.touch()
            if not self._threads.acquire(timeout=seconds):
                return False
        try:
            self._lock.acquire(timeout=0)
            return True
        except Timeout:
            if seconds:
                with contextlib.suppress(Timeout):
                    self._wanted.touch()
                    self._lock.acquire(timeout=seconds)
                    return True
            self._threads.release()
            return False
        except BaseException:
            self._threads.release()
            raise

    def release(self) -> None:
        self._lock.release()
        self._threads.release()

    def is_wanted(self) -> bool:
        """True if another thread or process asked for the lock since it was last taken."""
        return self._wanted.exists()

    def _make_folder(self) -> None:
        for place in (self.path.parent, self.path):
            if place.exists() and not place.is_dir():
                place.unlink(missing_ok=True)
        self.path.parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
        self.path.mkdir(PRIVATE_FOLDER, exist_ok=True)

    def read(self) -> tuple[State, CheckedFiles] | None:
        """Returns the state and the opened data files if they are intact, else None."""
        try:
            state = self.load()
            if state is None:
                return None
            # The state file is opened after it was read, and read again: one replaced in between counts as changed.
            files = CheckedFiles(
                [str(self._state_file), *(f"{self.path / state.folder}{os.sep}{name}" for name in state.files)]
            )
            if self.load() != state:
                return None
        except OSError:
            return None
        return (state, files) if self.intact(state) else None

    def load(self) -> State | None:
        """Returns the state without checking the data files; None if the state file is missing or damaged."""
        try:
            return _parsed(self._state_file.read_bytes())
        except OSError:
            return None

    def save(self, state: State) -> None:
        """Writes the state file atomically: a reader sees the old one or the new one, never half."""
        body = json.dumps(asdict(state)).encode()
        write_atomically(self._state_file, xxhash.xxh3_64_hexdigest(body).encode() + b"\n" + body)

    def dirty(self) -> bool:
        """True if data files were changed and the state was not saved since, because a process died in between."""
        return (self.path / "dirty").exists()

    def mark_dirty(self) -> None:
        """Records on disk that the index's data files are about to change."""
        write_atomically(self.path / "dirty", b"")

    def mark_clean(self) -> None:
        """Records on disk that the state file describes the data files again: the opposite of `mark_dirty`."""
        (self.path / "dirty").unlink(missing_ok=True)

    def next_folder(self) -> str:
        """Makes a new folder for a rebuild and returns its name."""
        used = [int(p.name) for p in self.path.iterdir() if p.name.isdecimal()]
        name = str(max(used, default=0) + 1)
        (self.path / name).mkdir()
        return name

    def sweep(self, keep: str) -> None:
        """Deletes the folders of earlier builds, all but `keep`, and temporary files of dead processes."""
        for old in self.path.iterdir():
            if old.is_dir() and old.name != keep:
                shutil.rmtree(old, ignore_errors=True)
            elif old.suffix == ".tmp":
                old.unlink(missing_ok=True)

    def wipe(self) -> None:
        """Deletes all files and folders of the index except the lock file."""
        for old in self.path.iterdir():
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
            elif old.name != "lock":
                old.unlink(missing_ok=True)

    def describe(self, folder: str, name: str) -> tuple[int, int, str]:
        """Returns size, modification time and hash of a data file, for `State.files`."""
        place = str(self.path / folder / name)
        found, digest = _stat(place), _hash(place)
        self._hashed[place] = (found, digest)
        return (*found[:2], digest)

    def intact(self, state: State, thorough: bool = False) -> bool:
        """True if the data files have the sizes and hashes that the state gives.

        A small index is hashed when it is opened, and a file again if its attributes changed. Of a large one only files
        with another modification time than the state gives are hashed, unless `thorough` (doctor) asks for all.
        """
        small = sum(size for size, _, _ in state.files.values()) <= FULL_CHECK_BYTES
        known, self._hashed = self._hashed, {}
        for name, (size, mtime_ns, digest) in state.files.items():
            place = str(self.path / state.folder / name)
            try:
                found = _stat(place)
                if found[0] != size:
                    return False
                seen = (found, digest)
                asked = thorough or (known.get(place) != seen and (small or found[1] != mtime_ns))
                if asked and _hash(place) != digest:
                    return False
            except OSError:
                return False
            self._hashed[place] = seen
        return True


@contextlib.contextmanager
def rebuilding(index: IndexDir) -> Iterator[None]:
    """Empties the directory for a rebuild in the block. If that fails too, the cause is not the index: raises
    MemoryError_, which says what to do.
    """
    try:
        index.wipe()
        yield
    except json.JSONDecodeError:
        # `memory.db` could not be read; its own error says so.
        raise
    except (ValueError, OSError) as error:
        raise unwritable(index.path, error) from error


def unwritable(path: Path, error: Exception) -> MemoryError_:
    """Returns the error to raise if an index, which searches need, cannot be written."""
    return MemoryError_(f"the index in {path} cannot be written ({error}): make room or make the folder writable")


def _parsed(raw: bytes) -> State | None:
    check, _, body = raw.partition(b"\n")
    if xxhash.xxh3_64_hexdigest(body).encode() != check:
        return None
    try:
        fields = json.loads(body)
        fields["files"] = {name: tuple(entry) for name, entry in fields["files"].items()}
        return State(**fields)
    except (ValueError, TypeError, KeyError):
        # Another version of cuetrail wrote it.
        return None


def _stat(place: str) -> tuple[int, int, int]:
    found = os.stat(place)  # noqa: PTH116  # half the time of Path.stat, on every search
    return (found.st_size, found.st_mtime_ns, found.st_ino)


def _hash(place: str) -> str:
    digest = xxhash.xxh3_64()
    with Path(place).open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def write_atomically(path: Path, data: bytes) -> None:
    """Replaces a file by one with this content, which is on disk before it becomes visible."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
