"""Helpers for tests of the mirror: reading a mirror, and memories to mirror."""

from __future__ import annotations

import re
from pathlib import Path

from cuetrail import Memory, Scope

ATOM = re.compile(r"^## \[(.*?)\] ?(.*)$", re.MULTILINE)
RULE = "\n\n---\n\n"


def opened(place: Path, scope: Scope | None = None) -> Memory:
    """A memory without vectors."""
    return Memory(place, scope=scope, embedder=None)


def tree(place: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too, by path; a link by where it leads."""
    return {
        p.relative_to(place).as_posix(): str(p.readlink()).encode() if p.is_symlink() else p.read_bytes()
        for p in place.rglob("*")
        if p.is_symlink() or p.is_file()
    }


def pages(mirror: Path) -> dict[str, bytes]:
    """The pages of a mirror by path, without what it knows about itself."""
    found = ((path.relative_to(mirror).as_posix(), path) for path in mirror.rglob("*") if path.is_file())
    # What the mirror knows about itself comes and goes while it is brought in step, so it is not even opened.
    return {name: path.read_bytes() for name, path in found if not name.startswith(".")}


def ids(page: bytes | Path) -> list[str]:
    """The ids on a page, in order."""
    data = page if isinstance(page, bytes) else page.read_bytes()
    return [found[1] for found in ATOM.finditer(data.decode())]


def shown(mirror: Path) -> dict[str, list[str]]:
    """The ids on every page."""
    return {path: ids(data) for path, data in sorted(pages(mirror).items())}


def looks(mirror: Path) -> dict[str, tuple[int, int]]:
    """Which file each page is, and when it was written."""
    return {path: ((mirror / path).stat().st_ino, (mirror / path).stat().st_mtime_ns) for path in pages(mirror)}
