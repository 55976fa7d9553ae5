"""Finding files, and the short names their folders are known by."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuetrail.errors import InputError
from cuetrail.ingest.readers import supported

SKIPPED_FOLDERS = {"node_modules", "__pycache__", "venv"}
# A folder that holds one of these is another memory or a mirror of one; taking it in would echo.
OWN_MARKS = ("memory.db", ".cuetrail-mirror")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an ingest looks: the files below `path` are known as `prefix` + their path relative to `base`.

    `root` is the short name that is new, or None; `absorbed` are the names of folders that lie inside this one.
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


def locate(path: Path, roots: Mapping[str, str]) -> Place:
    """The place of a path among the folders already known. A moved folder keeps its name.

    Raises InputError when nothing is there and nothing ever was.
    """
    path = path.absolute().resolve()
    folder = path if path.is_dir() else path.parent
    for name, known in sorted(roots.items(), key=lambda item: -len(item[1])):
        if folder == Path(known) or Path(known) in folder.parents:
            return Place(path, Path(known), name, None, ())
    if not path.exists():
        raise InputError(f"there is no file or folder {path}")
    wanted = folder.name or "root"
    name, number = wanted, 1
    while name in roots and Path(roots[name]).exists():
        number += 1
        name = f"{wanted}-{number}"
    inside = tuple(sorted(n for n, known in roots.items() if n != name and folder in Path(known).parents))
    return Place(path, folder, name, name, inside)


def files(place: Place, skip: Sequence[Path]) -> Iterator[Path]:
    """The files to read, in a fixed order. Hidden folders, other memories and `skip` are left out."""
    if place.path.is_file():
        yield place.path
        return
    for folder, folders, names in os.walk(place.path):
        here = Path(folder)
        folders[:] = sorted(f for f in folders if _enters(here / f, skip))
        for name in sorted(names):
            file = here / name
            if not name.startswith(".") and supported(file) and file.is_file():
                yield file


def _enters(folder: Path, skip: Sequence[Path]) -> bool:
    if folder.name.startswith(".") or folder.name in SKIPPED_FOLDERS or folder.resolve() in skip:
        return False
    return not any((folder / mark).exists() for mark in OWN_MARKS)
