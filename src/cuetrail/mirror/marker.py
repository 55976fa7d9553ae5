"""The marker file of a mirror: it says which memory and scope the folder mirrors."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from cuetrail.errors import InputError
from cuetrail.files import MEMORY_FILE, MIRROR_MARKER
from cuetrail.model import Scope

Placement = Literal["first", "all"]
PLACEMENTS: tuple[Placement, ...] = get_args(Placement)
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
    """Returns the marker to write: `marker` with the given placement, or with that of the mirror already there.

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
