"""Taking in files: what changed is read, compared with what is known, and written in whole transactions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

import xxhash

from cuetrail.errors import InputError, ReadError
from cuetrail.ingest.build import Built, Context, build
from cuetrail.ingest.diff import compare
from cuetrail.ingest.document import Document
from cuetrail.ingest.files import Place, locate, walk
from cuetrail.ingest.readers import MAX_BYTES, load, read
from cuetrail.ingest.redact import sift
from cuetrail.model import FileError, IngestReport, Provenance, Scope, SourceFile
from cuetrail.model.ids import digest
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch, Progress, Written
from cuetrail.text.normalise import storable
from cuetrail.write.links import Change, resolve
from cuetrail.write.near_duplicates import regroup

# So many that names and near duplicates of one folder mostly meet before they are written, not after.
NODES_PER_WRITE = 10_000
# A file may claim a time that no engine can store, after the year 2262.
LATEST_NS = 2**63 - 1

Writer = Callable[[Batch], Written]


@dataclass(frozen=True, slots=True)
class Options:
    """How to take files in. `skip` are folders never entered, such as the memory's own."""

    bucket: str | None
    provenance: Provenance
    max_bytes: int | None
    now: int
    skip: tuple[Path, ...]

    @property
    def mark(self) -> str:
        """What of the options shows in the records: a file taken in with another mark is not up to date."""
        if self.bucket is None and self.provenance == "internal":
            return ""
        return "+" + digest(self.bucket or "", self.provenance)[:8]


@dataclass(slots=True)
class Draft:
    """Files read but not yet written: one transaction to be. `moved` says which vanished file has become which."""

    built: dict[str, list[Built]] = field(default_factory=dict)
    files: list[SourceFile] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    roots: dict[str, str] = field(default_factory=dict)
    absorbed: tuple[str, ...] = ()
    size: int = 0

    def put(self, source: str, built: list[Built]) -> None:
        self.built[source] = built
        self.size += sum(len(b.nodes) for b in built)


class Gone:
    """Known files that are no longer there, until they are found to be others by now."""

    def __init__(self, files: Mapping[str, SourceFile]) -> None:
        self._by_content: dict[str, list[str]] = {}
        for path, file in files.items():
            self._by_content.setdefault(file.hash, []).append(path)

    def take(self, source: str, content: str) -> str | None:
        """The file of this content, which is then no longer here; of several the one whose name is the same."""
        paths = self._by_content.get(content)
        if not paths:
            return None
        name = PurePosixPath(source).name
        before = min(paths, key=lambda path: (PurePosixPath(path).name != name, path))
        paths.remove(before)
        return before

    def left(self) -> list[str]:
        return sorted(path for paths in self._by_content.values() for path in paths)


def ingest_path(
    store: Store, scope: Scope, path: Path, options: Options, write: Writer, progress: Progress | None
) -> IngestReport:
    """Bring the memory in step with a file or folder. Errors of single files are collected, never raised."""
    if not storable(str(path.absolute())):
        raise InputError(f"{str(path)!r} has a name that is not UTF-8: rename it")
    roots = store.roots(scope)
    place = locate(path, roots, lambda name: store.source_files(scope, name))
    known = store.source_files(scope, place.source(place.path))
    found = walk(place, options.skip)
    # What lies behind a closed door was not seen, and stays as it is.
    seen = tuple(name for name in place.absorbed if not found.hides(Path(roots[name])))
    place = replace(place, absorbed=seen)
    errors = [_closed(place, error) for error in found.closed]
    gone = Gone(_gone(store, scope, place, known, found.files, errors))
    # The folder's name is known from the first write on, so that an interrupted ingest is continued under it.
    draft = Draft(roots={place.root: str(place.base)} if place.root else {})
    report, unchanged = IngestReport(), 0
    for number, file in enumerate(found.files, 1):
        source = place.source(file)
        try:
            if not _take(draft, file, source, known.get(source), gone, options):
                unchanged += 1
        except ReadError as error:
            errors.append(FileError(source, str(error)))
        if draft.size >= NODES_PER_WRITE:
            report = _plus(report, _flush(store, scope, draft, options, write))
            draft = Draft()
        if progress:
            progress("reading", number, len(found.files))
    draft.gone += gone.left()
    draft.absorbed = place.absorbed
    report = _plus(report, _flush(store, scope, draft, options, write))
    looked_at = len(found.files) + len(found.closed)
    return replace(report, files=looked_at, unchanged_files=unchanged, errors=tuple(errors))


def _closed(place: Place, error: OSError) -> FileError:
    folder = place.source(Path(error.filename))
    return FileError(folder, f"{folder} cannot be looked into ({error.strerror}). Check its permissions.")


def _gone(
    store: Store,
    scope: Scope,
    place: Place,
    known: Mapping[str, SourceFile],
    found: Sequence[Path],
    closed: Sequence[FileError],
) -> dict[str, SourceFile]:
    """Known files that are no longer there, or are now known under an outer folder's name."""
    here = {place.source(file) for file in found}
    unseen = tuple(f"{error.path}/" for error in closed)
    gone = {path: file for path, file in known.items() if path not in here and not path.startswith(unseen)}
    for name in place.absorbed:
        gone.update((path, file) for path, file in store.source_files(scope, name).items() if path not in here)
    return gone


def _take(draft: Draft, file: Path, source: str, known: SourceFile | None, gone: Gone, options: Options) -> bool:
    """Read a file into the draft, with the vanished one that it was; False when it is as known. Raises ReadError."""
    limit = MAX_BYTES if options.max_bytes is None else options.max_bytes
    if not storable(source):
        raise ReadError(f"{source!r} has a name that is not UTF-8. Rename it.")
    try:
        status = file.stat()
    except OSError as error:
        raise ReadError(f"{source} cannot be opened ({error.strerror or error}). Check its permissions.") from error
    mtime_ns = min(status.st_mtime_ns, LATEST_NS)
    as_known = known is not None and known.hash.endswith(options.mark) and bool(options.mark) == ("+" in known.hash)
    if as_known and known and (known.size, known.mtime_ns) == (status.st_size, mtime_ns):
        return False
    if status.st_size > limit:
        raise ReadError(f"{source} is larger than {limit} bytes. Raise the limit with --max-size, or split the file.")
    # Read once: what is hashed is what is taken in, also while somebody writes to the file.
    data = load(file, source, limit)
    content = xxhash.xxh3_128_hexdigest(data) + options.mark
    if known is not None and known.hash == content:
        # Only its time is another: noted, so that it is not read again.
        draft.files.append(replace(known, size=status.st_size, mtime_ns=mtime_ns))
        return False
    documents = read(data, source)
    context = Context(options.bucket, options.provenance, mtime_ns // 1_000_000, options.now)
    draft.put(source, [build(document, context) for document in documents])
    draft.files.append(SourceFile(source, status.st_size, mtime_ns, content, options.now))
    if (before := gone.take(source, content)) is not None:
        # Both are written at once, so that an interruption does not part them.
        draft.moved[source] = before
        draft.gone.append(before)
    return True


def ingest_documents(
    store: Store, scope: Scope, source: str, documents: Sequence[Document], options: Options, write: Writer
) -> IngestReport:
    """Take in documents that come from no file, replacing what the source held."""
    draft = Draft()
    context = Context(options.bucket, options.provenance, options.now, options.now)
    draft.put(source, [build(document, context) for document in documents])
    return replace(_flush(store, scope, draft, options, write), files=1)


def _flush(store: Store, scope: Scope, draft: Draft, options: Options, write: Writer) -> IngestReport:
    """Write the draft as one transaction: only the difference to what is there."""
    if not (draft.files or draft.gone or draft.built or draft.roots or draft.absorbed):
        return IngestReport()
    present = store.atoms_of(scope, [*draft.built, *draft.gone])
    sifted = sift(store, scope, draft.built)
    found = compare(store, scope, sifted.built, present, draft.moved, options.now)
    found.leaving += [node for source in draft.gone for node in present[source]]
    forgotten = {node.id for node in found.new if node.id in sifted.out or node.id in sifted.lost}
    unknown = sifted.without(forgotten)
    # Nothing lives on in what was forgotten.
    successors = {old: new for old, new in found.successors.items() if new not in forgotten}
    leaving = [node.id for node in found.leaving]
    batch = Batch(
        nodes=[node for node in found.changed if node.id not in forgotten],
        edges=[edge for edge in found.edges if edge.src not in forgotten and edge.dst not in forgotten],
        links=[link for link in found.stored_links() if link.src not in forgotten],
        # Of a file of which nothing may come back not even the name is kept.
        sources=[file for file in draft.files if file.path not in unknown],
        roots=draft.roots,
        successors=successors,
        remove_nodes=[id_ for id_ in leaving if id_ not in successors],
        remove_edges=found.stale_edges,
        remove_sources=draft.gone,
        remove_roots=list(draft.absorbed),
    )
    new = [node for node in found.new if node.id not in forgotten]
    merged = regroup(store, scope, batch, new=new, relabelled=found.relabelled, leaving=found.leaving)
    change = Change(
        links=[link for link in found.links if link.src not in forgotten],
        ended=found.ended,
        arriving=[node for node in found.changed if (node.name or node.aliases) and node.id not in forgotten],
        leaving=leaving,
    )
    resolve(store, scope, change, batch, options.now)
    written = write(batch)
    kept_out = forgotten.union(written.forgotten)
    atoms = [node for node in found.new if node.kind == "atom"]
    return IngestReport(
        removed_files=len(draft.gone),
        added=sum(node.id not in kept_out for node in atoms),
        kept=found.kept,
        removed=sum(node.kind == "atom" for node in found.leaving),
        merged=merged,
        forgotten=sum(node.id in kept_out for node in atoms),
        cut=len(sifted.cut),
        edges=written.edges,
        left_out=sifted.touched(),
    )


def _plus(a: IngestReport, b: IngestReport) -> IngestReport:
    return replace(
        a,
        removed_files=a.removed_files + b.removed_files,
        added=a.added + b.added,
        kept=a.kept + b.kept,
        removed=a.removed + b.removed,
        merged=a.merged + b.merged,
        forgotten=a.forgotten + b.forgotten,
        cut=a.cut + b.cut,
        left_out=a.left_out + b.left_out,
        edges=a.edges + b.edges,
    )
