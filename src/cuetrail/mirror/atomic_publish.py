"""Replaces an old mirror by a new one atomically: a reader sees the old one or the new one.

Changed files are first written beside the mirror. Then the smallest folder that holds all changes is completed with
hard links to the unchanged files, and exchanged with the old folder in one step of the file system. A single file
needs no folder. If the process is killed before that step, the mirror is the old one; after it, the new one.

Where the system cannot exchange two folders (Windows, some network drives), and where other programs keep files in
the mirror (.git, .obsidian), each file is replaced separately: none is ever missing or half written, but for a moment
there are old and new files side by side.
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

from cuetrail.files import MIRROR_MARKER, PRIVATE_FOLDER
from cuetrail.mirror.marker_and_manifest import INNER_WORK, MANIFEST, PageState

# A process that has just opened a folder must be able to read it before it is emptied. Where the system shows which
# folders are open, we wait for them to close; not for long, because the folder may hold forgotten text.
GRACE_SECONDS, PATIENCE_SECONDS = 0.05, 3.0
_PROCESSES = Path("/proc")
FULL = (errno.ENOSPC, errno.EDQUOT)
_AT_FDCWD, _EXCHANGE = -100, 2
_OWN_FILES = (MIRROR_MARKER, MANIFEST, INNER_WORK)


@dataclass(frozen=True, slots=True)
class FileChanges:
    """Relative paths of files: `staged` (written in the work folder), to be `removed`, and `unchanged`."""

    staged: Sequence[str]
    removed: Sequence[str]
    unchanged: Sequence[str]


class WorkDir:
    """The work folder for one update of a mirror, on the mirror's disk: beside the mirror, or inside it if the folder
    beside it cannot be used. It is created when first used.

    A context manager: it removes the work folder at the end.
    """

    def __init__(self, mirror: Path, memory: Path) -> None:
        name = hashlib.md5(f"{memory}\0{mirror}".encode(), usedforsecurity=False).hexdigest()[:12]
        self.mirror = mirror
        self.folder: Path | None = None
        self._folders = (mirror.parent / f"{MIRROR_MARKER}-{name}", mirror / INNER_WORK)
        self._probe = mirror / f"{MIRROR_MARKER}.probe"
        self._made_folders: set[str] = set()

    def __enter__(self) -> WorkDir:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.folder is not None:
            # Do not hide an earlier error; the next sync removes the remains.
            shutil.rmtree(self.folder, ignore_errors=error is not None)

    def is_left(self) -> bool:
        """True if a killed or failed sync left files behind."""
        return any(folder.exists() for folder in self._folders)

    def sweep(self) -> None:
        """Removes the files that a killed sync left behind."""
        for folder in self._folders:
            if folder.exists():
                shutil.rmtree(folder)
        self._probe.unlink(missing_ok=True)

    @property
    def new(self) -> Path:
        """The folder of the next mirror. `old` beside it receives the replaced files."""
        if self.folder is None:
            self.folder = self._make_folder()
        return self.folder / "new"

    @property
    def old(self) -> Path:
        return self.new.with_name("old")

    def stage(self, path: str, data: bytes) -> PageState:
        """Writes a page of the next mirror; returns its size and time."""
        above = posixpath.dirname(path)
        if above not in self._made_folders:
            (self.new / above).mkdir(parents=True, exist_ok=True)
            self._made_folders.add(above)
        # Twice as fast as pathlib, and there may be many thousands.
        with open(f"{self.new}/{path}", "wb") as file:  # noqa: PTH123
            file.write(data)
            file.flush()
            status = os.fstat(file.fileno())
        return PageState(status.st_size, status.st_mtime_ns)

    def _make_folder(self) -> Path:
        beside, inside = self._folders
        try:
            self._make_private(beside)
            if self.mirror.is_dir():
                # Test for another disk, or one without hard links, before anything depends on it.
                (beside / "probe").touch()
                os.link(beside / "probe", self._probe)
                self._probe.unlink()
            return beside
        except OSError:
            shutil.rmtree(beside, ignore_errors=True)
            if not self.mirror.is_dir():
                raise
        self._make_private(inside)
        return inside

    def _make_private(self, folder: Path) -> None:
        """Makes the work folder, and in it the folder of the next mirror with the permissions of the present one.

        Without a present mirror, nobody but the user may enter it.
        """
        folder.parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
        folder.mkdir(PRIVATE_FOLDER)
        (folder / "new").mkdir()
        (folder / "new").chmod(self.mirror.stat().st_mode & 0o777 if self.mirror.is_dir() else PRIVATE_FOLDER)


def publish(work: WorkDir, change: FileChanges, own: Mapping[str, bytes]) -> None:
    """Puts the staged files into the mirror and removes others. `own` are the contents of the marker and the manifest.

    Where possible, all changes become visible at once.
    """
    mirror = work.mirror
    if not mirror.is_dir() or not any(mirror.iterdir()):
        _write(work.new, own)
        if sys.platform == "win32" and mirror.is_dir():
            mirror.rmdir()
        # Raises OSError if another process has put files there meanwhile.
        work.new.replace(mirror)
        return
    if not (mirror / MIRROR_MARKER).exists():
        _replace_own(work, own)
    if change.staged or change.removed:
        unit = _common_folder(mirror, [*change.staged, *change.removed])
        if not unit:
            _write(work.new, own)
        if not (_may_exchange(mirror, unit) and _exchange_unit(work, unit, change.unchanged)):
            _replace_one_by_one(work, change)
        _prune(mirror, change.removed)
    _replace_own(work, own)


def _write(folder: Path, own: Mapping[str, bytes]) -> None:
    for name, data in own.items():
        (folder / name).write_bytes(data)


def _replace_own(work: WorkDir, own: Mapping[str, bytes]) -> None:
    """Replaces the marker and the manifest where their content changed."""
    for name, data in own.items():
        file = work.mirror / name
        if not file.exists() or file.read_bytes() != data:
            new = work.new.with_name(name)
            new.write_bytes(data)
            new.replace(file)


def _common_folder(mirror: Path, paths: Sequence[str]) -> str:
    """Returns the deepest common path of these whose parent is a folder and no link; "" means the whole mirror."""
    unit = posixpath.commonpath(paths)
    while unit and not _is_folder((mirror / unit).parent):
        unit = posixpath.dirname(unit)
    return unit


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _may_exchange(mirror: Path, unit: str) -> bool:
    """True if this part of the mirror may be replaced as a whole: other programs keep no hidden files in it, and the
    current directory of this process is not in it.
    """
    with contextlib.suppress(OSError):
        if Path.cwd().is_relative_to(mirror / unit):
            return False
    return bool(unit) or not any(e.name.startswith(".") and e.name not in _OWN_FILES for e in mirror.iterdir())


def _exchange_unit(work: WorkDir, unit: str, unchanged: Iterable[str]) -> bool:
    """Replaces one part of the mirror, the path `unit`, in one step. Returns False, and changes nothing in the mirror,
    where the system cannot do that.
    """
    new, old = work.new / unit, work.mirror / unit
    if not _is_folder(old):
        # A new file or folder, or one file replaces another.
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
        _hard_link(work, [path for path in unchanged if not unit or path.startswith(unit + "/")])
        if not os.path.lexists(new):
            old.replace(work.old)
        else:
            if new.is_dir():
                shutil.copymode(old, new)
            if not exchange(new, old):
                return False
    except OSError as error:
        # On a full disk, replacing file by file would fail too; the old mirror stays.
        if error.errno in FULL:
            raise
        return False
    _wait_for_readers(work.new if os.path.lexists(new) else work.old)
    return True


def _wait_for_readers(folder: Path) -> None:
    """Waits until no process has the folder or a subfolder open, or until the time limit."""
    deadline = time.monotonic() + (PATIENCE_SECONDS if _PROCESSES.is_dir() else 10 * GRACE_SECONDS)
    time.sleep(GRACE_SECONDS)
    while time.monotonic() < deadline and (_is_open(folder) or not _PROCESSES.is_dir()):
        time.sleep(GRACE_SECONDS)


def _is_open(folder: Path) -> bool:
    """True if a process of this user has the folder or a subfolder open. Open files stay readable without a name."""
    for process in _PROCESSES.iterdir():
        if process.name.isdecimal():
            # Processes of other users hide their open files, and any process may end meanwhile.
            with contextlib.suppress(OSError), os.scandir(process / "fd") as opened:
                for descriptor in opened:
                    with contextlib.suppress(OSError):
                        target = Path(descriptor.path).readlink()
                        if target.is_relative_to(folder) and target.is_dir():
                            return True
    return False


def _hard_link(work: WorkDir, paths: Iterable[str]) -> None:
    """Makes hard links to unchanged files of the mirror in the next mirror."""
    new, mirror = str(work.new), str(work.mirror)
    for path in paths:
        try:
            os.link(f"{mirror}/{path}", f"{new}/{path}")
        except FileNotFoundError:
            (work.new / path).parent.mkdir(parents=True, exist_ok=True)
            os.link(f"{mirror}/{path}", f"{new}/{path}")


def _replace_one_by_one(work: WorkDir, change: FileChanges) -> None:
    """Replaces each file separately: first writes the new ones, then removes the others."""
    for path in change.staged:
        target = work.mirror / path
        for above in reversed(target.relative_to(work.mirror).parents[:-1]):
            # Remove a file or link where a folder must be; a link could lead out of the mirror.
            if os.path.lexists(work.mirror / above) and not _is_folder(work.mirror / above):
                (work.mirror / above).unlink()
        if _is_folder(target):
            shutil.rmtree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        (work.new / path).replace(target)
    for path in change.removed:
        target = work.mirror / path
        if _is_folder(target):
            with contextlib.suppress(OSError):
                target.rmdir()
        else:
            # It may be gone already: it stood in the way of a new file.
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                target.unlink()


def _prune(mirror: Path, removed: Iterable[str]) -> None:
    """Removes the folders of the mirror that became empty because the files `removed` are gone."""
    for above in sorted({str(p) for path in removed for p in Path(path).parents if p.name}, key=len, reverse=True):
        with contextlib.suppress(OSError):
            (mirror / above).rmdir()


def exchange(one: Path, other: Path) -> bool:
    """Exchanges two paths in one step. Returns False, and changes nothing, where the system cannot."""
    swap = _system_call()
    return swap is not None and swap(os.fsencode(one), os.fsencode(other)) == 0


@functools.cache
def _system_call() -> Callable[[bytes, bytes], int] | None:
    """Returns the system call that exchanges two paths; None if the system has none, as Windows."""
    if sys.platform == "win32":
        return None
    library = ctypes.CDLL(None)
    if hasattr(library, "renameat2"):
        return lambda one, other: int(library.renameat2(_AT_FDCWD, one, _AT_FDCWD, other, _EXCHANGE))
    if hasattr(library, "renamex_np"):
        return lambda one, other: int(library.renamex_np(one, other, _EXCHANGE))
    return None
