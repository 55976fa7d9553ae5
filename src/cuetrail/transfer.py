"""Whole memories in and out of files: cuetrail's own export, and the formats of other systems."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from cuetrail import switch
from cuetrail.errors import InputError, NotFound, ReadError
from cuetrail.exporting import dump_line, ends_of, header, load_lines, put
from cuetrail.ingest.pipeline import Options, ingest_path
from cuetrail.model import Edge, Fact, FileError, Node, Scope
from cuetrail.store.base import Batch, Progress, Record, Store, Written

RECORDS_PER_WRITE = 2_000
INGESTED = ("obsidian", "chatgpt", "claude")
FORMATS = ("cuetrail", *switch.FORMATS)

ScopedWriter = Callable[[Batch, Scope], Written]
_Line = tuple[int, str | None, Record, bytes | None]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import took in. `forgotten` records stayed away because their memory was forgotten here."""

    records: int = 0
    nodes: int = 0
    edges: int = 0
    facts: int = 0
    forgotten: int = 0
    errors: tuple[FileError, ...] = ()
    notices: tuple[str, ...] = ()


def export_file(store: Store, scope: Scope, path: Path, format: str, vectors: bool) -> int:
    """Write what the user owns; how many records. The file appears only when it is whole; `-` is standard output."""
    if format in switch.FORMATS:
        return switch.dump((record for _, record in store.scan(scope)), path, format)
    if format != "cuetrail":
        raise InputError(f"unknown format {format!r}: use one of {', '.join(FORMATS)}")
    if str(path) == "-":
        return _write_lines(sys.stdout.write, store, scope, vectors)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            count = _write_lines(file.write, store, scope, vectors)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    return count


def _write_lines(write: Callable[[str], object], store: Store, scope: Scope, vectors: bool) -> int:
    write(header())
    count = 0
    records = store.scan(scope)
    while some := list(islice(records, RECORDS_PER_WRITE)):
        nodes = [record.id for _, record in some if isinstance(record, Node)] if vectors else []
        blobs = store.vectors(scope, nodes)
        for team, record in some:
            write(dump_line(team, record, blobs.get(record.id) if isinstance(record, Node) else None))
        count += len(some)
    return count


def import_file(
    store: Store,
    scope: Scope,
    path: Path,
    format: str | None,
    options: Options,
    write: ScopedWriter,
    progress: Progress | None,
) -> ImportReport:
    """Take in an export of cuetrail or another system; the format is told by content unless given."""
    format = format or switch.detect(path)
    if format is None:
        raise InputError(f"cannot tell what {path} is: name its format with --format ({', '.join(FORMATS)})")
    if format in INGESTED:
        report = ingest_path(store, scope, path, options, lambda batch: write(batch, scope), progress)
        return ImportReport(report.added, report.added, report.edges, 0, report.forgotten, report.errors, report.notices)
    errors: list[FileError] = []
    if format == "cuetrail":
        with path.open(encoding="utf-8", newline="\n") as file:
            return _take(store, scope, load_lines(file, str(path)), str(path), errors, write, progress)
    lines = ((0, None, record, None) for record in _fitting(store, scope, switch.load(path, format, errors), options.now))
    return _take(store, scope, lines, str(path), errors, write, progress)


def _fitting(store: Store, scope: Scope, records: Iterable[Record], now: int) -> Iterator[Record]:
    """Other systems' records with what they do not state: times; placeholders give way to nodes that are there."""
    for record in records:
        if isinstance(record, Node):
            if record.props.get("placeholder") and store.get(scope, [record.id]):
                continue
            yield replace(
                record, at=record.at or now, created=record.created or now, updated=record.updated or record.created or now
            )
        elif isinstance(record, Edge | Fact):
            yield replace(record, created=record.created or now)
        else:
            yield record


def _take(
    store: Store,
    scope: Scope,
    lines: Iterator[_Line],
    path: str,
    errors: list[FileError],
    write: ScopedWriter,
    progress: Progress | None,
) -> ImportReport:
    refused: set[str] = set()
    counts = ImportReport()
    while some := list(_until_bad(islice(lines, RECORDS_PER_WRITE), path, errors)):
        nodes = [record for _, _, record, _ in some if isinstance(record, Node)]
        refused |= store.is_forgotten(scope, nodes)
        kept = [line for line in some if not _refused(line[2], refused)]
        _write_teams(scope, kept, path, errors, write)
        counts = replace(
            counts,
            records=counts.records + len(kept),
            nodes=counts.nodes + sum(isinstance(line[2], Node) for line in kept),
            edges=counts.edges + sum(isinstance(line[2], Edge) for line in kept),
            facts=counts.facts + sum(isinstance(line[2], Fact) for line in kept),
            forgotten=counts.forgotten + sum(node.id in refused for node in nodes),
        )
        if progress:
            progress("importing", counts.records, 0)
    return replace(counts, errors=tuple(errors))


def _until_bad(lines: Iterable[_Line], path: str, errors: list[FileError]) -> Iterator[_Line]:
    """The lines up to one that cannot be read, which is reported."""
    try:
        yield from lines
    except (ReadError, UnicodeDecodeError) as error:
        errors.append(FileError(path, str(error)))


def _refused(record: Record, refused: set[str]) -> bool:
    own = {record.id} if isinstance(record, Node) else set()
    return not refused.isdisjoint(own | set(ends_of(record)))


def _write_teams(
    scope: Scope,
    lines: list[_Line],
    path: str,
    errors: list[FileError],
    write: ScopedWriter,
) -> None:
    """Write lines in the order of their teams; where one has no ends, the others of the batch still go in."""
    for team in sorted({team for _, team, _, _ in lines}, key=lambda t: t or ""):
        mine = [line for line in lines if line[1] == team]
        target = replace(scope, share=team, teams=scope.teams if team is None or team in scope.teams else (*scope.teams, team))
        try:
            write(_batch(mine), target)
        except NotFound:
            for line in mine:
                try:
                    write(_batch([line]), target)
                except NotFound as error:
                    errors.append(FileError(path, f"line {line[0]}: {error}"))


def _batch(lines: list[_Line]) -> Batch:
    batch = Batch()
    for _, _, record, vector in lines:
        put(batch, record)
        if vector is not None and isinstance(record, Node):
            batch.vectors[record.id] = vector
    return batch
