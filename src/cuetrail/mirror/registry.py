"""The registry of mirrors: a memory stores where its mirrors are, so that every process that opens it updates them.

Forgetting depends on it: a mirror that the memory did not know of would go on showing forgotten text. A mirror is
therefore registered before its first page is written, and stays registered while it is unreachable.
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
from cuetrail.mirror.atomic_publish import WorkDir
from cuetrail.mirror.marker_and_manifest import Placement, read_marker
from cuetrail.mirror.update import MirrorReport, sync, sync_lock
from cuetrail.model import Scope
from cuetrail.store.ports import Store
from cuetrail.store.write import Progress

_PREFIX = "mirror:"

# kept: updated automatically; making: its first sync runs, then kept; making once: its only sync runs;
# deleted: the user deleted the folder; it is kept again if it returns.
State = Literal["kept", "making", "making once", "deleted"]
_MAKING: tuple[State, ...] = ("making", "making once")


@dataclass(frozen=True, slots=True)
class RegisteredMirror:
    """The scope a mirror shows, its state, and the disk it was last seen on."""

    scope: Scope
    state: State = "kept"
    device: int | None = None

    def is_for(self, scope: Scope, teams: Collection[str]) -> bool:
        """True if the mirror shows this tenant, and either this user's scope or a scope with one of `teams`."""
        shared = self.scope.user == scope.user or bool(set(self.scope.teams) & set(teams))
        return self.scope.tenant == scope.tenant and shared


@dataclass(slots=True)
class SyncOutcome:
    """The result of updating all mirrors: reports, error messages, and messages about mirrors found deleted."""

    reports: list[MirrorReport] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)


def registered(store: Store, memory: Path) -> dict[Path, RegisteredMirror]:
    """Returns the registered mirrors by folder. A copy of a memory has none: they belong to the original."""
    found = {}
    for name, value in sorted(store.settings.beginning_with(_PREFIX).items()):
        entry = json.loads(value)
        if entry["memory"] == str(memory.resolve()):
            scope = Scope(entry["tenant"], entry["user"], tuple(entry["teams"]))
            mirror = RegisteredMirror(scope, entry.get("state", "kept"), entry.get("device"))
            found[Path(name.removeprefix(_PREFIX))] = mirror
    return found


def folders_of(store: Store, scope: Scope, memory: Path) -> list[str]:
    """Returns the folders of this user's mirrors that are kept up to date, also those that cannot be reached now."""
    found = registered(store, memory).items()
    return [str(folder) for folder, one in found if one.state == "kept" and one.is_for(scope, ())]


def _orphans(store: Store, scope: Scope, memory: Path) -> dict[Path, str]:
    """Returns this user's mirrors that were registered before the memory was moved, with the memory's old address."""
    found = {}
    for name, value in sorted(store.settings.beginning_with(_PREFIX).items()):
        entry, folder = json.loads(value), Path(name.removeprefix(_PREFIX))
        old = entry["memory"]
        if (entry["tenant"], entry["user"]) != (scope.tenant, scope.user) or old == str(memory.resolve()):
            continue
        # If the old address still exists, this memory is a copy and the mirrors belong to the original.
        if not os.path.lexists(old) and (marker := read_marker(folder)) is not None and marker.memory == old:
            found[folder] = old
    return found


def _register(store: Store, memory: Path, folder: Path, mirror: RegisteredMirror | None) -> None:
    """Stores the registry entry of a folder; None removes it."""
    name = f"{_PREFIX}{folder}"
    if mirror is None:
        store.settings.pop(name, None)
        return
    scope = mirror.scope
    owner = {"tenant": scope.tenant, "user": scope.user, "teams": sorted(scope.teams)}
    entry = {"memory": str(memory.resolve()), **owner, "state": mirror.state, "device": mirror.device}
    value = json.dumps(entry, ensure_ascii=False)
    if store.settings.get(name) != value:
        store.settings[name] = value


def sync_and_register(
    store: Store, scope: Scope, directory: Path, placement: Placement | None, *, memory: Path, keep: bool,
    dry_run: bool = False, progress: Progress | None = None,
) -> MirrorReport:  # fmt: skip
    """Brings the mirror in a folder up to date, as `sync` does, and registers it; without `keep`, unregisters it.

    A dry run only reports what would be written.
    """
    if dry_run:
        return sync(store, scope, directory, placement, memory=memory, dry_run=True, progress=progress)
    before: dict[Path, RegisteredMirror | None] = {}

    def on_start(folder: Path) -> None:
        before[folder] = known = registered(store, memory).get(folder)
        if known is None or known.state != "kept":
            _register(store, memory, folder, RegisteredMirror(scope, "making" if keep else "making once"))

    try:
        report = sync(store, scope, directory, placement, memory=memory, progress=progress, on_start=on_start)
    except BaseException:
        for folder, known in before.items():
            if not WorkDir(folder, memory).is_left():
                _register(store, memory, folder, known)
        raise
    folder = Path(report.directory)
    _register(store, memory, folder, RegisteredMirror(scope, device=_device(folder)) if keep else None)
    return report


def unregister(store: Store, scope: Scope, directory: Path, memory: Path) -> Path:
    """Stops updating a mirror, leaves its files, and returns its resolved folder. `memory` is the memory's directory.

    Raises InputError if the mirror is not registered for this user.
    """
    folder = directory.expanduser().absolute().resolve()
    known = registered(store, memory).get(folder)
    if known is None or known.state == "deleted" or not known.is_for(scope, ()):
        raise InputError(f"{folder} is not kept up to date: `cuetrail mirror` without a folder names those that are")
    _register(store, memory, folder, None)
    return folder


def sync_registered(
    store: Store,
    scope: Scope,
    memory: Path,
    progress: Progress | None = None,
    teams: Collection[str] = (),
    dry_run: bool = False,
) -> SyncOutcome:
    """Brings the registered mirrors of this user up to date, and those of others who see one of these teams.

    A mirror that is missing or cannot be read or written is reported as a problem each time, until it is back or
    unregistered. A deleted one is not made again. Raises nothing, so that a broken mirror cannot undo a write. A dry
    run only reports the changes to existing mirrors.
    """
    outcome = SyncOutcome()
    for folder, known in registered(store, memory).items():
        if known.is_for(scope, teams):
            try:
                if not dry_run:
                    _sync_one(store, memory, folder, known, progress, outcome)
                elif known.state == "kept" and read_marker(folder) is not None:
                    outcome.reports.append(sync(store, known.scope, folder, memory=memory, dry_run=True))
            except InputError as error:
                outcome.problems.append(f"{error}. It is tried again; `cuetrail mirror {folder} --end` ends that")
            except CuetrailError as error:
                outcome.problems.append(str(error))
            except OSError as error:
                outcome.problems.append(f"the mirror in {folder} cannot be reached ({error}): it is tried again")
    with suppress(OSError, CuetrailError):
        for folder, old in _orphans(store, scope, memory).items():
            text = f"the mirror in {folder} was kept by a memory in {old}, which is gone, and stays as it is"
            outcome.problems.append(f"{text}: `cuetrail mirror {folder}` keeps it for this one, or delete it")
    return outcome


def _sync_one(
    store: Store,
    memory: Path,
    folder: Path,
    known: RegisteredMirror | None,
    progress: Progress | None,
    outcome: SyncOutcome,
) -> None:
    if known is not None and known.state in _MAKING:
        known = _finish_making(store, memory, folder)
    if known is None:
        return
    marker = read_marker(folder)
    if marker is None and known.state == "kept" and _is_deleted(folder, known):
        _register(store, memory, folder, replace(known, state="deleted"))
        outcome.ended.append(f"the mirror in {folder} was deleted and is no longer kept up to date")
    elif marker is None and known.state == "kept":
        raise InputError(f"there is no mirror in {folder} any more; it may be away for a while")
    elif marker is not None and (known.state == "kept" or (marker.memory, marker.scope) == _owner(memory, known)):
        outcome.reports.append(sync(store, known.scope, folder, memory=memory, progress=progress))
        _register(store, memory, folder, RegisteredMirror(known.scope, device=_device(folder)))


def _finish_making(store: Store, memory: Path, folder: Path) -> RegisteredMirror | None:
    """Waits for a first sync that is running, and cleans up after one that was killed. Returns the registry entry of
    the folder after that, None if it has none.
    """
    with sync_lock(memory):
        known = registered(store, memory).get(folder)
        if known is None or known.state not in _MAKING:
            return known
        WorkDir(folder, memory).sweep()
        exists = known.state == "making" and read_marker(folder) is not None
        known = RegisteredMirror(known.scope, device=_device(folder)) if exists else None
        _register(store, memory, folder, known)
        return known


def _owner(memory: Path, known: RegisteredMirror) -> tuple[str, Scope]:
    scope = known.scope
    return str(memory.resolve()), Scope(scope.tenant, scope.user, tuple(sorted(set(scope.teams))))


def _is_deleted(folder: Path, known: RegisteredMirror) -> bool:
    """True if a missing mirror was deleted: its parent folder exists, on the same disk. Otherwise it is unreachable."""
    if os.path.lexists(folder) or not folder.parent.is_dir():
        return False
    return known.device in (None, _device(folder))


def _device(folder: Path) -> int:
    return folder.parent.stat().st_dev
