"""The view `files`: where the files of ingested sources are on the disk, for a person at the same machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuetrail.memory import Memory

MOST_SOURCES = 1_000
"""The most sources of one request."""

_VAULT = ".obsidian"


def files(memory: Memory, arguments: Mapping[str, Any], local: bool) -> dict[str, Any]:
    """Returns, by source, the files that are still on the disk; none unless the server answers this machine alone."""
    sources = dict.fromkeys(arguments["sources"]) if local else {}
    found = {source: file_of(memory, source) for source in sources}
    return {"files": {source: file for source, file in found.items() if file is not None}}


def file_of(memory: Memory, source: str) -> dict[str, Any] | None:
    """Returns the path of a source's file, and True as `vault` if it is in an Obsidian vault. None if the source was
    not read from a folder, or its file is gone.
    """
    roots = memory.store.ingested(memory.scope).roots
    names = [name for name in roots if source == name or source.startswith(f"{name}/")]
    if not names:
        return None
    name = max(names, key=len)
    root = Path(roots[name])
    path = root / source[len(name) + 1 :] if source != name else root
    try:
        if not path.resolve().is_relative_to(root.resolve()) or not path.is_file():
            return None
        vault = any((folder / _VAULT).is_dir() for folder in path.parents)
    except (OSError, ValueError):
        return None
    return {"path": str(path), "vault": vault}
