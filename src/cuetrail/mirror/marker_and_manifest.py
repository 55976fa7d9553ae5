"""The marker and the manifest of a mirror, and the check of which folder may be one.

The marker file says which memory and scope the folder mirrors. The manifest lists the files that the last sync wrote,
with their size, time and checksum.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from cuetrail.errors import InputError
from cuetrail.files import MEMORY_FILE, MIRROR_MARKER
from cuetrail.model import Scope
from cuetrail.text.normalise import storable

Placement = Literal["first", "all"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)
# A sync works in this folder inside the mirror when it cannot work beside it.
INNER_WORK = MIRROR_MARKER + ".work"
MANIFEST = MIRROR_MARKER + ".pages"
_ABOUT = "Made by cuetrail from the memory named here. What is changed in this folder is lost at the next sync."


@dataclass(frozen=True, slots=True)
class Marker:
    """The content of the marker file. A folder with files but without a marker is never changed."""

    memory: str
    epoch: str
    tenant: str
    user: str
    teams: tuple[str, ...]
    placement: Placement = "first"

    def is_of(self, other: Marker) -> bool:
        """True if both name the same scope of the same memory, also when that memory was moved."""
        scopes = (self.tenant, self.user, self.teams) == (other.tenant, other.user, other.teams)
        moved = self.epoch == other.epoch and not (Path(self.memory) / MEMORY_FILE).exists()
        return scopes and (self.memory == other.memory or moved)

    @property
    def scope(self) -> Scope:
        return Scope(self.tenant, self.user, self.teams)

    def __str__(self) -> str:
        teams = f" with {', '.join(self.teams)}" if self.teams else ""
        return f"the memory {self.memory} as {self.user} of {self.tenant}{teams} sees it"


def read_marker(folder: Path) -> Marker | None:
    """Returns the marker of the mirror in a folder, or None without one. Raises InputError for an unreadable marker."""
    try:
        fields: Any = json.loads((folder / MIRROR_MARKER).read_text("utf-8"))["cuetrail mirror"]
        marker = Marker(**{**fields, "teams": tuple(fields["teams"])})
        if marker.placement not in PLACEMENTS or not isinstance(marker.memory, str):
            raise ValueError(f"placement {marker.placement!r}")
        return marker
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(
            f"the mirror in {folder} cannot be read ({error}): check that it is there and readable"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{folder / MIRROR_MARKER} is not a marker of this cuetrail ({error}): nothing was touched. If the folder "
            "is a mirror, delete it; else name another"
        ) from error


def is_mirror(folder: Path) -> bool:
    """True if the folder holds a mirror with a readable marker."""
    try:
        return read_marker(folder) is not None
    except InputError:
        return False


def claim(folder: Path, marker: Marker, placement: Placement | None) -> Marker:
    """Returns the marker to write: `marker` with the given placement, else with that of the mirror already there, else
    with "first".

    Raises InputError when the folder mirrors another memory or scope.
    """
    old = read_marker(folder)
    if old is not None and not old.is_of(marker):
        raise InputError(
            f"{folder} mirrors {old}, not {marker}: nothing was touched. Choose another folder or delete it"
        )
    return replace(marker, placement=placement or (old.placement if old else "first"))


def marker_bytes(marker: Marker) -> bytes:
    """Returns the content of the marker file."""
    content = {"about": _ABOUT, "cuetrail mirror": asdict(marker)}
    return (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()


# --- where a mirror may be


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


# --- the manifest


@dataclass(frozen=True, slots=True)
class PageState:
    """Size and time of a page on disk, and the checksum of its atoms. Symbolic links and empty folders have size -1."""

    size: int
    mtime_ns: int
    check: str = ""


@dataclass(slots=True)
class Bundle:
    """The files of a mirror whose names have the same stem, that is those of one source: their states by path, and the
    digest of their atoms.
    """

    digest: str
    files: dict[str, PageState] = field(default_factory=dict)


def read_manifest(folder: Path) -> dict[str, Bundle]:
    """Returns what the last sync wrote: bundles of files by their common stem; {} if the manifest cannot be read.

    It is only a hint: a page counts as unchanged only if its file on disk has the same size and time.
    """
    bundles: dict[str, Bundle] = {}
    try:
        with (folder / MANIFEST).open(encoding="utf-8") as lines:
            for line in lines:
                stem, digest, files = json.loads(line)
                bundles[stem] = Bundle(digest, {path: PageState(*rest) for path, *rest in files})
    except (OSError, ValueError, TypeError):
        return {}
    return bundles


def manifest_bytes(bundles: dict[str, Bundle]) -> bytes:
    """Returns the content of the manifest: a line of JSON for each bundle, with the common stem of its files."""
    lines = []
    for stem, bundle in bundles.items():
        files = [[name, f.size, f.mtime_ns, f.check] for name, f in bundle.files.items()]
        lines.append(json.dumps([stem, bundle.digest, files], ensure_ascii=False, separators=(",", ":")) + "\n")
    return "".join(lines).encode()


def scan_files(folder: Path) -> dict[str, PageState]:
    """Returns the files on disk by relative path, without hidden ones: those belong to the system or other programs."""
    found: dict[str, PageState] = {}
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
                        PageState(status.st_size, status.st_mtime_ns) if plain else PageState(-1, 0)
                    )
        if empty:
            found[above.rstrip("/")] = PageState(-1, 0)
    return found
