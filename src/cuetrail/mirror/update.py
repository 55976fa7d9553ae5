"""Bringing a mirror in step: what is stale is found by digests, made anew page by page, and published at once."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import xxhash

from cuetrail.errors import MirrorError
from cuetrail.files import MIRROR_MARKER
from cuetrail.mirror.file_names import stem
from cuetrail.mirror.location import (
    PAGES,
    Bundle,
    File,
    Mark,
    Placement,
    alone,
    claimed,
    located,
    mark_bytes,
    pages_bytes,
    read_pages,
    walk,
)
from cuetrail.mirror.pages import LAYOUT, Page, pages, rendered, title_of
from cuetrail.mirror.publish import FULL, Change, Work, publish
from cuetrail.model import Scope
from cuetrail.store.ports import Content, Progress, Snapshot, Store

# How many atoms are arranged, and how many of their texts are held, at a time.
ATOMS_AT_ONCE = 20_000
TEXTS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class MirrorReport:
    """What a sync did: of `files` some were written, some stood as they were; others were removed.

    `bytes` is how much was written. After a dry run this is what would be done.
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
class _Due:
    """A bundle there must be, and the files it is made of: several where their names and hashes collide."""

    stem: str
    sources: tuple[str | None, ...]
    digest: str
    atoms: int


@dataclass(slots=True)
class _Draft:
    """The next mirror: what every file will look like, and which are staged. `work` is None in a dry run.

    `there` is what is on the disk, `known` what the last sync wrote down of it.
    """

    work: Work | None
    place: Path
    every: bool
    there: dict[str, File]
    known: dict[str, Bundle]
    bundles: dict[str, Bundle] = field(default_factory=dict)
    staged: list[str] = field(default_factory=list)
    size: int = 0

    def stands(self, due: _Due) -> bool:
        """Whether a bundle is on the disk as it must be; then it stays."""
        known = self.known.get(due.stem, Bundle(""))
        stands = known.digest == due.digest and all(self._untouched(path) for path in known.files.items())
        self.bundles[due.stem] = known if stands else Bundle(due.digest)
        return stands

    def holds(self, page: Page) -> bool:
        """Whether a page of a bundle that changed is on the disk as it must be; then it stays."""
        known = self.known.get(page.stem, Bundle("")).files.get(page.path)
        if known is None or known.check != page.check or not self._untouched((page.path, known)):
            return False
        self.bundles[page.stem].files[page.path] = known
        return True

    def _untouched(self, item: tuple[str, File]) -> bool:
        path, file = item
        there = self.there.get(path)
        return there is not None and (there.size, there.mtime_ns) == (file.size, file.mtime_ns)

    def take(self, page: Page, data: bytes) -> None:
        """A page with its content: staged, unless the file on the disk says just that."""
        file = self.there.get(page.path)
        if file is None or file.size != len(data) or (self.place / page.path).read_bytes() != data:
            file = self.work.stage(page.path, data) if self.work else File(len(data), 0)
            self.staged.append(page.path)
            self.size += len(data)
        self.bundles[page.stem].files[page.path] = replace(file, check=page.check)


def sync(
    store: Store,
    scope: Scope,
    directory: Path,
    placement: Placement | None = None,
    *,
    memory: Path,
    dry_run: bool = False,
    progress: Progress | None = None,
    begun: Callable[[Path], None] | None = None,
) -> MirrorReport:
    """Bring the mirror in a folder in step with what a scope sees of the memory in the directory `memory`.

    Without `placement` it stays as it is, and "first" where it is new. Raises InputError, with nothing touched, for a
    folder that is not a mirror of this memory and scope; MirrorError when it cannot be written, and then it is as it
    was. `begun` is called with its place before the memory is looked at.
    """
    started = time.perf_counter()
    place, memory = located(directory, memory), memory.resolve()
    owner = Mark(str(memory), "", scope.tenant, scope.user, tuple(sorted(set(scope.teams))))
    try:
        with contextlib.ExitStack() as held:
            work = None
            if not dry_run:
                held.enter_context(alone(memory))
                # Another process may have made something of the folder meanwhile.
                place = located(directory, memory)
                if begun:
                    begun(place)
                work = held.enter_context(Work(place, memory))
            report = _synced(store, owner, place, placement, work, progress)
    except OSError as error:
        why = "the disk is full: make room" if error.errno in FULL else f"{error}: see that it can be written to"
        raise MirrorError(f"the mirror in {place} could not be brought in step, {why} and mirror again") from error
    return replace(report, seconds=time.perf_counter() - started)


def _synced(
    store: Store, owner: Mark, place: Path, placement: Placement | None, work: Work | None, progress: Progress | None
) -> MirrorReport:
    with store.snapshot(owner.scope) as view:
        mark = claimed(place, replace(owner, epoch=view.epoch), placement)
        if work is not None:
            work.sweep()
        draft = _Draft(work, place, mark.placement == "all", walk(place), read_pages(place))
        due = _bundles(view.sources(), draft.every)
        _fill(draft, view, due, progress)
    wanted = {path for bundle in draft.bundles.values() for path in bundle.files}
    stays = wanted.difference(draft.staged)
    removed = sorted(draft.there.keys() - wanted)
    if work is not None:
        own = {MIRROR_MARKER: mark_bytes(mark)}
        if draft.staged or removed or draft.bundles != draft.known:
            own[PAGES] = pages_bytes(draft.bundles)
        publish(work, Change(draft.staged, removed, sorted(stays)), own)
    return MirrorReport(
        str(place),
        mark.placement,
        atoms=sum(bundle.atoms for bundle in due),
        files=len(wanted),
        written=len(draft.staged),
        unchanged=len(stays),
        removed=len(removed),
        bytes=draft.size,
        dry_run=work is None,
    )


def _bundles(contents: Mapping[str | None, Content], every: bool) -> list[_Due]:
    """Every bundle there must be, by stem. Its digest changes with its atoms and with how and where they are shown."""
    by_stem: dict[str, list[str | None]] = {}
    for source in contents:
        by_stem.setdefault(stem(source), []).append(source)
    found = []
    for name in sorted(by_stem):
        sources = tuple(sorted(by_stem[name], key=lambda source: source or ""))
        said = [(source, contents[source].atoms, contents[source].digest) for source in sources]
        digest = xxhash.xxh3_64_hexdigest(f"{LAYOUT} {every} {said}".encode())
        found.append(_Due(name, sources, digest, sum(atoms for _, atoms, _ in said)))
    return found


def _fill(draft: _Draft, view: Snapshot, due: Sequence[_Due], progress: Progress | None) -> None:
    """Decide what every file will look like. What does not stand is arranged anew, and what differs is staged."""
    stale = [bundle for bundle in due if not draft.stands(bundle)]
    done, total = 0, sum(bundle.atoms for bundle in stale)
    for some in _batches(stale):
        titles = {bundle.stem: title_of(bundle.sources) for bundle in some}
        placed = view.placed([source for bundle in some for source in bundle.sources])
        changed = (page for page in pages(placed, titles, draft.every) if not draft.holds(page))
        for few in _few(changed):
            said = view.said([key for page in few for key in page.keys])
            for page in few:
                draft.take(page, rendered(page.title, (said[key] for key in page.keys)))
        for bundle in some:
            files = draft.bundles[bundle.stem].files
            draft.bundles[bundle.stem] = Bundle(bundle.digest, dict(sorted(files.items())))
        done += sum(bundle.atoms for bundle in some)
        if progress:
            progress("mirroring", done, total)


def _batches(stale: Iterable[_Due]) -> Iterator[list[_Due]]:
    """Some bundles at a time: what is held in memory must not grow with the number of files."""
    some: list[_Due] = []
    atoms = 0
    for bundle in stale:
        some.append(bundle)
        atoms += bundle.atoms
        if atoms >= ATOMS_AT_ONCE:
            yield some
            some, atoms = [], 0
    if some:
        yield some


def _few(changed: Iterable[Page]) -> Iterator[list[Page]]:
    """Pages in lists, each with about as many atoms as the engine reads at once."""
    few: list[Page] = []
    atoms = 0
    for page in changed:
        few.append(page)
        atoms += len(page.keys)
        if atoms >= TEXTS_AT_ONCE:
            yield few
            few, atoms = [], 0
    if few:
        yield few
