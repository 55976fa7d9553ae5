"""Finds the files to read below a path.

Sources begin with the short name of the folder that was ingested.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from cuetrail.errors import InputError
from cuetrail.files import MEMORY_FILE, MIRROR_MARKER
from cuetrail.ingest.readers.file_format import supported
from cuetrail.ingest.renamed_files import KnownFiles, renamed_folder

SKIPPED_FOLDERS = {"node_modules", "__pycache__", "venv"}


@dataclass(frozen=True, slots=True)
class ScanRoot:
    """A path to ingest. The source of a file below it is `prefix` and the file's path relative to `base`.

    `new_name` is the short name of a folder or file that was not known before, else None. `absorbed` are the names of
    known folders that lie inside this one.
    """

    path: Path
    base: Path
    prefix: str
    new_name: str | None
    absorbed: tuple[str, ...]

    def source(self, file: Path) -> str:
        """Returns the source of a file: its name in the memory."""
        below = file.relative_to(self.base).as_posix()
        return self.prefix if below == "." else f"{self.prefix}/{below}"


@dataclass(slots=True)
class Scan:
    """The files found, and the errors of folders that could not be read."""

    files: list[Path] = field(default_factory=list)
    errors: list[OSError] = field(default_factory=list)

    def is_incomplete(self, folder: Path) -> bool:
        """True if some part of a folder could not be read."""
        unread = [Path(error.filename) for error in self.errors]
        return any(one.is_relative_to(folder) or folder.is_relative_to(one) for one in unread)


def resolve_root(path: Path, roots: Mapping[str, str], known: KnownFiles) -> ScanRoot:
    """Returns the scan root of a path, given the known folders and single files. A moved folder keeps its name.

    Sources begin with the name of the folder that was ingested; a file ingested alone has a name of its own.
    Raises InputError if the path neither exists nor is known, and for a mirror or a memory.
    """
    path = path.absolute().resolve()
    folder = path if path.is_dir() else path.parent
    _refuse_own(path, folder)
    inside = tuple(sorted(name for name, root in roots.items() if path in Path(root).parents))
    for name, root in sorted(roots.items(), key=lambda item: len(item[1])):
        if Path(root) in (path, *path.parents):
            # A missing folder may be on a disconnected drive. A single file counts as deleted if its folder exists.
            if not (Path(root).parent if name in known(name) else Path(root)).exists():
                raise InputError(
                    f"{root}, known as {name!r}, is not there: is its drive connected? Nothing was removed"
                )
            found = ScanRoot(path, Path(root), name, None, tuple(n for n in inside if n != name))
            if not path.exists() and not known(found.source(path)):
                break
            return found
    if not path.exists():
        raise InputError(f"there is no file or folder {path}")
    if path.is_file():
        name = _free_name(f"{folder.name}/{path.name}".lstrip("/"), roots)
        return ScanRoot(path, path, name, name, ())
    name = renamed_folder(folder, roots, known) or _free_name(folder.name or "root", roots)
    return ScanRoot(path, folder, name, name, tuple(n for n in inside if n != name))


def _refuse_own(path: Path, folder: Path) -> None:
    for above in (folder, *folder.parents):
        if (above / MIRROR_MARKER).exists():
            raise InputError(f"{path} is in a mirror that cuetrail wrote: ingest what it was made from")
    if path.is_dir() and (path / MEMORY_FILE).exists():
        raise InputError(f"{path} is a memory: use `cuetrail export` and `cuetrail import` to bring one into another")


def _free_name(wanted: str, roots: Mapping[str, str]) -> str:
    name, number = wanted, 1
    while name in roots:
        number += 1
        name = f"{wanted}-{number}"
    return name


def scan(root: ScanRoot, skip: Sequence[Path]) -> Scan:
    """Returns the files to read, in a fixed order. Leaves out hidden folders, other memories and `skip`."""
    found = Scan()
    if root.path.is_file():
        found.files.append(root.path)
    elif root.path.is_dir():
        found.files.extend(_files_below(root.path, skip, found.errors))
    return found


def _files_below(top: Path, skip: Sequence[Path], errors: list[OSError]) -> Iterator[Path]:
    for folder, folders, names in os.walk(top, onerror=errors.append):
        folders[:] = sorted(name for name in folders if _is_entered(Path(folder, name), skip))
        for name in sorted(names):
            file = Path(folder, name)
            if not name.startswith(".") and supported(file) and _is_file(file):
                yield file


def leads_out(file: Path, top: Path) -> bool:
    """True if a file below the folder `top` is a symbolic link to something outside that folder."""
    # Unlike Path.is_symlink, this does not raise for a folder that may not be entered.
    return file != top and os.path.islink(file) and not file.resolve().is_relative_to(top.resolve())  # noqa: PTH114


def linked_files(path: Path, skip: Sequence[Path]) -> list[Path]:
    """Returns the files to read at or below a path that are symbolic links."""
    if path.is_symlink() and not path.is_dir():
        return [path]
    return [file for file in _files_below(path, skip, []) if file.is_symlink()]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # Reading it reports the error.
        return True


def is_own_output(path: Path, own: Sequence[Path]) -> bool:
    """True if a path lies in one of these folders, in a mirror, or in the work folder of a mirror."""
    return (
        any(path.is_relative_to(folder) for folder in own)
        or any(part.startswith(MIRROR_MARKER) for part in path.parts)
        or any(os.path.lexists(above / MIRROR_MARKER) for above in path.parents)
    )


def _is_entered(folder: Path, skip: Sequence[Path]) -> bool:
    if folder.name.startswith(".") or folder.name in SKIPPED_FOLDERS or folder.resolve() in skip:
        return False
    # Path.exists would raise for a folder that we may not read.
    return not any(os.path.lexists(folder / mark) for mark in (MEMORY_FILE, MIRROR_MARKER))
