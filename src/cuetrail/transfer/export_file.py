"""Exports the memories that a user owns to a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from cuetrail.errors import InputError, MemoryError_
from cuetrail.files import replacing
from cuetrail.model import Scope
from cuetrail.store.ports import Store
from cuetrail.store.read import Record
from cuetrail.store.vector_space import NO_VECTORS, VectorKind, VectorSpace, vector_kind
from cuetrail.transfer.formats import detect_format
from cuetrail.transfer.jsonl import dump_line, header

RECORDS_AT_ONCE = 2_000
FORMATS = ("cuetrail", *detect_format.FORMATS)


def export_file(store: Store, scope: Scope, path: Path, format: str, vectors: bool) -> int:
    """Writes the records that the user owns, in the format cuetrail with their vectors if wanted; returns how many, or
    what another format counts. basic-memory writes a folder, the others a file, which appears when it is complete.

    Raises InputError for an unknown format or a path that does not suit it, OSError for a path that cannot be written,
    and MemoryError_ if the disk is full or fails.
    """
    if str(path) == "-":
        # A server that speaks on standard output, such as that of MCP, would print the export between its messages.
        raise InputError("an export is a file or folder: name one (`cuetrail export -` writes to standard output)")
    try:
        return _export(store, scope, path, format, vectors)
    except OSError as error:
        if error.filename is not None:
            # The path is wrong, and the verb's caller is told so.
            raise
        raise MemoryError_(f"the export cannot be written to {path} ({error}): make room or choose another") from error


def _export(store: Store, scope: Scope, path: Path, format: str, vectors: bool) -> int:
    if format in detect_format.FORMATS:
        return detect_format.dump((record for _, record in store.scan(scope)), path, format)
    if format != "cuetrail":
        raise InputError(f"unknown format {format!r}: use one of {', '.join(FORMATS)}")
    if path.is_dir():
        raise InputError(f"{path} is a folder: name a file to write")
    with replacing(path) as file:
        return _write_lines(lambda line: file.write(line.encode()), store, scope, vectors)


def _write_lines(write: Callable[[str], object], store: Store, scope: Scope, vectors: bool) -> int:
    stored = store.vector_spaces().held if vectors else None
    space = None if stored == NO_VECTORS else stored
    write(header(space))
    count = 0
    records = store.scan(scope)
    while batch := list(islice(records, RECORDS_AT_ONCE)):
        blobs = _vectors(store, scope, space, batch) if space else {}
        for team, record in batch:
            meaning = vector_kind(record)
            write(dump_line(team, record, None if meaning is None else blobs.get((team, *meaning))))
        count += len(batch)
    return count


def _vectors(
    store: Store, scope: Scope, space: VectorSpace, batch: Sequence[tuple[str | None, Record]]
) -> dict[tuple[str | None, VectorKind, str], bytes]:
    """Returns the stored vectors of these records by (team, kind of record, id). Two teams may use the same id, so each
    team is read separately.
    """
    ids: dict[tuple[str | None, VectorKind], list[str]] = {}
    for team, record in batch:
        if (meaning := vector_kind(record)) is not None:
            ids.setdefault((team, meaning[0]), []).append(meaning[1])
    found: dict[tuple[str | None, VectorKind, str], bytes] = {}
    for (team, kind), of_kind in ids.items():
        blobs = store.vectors(replace(scope, share=team), of_kind, space, kind)
        found |= {(team, kind, id_): blob for id_, blob in blobs.items()}
    return found
