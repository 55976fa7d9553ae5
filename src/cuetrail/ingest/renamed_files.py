"""Recognises files and folders that were renamed or moved since the last ingest, by their content and size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from cuetrail.model import SourceFile

KnownFiles = Callable[[str], Mapping[str, SourceFile]]
"""Returns the known files whose source begins with a name."""


class MissingFiles:
    """Known files that no longer exist. One with the same content as a new file counts as renamed to that."""

    def __init__(self, files: Mapping[str, SourceFile]) -> None:
        self._by_hash: dict[str, list[str]] = {}
        for source, file in files.items():
            self._by_hash.setdefault(_content(file.hash), []).append(source)

    def take_renamed(self, source: str, content_hash: str) -> str | None:
        """Removes and returns the missing file that `source` was renamed from, None if there is none.

        Among several with the same content, prefers one with the same file name.
        """
        sources = self._by_hash.get(_content(content_hash))
        if not sources:
            return None
        name = PurePosixPath(source).name
        old = min(sources, key=lambda path: (PurePosixPath(path).name != name, path))
        sources.remove(old)
        return old

    def remaining(self) -> list[str]:
        """Returns the missing files that were not renamed, that is, the deleted ones."""
        return sorted(source for sources in self._by_hash.values() for source in sources)


def _content(file_hash: str) -> str:
    """Returns the hash of a file's content from the stored hash, without the suffix for options and rules."""
    return file_hash.partition("+")[0]


def renamed_folder(folder: Path, roots: Mapping[str, str], known: KnownFiles) -> str | None:
    """Returns the name of a known folder that no longer exists and most of whose files are in `folder`, or None."""
    for name, path in sorted(roots.items()):
        if _may_exist(Path(path)):
            continue
        files = known(name)
        same = sum(_has_size(folder / source[len(name) + 1 :], file.size) for source, file in files.items())
        if 2 * same > len(files) or (not files and name == folder.name):
            return name
    return None


def _may_exist(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        # It may exist in a folder that we may not read.
        return True


def _has_size(file: Path, size: int) -> bool:
    try:
        return file.stat().st_size == size
    except OSError:
        return False
