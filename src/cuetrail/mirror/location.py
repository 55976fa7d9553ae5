"""Checks that a folder may become a mirror, or already is one."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from cuetrail.errors import InputError
from cuetrail.files import MIRROR_MARKER
from cuetrail.mirror.marker import read_marker
from cuetrail.text.normalise import storable

# A sync works in this folder inside the mirror when it cannot work beside it.
INNER_WORK = MIRROR_MARKER + ".work"


def mirror_folder(directory: Path, memory: Path) -> Path:
    """Returns the resolved folder of a mirror. Changes nothing. Raises InputError where no mirror may be written."""
    given = directory.expanduser().absolute()
    try:
        return _checked(given, memory.resolve())
    except (OSError, RuntimeError) as error:
        raise InputError(f"{given} cannot be used for a mirror ({error}): choose another folder") from error


def _checked(given: Path, memory: Path) -> Path:
    folder = given.resolve()
    is_link, exists = given.is_symlink(), os.path.lexists(folder)
    is_ours = read_marker(folder) is not None
    in_use = not is_ours and exists and (not folder.is_dir() or any(e.name != INNER_WORK for e in folder.iterdir()))
    if not storable(f"{folder}{memory}"):
        raise InputError(f"{str(folder)!r} is not a name in UTF-8: choose another folder for the mirror")
    if folder == folder.parent or folder in _homes():
        raise InputError(f"{folder} is no place for a mirror: name a folder of its own, such as {folder / 'brain'}")
    if folder == memory or memory in folder.parents or folder in memory.parents:
        raise InputError(f"{folder} and the memory {memory} lie in each other: choose a folder outside the memory")
    for path in (folder, *folder.parents):
        if os.path.lexists(path) and not path.is_dir():
            raise InputError(f"{path} is a file: name a folder for the mirror")
    if is_link and not is_ours:
        raise InputError(f"{given} is a link to {folder}, which is no mirror: name the folder itself")
    if in_use:
        raise InputError(
            f"{folder} is not empty and not a mirror: nothing was touched. Name a new folder, or empty this one"
        )
    for above in folder.parents:
        if (above / MIRROR_MARKER).exists():
            raise InputError(f"{folder} lies in the mirror {above}, which is wiped at each sync: choose another folder")
    return folder


def _homes() -> tuple[Path, ...]:
    """Returns the home directory and its parents. They are refused even when empty."""
    with contextlib.suppress(RuntimeError, OSError):
        home = Path.home().resolve()
        return (home, *home.parents)
    return ()
