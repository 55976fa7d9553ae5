"""Brings a mirror up to date: finds stale files by digests, renders them page by page and publishes them at once."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import xxhash
from filelock import FileLock, Timeout

from cuetrail.errors import Busy, MirrorError
from cuetrail.files import MIRROR_MARKER, PRIVATE
from cuetrail.mirror.atomic_publish import FULL, FileChanges, WorkDir, publish
from cuetrail.mirror.marker_and_manifest import (
    MANIFEST,
    Bundle,
    Marker,
    PageState,
    Placement,
    claim,
    manifest_bytes,
    marker_bytes,
    mirror_folder,
    read_manifest,
    scan_files,
)
from cuetrail.mirror.names import file_stem
from cuetrail.mirror.pages import LAYOUT, MirrorPage, page_title, pages, render_page
from cuetrail.model import Scope
from cuetrail.store.ports import Store
from cuetrail.store.read import FileDigest, Snapshot
from cuetrail.store.write import Progress

# How many atoms are sorted into pages, and how many texts are held, at a time.
ATOMS_AT_ONCE = 20_000
TEXTS_AT_ONCE = 500
LOCK = "mirror.lock"
LOCK_SECONDS = 600.0

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class MirrorReport:
    """The result of a sync: the number of `files` in the mirror, of these `written` (new or changed) and `unchanged`,
    and of files `removed`. After a dry run it says what a sync would do.
    """

    directory: str
    placement: Placement
    atoms: int = 0
    files: int = 0
    written: int = 0
    unchanged: int = 0
    removed: int = 0
    bytes: int = 0
    seconds: float = 0.0
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class _BundlePlan:
    """A source, or several with equal file stems, as the mirror must show them: number and digest of their atoms."""

    stem: str
    sources: tuple[str | None, ...]
    digest: str
    atoms: int


@dataclass(slots=True)
class _NextMirror:
    """The mirror being built: its bundles (files of one source) by stem, and the paths that are staged, that is written
    in the work folder. `work` is None in a dry run.

    `on_disk` are the present files, `manifest` the bundles that the last sync wrote.
    """

    work: WorkDir | None
    folder: Path
    every: bool
    on_disk: dict[str, PageState]
    manifest: dict[str, Bundle]
    bundles: dict[str, Bundle] = field(default_factory=dict)
    staged: list[str] = field(default_factory=list)
    size: int = 0

    def keep_bundle(self, plan: _BundlePlan) -> bool:
        """Adds a bundle (the files of one source) to the new mirror.

        If its files on disk are up to date, adds them too and returns True. Else the bundle is empty, returns False,
        and its pages must be added one by one.
        """
        known = self.manifest.get(plan.stem, Bundle(""))
        current = known.digest == plan.digest and all(self._is_untouched(*item) for item in known.files.items())
        self.bundles[plan.stem] = known if current else Bundle(plan.digest)
        return current

    def keep_page(self, page: MirrorPage) -> bool:
        """If a page of a changed bundle is up to date on disk, adds it to the new mirror and returns True."""
        known = self.manifest.get(page.stem, Bundle("")).files.get(page.path)
        if known is None or known.check != page.check or not self._is_untouched(page.path, known):
            return False
        self.bundles[page.stem].files[page.path] = known
        return True

    def _is_untouched(self, path: str, file: PageState) -> bool:
        present = self.on_disk.get(path)
        return present is not None and (present.size, present.mtime_ns) == (file.size, file.mtime_ns)

    def add_page(self, page: MirrorPage, data: bytes) -> None:
        """Adds a page, and stages it unless the file on disk has the same content."""
        file = self.on_disk.get(page.path)
        if file is None or file.size != len(data) or (self.folder / page.path).read_bytes() != data:
            file = self.work.stage(page.path, data) if self.work else PageState(len(data), 0)
            self.staged.append(page.path)
            self.size += len(data)
        self.bundles[page.stem].files[page.path] = replace(file, check=page.check)


def sync(
    store: Store, scope: Scope, directory: Path, placement: Placement | None = None, *, memory: Path,
    dry_run: bool = False, progress: Progress | None = None, on_start: Callable[[Path], None] | None = None,
) -> MirrorReport:  # fmt: skip
    """Brings the mirror in a folder up to date with what a scope sees of the memory in the directory `memory`.

    Without `placement` an existing mirror keeps its own; a new one gets "first". `on_start` is called with the folder
    before anything is written. Raises InputError for a folder that is not a mirror of this memory and scope, and
    MirrorError when the mirror cannot be written. The folder is then as it was.
    """
    started = time.perf_counter()
    folder, memory = mirror_folder(directory, memory), memory.resolve()
    owner = Marker(str(memory), "", scope.tenant, scope.user, tuple(sorted(set(scope.teams))))
    try:
        with contextlib.ExitStack() as stack:
            work = None
            if not dry_run:
                stack.enter_context(sync_lock(memory))
                # Another process may have used the folder meanwhile.
                folder = mirror_folder(directory, memory)
                if on_start:
                    on_start(folder)
                work = stack.enter_context(WorkDir(folder, memory))
            report = _sync(store, owner, folder, placement, work, progress)
    except OSError as error:
        why = "the disk is full: make room" if error.errno in FULL else f"{error}: check that it can be written to"
        raise MirrorError(f"the mirror in {folder} could not be brought in step, {why} and mirror again") from error
    return replace(report, seconds=time.perf_counter() - started)


@contextlib.contextmanager
def sync_lock(memory: Path) -> Iterator[None]:
    """Lets one process at a time sync the mirrors of a memory. Raises Busy after LOCK_SECONDS."""
    lock = FileLock(memory / LOCK, timeout=LOCK_SECONDS, mode=PRIVATE)
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


def _sync(
    store: Store,
    owner: Marker,
    folder: Path,
    placement: Placement | None,
    work: WorkDir | None,
    progress: Progress | None,
) -> MirrorReport:
    with store.snapshot(owner.scope) as view:
        marker = claim(folder, replace(owner, epoch=view.epoch), placement)
        if work is not None:
            work.sweep()
        new = _NextMirror(work, folder, marker.placement == "all", scan_files(folder), read_manifest(folder))
        plans = _plan_bundles(view.sources(), new.every)
        _build(new, view, plans, progress)
    paths = {path for bundle in new.bundles.values() for path in bundle.files}
    unchanged = paths.difference(new.staged)
    removed = sorted(new.on_disk.keys() - paths)
    if work is not None:
        own = {MIRROR_MARKER: marker_bytes(marker)}
        if new.staged or removed or new.bundles != new.manifest:
            own[MANIFEST] = manifest_bytes(new.bundles)
        publish(work, FileChanges(new.staged, removed, sorted(unchanged)), own)
    return MirrorReport(
        str(folder),
        marker.placement,
        atoms=sum(plan.atoms for plan in plans),
        files=len(paths),
        written=len(new.staged),
        unchanged=len(unchanged),
        removed=len(removed),
        bytes=new.size,
        dry_run=work is None,
    )


def _plan_bundles(contents: Mapping[str | None, FileDigest], every: bool) -> list[_BundlePlan]:
    """Returns the bundles that the mirror must have, sorted by stem. Sources with the same stem share a bundle.

    Its digest changes with the atoms of these sources, with the layout, and with `every`.
    """
    by_stem: dict[str, list[str | None]] = {}
    for source in contents:
        by_stem.setdefault(file_stem(source), []).append(source)
    plans = []
    for name in sorted(by_stem):
        sources = tuple(sorted(by_stem[name], key=lambda source: source or ""))
        parts = [(source, contents[source].atoms, contents[source].digest) for source in sources]
        digest = xxhash.xxh3_64_hexdigest(f"{LAYOUT} {every} {parts}".encode())
        plans.append(_BundlePlan(name, sources, digest, sum(atoms for _, atoms, _ in parts)))
    return plans


def _build(new: _NextMirror, view: Snapshot, plans: Sequence[_BundlePlan], progress: Progress | None) -> None:
    """Fills the new mirror: keeps bundles and pages that are up to date on disk, renders and stages the others."""
    stale = [plan for plan in plans if not new.keep_bundle(plan)]
    done, total = 0, sum(plan.atoms for plan in stale)
    for batch in _batches(stale, lambda plan: plan.atoms, ATOMS_AT_ONCE):
        titles = {plan.stem: page_title(plan.sources) for plan in batch}
        placed = view.atoms([source for plan in batch for source in plan.sources])
        changed = (page for page in pages(placed, titles, new.every) if not new.keep_page(page))
        for some in _batches(changed, lambda page: len(page.keys), TEXTS_AT_ONCE):
            texts = view.texts([key for page in some for key in page.keys])
            for page in some:
                new.add_page(page, render_page(page.title, (texts[key] for key in page.keys)))
        for plan in batch:
            files = new.bundles[plan.stem].files
            new.bundles[plan.stem] = Bundle(plan.digest, dict(sorted(files.items())))
        done += sum(plan.atoms for plan in batch)
        if progress:
            progress("mirroring", done, total)


def _batches(items: Iterable[_T], atoms: Callable[[_T], int], limit: int) -> Iterator[list[_T]]:
    """Yields the items in lists of about `limit` atoms, to bound the memory in use; `atoms` counts those of an item."""
    batch: list[_T] = []
    total = 0
    for item in items:
        batch.append(item)
        total += atoms(item)
        if total >= limit:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch
