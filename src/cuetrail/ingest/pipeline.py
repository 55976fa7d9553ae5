"""Ingests files: reads those that changed, compares them with the stored ones, and writes the difference."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import xxhash

from cuetrail.errors import InputError, ReadError
from cuetrail.ingest.build_nodes import Built, Options, build
from cuetrail.ingest.diff import compare
from cuetrail.ingest.document import Document, LeftOut
from cuetrail.ingest.readers.app_folders import AppFolders
from cuetrail.ingest.readers.read_file import MAX_BYTES, load, read
from cuetrail.ingest.redact_documents import redact
from cuetrail.ingest.renamed_files import MissingFiles
from cuetrail.ingest.scan import ScanRoot, leads_out, resolve_root, scan
from cuetrail.ingest.watch import watch_path
from cuetrail.model import FileError, IngestReport, Scope, SourceFile
from cuetrail.session import Session
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch, Progress
from cuetrail.text.normalise import storable
from cuetrail.text.timestamps import now_ms
from cuetrail.write.links import LinkChange
from cuetrail.write.near_duplicate_tags import regroup
from cuetrail.write.pipeline import follow_up, write

# Large, so that most names and near duplicates of a folder are resolved in one write.
NODES_PER_WRITE = 10_000
# The latest time that an engine can store, in the year 2262.
LATEST_NS = 2**63 - 1


@dataclass(slots=True)
class PendingWrite:
    """Files that were read but not written yet, for one transaction. `moved` maps a new source to its old one.

    `roots` are names of newly ingested folders with their paths, `absorbed` names of folders that lie in a known one.
    """

    built: dict[str, list[Built]] = field(default_factory=dict)
    files: list[SourceFile] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    roots: dict[str, str] = field(default_factory=dict)
    absorbed: tuple[str, ...] = ()
    size: int = 0
    read: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)

    def add(self, source: str, built: list[Built]) -> None:
        self.built[source] = built
        self.size += sum(len(b.nodes) for b in built)
        for one in built:
            self.read.update(one.read)
            self.skipped.update(one.left_out)


def ingest(
    session: Session, path: Path, options: Options, *, watch: bool, on_report: Callable[[IngestReport], None] | None,
    stop: threading.Event | None, progress: Progress | None,
) -> IngestReport:  # fmt: skip
    """Ingests a file or folder and returns the report. With `watch`, also ingests each later change until `stop`."""
    path = path.expanduser()
    folder, target = (path if path.is_dir() else path.parent).absolute(), path.absolute()

    def again() -> IngestReport:
        try:
            return ingest_path(session, target, replace(options, now=now_ms()), None)
        except InputError as error:
            return IngestReport(files=1, errors=(FileError(str(target), str(error)),))

    with session.store.bulk():
        report = ingest_path(session, path, options, progress)
    report = _followed_up(session, report, progress)
    if watch:
        if on_report:
            on_report(report)
        for found in watch_path(target, folder, options.skip, stop or threading.Event(), again):
            report = _followed_up(session, found, None)
            if on_report:
                on_report(report)
    return report


def ingest_content(
    session: Session, source: str, documents: Sequence[Document], options: Options, progress: Progress | None
) -> IngestReport:
    """Ingests documents that are not read from disk. They replace the earlier content of `source`."""
    pending = PendingWrite()
    pending.add(source, [build(document, options, options.now) for document in documents])
    return _followed_up(session, replace(_flush(session, pending, options), files=1), progress)


def _followed_up(session: Session, report: IngestReport, progress: Progress | None) -> IngestReport:
    """Brings indexes and mirrors up to date; returns the report with the notices of that."""
    return replace(report, notices=follow_up(session, report.notices, progress))


def ingest_path(session: Session, path: Path, options: Options, progress: Progress | None) -> IngestReport:
    """Updates the memory from a file or folder. Collects the errors of single files instead of raising them."""
    if not storable(str(path.absolute())):
        raise InputError(f"{str(path)!r} has a name that is not UTF-8: rename it")
    store, scope = session.store, session.scope
    roots = store.ingested(scope).roots
    root = resolve_root(path, roots, lambda name: store.ingested(scope, name).files)
    known = store.ingested(scope, root.source(root.path)).files
    found = scan(root, options.skip)
    # A folder that could not be read completely stays as it is.
    root = replace(root, absorbed=tuple(n for n in root.absorbed if not found.is_incomplete(Path(roots[n]))))
    errors = [_unreadable(root, error) for error in found.errors]
    missing = MissingFiles(_missing(store, scope, root, known, found.files, errors))
    # The first write stores the root's name, so that an interrupted ingest continues under the same name.
    pending = PendingWrite(roots={root.new_name: str(root.base)} if root.new_name else {})
    report, unchanged, apps = IngestReport(), 0, AppFolders()
    try:
        for number, file in enumerate(found.files, 1):
            source = root.source(file)
            try:
                if not options.follow_links and leads_out(file, root.path):
                    raise ReadError(f"{source} is a link that leads out of the folder. With --follow-links it is read.")
                if not _read_file(pending, file, source, known.get(source), missing, options, apps):
                    unchanged += 1
            except ReadError as error:
                errors.append(FileError(source, str(error)))
            if pending.size >= NODES_PER_WRITE:
                report += _flush(session, pending, options)
                pending = PendingWrite()
            if progress:
                progress("reading", number, len(found.files))
    except KeyboardInterrupt:
        # What was read is stored, so that the next run continues behind it.
        _flush(session, pending, options)
        raise
    pending.removed += missing.remaining()
    pending.absorbed = root.absorbed
    report += _flush(session, pending, options)
    total = len(found.files) + len(found.errors)
    return replace(report, files=total, unchanged_files=unchanged, errors=tuple(errors))


def _unreadable(root: ScanRoot, error: OSError) -> FileError:
    folder = root.source(Path(error.filename))
    return FileError(folder, f"{folder} cannot be looked into ({error.strerror}). Check its permissions.")


def _missing(
    store: Store,
    scope: Scope,
    root: ScanRoot,
    known: Mapping[str, SourceFile],
    found: Sequence[Path],
    unreadable: Sequence[FileError],
) -> dict[str, SourceFile]:
    """Returns the known files that no longer exist under their source, by source. Those of a folder that an outer
    folder absorbed count, because their sources now begin with its name.
    """
    present = {root.source(file) for file in found}
    unseen = tuple(f"{error.path}/" for error in unreadable)
    missing = {path: file for path, file in known.items() if path not in present and not path.startswith(unseen)}
    for name in root.absorbed:
        absorbed = store.ingested(scope, name).files
        missing.update((path, file) for path, file in absorbed.items() if path not in present)
    return missing


def _read_file(
    pending: PendingWrite, file: Path, source: str, known: SourceFile | None, missing: MissingFiles, options: Options,
    apps: AppFolders,
) -> bool:  # fmt: skip
    """Reads a file into `pending`. Returns False if it has not changed.

    Raises ReadError if the file is too large or cannot be read.
    """
    limit = MAX_BYTES if options.max_bytes is None else options.max_bytes
    if not storable(source):
        raise ReadError(f"{source!r} has a name that is not UTF-8. Rename it.")
    try:
        status = file.stat()
    except OSError as error:
        raise ReadError(f"{source} cannot be opened ({error.strerror or error}). Check its permissions.") from error
    mtime_ns = min(status.st_mtime_ns, LATEST_NS)
    suffix = options.hash_suffix
    if known and known.hash.endswith(suffix) and (known.size, known.mtime_ns) == (status.st_size, mtime_ns):
        return False
    if status.st_size > limit:
        raise ReadError(f"{source} is larger than {limit} bytes. Raise the limit with --max-size, or split the file.")
    # Read once: the hash is that of the ingested bytes, even if another process writes to the file.
    data = load(file, source, limit)
    content_hash = xxhash.xxh3_128_hexdigest(data) + suffix
    if known is not None and known.hash == content_hash:
        # Only the time changed: store it, so that the file is not read again.
        pending.files.append(replace(known, size=status.st_size, mtime_ns=mtime_ns))
        return False
    _add(pending, data, file, source, options, apps)
    pending.files.append(SourceFile(source, status.st_size, mtime_ns, content_hash, options.now))
    if (old := missing.take_renamed(source, content_hash)) is not None:
        # The old and the new name change in one transaction.
        pending.moved[source] = old
        pending.removed.append(old)
    return True


def _add(pending: PendingWrite, data: bytes, file: Path, source: str, options: Options, apps: AppFolders) -> None:
    """Adds the documents of a file to the pending write. A file that is no memory is only counted, as `skipped`.

    Raises ReadError if the file cannot be read as its format.
    """
    try:
        documents = read(data, source, apps.place(file))
    except LeftOut as reason:
        pending.skipped[reason.what] += 1
        documents = []
    mtime = min(file.stat().st_mtime_ns, LATEST_NS) // 1_000_000
    pending.add(source, [build(document, options, mtime) for document in documents])


def ingest_copies(
    session: Session, folder: Path, name: str, options: Options, dry_run: bool, progress: Progress | None
) -> IngestReport:
    """Ingests the files of a folder that will not stay, such as an unpacked archive, under sources that begin with
    `name`. They replace what is stored under the same sources; other sources stay. Writes nothing in a dry run.
    """
    root = ScanRoot(folder, folder, name, None, ())
    found = scan(root, options.skip)
    errors = [_unreadable(root, error) for error in found.errors]
    pending, report, apps = PendingWrite(), IngestReport(), AppFolders()
    for number, file in enumerate(found.files, 1):
        source = root.source(file)
        try:
            limit = MAX_BYTES if options.max_bytes is None else options.max_bytes
            if leads_out(file, root.path):
                raise ReadError(f"{source} is a link that leads out of the folder. Copy the file itself there.")
            _add(pending, load(file, source, limit), file, source, options, apps)
        except ReadError as error:
            errors.append(FileError(source, str(error)))
        if pending.size >= NODES_PER_WRITE:
            report, pending = report + _flush(session, pending, options, dry_run), PendingWrite()
        if progress:
            progress("reading", number, len(found.files))
    report += _flush(session, pending, options, dry_run)
    return replace(report, files=len(found.files) + len(found.errors), errors=tuple(errors))


def _flush(session: Session, pending: PendingWrite, options: Options, dry_run: bool = False) -> IngestReport:
    """Writes what differs between the pending files and the memory in one transaction, and returns the counts. Writes
    nothing in a dry run.
    """
    if not (pending.files or pending.removed or pending.built or pending.roots or pending.absorbed):
        return IngestReport(read=pending.read, skipped=pending.skipped)
    store, scope = session.store, session.scope
    present = store.atoms_of(scope, [*pending.built, *pending.removed])
    redacted = redact(store, scope, pending.built)
    diff = compare(store, scope, redacted.built, present, pending.moved, options.now)
    diff.leaving += [node for source in pending.removed for node in present[source]]
    forgotten = {node.id for node in diff.new if node.id in redacted.forgotten or node.id in redacted.emptied}
    # If all of a file was forgotten, not even its name is stored.
    forgotten_sources = redacted.sources_within(forgotten)
    # A forgotten node succeeds no other.
    successors = {old: new for old, new in diff.successors.items() if new not in forgotten}
    leaving = [node.id for node in diff.leaving]
    atoms = [node for node in diff.new if node.kind == "atom"]
    if dry_run:
        return IngestReport(
            added=sum(node.id not in forgotten for node in atoms), kept=diff.kept, edges=len(diff.edges),
            removed=sum(node.kind == "atom" for node in diff.leaving),
            forgotten=sum(node.id in forgotten for node in atoms), cut=len(redacted.cut),
            left_out=redacted.affected_sources(), read=pending.read, skipped=pending.skipped,
        )  # fmt: skip
    batch = Batch(
        nodes=[node for node in diff.changed if node.id not in forgotten],
        edges=[edge for edge in diff.edges if edge.src not in forgotten and edge.dst not in forgotten],
        links=[link for link in diff.stored_links() if link.src not in forgotten],
        sources=[file for file in pending.files if file.path not in forgotten_sources],
        roots=pending.roots,
        successors=successors,
        remove_nodes=[id_ for id_ in leaving if id_ not in successors],
        remove_edges=diff.stale_edges,
        remove_sources=pending.removed,
        remove_roots=list(pending.absorbed),
    )
    new = [node for node in diff.new if node.id not in forgotten]
    merged = regroup(store, scope, batch, new=new, relabelled=diff.relabelled, leaving=diff.leaving)
    change = LinkChange(
        links=[link for link in diff.links if link.src not in forgotten],
        ended=diff.ended,
        arriving=[node for node in diff.changed if (node.name or node.aliases) and node.id not in forgotten],
        leaving=leaving,
    )
    written = write(session, batch, options.now, links=change, read_facts=True)
    left_out = forgotten.union(written.forgotten)
    return IngestReport(
        removed_files=len(pending.removed),
        added=sum(node.id not in left_out for node in atoms),
        kept=diff.kept,
        removed=sum(node.kind == "atom" for node in diff.leaving),
        merged=merged,
        forgotten=sum(node.id in left_out for node in atoms),
        cut=len(redacted.cut),
        edges=written.edges,
        left_out=redacted.affected_sources(),
        read=pending.read,
        skipped=pending.skipped,
    )
