"""Taking in files: what changed is read, compared with what is known, and written file by file in whole transactions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import xxhash

from cuetrail.errors import ReadError
from cuetrail.ingest import walk
from cuetrail.ingest.build import Built, Context, build, structure
from cuetrail.ingest.document import Document
from cuetrail.ingest.linking import Change, resolve
from cuetrail.ingest.readers import MAX_BYTES, read
from cuetrail.model import FileError, IngestReport, Link, Node, Provenance, Scope, SourceFile, Tag
from cuetrail.store.base import Batch, Progress, Store, Written

NODES_PER_WRITE = 2_000

Writer = Callable[[Batch], Written]


@dataclass(frozen=True, slots=True)
class Options:
    """How to take files in. `skip` are folders never entered, such as the memory's own."""

    bucket: str | None
    provenance: Provenance
    max_bytes: int | None
    now: int
    skip: tuple[Path, ...]


@dataclass(slots=True)
class Draft:
    """Files read but not yet written: one transaction to be."""

    built: dict[str, list[Built]] = field(default_factory=dict)
    files: list[SourceFile] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    size: int = 0


def ingest_path(
    store: Store, scope: Scope, path: Path, options: Options, write: Writer, progress: Progress | None
) -> IngestReport:
    """Bring the memory in step with a file or folder. Errors of single files are collected, never raised."""
    place = walk.locate(path, store.roots(scope))
    known = store.source_files(scope, place.source(place.path))
    found = list(walk.files(place, options.skip)) if place.path.exists() else []
    draft, report, errors = Draft(), IngestReport(), list[FileError]()
    unchanged = 0
    for number, file in enumerate(found, 1):
        source = place.source(file)
        try:
            taken = _read(file, source, known.get(source), options)
            if taken is None:
                unchanged += 1
            else:
                _draft(draft, source, *taken)
        except (ReadError, OSError) as error:
            errors.append(FileError(source, str(error)))
        if draft.size >= NODES_PER_WRITE:
            report = _plus(report, _flush(store, scope, draft, options, write))
            draft = Draft()
        if progress:
            progress("reading", number, len(found))
    failed = {error.path for error in errors}
    draft.gone = sorted(known.keys() - {place.source(f) for f in found} - failed)
    for name in place.absorbed:
        draft.gone += sorted(store.source_files(scope, name))
    roots = {place.root: str(place.base)} if place.root else {}
    report = _plus(report, _flush(store, scope, draft, options, write, roots, place.absorbed))
    return replace(report, files=len(found), unchanged_files=unchanged, errors=tuple(errors))


def ingest_documents(
    store: Store, scope: Scope, source: str, documents: Sequence[Document], options: Options, write: Writer
) -> IngestReport:
    """Take in documents that come from no file, replacing what the source held."""
    draft = Draft()
    context = Context(options.bucket, options.provenance, options.now, options.now)
    _draft(draft, source, None, [build(document, context) for document in documents])
    return replace(_flush(store, scope, draft, options, write), files=1)


def watch_path(
    store: Store,
    scope: Scope,
    path: Path,
    options: Options,
    write: Writer,
    stop: threading.Event | None,
    clock: Callable[[], int],
) -> Iterator[IngestReport]:
    """A report after each change below the path, until `stop` is set or Ctrl-C."""
    # Imported here: only --watch needs it.
    from watchfiles import watch

    for _ in watch(path, stop_event=stop, raise_interrupt=False, debounce=400):
        yield ingest_path(store, scope, path, replace(options, now=clock()), write, None)


def _read(
    file: Path, source: str, known: SourceFile | None, options: Options
) -> tuple[SourceFile, list[Built]] | None:
    """The file as records, None when it is as it was."""
    status = file.stat()
    if known is not None and (known.size, known.mtime_ns) == (status.st_size, status.st_mtime_ns):
        return None
    limit = MAX_BYTES if options.max_bytes is None else options.max_bytes
    documents = read(file, source, limit)
    digest = xxhash.xxh3_128_hexdigest(file.read_bytes())
    record = SourceFile(source, status.st_size, status.st_mtime_ns, digest, options.now)
    context = Context(options.bucket, options.provenance, status.st_mtime_ns // 1_000_000, options.now)
    return record, [build(document, context) for document in documents]


def _draft(draft: Draft, source: str, file: SourceFile | None, built: list[Built]) -> None:
    draft.built[source] = built
    if file is not None:
        draft.files.append(file)
    draft.size += sum(len(b.nodes) for b in built)


def _flush(
    store: Store,
    scope: Scope,
    draft: Draft,
    options: Options,
    write: Writer,
    roots: Mapping[str, str] | None = None,
    absorbed: Sequence[str] = (),
) -> IngestReport:
    """Write the draft as one transaction: only the difference to what is there."""
    if not (draft.files or draft.gone or draft.built or roots):
        return IngestReport()
    batch = Batch(sources=draft.files, remove_sources=draft.gone, roots=dict(roots or {}), remove_roots=list(absorbed))
    present = store.atoms_of(scope, [*draft.built, *draft.gone])
    kept, links, new = 0, list[Link](), list[Node]()
    for source, built in draft.built.items():
        old = {node.id: node for node in present[source]}
        now = {node.id: node for b in built for node in b.nodes}
        dated = frozenset[str]().union(*(b.dated for b in built))
        fresh = [_settled(node, old.get(node.id), dated) for node in now.values()]
        changed = [node for node in fresh if not _same(node, old.get(node.id))]
        batch.nodes += changed
        kept += sum(node.kind == "atom" for node in fresh) - sum(n.kind == "atom" for n in changed if n.id not in old)
        new += [node for node in changed if node.id not in old]
        batch.remove_nodes += [id_ for id_ in old if id_ not in now]
        links += [link for b in built for link in b.links if link.src not in old]
        _restructure(store, scope, batch, source, built)
    batch.remove_nodes += [node.id for source in draft.gone for node in present[source]]
    removed = sum(n.kind == "atom" for nodes in present.values() for n in nodes if n.id in set(batch.remove_nodes))
    merged = _merge_near(store, scope, batch, new)
    batch.links = links
    forgotten = store.is_forgotten(scope, batch.nodes)
    links = [link for link in links if link.src not in forgotten]
    renamed = [node for node in batch.nodes if node.kind == "source" and node.id not in forgotten]
    resolve(store, scope, Change(links, renamed, batch.remove_nodes), batch, options.now)
    written = write(batch)
    added = sum(node.kind == "atom" for node in new) - sum(n.id in written.forgotten and n.kind == "atom" for n in new)
    return IngestReport(
        removed_files=len(draft.gone), added=added, kept=kept, removed=removed, merged=merged,
        forgotten=len(written.forgotten), edges=written.edges,
    )  # fmt: skip


def _settled(node: Node, old: Node | None, dated: frozenset[str]) -> Node:
    """The node as it should be stored: what others gave the old one stays; a date only the file had does not move."""
    if old is None:
        return node
    own = {tag.name for tag in node.tag_details}
    given = tuple(tag for tag in old.tag_details if tag.origin in ("temporal", "infected") and tag.name not in own)
    return replace(
        node,
        tag_details=node.tag_details + given,
        buckets=tuple(dict.fromkeys(node.buckets + old.buckets)) if given else node.buckets,
        at=node.at if node.id in dated else old.at,
        created=old.created,
        updated=old.updated,
        life=old.life,
    )


def _same(node: Node, old: Node | None) -> bool:
    return old is not None and replace(old, owner=node.owner, team=node.team) == node


def _restructure(store: Store, scope: Scope, batch: Batch, source: str, built: Sequence[Built]) -> None:
    """Edges of the file's structure: add the new ones, remove those that no longer hold."""
    wanted = {edge.id: edge for b in built for edge in b.edges}
    marks = sorted({structure(b.nodes[0].source or source) for b in built})
    present = {e.id for edges in store.edges_via(scope, marks).values() for e in edges}
    batch.edges += [edge for id_, edge in wanted.items() if id_ not in present]
    batch.remove_edges += sorted(present - wanted.keys())


def _merge_near(store: Store, scope: Scope, batch: Batch, new: Sequence[Node]) -> int:
    """Near duplicates share their tags and buckets; each keeps its own text and file."""
    near = store.simhash_near(scope, {n.id: n.simhash for n in new if n.simhash is not None})
    leaving = set(batch.remove_nodes)
    near = {id_: other for id_, other in near.items() if other not in leaving}
    if not near:
        return 0
    others = store.get(scope, sorted(set(near.values())))
    nodes = {node.id: node for node in batch.nodes}
    for id_, other_id in near.items():
        other = nodes.get(other_id, others[other_id])
        node = nodes[id_]
        nodes[id_] = _with(node, other)
        merged = _with(other, node)
        if merged != other or other_id in nodes:
            nodes[other_id] = merged
    batch.nodes = list(nodes.values())
    return len(near)


def _with(node: Node, other: Node) -> Node:
    """The node with the other's tags and buckets behind its own."""
    have = set(node.tags)
    borrowed = tuple(Tag(t.name, t.display, "infected") for t in other.tag_details if t.name not in have)
    return replace(
        node,
        tag_details=node.tag_details + borrowed,
        buckets=tuple(dict.fromkeys(node.buckets + other.buckets)),
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
        edges=a.edges + b.edges,
    )
