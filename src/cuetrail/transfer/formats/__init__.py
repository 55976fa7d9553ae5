"""Switching to cuetrail and back: other systems' files as records, and records as their files.

    for record in load(Path("memory.jsonl"), recognise(Path("memory.jsonl")), errors=problems): ...

`load` gives all nodes before all edges, with ids made from content, so that importing a file twice changes nothing.
A node with `props["placeholder"]` stands for something only named; do not let it replace a node that is there.
A time of 0 means the file states none.

May import: errors, files, model, store, text.
"""

from __future__ import annotations

import contextlib
import gzip
import re
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeVar

from cuetrail.errors import InputError, ReadError
from cuetrail.model import FileError
from cuetrail.store.ports import Record
from cuetrail.transfer.formats import basic_memory, mcp_memory, mem0
from cuetrail.transfer.formats.common import decode, parse_json
from cuetrail.transfer.formats.markdown_notes import parse_note

__all__ = ["ALL", "FORMATS", "detect", "dump", "load", "recognise", "unpacked"]

FORMATS = (mcp_memory.FORMAT, mem0.FORMAT, basic_memory.FORMAT)
"""What `load` reads and `dump` writes."""

_LOADERS = {mcp_memory.FORMAT: mcp_memory.load, mem0.FORMAT: mem0.load, basic_memory.FORMAT: basic_memory.load}
_DUMPERS = {mcp_memory.FORMAT: mcp_memory.dump, mem0.FORMAT: mem0.dump, basic_memory.FORMAT: basic_memory.dump}

_OTHER_ROADS = {
    "obsidian": "An Obsidian vault is read by ingest: `cuetrail ingest {path}` or memory.ingest().",
    "chatgpt": "A ChatGPT export is read by ingest: `cuetrail ingest {path}` or memory.ingest().",
    "claude": "A Claude export is read by ingest: `cuetrail ingest {path}` or memory.ingest().",
    "cuetrail": "A cuetrail export is read by import: `cuetrail import {path}` or memory.import_().",
}

ALL = ("cuetrail", *FORMATS, "obsidian", "chatgpt", "claude")
"""Every format that can be imported."""

CHATS = "conversations.json"
"""The file of an unpacked ChatGPT or Claude export that holds the chats. The others repeat them or tell of the user."""

_T = TypeVar("_T")

_HEAD_BYTES = 1 << 16
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_DAMAGED = (EOFError, zlib.error, gzip.BadGzipFile)
_SAMPLE = 40
_KEY = re.compile(r'(?<!\\)"((?:[^"\\\n]){1,40})"\s*:')


@dataclass(frozen=True, slots=True)
class _Look:
    """What is looked at to tell a format: the first JSON line, the JSON keys near the start, notes and folders."""

    line: dict[str, Any]
    keys: frozenset[str]
    notes: tuple[str, ...]
    mostly_notes: bool
    vault: bool


_RULES: tuple[tuple[str, Callable[[_Look], bool]], ...] = (
    ("cuetrail", lambda look: "cuetrail" in look.line),
    ("mcp-memory", lambda look: look.line.get("type") == "entity" and "name" in look.line),
    ("mcp-memory", lambda look: look.line.get("type") == "relation" and {"from", "to"} <= look.line.keys()),
    ("mcp-memory", lambda look: {"entities", "entityType"} <= look.keys),
    ("chatgpt", lambda look: {"mapping", "create_time"} <= look.keys),
    ("claude", lambda look: "chat_messages" in look.keys),
    ("mem0", lambda look: "memory" in look.keys or "results" in look.line),
    ("mem0", lambda look: {"memories", "content"} <= look.keys),
    ("basic-memory", lambda look: 2 * sum(map(_is_basic_note, look.notes)) >= len(look.notes) > 0),
    ("obsidian", lambda look: look.vault or look.mostly_notes),
)
"""The first rule that holds names the format."""

# Who names one of these means it, so a single sign is enough.
_NOTES: Mapping[str, Callable[[_Look], bool]] = {
    "basic-memory": lambda look: any(map(_may_be_basic_note, look.notes)),
    "obsidian": lambda look: look.vault or bool(look.notes),
}
_MISSING = {
    "basic-memory": "no note in it has a permalink, an observation (- [category] text) or a relation "
    "(- relation [[Note]]). `cuetrail ingest` takes plain notes in",
    "obsidian": "there is no Markdown note in it. `cuetrail ingest` takes other files in",
    "chatgpt": f"there are no chats of ChatGPT in it. Give the {CHATS} of its export, or the unpacked folder",
    "claude": f"there are no chats of Claude in it. Give the {CHATS} of its export, or the unpacked folder",
}
"""What a file that is not in a format lacks. The other formats are read to the end before that is known."""


def detect(path: Path) -> str | None:
    """The name of the format, told by content; None when it is none we know. Raises InputError when nothing is there.

    An unpacked ChatGPT or Claude export is known by the `conversations.json` in it.
    """
    path = Path(path)
    if not path.exists():
        raise InputError(f"There is no {path}. Check the path.")
    look = _look_at(path)
    return next((name for name, holds in _RULES if holds(look)), None)


def recognise(path: Path, format: str | None = None) -> str:
    """The format of a file or folder: the given one if it can be in it, else the one its content tells.

    Raises InputError when it is in none we know, ReadError when it is not in the one that was given.
    """
    if format is not None and format not in ALL:
        raise InputError(f"unknown format {format!r}: use one of {', '.join(ALL)}")
    seen = detect(path)
    _refuse_packed(path)
    if format is None and seen is None:
        raise InputError(
            f"cannot tell what {path} is: name its format with --format ({', '.join(ALL)}), or take plain files in "
            f"with `cuetrail ingest`"
        )
    if format in (None, seen):
        return str(seen)
    assert format is not None
    if format in _NOTES:
        if not _NOTES[format](_look_at(path)):
            raise ReadError(f"{path} is not in the format {format}: {_MISSING[format]}")
    elif seen is not None or format in _MISSING:
        lacks = f"it looks like {seen}; leave --format out" if seen else _MISSING[format]
        raise ReadError(f"{path} is not in the format {format}: {lacks}")
    return format


def _refuse_packed(path: Path) -> None:
    """Raises ReadError for a file that must be unpacked first, or that is a damaged gzip file."""
    if path.is_file():
        with path.open("rb") as file:
            begin = file.read(len(_ZIP))
        if begin == _ZIP:
            raise ReadError(f"{path} is a zip archive. Unzip it, and import the file or folder that was in it.")
        if begin.startswith(_GZIP):
            try:
                with gzip.open(path) as packed:
                    packed.read(_HEAD_BYTES)
            except _DAMAGED as error:
                raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> ReadError:
    return ReadError(f"{path} is packed with gzip and damaged ({error}). Make it again.")


def _look_at(path: Path) -> _Look:
    if path.is_dir():
        return _look_at_file(path / CHATS) if (path / CHATS).is_file() else _look_at_folder(path)
    return _look_at_file(path)


@contextlib.contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The file, or what a gzip file holds, as a file that is there for the time being."""
    with path.open("rb") if path.is_file() else contextlib.nullcontext() as file:
        packed = file is not None and file.read(len(_GZIP)) == _GZIP
    if not packed:
        yield path
        return
    with tempfile.TemporaryDirectory() as place:
        plain = Path(place) / (path.stem if path.suffix == ".gz" else path.name)
        try:
            with gzip.open(path) as whole, plain.open("wb") as copy:
                shutil.copyfileobj(whole, copy)
        except _DAMAGED as error:
            raise _damaged(path, error) from error
        yield plain


def load(path: Path, format: str, errors: list[FileError] | None = None) -> Iterator[Record]:
    """The records of a file or folder in one of FORMATS, nodes first. An empty file gives none.

    Bad parts are left out and added to `errors`. Raises InputError for a path that is not there or a format that is
    read elsewhere (the message says where), ReadError for a file that is not in this format at all.
    """
    if format in _OTHER_ROADS:
        raise InputError(_OTHER_ROADS[format].format(path=path))
    problems: list[FileError] = []
    records = _known(_LOADERS, format)(Path(path), problems)
    first = list(islice(records, 1))
    if problems and not first:
        raise ReadError(f"{path} is not in the format {format}: {problems[0].error}")
    if errors is not None:
        errors += problems
    return chain(first, records)


def dump(records: Iterable[Record], path: Path, format: str) -> int:
    """Write records to a file (a folder for basic-memory) in one of FORMATS; the number of things written comes back.

    Files of the same name are replaced. Raises InputError for an unknown format or a place that cannot be written.
    """
    return _known(_DUMPERS, format)(records, Path(path))


def _known(table: Mapping[str, _T], format: str) -> _T:
    if format not in table:
        raise InputError(f"Unknown format {format!r}. Use one of: {', '.join(FORMATS)}.")
    return table[format]


def _look_at_file(path: Path) -> _Look:
    text = _head(path)
    if path.suffix.lower() == ".md":
        return _Look({}, frozenset(), (text,) if text.strip() else (), mostly_notes=False, vault=False)
    keys = frozenset(_KEY.findall(text)) if text.lstrip()[:1] in ("{", "[") else frozenset()
    return _Look(_first_object(text), keys, (), mostly_notes=False, vault=False)


def _look_at_folder(path: Path) -> _Look:
    files = basic_memory.files_below(path)
    notes = sorted(file for file in files if basic_memory.is_note(file))
    step = max(1, len(notes) // _SAMPLE)
    texts = tuple(text for file in notes[::step] if (text := _head_if_open(file)) is not None)
    mostly = 2 * len(notes) > len(files)
    return _Look({}, frozenset(), texts, mostly_notes=mostly, vault=(path / ".obsidian").is_dir())


def _head_if_open(file: Path) -> str | None:
    """What may not be read tells nothing of the format; the import itself names it."""
    try:
        return _head(file)
    except ReadError:
        return None


def _head(path: Path) -> str:
    """The start of a file as text; what is cut off or not UTF-8 does not matter here."""
    try:
        with path.open("rb") as file:
            data = file.read(_HEAD_BYTES)
    except OSError as e:
        raise ReadError(f"{path} cannot be read ({e.strerror or e}). Check its permissions.") from e
    if data.startswith(_GZIP):
        # What is damaged is no format we know; who imports it is told.
        with contextlib.suppress(*_DAMAGED), gzip.open(path) as packed:
            data = packed.read(_HEAD_BYTES)
    return decode(data) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else data.decode("utf-8-sig", "replace")


def _first_object(text: str) -> dict[str, Any]:
    """The whole text as an object, or the first line that is one; empty when there is none near the start."""
    for candidate in (text, *text.split("\n")[:_SAMPLE]):
        try:
            value = parse_json(candidate)
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    return {}


def _is_basic_note(text: str) -> bool:
    """Whether a note has the frontmatter basic-memory gives, or an observation beside a type or a relation."""
    meta, items, _ = parse_note(text)
    kinds = {item.kind for item in items}
    marks = len(kinds & {"observation", "relation"}) + ("type" in meta)
    return {"title", "permalink"} <= meta.keys() or marks > 1


def _may_be_basic_note(text: str) -> bool:
    meta, items, _ = parse_note(text)
    return "permalink" in meta or {"title", "type"} <= meta.keys() or any(item.kind != "prose" for item in items)
