"""What the derived indexes share: a directory with a lock, a checked state file and checksums of its data files.

The state names the last change applied. A process that finds it missing, torn, old or contradicted by the data files
rebuilds the index from the truth; nothing in here is ever an error for the user.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import xxhash
from filelock import FileLock, Timeout

from cuetrail.errors import Busy

LOCK_SECONDS = 600
FULL_CHECK_BYTES = 64 * 2**20
_BLOCK = 2**22


@dataclass(frozen=True, slots=True)
class State:
    """Which memory, which layout, how far, and what the data files must look like: name -> (size, mtime_ns, hash)."""

    epoch: str
    layout: str
    seq: int
    folder: str
    files: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    extra: dict[str, int] = field(default_factory=dict)


class IndexDir:
    """One index's place on disk. Data lives in a numbered folder; a rebuild makes the next and switches over."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(path / "lock", timeout=LOCK_SECONDS)
        self._threads = threading.RLock()
        self._state_file = path / "state.json"

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Only one thread of one process changes the index at a time."""
        with self._threads:
            self.path.mkdir(parents=True, exist_ok=True)
            try:
                with self._lock:
                    yield
            except Timeout:
                raise Busy(f"another process has been rebuilding {self.path} for {LOCK_SECONDS} s: try again later") from None

    def stamp(self) -> tuple[int, int]:
        """Changes whenever the state changes; (0, 0) when there is none."""
        try:
            found = os.stat(self._state_file)  # noqa: PTH116  # half the time of Path.stat, on every search
        except OSError:
            return (0, 0)
        return (found.st_mtime_ns, found.st_ino)

    def load(self) -> State | None:
        """The state, or None when it is missing or damaged."""
        try:
            check, _, body = self._state_file.read_text("utf-8").partition("\n")
            if xxhash.xxh3_64_hexdigest(body.encode()) != check:
                return None
            raw = json.loads(body)
            raw["files"] = {name: tuple(entry) for name, entry in raw["files"].items()}
            return State(**raw)
        except (OSError, ValueError, TypeError):
            return None

    def save(self, state: State) -> None:
        """Write the state so that a reader sees the old one or the new one, never half."""
        body = json.dumps(asdict(state))
        write_atomically(self._state_file, f"{xxhash.xxh3_64_hexdigest(body.encode())}\n{body}".encode())

    def dirty(self) -> bool:
        """Whether a process died between changing data files and saving the state."""
        return (self.path / "dirty").exists()

    def mark_dirty(self) -> None:
        """Say that the data files are about to change."""
        write_atomically(self.path / "dirty", b"")

    def mark_clean(self) -> None:
        """Say that the state describes the data files again."""
        (self.path / "dirty").unlink(missing_ok=True)

    def next_folder(self) -> str:
        """A name for the folder of a rebuild, unused so far."""
        used = [int(p.name) for p in self.path.iterdir() if p.is_dir() and p.name.isdigit()]
        return str(max(used, default=0) + 1)

    def sweep(self, keep: str) -> None:
        """Delete the folders of earlier builds."""
        for old in self.path.iterdir():
            if old.is_dir() and old.name != keep:
                shutil.rmtree(old, ignore_errors=True)

    def describe(self, folder: str, names: list[str]) -> dict[str, tuple[int, int, str]]:
        """Size, time and hash of data files as they are now."""
        return {name: _describe(self.path / folder / name) for name in names}

    def intact(self, state: State, thorough: bool = False) -> bool:
        """Whether the data files are as the state says.

        Small indexes are hashed each time they are opened. Of large ones only files whose time changed are, unless
        `thorough` (doctor) asks for all.
        """
        small = sum(size for size, _, _ in state.files.values()) <= FULL_CHECK_BYTES
        for name, (size, mtime_ns, digest) in state.files.items():
            try:
                found = (self.path / state.folder / name).stat()
                if found.st_size != size:
                    return False
                if (small or thorough or found.st_mtime_ns != mtime_ns) and _hash(
                    self.path / state.folder / name
                ) != digest:
                    return False
            except OSError:
                return False
        return True


def _describe(path: Path) -> tuple[int, int, str]:
    found = path.stat()
    return (found.st_size, found.st_mtime_ns, _hash(path))


def _hash(path: Path) -> str:
    digest = xxhash.xxh3_64()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file by a new version that is on disk before it becomes visible."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.tmp")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)
