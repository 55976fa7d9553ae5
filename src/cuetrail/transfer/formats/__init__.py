"""Importers and exporters for the formats of other systems.

To add a system, write a module with `FORMAT`, `load` and `dump`, list it in `_SYSTEMS`, and add a rule to `detect`.

- `load` yields all nodes before all edges. Ids are made from content, so importing a file twice changes nothing.
- A node with `props["placeholder"]` was only named in the file. It must not replace an existing node.
- A time of 0 means that the file states none.

May import: errors, files, model, store, text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from cuetrail.errors import InputError, ReadError
from cuetrail.model import FileError
from cuetrail.store.read import Record
from cuetrail.transfer.formats import basic_memory, mcp_memory, mem0

_SYSTEMS: dict[str, Any] = {module.FORMAT: module for module in (mcp_memory, mem0, basic_memory)}
FORMATS = tuple(_SYSTEMS)
"""The formats that `load` reads and `dump` writes."""

INGESTED = ("obsidian", "chatgpt", "claude")
"""The formats that `ingest` reads."""

ALL = ("cuetrail", *FORMATS, *INGESTED)
"""Every format that can be imported."""

CHATS = "conversations.json"
"""The file with the chats in an unpacked export of ChatGPT or Claude. The other files are not imported."""

_READ_ELSEWHERE = {
    "obsidian": "An Obsidian vault is read by ingest: `cuetrail ingest {path}` or memory.ingest().",
    "chatgpt": "A ChatGPT export is read by ingest: `cuetrail ingest {path}` or memory.ingest().",
    "claude": "A Claude export is read by ingest: `cuetrail ingest {path}` or memory.ingest().",
    "cuetrail": "A cuetrail export is read by import: `cuetrail import {path}` or memory.import_().",
}


def load(path: Path, format: str, errors: list[FileError] | None = None) -> Iterator[Record]:
    """Yields the records of a file or folder in one of FORMATS, nodes first. An empty file yields none.

    Leaves out bad parts and adds them to `errors`. Raises InputError for a missing path or a format that is read
    elsewhere (the message says where), ReadError for a file that is not in this format at all.
    """
    if format in _READ_ELSEWHERE:
        raise InputError(_READ_ELSEWHERE[format].format(path=path))
    problems: list[FileError] = []
    records: Iterator[Record] = _system(format).load(Path(path), problems)
    first = list(islice(records, 1))
    if problems and not first:
        raise ReadError(f"{path} is not in the format {format}: {problems[0].error}")
    if errors is not None:
        errors += problems
    return chain(first, records)


def dump(records: Iterable[Record], path: Path, format: str) -> int:
    """Writes records to a file (a folder for basic-memory) in one of FORMATS; returns the number of things written.

    Replaces files of the same name. Raises InputError for an unknown format or a path that cannot be written.
    """
    written: int = _system(format).dump(records, Path(path))
    return written


def _system(format: str) -> Any:
    if format not in _SYSTEMS:
        raise InputError(f"Unknown format {format!r}. Use one of: {', '.join(FORMATS)}.")
    return _SYSTEMS[format]
