"""Imports a file: an export of cuetrail or of another system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from cuetrail.embed.vectors import shortened
from cuetrail.errors import InputError, ReadError
from cuetrail.facts.beliefs import single_valued
from cuetrail.ingest.build_nodes import Options
from cuetrail.ingest.pipeline import ingest_copies, ingest_path
from cuetrail.ingest.readers.file_format import supported
from cuetrail.model import Edge, Fact, FileError, Life, Node, Note, Scope, SourceFile, Tombstone, Version
from cuetrail.model.records import STORYLINE_KINDS
from cuetrail.model.tags import is_path_tag
from cuetrail.session import Session
from cuetrail.store.dream import DREAM_PROPS, is_dreamt
from cuetrail.store.ports import Store
from cuetrail.store.read import Record, edges_by_id, facts_by_id
from cuetrail.store.shared.copy import announce
from cuetrail.store.shared.fact_fields import value_of
from cuetrail.store.vector_space import VectorSpace, vector_kind
from cuetrail.store.write import Batch, Progress, Stated
from cuetrail.transfer.formats import detect_format
from cuetrail.transfer.formats.basic_memory import files_below
from cuetrail.transfer.formats.detect_format import recognise
from cuetrail.transfer.formats.unpack import HEAD_BYTES, is_zip, unpacked, unzipped
from cuetrail.transfer.jsonl import (
    ExportLine,
    add_to_batch,
    id_of,
    load_lines,
    read_header,
    required_ids,
    short_lines,
    type_name,
)
from cuetrail.validation.ready_records import ready_record
from cuetrail.write.links import LinkChange
from cuetrail.write.pipeline import follow_up, write

RECORDS_AT_ONCE, CHARS_AT_ONCE = 2_000, 20_000_000
MOST_ERRORS = 10_000
"""So many errors are listed; the others are counted."""
# Records that refer to no other record, and are therefore written first.
_INDEPENDENT = (Node, SourceFile, Version, Tombstone)


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import. `records` were imported: `nodes`, `edges`, `facts` and records that belong to them.

    Nodes, edges and facts are counted as `added` (new here), `changed` (here with another content) or `unchanged`.
    `forgotten` nodes were left out because they were forgotten here; `cut` ones lost forgotten sentences.

    `format` is that of the file. `read` counts what was found in it, such as messages, and `skipped` what was left out
    as no memory, such as tool outputs. After a `dry_run` the counts say what an import would do; nothing was written.
    """

    records: int = 0
    nodes: int = 0
    edges: int = 0
    facts: int = 0
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    forgotten: int = 0
    cut: int = 0
    errors: tuple[FileError, ...] = ()
    notices: tuple[str, ...] = ()
    format: str = ""
    read: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    dry_run: bool = False


LineResult = Literal["added", "changed", "unchanged", "written", "forgotten", "refused"]


@dataclass(frozen=True, slots=True)
class LineReport:
    """The result for one line of an export: its number, the type and id of its record, and whether it was written.

    `written` are records that are not compared with stored ones, such as notes. `reason` says why one was refused.
    """

    line: int
    type: str
    id: str
    result: LineResult
    reason: str = ""


OnLine = Callable[[LineReport], object]


class _FirstErrors(list[FileError]):
    """A list that keeps the first MOST_ERRORS errors of an import and counts the others in `more`."""

    more = 0

    def append(self, error: FileError) -> None:
        if len(self) < MOST_ERRORS:
            super().append(error)
        else:
            self.more += 1


@dataclass(frozen=True, slots=True)
class How:
    """How to import: `dry_run` writes nothing, `on_line` is told of each line."""

    dry_run: bool = False
    on_line: OnLine | None = None
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """The memory that an import writes to, and how. `space` is the vector space that it has, or will have; `seen` are
    the ids of nodes that a dry run has read, `waiting` reports of lines that the caller was not told yet.
    """

    session: Session
    space: VectorSpace | None
    now: int
    how: How
    seen: set[str] = field(default_factory=set)
    waiting: list[LineReport] = field(default_factory=list)

    def tell(self, report: LineReport) -> None:
        """Keeps the report of a line until `tell_waiting`, if reports are wanted. Other systems have no lines."""
        if self.how.on_line is not None and report.line:
            self.waiting.append(report)

    def tell_waiting(self, last: int | None = None) -> None:
        """Reports the waiting lines to the caller in their order, up to the line `last`."""
        if self.how.on_line is None:
            return
        ready = [report for report in self.waiting if last is None or report.line <= last]
        self.waiting[:] = [report for report in self.waiting if last is not None and report.line > last]
        for report in sorted(ready, key=lambda one: one.line):
            self.how.on_line(report)

    @property
    def store(self) -> Store:
        return self.session.store

    @property
    def scope(self) -> Scope:
        return self.session.scope


def import_file(session: Session, path: Path, format: str | None, how: How, now: int) -> ImportReport:
    """Imports an export of cuetrail or another system. Without a format, detects it from the content.

    Indexes and mirrors are up to date afterwards. Raises InputError for an unknown format, ReadError for a file that is
    not in the given one.
    """
    target = Target(session, session.vectors.space(), now, how)
    if is_zip(path):
        with unzipped(path, lambda name: supported(PurePosixPath(name))) as (folder, others):
            report = _import(target, folder, format, path)
            report = replace(report, skipped={**report.skipped, **others})
    else:
        report = _import(target, path, format, path)
    report = replace(report, dry_run=how.dry_run)
    return report if how.dry_run else replace(report, notices=follow_up(session, report.notices, how.progress))


def format_of(path: Path, format: str | None) -> str:
    """Returns the format of a file, folder or archive, before anything is imported. Raises InputError and ReadError."""
    if not is_zip(path):
        return recognise(path, format)
    with unzipped(path, lambda name: supported(PurePosixPath(name))) as (folder, _):
        return _recognise(folder, format, path)


def _recognise(path: Path, format: str | None, given: Path) -> str:
    """Returns the format of a file or folder, as `recognise` does. Errors name `given`: the archive that `path` was
    unpacked from, or `path` itself. Raises InputError and ReadError.
    """
    try:
        return recognise(path, format)
    except (InputError, ReadError) as error:
        raise type(error)(str(error).replace(str(path), str(given))) from error


def _import(target: Target, path: Path, format: str | None, given: Path) -> ImportReport:
    """Imports a file or folder. Errors name `given`: the archive that `path` was unpacked from, or `path` itself."""
    recognised = _recognise(path, format, given)
    return replace(_read(target, path, recognised, given), format=recognised)


def _read(target: Target, path: Path, format: str, given: Path) -> ImportReport:
    if format in detect_format.INGESTED:
        return _ingest(target, path, format, given)
    if path.is_dir() and format != "basic-memory":
        # A folder or archive that holds one file.
        inside = [file for file in files_below(path) if file.suffix.lower() in (".json", ".jsonl")]
        if len(inside) != 1:
            raise InputError(
                f"{given} has {len(inside)} files that may be in the format {format}: give the file itself"
            )
        path = inside[0]
    errors = _FirstErrors()
    with unpacked(path) as plain:
        if format == "cuetrail":
            report = _import_own(target, plain, errors)
        else:
            skipped = Counter[str]()
            records = _completed(target, detect_format.load(plain, format, errors, skipped))
            lines = (ExportLine(0, None, record) for record in records)
            report = replace(_import_lines(target, lines, str(plain), errors), skipped=dict(skipped))
        # Errors name the file that was given, not the unpacked copy.
        listed = [replace(e, path=str(given)) if e.path in (str(plain), str(path)) else e for e in report.errors]
        more = [FileError(str(given), f"{errors.more} more parts were left out")] if errors.more else []
        return replace(report, errors=(*listed, *more))


MOST_FILE_BYTES = 512 * 2**20
"""The largest file of an app: all chats of many years may be one file."""
_OWN_NAMES = ("chatgpt", "claude", "notion", "roam")


def _ingest(target: Target, path: Path, format: str, given: Path) -> ImportReport:
    """Imports chats or notes with `ingest`. Folders are followed: files that have not changed are skipped. Of an
    archive, the files keep their names, so that a later export of the same app brings what is new.
    """
    if path.is_file() and not path.suffix:
        raise InputError(f"{given} has no suffix, such as .json, by which its format is known: rename it")
    options = Options(None, "internal", MOST_FILE_BYTES, target.now, (target.session.home,))
    if path.is_file() and path == given and _is_packed(path):
        raise InputError(f"{path} is compressed, and chats are followed in their own file: unpack it, import that")
    if path != given or target.how.dry_run:
        name = format if format in _OWN_NAMES else given.name.removesuffix(".zip")
        found = ingest_copies(target.session, path, name, options, target.how.dry_run, target.how.progress)
    else:
        found = ingest_path(target.session, path, options, target.how.progress)
    if path.is_dir() and path == given:
        unread = [file for file in files_below(path) if not supported(file) and file.name != "config.edn"]
        others = Counter(f"{file.suffix.lower() or 'other'} files" for file in unread)
        found = replace(found, skipped={**found.skipped, **others})
    same = found.unchanged_files
    notice = f"{same} of {found.files} files have not changed since they were last read"
    count = found.added + found.kept
    return ImportReport(
        records=count, nodes=count, edges=found.edges, added=found.added, unchanged=found.kept,
        forgotten=found.forgotten, cut=found.cut, errors=found.errors,
        notices=(*found.notices, notice) if same else found.notices,
        read=dict(found.read), skipped=dict(found.skipped),
    )  # fmt: skip


def _is_packed(path: Path) -> bool:
    with unpacked(path) as plain:
        return plain != path


def _import_own(target: Target, path: Path, errors: list[FileError]) -> ImportReport:
    """Imports an export of cuetrail. Vectors of another model are left out; the memory's embedder makes new ones."""
    with path.open("rb") as file:
        space = read_header(file.readline(HEAD_BYTES), str(path))
        dim = space.dim if space is not None and space == target.space else None

        def refuse(number: int, problem: str) -> None:
            errors.append(FileError(str(path), problem))
            target.tell(LineReport(number, "", "", "refused", problem))

        lines = load_lines(short_lines(file), dim, refuse)
        report = _import_lines(target, lines, str(path), errors)
    if space is None or dim is not None:
        return report
    notice = f"the export's vectors are of {space.model!r} and were left out"
    return replace(report, notices=(notice,))


def _completed(target: Target, records: Iterator[Record]) -> Iterator[Record]:
    """Yields records of other systems with missing times filled in. A placeholder, which the file only names, is
    replaced by the stored node with its id.
    """
    while batch := list(islice(records, RECORDS_AT_ONCE)):
        known = target.store.get(target.scope, [record.id for record in batch if isinstance(record, Node)])
        for record in batch:
            if isinstance(record, Node):
                existing = known.get(record.id)
                if existing is None or not record.props.get("placeholder"):
                    yield _timed(record, existing, target.now)
                elif (existing.owner, existing.team) == (target.scope.user, None):
                    # Yielded unchanged, so that it is counted as unchanged.
                    yield existing
            elif isinstance(record, Edge | Fact):
                yield replace(record, created=record.created or target.now)
            else:
                yield record


def _timed(node: Node, known: Node | None, now: int) -> Node:
    """Returns the node with the times that the file states, else those of the stored node `known`, else `now`."""
    if known is None:
        known = replace(node, at=now, created=now, updated=node.created or now)
    elif (known.name, known.text) != (node.name, node.text):
        known = replace(known, updated=now)
    return replace(
        node, at=node.at or known.at, created=node.created or known.created, updated=node.updated or known.updated
    )


def _import_lines(target: Target, lines: Iterator[ExportLine], path: str, errors: list[FileError]) -> ImportReport:
    forgotten: set[str] = set()
    tombstones: list[ExportLine] = []
    counts = Counter[str]()
    dreamt: set[str | None] = set()
    checked = _accepted(target, lines, path, errors)
    if target.store.stats(target.scope).tombstones:
        checked = _without_new_dreams(target, checked, forgotten)
    while batch := _batch(checked):
        nodes = [line.record for line in batch if isinstance(line.record, Node)]
        redacted = target.store.redacted_texts(target.scope, nodes)
        forgotten |= {id_ for id_, text in redacted.items() if not text}
        kept = [_redact(line, redacted) for line in batch if not _needs_any(line.record, forgotten)]
        # Tombstones come last: text forgotten in one partition there may still exist in another.
        tombstones += [line for line in kept if isinstance(line.record, Tombstone)]
        known = _known(target, kept)
        new = [line for line in kept if not isinstance(line.record, Tombstone) and not _is_stored(line, known, target)]
        # Announced before it is written: if the import stops, the next dream must know of it.
        teams = {line.team for line in new if is_dreamt(line.record)} - dreamt
        _announce(target, teams)
        dreamt |= teams
        failed = set(map(id, _write_all(target, new, path, errors)))
        counts.update(name for line in kept if id(line) not in failed for name in _counters(line.record, known))
        _tell(target, batch, kept, failed, known)
        target.tell_waiting(batch[-1].number)
        counts["forgotten"] += sum(node.id in forgotten for node in nodes)
        counts["cut"] += sum(bool(text) for text in redacted.values())
        if target.how.progress:
            target.how.progress("importing", counts["records"], 0)
    _write_all(target, tombstones, path, errors)
    target.tell_waiting()
    # A dream may have run meanwhile.
    _announce(target, dreamt)
    numbers: Any = counts
    return ImportReport(**numbers, errors=tuple(errors))


def _tell(
    target: Target, batch: Sequence[ExportLine], kept: Sequence[ExportLine], failed: set[int], known: _Known
) -> None:
    """Reports each line of a batch that was written, or left out as forgotten. Failed lines were reported before."""
    if target.how.on_line is None:
        return
    written = {line.number: line for line in kept}
    for line in batch:
        own = written.get(line.number)
        if own is None:
            target.tell(_line_report(line, "forgotten"))
        elif id(own) not in failed:
            results = [name for name in _counters(own.record, known) if name in ("added", "changed", "unchanged")]
            target.tell(_line_report(line, results[0] if results else "written"))  # type: ignore[arg-type]  # one of the three


def _line_report(line: ExportLine, result: LineResult, reason: str = "") -> LineReport:
    """Returns the report of a line whose record could be read."""
    return LineReport(line.number, type_name(line.record), id_of(line.record), result, reason)


def _batch(lines: Iterator[ExportLine]) -> list[ExportLine]:
    """Returns the next lines to write in one step: at most RECORDS_AT_ONCE, and about CHARS_AT_ONCE characters."""
    found, size = list[ExportLine](), 0
    for line in lines:
        found.append(line)
        size += line.size
        if len(found) >= RECORDS_AT_ONCE or size >= CHARS_AT_ONCE:
            break
    return found


def _accepted(target: Target, lines: Iterator[ExportLine], path: str, errors: list[FileError]) -> Iterator[ExportLine]:
    """Yields the lines that this scope may write and whose records meet the rules of `add`, `link` and `fact`.

    The others are reported and left out.
    """
    for line in lines:
        try:
            if line.team is not None and line.team not in target.scope.teams:
                raise InputError(
                    f"it belongs to the team {line.team!r:.60}, which this scope is not in: name it with --team to "
                    "import it there, or remove `team` from the line"
                )
            yield replace(line, record=ready_record(line.record))
        except InputError as error:
            _refuse(target, line, path, error, errors)


def _refuse(target: Target, line: ExportLine, path: str, error: InputError, errors: list[FileError]) -> None:
    errors.append(FileError(path, f"{_at_line(line)}{error}"))
    target.tell(_line_report(line, "refused", str(error)))


def _at_line(line: ExportLine) -> str:
    return f"line {line.number}: " if line.number else ""


def _without_new_dreams(target: Target, lines: Iterator[ExportLine], skipped: set[str]) -> Iterator[ExportLine]:
    """Yields the lines without summaries, keywords and tags that dreams made elsewhere and that are not stored here.

    These may be made of texts that were forgotten here, and single words match no tombstone. The next dream makes them
    again from the texts of this memory. Adds the ids of storylines that are left out to `skipped`.
    """
    while some := _batch(lines):
        stored = target.store.get(target.scope, [line.record.id for line in some if isinstance(line.record, Node)])
        for line in some:
            node = line.record
            if not isinstance(node, Node):
                yield line
            elif node.kind not in STORYLINE_KINDS:
                yield replace(line, record=_with_dreams_of(node, stored.get(node.id)))
            elif node.id in stored:
                yield replace(line, record=stored[node.id])
            else:
                skipped.add(node.id)


def _with_dreams_of(node: Node, stored: Node | None) -> Node:
    """Returns the node without tags, summary and keywords from dreams, except those that the stored node has."""
    props, tags = node.props, node.tag_details
    if node.kind == "source":
        here = {} if stored is None else {name: stored.props[name] for name in DREAM_PROPS if name in stored.props}
        props = {name: value for name, value in props.items() if name not in DREAM_PROPS} | here
    own = set() if stored is None else set(stored.tags)
    tags = tuple(t for t in tags if t.name in own or t.origin not in ("auto", "infected") or is_path_tag(t))
    return node if (props, tags) == (node.props, node.tag_details) else replace(node, props=props, tag_details=tags)


def _announce(target: Target, teams: Iterable[str | None]) -> None:
    for team in () if target.how.dry_run else teams:
        announce(target.store, _partition(target, team))


def _redact(line: ExportLine, redacted: Mapping[str, str]) -> ExportLine:
    """Returns the line with the remaining text of its node, without a vector, if `redacted` has one for it; else the
    line itself. `redacted` maps node ids to texts without forgotten sentences.
    """
    if isinstance(line.record, Node) and (text := redacted.get(line.record.id)):
        return replace(line, record=shortened(line.record, text), vector=None)
    return line


_Known = Mapping[tuple[type, str], Record]
"""Records that are stored here, by type and id."""


def _known(target: Target, lines: Sequence[ExportLine]) -> _Known:
    store, scope, records = target.store, target.scope, [line.record for line in lines]
    found: list[Node | Edge | Fact] = [*store.get(scope, [r.id for r in records if isinstance(r, Node)]).values()]
    found += edges_by_id(store, scope, [r.id for r in records if isinstance(r, Edge)]).values()
    for facts in store.facts(scope, list({r.subject for r in records if isinstance(r, Fact)})).values():
        found += facts
    return {(type(record), record.id): record for record in found}


def _counters(record: Record, known: _Known) -> Iterator[str]:
    """Yields the names of the fields of an ImportReport that count this record."""
    yield "records"
    if isinstance(record, Node | Edge | Fact):
        yield {Node: "nodes", Edge: "edges", Fact: "facts"}[type(record)]
        old = known.get((type(record), record.id))
        yield "added" if old is None else "unchanged" if _is_same(record, old) else "changed"


def _is_same(record: Record, old: Record) -> bool:
    """True if the stored record has the same content; its owner and creation time may differ."""
    if isinstance(record, Node) and isinstance(old, Node):
        life = old.life if record.life == Life() else record.life
        return replace(record, life=life, owner=old.owner, team=old.team, created=old.created) == old
    if isinstance(record, Edge) and isinstance(old, Edge):
        return replace(record, created=old.created, updated=old.updated) == old
    return isinstance(record, Fact) and isinstance(old, Fact) and replace(record, created=old.created) == old


def _is_stored(line: ExportLine, known: _Known, target: Target) -> bool:
    """True for a node that the user already has here with the same content and team."""
    old = known.get((Node, line.record.id)) if isinstance(line.record, Node) else None
    owner = (target.scope.user, line.team)
    return isinstance(old, Node) and (old.owner, old.team) == owner and _is_same(line.record, old)


def _needs_any(record: Record, ids: set[str]) -> bool:
    """True if the record is one of these nodes, a version of one, or refers to one."""
    own = {record.id} if isinstance(record, Node | Version) else set()
    return not ids.isdisjoint(own | set(required_ids(record)))


def _write_all(target: Target, lines: Sequence[ExportLine], path: str, errors: list[FileError]) -> list[ExportLine]:
    """Writes lines, one team after another; nodes of all teams come first, because edges may connect two teams.

    Returns the lines that could not be written and adds the reasons to `errors`.
    """
    if target.how.dry_run:
        return _without_ends(target, lines, path, errors)
    first = [line for line in lines if isinstance(line.record, _INDEPENDENT)]
    failed: list[ExportLine] = []
    for group in (first, [line for line in lines if not isinstance(line.record, _INDEPENDENT)]):
        for team in sorted({line.team for line in group}, key=lambda team: team or ""):
            failed += _write_team(target, team, [line for line in group if line.team == team], path, errors)
    return failed


def _without_ends(target: Target, lines: Sequence[ExportLine], path: str, errors: list[FileError]) -> list[ExportLine]:
    """Returns the lines that could not be written because a node they refer to is neither stored nor in the file so
    far, and adds the reasons to `errors`.
    """
    target.seen.update(line.record.id for line in lines if isinstance(line.record, Node))
    needed = {id_ for line in lines for id_ in required_ids(line.record)} - target.seen
    on_edges = {line.record.target for line in lines if isinstance(line.record, Note) and line.record.on == "edge"}
    missing = needed - target.store.get(target.scope, sorted(needed)).keys() - on_edges
    failed = [line for line in lines if not missing.isdisjoint(required_ids(line.record))]
    for line in failed:
        gone = sorted(missing.intersection(required_ids(line.record)))
        _refuse(target, line, path, InputError(f"there is no node {gone[0]!r:.60}: import it first"), errors)
    return failed


def _write_team(
    target: Target, team: str | None, lines: Sequence[ExportLine], path: str, errors: list[FileError]
) -> list[ExportLine]:
    """Writes lines of one team at once. If that fails, writes each half alone, until only the faulty lines remain."""
    scope = _partition(target, team)
    batch = Batch()
    for line in lines:
        add_to_batch(batch, line.record)
        if line.vector is not None and (meaning := vector_kind(line.record)) is not None:
            batch.vectors_of(meaning[0])[meaning[1]] = line.vector
            batch.space = target.space
    _move_contested_facts(target, scope, batch)
    named = LinkChange(arriving=[node for node in batch.nodes if node.name])
    try:
        write(target.session, batch, target.now, scope=scope, links=named)
    except InputError as error:
        if len(lines) == 1:
            _refuse(target, lines[0], path, error, errors)
            return list(lines)
        half = len(lines) // 2
        halves = (lines[:half], lines[half:])
        return [line for part in halves for line in _write_team(target, team, part, path, errors)]
    return []


def _partition(target: Target, team: str | None) -> Scope:
    """Returns the scope that writes to a team, or to the user's own memories for None."""
    return replace(target.scope, share=team)


def _move_contested_facts(target: Target, scope: Scope, batch: Batch) -> None:
    """Moves facts that may conflict with stored ones from `batch.facts` to `batch.stated`: the engine fits these into
    the stored ones.

    These are other values of a single-valued predicate, and the same fact stated at another time. All other facts are
    stored unchanged, with their history.
    """
    if not batch.facts:
        return
    single = single_valued(target.store, target.scope, {fact.predicate for fact in batch.facts})

    def topic(fact: Fact) -> Hashable:
        return fact.subject, fact.predicate, None if fact.predicate in single else value_of(fact)

    known = target.store.facts(scope, list({fact.subject for fact in batch.facts if fact.predicate in single}))
    stored = [fact for facts in known.values() for fact in facts if fact.predicate in single]
    stored += facts_by_id(target.store, scope, [id_ for fact in batch.facts for id_ in Stated(fact).ids]).values()
    contested = {topic(fact) for fact in stored}
    moved = [fact for fact in batch.facts if topic(fact) in contested]
    batch.facts = [fact for fact in batch.facts if topic(fact) not in contested]
    batch.stated += [Stated(fact, single=fact.predicate in single, settled=True) for fact in moved]
