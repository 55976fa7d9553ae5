"""Where a mirror may be, whose it is, and what is known of the files in it. Nothing here changes a mirror's pages."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

from filelock import FileLock, Timeout

from cuetrail.errors import Busy, InputError
from cuetrail.files import MEMORY_FILE, MIRROR_MARKER
from cuetrail.model import Scope
from cuetrail.text.normalise import storable

Placement = Literal["first", "all"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)
PAGES = MIRROR_MARKER + ".pages"
# Where a sync works when it cannot do so beside the mirror.
INSIDE = MIRROR_MARKER + ".work"
OWN = (MIRROR_MARKER, PAGES, INSIDE)
LOCK = "mirror.lock"
LOCK_SECONDS = 600.0
_ABOUT = "Made by cuetrail from the memory named here. What is changed in this folder is lost at the next sync."


@dataclass(frozen=True, slots=True)
class Mark:
    """Whose mirror this is. It stands in the marker file; without one a folder is never touched."""

    memory: str
    epoch: str
    tenant: str
    user: str
    teams: tuple[str, ...]
    placement: Placement = "first"

    def is_of(self, other: Mark) -> bool:
        """Whether both are of one scope of one memory: the one in that directory, or one that was moved from there."""
        scopes = (self.tenant, self.user, self.teams) == (other.tenant, other.user, other.teams)
        moved = self.epoch == other.epoch and not (Path(self.memory) / MEMORY_FILE).exists()
        return scopes and (self.memory == other.memory or moved)

    @property
    def scope(self) -> Scope:
        return Scope(self.tenant, self.user, self.teams)

    def __str__(self) -> str:
        teams = f" with {', '.join(self.teams)}" if self.teams else ""
        return f"the memory {self.memory} as {self.user} of {self.tenant}{teams} sees it"


@dataclass(frozen=True, slots=True)
class File:
    """How a page looked when it was written, and the check of what is in it."""

    size: int
    mtime_ns: int
    check: str = ""


@dataclass(slots=True)
class Bundle:
    """The pages of one stem, by path, and the digest of the atoms they were made of."""

    digest: str
    files: dict[str, File] = field(default_factory=dict)


def located(directory: Path, memory: Path) -> Path:
    """The real place of a mirror. Raises InputError, before anything is touched, where none may be written."""
    given = directory.expanduser().absolute()
    try:
        return _located(given, memory.resolve())
    except (OSError, RuntimeError) as error:
        raise InputError(f"{given} cannot be used for a mirror ({error}): choose another folder") from error


def _located(given: Path, memory: Path) -> Path:
    place = given.resolve()
    linked, there = given.is_symlink(), os.path.lexists(place)
    own = read_mark(place) is not None
    used = not own and there and (not place.is_dir() or any(entry.name != INSIDE for entry in place.iterdir()))
    if not storable(f"{place}{memory}"):
        raise InputError(f"{str(place)!r} is not a name in UTF-8: choose another folder for the mirror")
    if place == place.parent or place in _homes():
        raise InputError(f"{place} is no place for a mirror: name a folder of its own, such as {place / 'brain'}")
    if place == memory or memory in place.parents or place in memory.parents:
        raise InputError(f"{place} and the memory {memory} lie in each other: choose a folder outside the memory")
    for file in (place, *place.parents):
        if os.path.lexists(file) and not file.is_dir():
            raise InputError(f"{file} is a file: name a folder for the mirror")
    if linked and not own:
        raise InputError(f"{given} is a link to {place}, which is no mirror: name the folder itself")
    if used:
        raise InputError(
            f"{place} is not empty and not a mirror: nothing was touched. Name a new folder, or empty this one"
        )
    for above in place.parents:
        if (above / MIRROR_MARKER).exists():
            raise InputError(f"{place} lies in the mirror {above}, which is wiped at each sync: choose another folder")
    return place


def _homes() -> tuple[Path, ...]:
    """The home directory and those above it: an empty one is still no folder to take over."""
    with contextlib.suppress(RuntimeError, OSError):
        home = Path.home().resolve()
        return (home, *home.parents)
    return ()


def read_mark(place: Path) -> Mark | None:
    """The mark of the mirror in a folder, None when there is none. Raises InputError for one that makes no sense."""
    try:
        said: Any = json.loads((place / MIRROR_MARKER).read_text("utf-8"))["cuetrail mirror"]
        mark = Mark(**{**said, "teams": tuple(said["teams"])})
        if mark.placement not in PLACEMENTS or not isinstance(mark.memory, str):
            raise ValueError(f"placement {mark.placement!r}")
        return mark
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(
            f"the mirror in {place} cannot be read ({error}): see that it is there and readable"
        ) from error
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{place / MIRROR_MARKER} is not a marker of this cuetrail ({error}): nothing was touched. If the folder "
            "is a mirror, delete it; else name another"
        ) from error


def is_there(place: Path) -> bool:
    """Whether a mirror is in a folder, and can be read."""
    try:
        return read_mark(place) is not None
    except InputError:
        return False


def claimed(place: Path, mark: Mark, placement: Placement | None) -> Mark:
    """The mark with which a sync may go on. Raises InputError when the mirror there is another memory's or scope's."""
    old = read_mark(place)
    if old is not None and not old.is_of(mark):
        raise InputError(f"{place} mirrors {old}, not {mark}: nothing was touched. Choose another folder or delete it")
    return replace(mark, placement=placement or (old.placement if old else "first"))


def mark_bytes(mark: Mark) -> bytes:
    """The content of the marker file."""
    said = {"about": _ABOUT, "cuetrail mirror": asdict(mark)}
    return (json.dumps(said, ensure_ascii=False, indent=1) + "\n").encode()


def read_pages(place: Path) -> dict[str, Bundle]:
    """What the last sync wrote down of its files, by stem; empty when it cannot be read. It is a hint, never believed.

    Every file is looked at before it counts as unchanged.
    """
    found: dict[str, Bundle] = {}
    try:
        with (place / PAGES).open(encoding="utf-8") as lines:
            for line in lines:
                stem, digest, files = json.loads(line)
                found[stem] = Bundle(digest, {path: File(*rest) for path, *rest in files})
    except (OSError, ValueError, TypeError):
        return {}
    return found


def pages_bytes(bundles: dict[str, Bundle]) -> bytes:
    """The file that `read_pages` reads: a line for each stem."""
    lines = []
    for stem, bundle in bundles.items():
        files = [[name, f.size, f.mtime_ns, f.check] for name, f in bundle.files.items()]
        lines.append(json.dumps([stem, bundle.digest, files], ensure_ascii=False, separators=(",", ":")) + "\n")
    return "".join(lines).encode()


def walk(place: Path) -> dict[str, File]:
    """Every file of a mirror by its path below it. Links, and folders with nothing in them, are files without a size.

    Hidden ones are left out: they belong to the system or to the programs people browse with.
    """
    found: dict[str, File] = {}
    folders = [""] if place.is_dir() else []
    while folders:
        above = folders.pop()
        empty = bool(above)
        with os.scandir(place / above) as entries:
            for entry in entries:
                empty = False
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(f"{above}{entry.name}/")
                else:
                    looks = entry.stat(follow_symlinks=False)
                    plain = entry.is_file(follow_symlinks=False)
                    found[above + entry.name] = File(looks.st_size, looks.st_mtime_ns) if plain else File(-1, 0)
        if empty:
            found[above.rstrip("/")] = File(-1, 0)
    return found


@contextlib.contextmanager
def alone(memory: Path) -> Iterator[None]:
    """One sync of a memory at a time, in whatever process. Raises Busy after waiting for long."""
    lock = FileLock(memory / LOCK, timeout=LOCK_SECONDS)
    try:
        lock.acquire()
    except Timeout:
        raise Busy(
            f"another process has been mirroring {memory} for over {LOCK_SECONDS:g} s: try again later"
        ) from None
    try:
        yield
    finally:
        lock.release()
