"""Whole memories in and out of files: cuetrail's own export, and the formats of other systems."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from cuetrail.embed.vectors import shortened
from cuetrail.errors import InputError
from cuetrail.files import replacing
from cuetrail.ingest.pipeline import Options, Writer, ingest_path
from cuetrail.model import Edge, Fact, FileError, Life, Node, Scope, SourceFile, Tombstone, Version
from cuetrail.store.dream_port import announce, is_dreamt
from cuetrail.store.ports import NO_VECTORS, Batch, Meaning, Progress, Record, Store, VectorSpace, Written
from cuetrail.store.relationship_query import meaning_of
from cuetrail.store.shared.fact_validity import Stated, value_of
from cuetrail.transfer import formats
from cuetrail.transfer.jsonl import Line, dump_line, ends_of, header, load_lines, put, read_header
from cuetrail.write.fact_extraction import SingleValued
from cuetrail.write.links import Change, resolve

RECORDS_PER_WRITE = 2_000
INGESTED = ("obsidian", "chatgpt", "claude")
FORMATS = ("cuetrail", *formats.FORMATS)
_ALONE = (Node, SourceFile, Version, Tombstone)

ScopedWriter = Callable[[Batch, Scope], Written]


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did. `records` of the file are now here: `nodes`, `edges`, `facts` and what belongs to them.

    Of the nodes, edges and facts `added` are new, `changed` were here and said something else, and `unchanged` were
    here already. `forgotten` nodes stayed away because they were forgotten here, `cut` ones left forgotten sentences.
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


def export_file(store: Store, scope: Scope, path: Path, format: str, vectors: bool) -> int:
    """Write what the user owns; how many records. The file appears only when it is whole; `-` is standard output."""
    if format in formats.FORMATS:
        return formats.dump((record for _, record in store.scan(scope)), path, format)
    if format != "cuetrail":
        raise InputError(f"unknown format {format!r}: use one of {', '.join(FORMATS)}")
    if str(path) == "-":
        return _write_lines(sys.stdout.write, store, scope, vectors)
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file to write")
    with replacing(path) as file:
        return _write_lines(lambda line: file.write(line.encode()), store, scope, vectors)


def _write_lines(write: Callable[[str], object], store: Store, scope: Scope, vectors: bool) -> int:
    held = store.vector_space() if vectors else None
    space = None if held == NO_VECTORS else held
    write(header(space))
    count = 0
    records = store.scan(scope)
    while some := list(islice(records, RECORDS_PER_WRITE)):
        blobs = _vectors(store, scope, space, some) if space else {}
        for team, record in some:
            meaning = meaning_of(record)
            write(dump_line(team, record, None if meaning is None else blobs.get((team, *meaning))))
        count += len(some)
    return count


def _vectors(
    store: Store, scope: Scope, space: VectorSpace, some: Sequence[tuple[str | None, Record]]
) -> dict[tuple[str | None, Meaning, str], bytes]:
    """Vectors by team, kind of record and id. An id may be used in several places; for who writes to one it means what
    is there.
    """
    ids: dict[tuple[str | None, Meaning], list[str]] = {}
    for team, record in some:
        if (meaning := meaning_of(record)) is not None:
            ids.setdefault((team, meaning[0]), []).append(meaning[1])
    found: dict[tuple[str | None, Meaning, str], bytes] = {}
    for (team, what), wanted in ids.items():
        blobs = store.vectors(replace(scope, share=team), wanted, space, what)
        found |= {(team, what, id_): blob for id_, blob in blobs.items()}
    return found


@dataclass(frozen=True, slots=True)
class Target:
    """Where an import goes. `learn` writes files with the facts in them; `single` tells which predicates have one value
    at a time; `space` is the model whose vectors the memory holds or is about to.
    """

    store: Store
    scope: Scope
    write: ScopedWriter
    learn: Writer
    single: SingleValued
    space: VectorSpace | None
    now: int


def import_file(
    target: Target, path: Path, format: str | None, options: Options, progress: Progress | None
) -> ImportReport:
    """Take in an export of cuetrail or another system; the format is told by content unless given."""
    told = formats.recognise(path, format)
    with formats.unpacked(path) as plain:
        if told not in INGESTED:
            report = _import_records(target, plain, told, progress)
            # Who reads of an error knows the file by the name it was given by.
            named = (replace(e, path=str(path)) if e.path == str(plain) else e for e in report.errors)
            return replace(report, errors=tuple(named))
        if plain != path:
            raise InputError(f"{path} is packed, and chats are followed in their own file: unpack it, import that")
    return _ingest(target, path / formats.CHATS if (path / formats.CHATS).is_file() else path, options, progress)


def _import_records(target: Target, path: Path, told: str, progress: Progress | None) -> ImportReport:
    errors: list[FileError] = []
    if told == "cuetrail":
        return _import_own(target, path, errors, progress)
    lines = (Line(0, None, record) for record in _fitting(target, formats.load(path, told, errors)))
    return _take(target, lines, str(path), errors, progress)


def _ingest(target: Target, path: Path, options: Options, progress: Progress | None) -> ImportReport:
    """Take in files that `ingest` reads. What it follows is not read again while it stays as it is."""
    found = ingest_path(target.store, target.scope, path, options, target.learn, progress)
    unread = found.unchanged_files
    said = f"{unread} of {found.files} files are as they were when they were last taken in"
    return ImportReport(
        records=found.added + found.kept,
        nodes=found.added + found.kept,
        edges=found.edges,
        added=found.added,
        unchanged=found.kept,
        forgotten=found.forgotten,
        cut=found.cut,
        errors=found.errors,
        notices=(*found.notices, said) if unread else found.notices,
    )


def _import_own(target: Target, path: Path, errors: list[FileError], progress: Progress | None) -> ImportReport:
    """Take in an export of cuetrail. Vectors of another model are left out; the memory's embedder makes new ones."""
    with path.open("rb") as file:
        space = read_header(file.readline(), str(path))
        dim = space.dim if space is not None and space == target.space else None
        lines = load_lines(file, dim, lambda problem: errors.append(FileError(str(path), problem)))
        report = _take(target, lines, str(path), errors, progress)
    if space is None or dim is not None:
        return report
    notice = f"the export's vectors are of {space.model!r} and were left out"
    return replace(report, notices=(notice,))


def _fitting(target: Target, records: Iterator[Record]) -> Iterator[Record]:
    """Other systems' records with what they do not state: times; placeholders give way to nodes that are there."""
    while some := list(islice(records, RECORDS_PER_WRITE)):
        known = target.store.get(target.scope, [record.id for record in some if isinstance(record, Node)])
        for record in some:
            if isinstance(record, Node):
                here = known.get(record.id)
                if here is None or not record.props.get("placeholder"):
                    yield _timed(record, here, target.now)
                elif (here.owner, here.team) == (target.scope.user, None):
                    # As it is: so it is counted like any other that was here already.
                    yield here
            elif isinstance(record, Edge | Fact):
                yield replace(record, created=record.created or target.now)
            else:
                yield record


def _timed(node: Node, known: Node | None, now: int) -> Node:
    """The node with its own times where the file states them, else with those it has here, else with the present."""
    if known is None:
        known = replace(node, at=now, created=now, updated=node.created or now)
    elif (known.name, known.text) != (node.name, node.text):
        known = replace(known, updated=now)
    return replace(
        node, at=node.at or known.at, created=node.created or known.created, updated=node.updated or known.updated
    )


def _take(
    target: Target, lines: Iterator[Line], path: str, errors: list[FileError], progress: Progress | None
) -> ImportReport:
    refused: set[str] = set()
    stones: list[Line] = []
    counts = Counter[str]()
    dreamt: set[str | None] = set()
    while some := list(islice(lines, RECORDS_PER_WRITE)):
        nodes = [line.record for line in some if isinstance(line.record, Node)]
        left = target.store.left_of(target.scope, nodes)
        refused |= {id_ for id_, text in left.items() if not text}
        kept = [_shortened(line, left) for line in some if not _refused(line.record, refused)]
        # What was forgotten there may live on there in another place; its tombstone must not meet it on the way in.
        stones += [line for line in kept if isinstance(line.record, Tombstone)]
        here = _here(target, kept)
        news = [line for line in kept if not isinstance(line.record, Tombstone) and not _is_known(line, here, target)]
        # Before it is here: should this break off, the next dream must know of it.
        coming = {line.team for line in news if is_dreamt(line.record)} - dreamt
        _announce(target, coming)
        dreamt |= coming
        failed = set(map(id, _write_all(target, news, path, errors)))
        counts.update(name for line in kept if id(line) not in failed for name in _counted(line.record, here))
        counts["forgotten"] += sum(node.id in refused for node in nodes)
        counts["cut"] += sum(bool(text) for text in left.values())
        if progress:
            progress("importing", counts["records"], 0)
    _write_all(target, stones, path, errors)
    # A dream may have been at work meanwhile.
    _announce(target, dreamt)
    numbers: Any = counts
    return ImportReport(**numbers, errors=tuple(errors))


def _announce(target: Target, teams: Iterable[str | None]) -> None:
    for team in teams:
        announce(target.store, _place(target, team))


def _shortened(line: Line, left: Mapping[str, str]) -> Line:
    """The line without the sentences that were forgotten here; its vector would tell of them."""
    if isinstance(line.record, Node) and (text := left.get(line.record.id)):
        return replace(line, record=shortened(line.record, text), vector=None)
    return line


_Known = Mapping[tuple[type, str], Record]
"""What is here already, by type and id."""


def _here(target: Target, lines: Sequence[Line]) -> _Known:
    store, scope, records = target.store, target.scope, [line.record for line in lines]
    found: list[Node | Edge | Fact] = [*store.get(scope, [r.id for r in records if isinstance(r, Node)]).values()]
    found += store.edges(scope, [r.id for r in records if isinstance(r, Edge)]).values()
    for facts in store.facts(scope, list({r.subject for r in records if isinstance(r, Fact)})).values():
        found += facts
    return {(type(record), record.id): record for record in found}


def _counted(record: Record, here: _Known) -> Iterator[str]:
    """The fields of an ImportReport that count this record."""
    yield "records"
    if isinstance(record, Node | Edge | Fact):
        yield {Node: "nodes", Edge: "edges", Fact: "facts"}[type(record)]
        old = here.get((type(record), record.id))
        yield "added" if old is None else "unchanged" if _says_the_same(record, old) else "changed"


def _says_the_same(record: Record, old: Record) -> bool:
    """Whether a record is what it was here, whoever has it here and since when."""
    if isinstance(record, Node) and isinstance(old, Node):
        life = old.life if record.life == Life() else record.life
        return replace(record, life=life, owner=old.owner, team=old.team, created=old.created) == old
    if isinstance(record, Edge) and isinstance(old, Edge):
        return replace(record, created=old.created, updated=old.updated) == old
    return isinstance(record, Fact) and isinstance(old, Fact) and replace(record, created=old.created) == old


def _is_known(line: Line, here: _Known, target: Target) -> bool:
    """Whether this is a node that need not be written: the user has it here just so, for the same team."""
    old = here.get((Node, line.record.id)) if isinstance(line.record, Node) else None
    place = (target.scope.user, line.team)
    return isinstance(old, Node) and (old.owner, old.team) == place and _says_the_same(line.record, old)


def _refused(record: Record, refused: set[str]) -> bool:
    own = {record.id} if isinstance(record, Node | Version) else set()
    return not refused.isdisjoint(own | set(ends_of(record)))


def _write_all(target: Target, lines: Sequence[Line], path: str, errors: list[FileError]) -> list[Line]:
    """Write lines by their teams, nodes before what refers to them: an edge may lead from one team's to another's.

    The lines that could not be written come back; why is in `errors`.
    """
    first = [line for line in lines if isinstance(line.record, _ALONE)]
    failed: list[Line] = []
    for some in (first, [line for line in lines if not isinstance(line.record, _ALONE)]):
        for team in sorted({line.team for line in some}, key=lambda team: team or ""):
            failed += _write_some(target, team, [line for line in some if line.team == team], path, errors)
    return failed


def _write_some(
    target: Target, team: str | None, lines: Sequence[Line], path: str, errors: list[FileError]
) -> list[Line]:
    """Write lines of one team at once; where that fails, by halves, until only the lines at fault are left out."""
    scope = _place(target, team)
    batch = Batch()
    for line in lines:
        put(batch, line.record)
        if line.vector is not None and (meaning := meaning_of(line.record)) is not None:
            batch.vectors_of(meaning[0])[meaning[1]] = line.vector
            batch.space = target.space
    resolve(target.store, scope, Change(arriving=[node for node in batch.nodes if node.name]), batch, target.now)
    _fit_in(target, scope, batch)
    try:
        target.write(batch, scope)
    except InputError as error:
        if len(lines) == 1:
            place = f"line {lines[0].number}: " if lines[0].number else ""
            errors.append(FileError(path, f"{place}{error}"))
            return list(lines)
        half = len(lines) // 2
        return [line for some in (lines[:half], lines[half:]) for line in _write_some(target, team, some, path, errors)]
    return []


def _place(target: Target, team: str | None) -> Scope:
    """Where what belongs to a team goes, or to none."""
    own = target.scope.teams
    return replace(target.scope, share=team, teams=own if team is None or team in own else (*own, team))


def _fit_in(target: Target, scope: Scope, batch: Batch) -> None:
    """Let facts find their place among what else is known here: other values of a single-valued predicate, or the same
    stated at another time.

    Where there is none they come in as they are, with their history.
    """
    if not batch.facts:
        return
    alone = target.single({fact.predicate for fact in batch.facts})

    def topic(fact: Fact) -> Hashable:
        return fact.subject, fact.predicate, None if fact.predicate in alone else value_of(fact)

    known = target.store.facts(scope, list({fact.subject for fact in batch.facts if fact.predicate in alone}))
    here = [fact for some in known.values() for fact in some if fact.predicate in alone]
    here += target.store.facts_by_id(scope, [id_ for fact in batch.facts for id_ in Stated(fact).ids]).values()
    contested = {topic(fact) for fact in here}
    fitted = [fact for fact in batch.facts if topic(fact) in contested]
    batch.facts = [fact for fact in batch.facts if topic(fact) not in contested]
    batch.stated += [Stated(fact, single=fact.predicate in alone, settled=True) for fact in fitted]
