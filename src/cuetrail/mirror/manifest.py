"""The manifest of a mirror: the files that the last sync wrote, with their size, time and checksum."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from cuetrail.files import MIRROR_MARKER

MANIFEST = MIRROR_MARKER + ".pages"


@dataclass(frozen=True, slots=True)
class PageFile:
    """Size and time of a page on disk, and the checksum of its atoms. Symbolic links and empty folders have size -1."""

    size: int
    mtime_ns: int
    check: str = ""


@dataclass(slots=True)
class Bundle:
    """The pages that share a file stem, by path, and the digest of their atoms."""

    digest: str
    files: dict[str, PageFile] = field(default_factory=dict)


def read_manifest(folder: Path) -> dict[str, Bundle]:
    """Returns the bundles of the last sync by stem; {} if the manifest cannot be read.

    It is only a hint: a page counts as unchanged only if its file on disk has the same size and time.
    """
    bundles: dict[str, Bundle] = {}
    try:
        with (folder / MANIFEST).open(encoding="utf-8") as lines:
            for line in lines:
                stem, digest, files = json.loads(line)
                bundles[stem] = Bundle(digest, {path: PageFile(*rest) for path, *rest in files})
    except (OSError, ValueError, TypeError):
        return {}
    return bundles


def manifest_bytes(bundles: dict[str, Bundle]) -> bytes:
    """Returns the content of the manifest: one JSON line per stem."""
    lines = []
    for stem, bundle in bundles.items():
        files = [[name, f.size, f.mtime_ns, f.check] for name, f in bundle.files.items()]
        lines.append(json.dumps([stem, bundle.digest, files], ensure_ascii=False, separators=(",", ":")) + "\n")
    return "".join(lines).encode()


def scan_files(folder: Path) -> dict[str, PageFile]:
    """Returns the files on disk by relative path, without hidden ones: those belong to the system or other programs."""
    found: dict[str, PageFile] = {}
    pending = [""] if folder.is_dir() else []
    while pending:
        above = pending.pop()
        empty = bool(above)
        with os.scandir(folder / above) as entries:
            for entry in entries:
                empty = False
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending.append(f"{above}{entry.name}/")
                else:
                    status = entry.stat(follow_symlinks=False)
                    plain = entry.is_file(follow_symlinks=False)
                    found[above + entry.name] = (
                        PageFile(status.st_size, status.st_mtime_ns) if plain else PageFile(-1, 0)
                    )
        if empty:
            found[above.rstrip("/")] = PageFile(-1, 0)
    return found
