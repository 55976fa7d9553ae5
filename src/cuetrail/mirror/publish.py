"""Putting a new mirror in the place of the old one, so that whoever reads it meanwhile has the one or the other.

What changes is built beside the mirror first. Then the smallest folder that holds every change is made ready, with
hard links to the files that stay, and takes the place of the old one in a single step of the file system. A single
file needs no folder. Killed before that step, the mirror is the old one; killed after it, the new one.

Where the system cannot exchange two folders (Windows, some network drives), and where other programs keep things in
the mirror (.git, .obsidian), each file is replaced by itself: none is ever missing or half written, but old and new
files stand side by side for a moment.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import hashlib
import os
import posixpath
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from cuetrail.files import MIRROR_MARKER
from cuetrail.mirror.location import INSIDE, OWN, File

# Who has just opened a folder must not find it emptied before it has read what is in it. Where the system tells who has
# one open, they are waited for; not for ever, because what was forgotten may be in it.
GRACE_SECONDS, PATIENCE_SECONDS = 0.05, 3.0
_PROCESSES = Path("/proc")
FULL = (errno.ENOSPC, errno.EDQUOT)
_AT_FDCWD, _EXCHANGE = -100, 2


@dataclass(frozen=True, slots=True)
class Change:
    """Paths below the mirror: those staged in the work folder, those to be removed, those that stay as they are."""

    staged: Sequence[str]
    removed: Sequence[str]
    stays: Sequence[str]


class Work:
    """Where the next mirror is built: beside the present one, on its disk. It is made when first used.

    Use it as a context manager: nothing is left at the end.
    """

    def __init__(self, place: Path, memory: Path) -> None:
        name = hashlib.md5(f"{memory}\0{place}".encode(), usedforsecurity=False).hexdigest()[:12]
        self.place = place
        self.folder: Path | None = None
        self._folders = (place.parent / f"{MIRROR_MARKER}-{name}", place / INSIDE)
        self._probe = place / f"{MIRROR_MARKER}.probe"
        self._made_folders: set[str] = set()

    def __enter__(self) -> Work:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.folder is not None:
            # After an error that one counts; what cannot be removed now is swept by the next sync.
            shutil.rmtree(self.folder, ignore_errors=error is not None)

    def is_left(self) -> bool:
        """Whether a sync that was killed, or could not clean up, left something."""
        return any(folder.exists() for folder in self._folders)

    def sweep(self) -> None:
        """Remove what a sync that was killed left."""
        for folder in self._folders:
            if folder.exists():
                shutil.rmtree(folder)
        self._probe.unlink(missing_ok=True)

    @property
    def new(self) -> Path:
        """The folder of the next mirror; `old` beside it takes what it replaces."""
        if self.folder is None:
            self.folder = self._made()
        return self.folder / "new"

    @property
    def old(self) -> Path:
        return self.new.with_name("old")

    def stage(self, path: str, data: bytes) -> File:
        """Write a page of the next mirror."""
        above = posixpath.dirname(path)
        if above not in self._made_folders:
            (self.new / above).mkdir(parents=True, exist_ok=True)
            self._made_folders.add(above)
        # Half the time of the same by way of pathlib, and there may be many thousand.
        with open(f"{self.new}/{path}", "wb") as file:  # noqa: PTH123
            file.write(data)
            file.flush()
            looks = os.fstat(file.fileno())
        return File(looks.st_size, looks.st_mtime_ns)

    def _made(self) -> Path:
        beside, inside = self._folders
        try:
            (beside / "new").mkdir(parents=True)
            if self.place.is_dir():
                # Another disk, or one without hard links, is found out before anything depends on it.
                (beside / "probe").touch()
                os.link(beside / "probe", self._probe)
                self._probe.unlink()
            return beside
        except OSError:
            shutil.rmtree(beside, ignore_errors=True)
            if not self.place.is_dir():
                raise
        (inside / "new").mkdir(parents=True)
        return inside


def publish(work: Work, change: Change, own: Mapping[str, bytes]) -> None:
    """Make a change visible. `own` are the hidden files in which a mirror says what it is; it is never without them."""
    place = work.place
    if not place.is_dir() or not any(place.iterdir()):
        _write(work.new, own)
        _become(work.new, place)
        return
    if not (place / MIRROR_MARKER).exists():
        _put(work, own)
    if change.staged or change.removed:
        unit = _smallest(place, [*change.staged, *change.removed])
        if not unit:
            _write(work.new, own)
        if not (_may_exchange(place, unit) and _exchanged(work, unit, change.stays)):
            _one_by_one(work, change)
        _prune(place, change.removed)
    _put(work, own)


def _write(folder: Path, own: Mapping[str, bytes]) -> None:
    for name, data in own.items():
        (folder / name).write_bytes(data)


def _put(work: Work, own: Mapping[str, bytes]) -> None:
    """Replace those of our own files in the mirror that say something else."""
    for name, data in own.items():
        file = work.place / name
        if not file.exists() or file.read_bytes() != data:
            new = work.new.with_name(name)
            new.write_bytes(data)
            new.replace(file)


def _become(new: Path, place: Path) -> None:
    """The first mirror of a folder that is not there or empty. Raises OSError when something is in it after all."""
    if sys.platform == "win32" and place.is_dir():
        place.rmdir()
    new.replace(place)


def _smallest(place: Path, paths: Sequence[str]) -> str:
    """The smallest part of the mirror that holds all of these and has a real folder to lie in; "" is all of it."""
    unit = posixpath.commonpath(paths)
    while unit and not _is_folder((place / unit).parent):
        unit = posixpath.dirname(unit)
    return unit


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _may_exchange(place: Path, unit: str) -> bool:
    """Whether this part of the mirror is only ours. A folder that this process stands in is not pulled away either."""
    with contextlib.suppress(OSError):
        if Path.cwd().is_relative_to(place / unit):
            return False
    return bool(unit) or not any(e.name.startswith(".") and e.name not in OWN for e in place.iterdir())


def _exchanged(work: Work, unit: str, stays: Iterable[str]) -> bool:
    """Replace one part of the mirror in one step; False, and nothing done, where that cannot be."""
    new, old = work.new / unit, work.place / unit
    if not _is_folder(old):
        # One new file or folder, or one file for another.
        if new.is_file() and old.is_file() and not old.is_symlink():
            new.replace(old)
        elif not os.path.lexists(new):
            old.replace(work.old)
        elif not os.path.lexists(old):
            new.replace(old)
        else:
            return exchange(new, old)
        return True
    try:
        _link(work, [path for path in stays if not unit or path.startswith(unit + "/")])
        if not os.path.lexists(new):
            old.replace(work.old)
        else:
            if new.is_dir():
                shutil.copymode(old, new)
            if not exchange(new, old):
                return False
    except OSError as error:
        # Without room the rest could not be done file by file either; then the old mirror stays.
        if error.errno in FULL:
            raise
        return False
    _let_read(work.new if os.path.lexists(new) else work.old)
    return True


def _let_read(folder: Path) -> None:
    """Wait until nobody has the folder or one in it open any more, as far as the system lets us see that."""
    late = time.monotonic() + (PATIENCE_SECONDS if _PROCESSES.is_dir() else 10 * GRACE_SECONDS)
    time.sleep(GRACE_SECONDS)
    while time.monotonic() < late and (_is_open(folder) or not _PROCESSES.is_dir()):
        time.sleep(GRACE_SECONDS)


def _is_open(folder: Path) -> bool:
    """Whether a process of this user has the folder, or one in it, open to read. Files in it outlive their names."""
    for process in _PROCESSES.iterdir():
        if process.name.isdecimal():
            # Others' processes do not show what they have open, and any of them may end while it is looked at.
            with contextlib.suppress(OSError), os.scandir(process / "fd") as opened:
                for one in opened:
                    with contextlib.suppress(OSError):
                        target = Path(one.path).readlink()
                        if target.is_relative_to(folder) and target.is_dir():
                            return True
    return False


def _link(work: Work, paths: Iterable[str]) -> None:
    """Give files that stay a second name in the next mirror: the same file, untouched."""
    new, place = str(work.new), str(work.place)
    for path in paths:
        try:
            os.link(f"{place}/{path}", f"{new}/{path}")
        except FileNotFoundError:
            (work.new / path).parent.mkdir(parents=True, exist_ok=True)
            os.link(f"{place}/{path}", f"{new}/{path}")


def _one_by_one(work: Work, change: Change) -> None:
    """Replace each file by itself: what is new first, what goes last."""
    for path in change.staged:
        target = work.place / path
        for above in reversed(target.relative_to(work.place).parents[:-1]):
            # A file or a link where a folder must be; to follow it would lead out of the mirror.
            if os.path.lexists(work.place / above) and not _is_folder(work.place / above):
                (work.place / above).unlink()
        if _is_folder(target):
            shutil.rmtree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        (work.new / path).replace(target)
    for path in change.removed:
        target = work.place / path
        if _is_folder(target):
            with contextlib.suppress(OSError):
                target.rmdir()
        else:
            # What stood in the way of something new is gone already.
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                target.unlink()


def _prune(place: Path, removed: Iterable[str]) -> None:
    """Remove the folders that have nothing left in them."""
    for above in sorted({str(p) for path in removed for p in Path(path).parents if p.name}, key=len, reverse=True):
        with contextlib.suppress(OSError):
            (place / above).rmdir()


def exchange(one: Path, other: Path) -> bool:
    """Let two paths change places in one step; False, and nothing done, where the system cannot."""
    swap = _system_call()
    return swap is not None and swap(os.fsencode(one), os.fsencode(other)) == 0


@functools.cache
def _system_call() -> Callable[[bytes, bytes], int] | None:
    """What exchanges two names here: Linux and macOS have a call for it."""
    if sys.platform == "win32":
        return None
    library = ctypes.CDLL(None)
    if hasattr(library, "renameat2"):
        return lambda one, other: int(library.renameat2(_AT_FDCWD, one, _AT_FDCWD, other, _EXCHANGE))
    if hasattr(library, "renamex_np"):
        return lambda one, other: int(library.renamex_np(one, other, _EXCHANGE))
    return None
