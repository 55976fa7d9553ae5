"""The mirrors a memory keeps in step by itself. The memory remembers where they are, so whoever opens it reaches them.

That is what makes forgetting hold: a mirror that only its maker knew of would go on showing what was forgotten. So the
memory knows of a mirror before the first page is written, and of one that is away until its user ends it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from cuetrail.errors import CuetrailError, InputError
from cuetrail.mirror.location import Placement, alone, read_mark
from cuetrail.mirror.publish import Work
from cuetrail.mirror.update import MirrorReport, sync
from cuetrail.model import Scope
from cuetrail.store.ports import Progress, Store

_NAME = "mirror:"

# Kept in step; made for the first time, to be kept or not; deleted, and followed again should it come back.
State = Literal["kept", "making", "making once", "deleted"]
_MAKING: tuple[State, ...] = ("making", "making once")


@dataclass(frozen=True, slots=True)
class Kept:
    """As whom a mirror is kept in step. `device` is the disk it was last seen on."""

    scope: Scope
    state: State = "kept"
    device: int | None = None

    def is_for(self, scope: Scope, teams: Collection[str]) -> bool:
        """Whether it shows what this user, or one who shares with these teams, has."""
        shared = self.scope.user == scope.user or bool(set(self.scope.teams) & set(teams))
        return self.scope.tenant == scope.tenant and shared


@dataclass(slots=True)
class Followed:
    """What was done to the mirrors of a memory; in words, what went wrong with some, and which were found deleted."""

    reports: list[MirrorReport] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)


def kept(store: Store, memory: Path) -> dict[Path, Kept]:
    """The mirrors a memory knows of. A copy of a memory has none: they are the original's."""
    found = {}
    for name, value in sorted(store.kept(_NAME).items()):
        said = json.loads(value)
        if said["memory"] == str(memory.resolve()):
            scope = Scope(said["tenant"], said["user"], tuple(said["teams"]))
            found[Path(name.removeprefix(_NAME))] = Kept(scope, said.get("state", "kept"), said.get("device"))
    return found


def _orphans(store: Store, scope: Scope, memory: Path) -> dict[Path, str]:
    """The mirrors of this user that the memory kept where it was before it was moved, and that place."""
    found = {}
    for name, value in sorted(store.kept(_NAME).items()):
        said, place = json.loads(value), Path(name.removeprefix(_NAME))
        was = said["memory"]
        if (said["tenant"], said["user"]) != (scope.tenant, scope.user) or was == str(memory.resolve()):
            continue
        # Where it was not moved but copied, the mirrors are the original's.
        if not os.path.lexists(was) and (mark := read_mark(place)) is not None and mark.memory == was:
            found[place] = was
    return found


def _note(store: Store, memory: Path, place: Path, now: Kept | None) -> None:
    """Remember this of a mirror from now on; None: nothing."""
    name, value = f"{_NAME}{place}", None
    if now is not None:
        scope = now.scope
        whose = {"tenant": scope.tenant, "user": scope.user, "teams": sorted(scope.teams)}
        said = {"memory": str(memory.resolve()), **whose, "state": now.state, "device": now.device}
        value = json.dumps(said, ensure_ascii=False)
    if store.kept(name).get(name) != value:
        store.keep(name, value)


def mirror(
    store: Store,
    scope: Scope,
    directory: Path,
    placement: Placement | None,
    *,
    memory: Path,
    keep: bool,
    progress: Progress | None = None,
) -> MirrorReport:
    """Bring the mirror in a folder in step, as `sync` does, and keep it so from now on; or no longer."""
    before: dict[Path, Kept | None] = {}

    def begun(place: Path) -> None:
        before[place] = known = kept(store, memory).get(place)
        if known is None or known.state != "kept":
            _note(store, memory, place, Kept(scope, "making" if keep else "making once"))

    try:
        report = sync(store, scope, directory, placement, memory=memory, progress=progress, begun=begun)
    except BaseException:
        for place, known in before.items():
            if not Work(place, memory).is_left():
                _note(store, memory, place, known)
        raise
    place = Path(report.directory)
    _note(store, memory, place, Kept(scope, device=_device(place)) if keep else None)
    return report


def end(store: Store, scope: Scope, directory: Path, memory: Path) -> Path:
    """No longer keep a mirror in step; it stays as it is. Raises InputError for one that is not kept for this user."""
    place = directory.expanduser().absolute().resolve()
    known = kept(store, memory).get(place)
    if known is None or known.state == "deleted" or not known.is_for(scope, ()):
        raise InputError(f"{place} is not kept in step: `cuetrail mirror` without a folder names those that are")
    _note(store, memory, place, None)
    return place


def follow(
    store: Store,
    scope: Scope,
    memory: Path,
    progress: Progress | None = None,
    teams: Collection[str] = (),
    dry_run: bool = False,
) -> Followed:
    """Bring the mirrors of this user in step, and those of the others who see what is shared with these teams.

    One that is away, or cannot be read or written, is a problem each time until it is back or its user ends it. One
    that was deleted is not made again. Nothing is raised: what a mirror suffers must not undo what was stored. A dry
    run only reports what would be done to those that are there.
    """
    done = Followed()
    for place, known in kept(store, memory).items():
        if known.is_for(scope, teams):
            try:
                if not dry_run:
                    _follow(store, memory, place, known, progress, done)
                elif known.state == "kept" and read_mark(place) is not None:
                    done.reports.append(sync(store, known.scope, place, memory=memory, dry_run=True))
            except InputError as error:
                done.problems.append(f"{error}. It is tried again; `cuetrail mirror {place} --end` ends that")
            except CuetrailError as error:
                done.problems.append(str(error))
            except OSError as error:
                done.problems.append(f"the mirror in {place} cannot be reached ({error}): it is tried again")
    with suppress(OSError, CuetrailError):
        for place, was in _orphans(store, scope, memory).items():
            said = f"the mirror in {place} was kept by a memory in {was}, which is gone, and stays as it is"
            done.problems.append(f"{said}: `cuetrail mirror {place}` keeps it for this one, or delete it")
    return done


def _follow(
    store: Store, memory: Path, place: Path, known: Kept | None, progress: Progress | None, done: Followed
) -> None:
    if known is not None and known.state in _MAKING:
        known = _made(store, memory, place)
    if known is None:
        return
    mark = read_mark(place)
    if mark is None and known.state == "kept" and _is_deleted(place, known):
        _note(store, memory, place, replace(known, state="deleted"))
        done.ended.append(f"the mirror in {place} was deleted and is no longer kept in step")
    elif mark is None and known.state == "kept":
        raise InputError(f"there is no mirror in {place} any more; it may be away for a while")
    elif mark is not None and (known.state == "kept" or (mark.memory, mark.scope) == _owner(memory, known)):
        done.reports.append(sync(store, known.scope, place, memory=memory, progress=progress))
        _note(store, memory, place, Kept(known.scope, device=_device(place)))


def _made(store: Store, memory: Path, place: Path) -> Kept | None:
    """What is known of a mirror in the making, once it is made; what a process killed over it left is swept."""
    with alone(memory):
        known = kept(store, memory).get(place)
        if known is None or known.state not in _MAKING:
            return known
        Work(place, memory).sweep()
        there = known.state == "making" and read_mark(place) is not None
        known = Kept(known.scope, device=_device(place)) if there else None
        _note(store, memory, place, known)
        return known


def _owner(memory: Path, known: Kept) -> tuple[str, Scope]:
    scope = known.scope
    return str(memory.resolve()), Scope(scope.tenant, scope.user, tuple(sorted(set(scope.teams))))


def _is_deleted(place: Path, known: Kept) -> bool:
    """Whether a mirror that is not there was deleted: what it lay in is there, on the same disk. Else it is away."""
    if os.path.lexists(place) or not place.parent.is_dir():
        return False
    return known.device in (None, _device(place))


def _device(place: Path) -> int:
    return place.parent.stat().st_dev
