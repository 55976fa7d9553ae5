"""Finding files, and the short names their folders are known by."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cuetrail.errors import InputError
from cuetrail.files import MEMORY_FILE, MIRROR_MARKER
from cuetrail.ingest.readers import supported
from cuetrail.model import SourceFile

SKIPPED_FOLDERS = {"node_modules", "__pycache__", "venv"}

KnownFiles = Callable[[str], Mapping[str, SourceFile]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an ingest looks: the files below `path` are known as `prefix` + their path relative to `base`.

    `root` is the short name that is new, or None; `absorbed` are the names of what lies inside this one.
    """

    path: Path
    base: Path
    prefix: str
    root: str | None
    absorbed: tuple[str, ...]

    def source(self, file: Path) -> str:
        """The name of a file in the memory."""
        below = file.relative_to(self.base).as_posix()
        return self.prefix if below == "." else f"{self.prefix}/{below}"


@dataclass(slots=True)
class Walk:
    """The files below a place, and the folders that could not be looked into."""

    files: list[Path] = field(default_factory=list)
    closed: list[OSError] = field(default_factory=list)

    def hides(self, folder: Path) -> bool:
        """Whether something of a folder could not be looked into."""
        closed = [Path(error.filename) for error in self.closed]
        return any(one.is_relative_to(folder) or folder.is_relative_to(one) for one in closed)


def locate(path: Path, roots: Mapping[str, str], known: KnownFiles) -> Place:
    """The place of a path among the folders and single files already known. A moved or renamed folder keeps its name.

    Only a folder that was itself taken in gives its files their names; the folder of a single file does not.
    Raises InputError when nothing is there and nothing was, or it is a mirror or a memory itself.
    """
    path = path.absolute().resolve()
    folder = path if path.is_dir() else path.parent
    _refuse_own(path, folder)
    inside = tuple(sorted(n for n, place in roots.items() if path in Path(place).parents))
    for name, place in sorted(roots.items(), key=lambda item: len(item[1])):
        if Path(place) in (path, *path.parents):
            # Of a folder that is gone nothing can be told; a single file may well have been deleted.
            if not (Path(place).parent if name in known(name) else Path(place)).exists():
                raise InputError(
                    f"{place}, known as {name!r}, is not there: is its drive connected? Nothing was removed"
                )
            found = Place(path, Path(place), name, None, tuple(n for n in inside if n != name))
            if not path.exists() and not known(found.source(path)):
                break
            return found
    if not path.exists():
        raise InputError(f"there is no file or folder {path}")
    if path.is_file():
        name = _free_name(f"{folder.name}/{path.name}".lstrip("/"), roots)
        return Place(path, path, name, name, ())
    name = _moved_from(folder, roots, known) or _free_name(folder.name or "root", roots)
    return Place(path, folder, name, name, tuple(n for n in inside if n != name))


def _refuse_own(path: Path, folder: Path) -> None:
    for above in (folder, *folder.parents):
        if (above / MIRROR_MARKER).exists():
            raise InputError(f"{path} is in a mirror that cuetrail wrote: ingest what it was made from")
    if path.is_dir() and (path / MEMORY_FILE).exists():
        raise InputError(f"{path} is a memory: use `cuetrail export` and `cuetrail import` to bring one into another")


def _moved_from(folder: Path, roots: Mapping[str, str], known: KnownFiles) -> str | None:
    """The name of a folder that is no longer where it was and most of whose files are here."""
    for name, place in sorted(roots.items()):
        if not _has_left(Path(place)):
            continue
        files = known(name)
        same = sum(_has_size(folder / path[len(name) + 1 :], file.size) for path, file in files.items())
        if 2 * same > len(files) or (not files and name == folder.name):
            return name
    return None


def _has_left(place: Path) -> bool:
    try:
        return not place.exists()
    except OSError:
        # It may be there, behind a closed door.
        return False


def _has_size(file: Path, size: int) -> bool:
    try:
        return file.stat().st_size == size
    except OSError:
        return False


def _free_name(wanted: str, roots: Mapping[str, str]) -> str:
    name, number = wanted, 1
    while name in roots:
        number += 1
        name = f"{wanted}-{number}"
    return name


def walk(place: Place, skip: Sequence[Path]) -> Walk:
    """The files to read, in a fixed order. Hidden folders, other memories and `skip` are left out."""
    found = Walk()
    if place.path.is_file():
        found.files.append(place.path)
    elif place.path.is_dir():
        found.files.extend(_below(place.path, skip, found.closed))
    return found


def _below(top: Path, skip: Sequence[Path], closed: list[OSError]) -> Iterator[Path]:
    for folder, folders, names in os.walk(top, onerror=closed.append):
        here = Path(folder)
        folders[:] = sorted(f for f in folders if _enters(here / f, skip))
        for name in sorted(names):
            file = here / name
            if not name.startswith(".") and supported(file) and _is_file(file):
                yield file


def links(path: Path, skip: Sequence[Path]) -> list[Path]:
    """The files to read below a path, or the one that it is, that are links to others."""
    if path.is_symlink() and not path.is_dir():
        return [path]
    return [file for file in _below(path, skip, []) if file.is_symlink()]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # It cannot be looked at: reading it tells why.
        return True


def is_own(path: Path, own: Sequence[Path]) -> bool:
    """Whether a path lies in one of these folders, in a mirror, or where one is being built."""
    around = (path, *path.parents)
    return (
        any(place in around for place in own)
        or any(part.startswith(MIRROR_MARKER) for part in path.parts)
        or any(os.path.lexists(above / MIRROR_MARKER) for above in path.parents)
    )


def _enters(folder: Path, skip: Sequence[Path]) -> bool:
    if folder.name.startswith(".") or folder.name in SKIPPED_FOLDERS or folder.resolve() in skip:
        return False
    # Not Path.exists, which fails where the folder is closed.
    return not any(os.path.lexists(folder / mark) for mark in (MEMORY_FILE, MIRROR_MARKER))
