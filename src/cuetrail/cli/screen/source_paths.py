"""The file of a source on this machine, and how its path is written for people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

# Older parts of a chat export are `file#id`.
_PART = "#"


def file_of(source: str | None, roots: Mapping[str, str]) -> Path | None:
    """Returns the file that a source was read from, None if it is no file or the file is not there any more.

    `roots` are the paths of ingested folders and files by the names that sources begin with.
    """
    for name in sorted(roots, key=len, reverse=True) if source else ():
        assert source is not None
        if source == name or source.startswith((f"{name}/", f"{name}{_PART}")):
            rest = source[len(name) :].lstrip("/")
            whole = Path(roots[name], rest) if rest and not rest.startswith(_PART) else Path(roots[name])
            # A file name may contain the sign that parts of a file are named with.
            for path in (whole, Path(str(whole).rpartition(_PART)[0] or whole)):
                if _is_file(path):
                    return path
    return None


def source_of(path: str, roots: Mapping[str, str]) -> str:
    """Returns the source of a file or folder that is given by its path on this machine; the path itself if it was not
    ingested, or if it is a source already.
    """
    if any(path == name or path.startswith(f"{name}/") for name in roots):
        return path
    try:
        file = Path(path).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):
        return path
    for name in sorted(roots, key=lambda name: len(roots[name]), reverse=True):
        if file.is_relative_to(roots[name]):
            below = file.relative_to(roots[name]).as_posix()
            return name if below == "." else f"{name}/{below}"
    return path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def shown_path(path: Path) -> str:
    """Returns a path as it can be opened from here: from this folder if it lies below it, else from the home folder or
    the root.
    """
    for above, prefix in ((_here(), ""), (_home(), "~/")):
        if above is not None and path.is_relative_to(above) and above != Path(above.root):
            return f"{prefix}{path.relative_to(above).as_posix()}"
    return str(path)


def _here() -> Path | None:
    try:
        return Path.cwd()
    except OSError:
        return None


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None
