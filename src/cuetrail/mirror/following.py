"""The mirrors a memory keeps in step by itself. The memory remembers where they are, so whoever opens it reaches them.

That is what makes forgetting hold: a mirror that only its maker knew of would go on showing what was forgotten.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from cuetrail.errors import CuetrailError, InputError
from cuetrail.mirror.place import read_mark
from cuetrail.mirror.syncing import MirrorReport, sync
from cuetrail.model import Scope
from cuetrail.store.base import Progress, Store

_NAME = "mirror:"


@dataclass(frozen=True, slots=True)
class Followed:
    """What was done to the mirrors of a memory; in words, what went wrong with some, and which were found deleted."""

    reports: tuple[MirrorReport, ...] = ()
    problems: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()


def keep_following(store: Store, scope: Scope, directory: Path, memory: Path, on: bool) -> None:
    """Remember that this mirror is to be kept in step from now on; or no longer."""
    whose = {"memory": str(memory.resolve()), "tenant": scope.tenant, "user": scope.user, "teams": sorted(scope.teams)}
    name = f"{_NAME}{directory}"
    value = json.dumps(whose, ensure_ascii=False) if on else None
    if store.kept(name).get(name) != value:
        store.keep(name, value)


def kept(store: Store, memory: Path) -> dict[Path, Scope]:
    """The mirrors that are kept in step, and as whom. A copy of a memory has none: they are the original's."""
    found = {}
    for name, value in sorted(store.kept(_NAME).items()):
        said = json.loads(value)
        if said["memory"] == str(memory.resolve()):
            scope = Scope(said["tenant"], said["user"], tuple(said["teams"]))
            found[Path(name.removeprefix(_NAME))] = scope
    return found


def follow(
    store: Store, scope: Scope, memory: Path, progress: Progress | None = None, teams: Collection[str] = ()
) -> Followed:
    """Bring the mirrors of this user in step, and those of the others who see what is shared with these teams.

    A mirror that was deleted, or has become something else, is no longer kept in step. Nothing is raised: what a
    mirror suffers must not undo what was stored.
    """
    reports: list[MirrorReport] = []
    problems: list[str] = []
    ended: list[str] = []
    for place, whose in kept(store, memory).items():
        if whose.tenant != scope.tenant or (whose.user != scope.user and not set(whose.teams) & set(teams)):
            continue
        if not place.exists():
            keep_following(store, whose, place, memory, False)
            ended.append(f"the mirror in {place} was deleted and is no longer kept in step")
            continue
        try:
            if read_mark(place) is None:
                raise InputError(f"{place} is no mirror any more")
            reports.append(sync(store, whose, place, memory=memory, progress=progress))
        except InputError as error:
            keep_following(store, whose, place, memory, False)
            problems.append(f"{error}; it is no longer kept in step")
        except CuetrailError as error:
            problems.append(str(error))
    return Followed(tuple(reports), tuple(problems), tuple(ended))
