"""The formats of other systems by name: reads and writes them, and tells a file's format from its content."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

from cuetrail.errors import InputError, ReadError
from cuetrail.ingest.readers.app_folders import CHAT_FILES
from cuetrail.ingest.readers.notion import is_page
from cuetrail.ingest.readers.refused_exports import product_of
from cuetrail.model import FileError
from cuetrail.store.read import Record
from cuetrail.transfer.formats import basic_memory, cozodb, mcp_memory, mem0
from cuetrail.transfer.formats.basic_memory import files_below, is_note, parse_note
from cuetrail.transfer.formats.text_files import decode_utf, parse_json
from cuetrail.transfer.formats.unpack import read_head, refuse_others

_SYSTEMS: dict[str, Any] = {module.FORMAT: module for module in (mcp_memory, mem0, basic_memory)}
FORMATS = tuple(_SYSTEMS)
"""The formats that `load` reads and `dump` writes."""

_READ_ONLY: dict[str, Any] = {cozodb.FORMAT: cozodb}

RECORDS = (*FORMATS, *_READ_ONLY)
"""The formats that `load` reads."""

_APPS = {
    "obsidian": "An Obsidian vault", "logseq": "A graph of Logseq", "notion": "A Notion export",
    "roam": "A Roam export", "org": "A folder of Org files", "chatgpt": "A ChatGPT export", "claude": "A Claude export",
}  # fmt: skip

INGESTED = tuple(_APPS)
"""The formats that `ingest` reads."""

ALL = ("cuetrail", *RECORDS, *INGESTED)
"""Every format that can be imported."""

CHATS = "conversations.json"
"""The file with the chats in an unpacked export of ChatGPT or Claude."""

_READ_ELSEWHERE = {
    **{app: f"{what} is read by ingest: `cuetrail ingest {{path}}` or memory.ingest()." for app, what in _APPS.items()},
    "cuetrail": "A cuetrail export is read by import: `cuetrail import {path}` or memory.import_().",
}


def load(
    path: Path, format: str, errors: list[FileError] | None = None, skipped: Counter[str] | None = None
) -> Iterator[Record]:
    """Yields the records of a file or folder in one of RECORDS, nodes first. An empty file yields none.

    Leaves out bad parts and adds them to `errors`; counts in `skipped` what is not read at all. Raises
    InputError for a missing path or a format that is read elsewhere (the message says where),
    ReadError for a file that is not in this format at all.
    """
    if format in _READ_ELSEWHERE:
        raise InputError(_READ_ELSEWHERE[format].format(path=path))
    problems: list[FileError] = []
    counted = (skipped,) if format in _READ_ONLY else ()
    records: Iterator[Record] = _system(format, RECORDS).load(Path(path), problems, *counted)
    first = list(islice(records, 1))
    if problems and not first:
        raise ReadError(f"{path} is not in the format {format}: {problems[0].error}")
    if errors is not None:
        errors += problems
    return chain(first, records)


def dump(records: Iterable[Record], path: Path, format: str) -> int:
    """Writes records to a file (a folder for basic-memory) in one of FORMATS; returns what the format's `dump` counts.

    Replaces files of the same name. Raises InputError for an unknown format or a path that cannot be written.
    """
    written: int = _system(format, FORMATS).dump(records, Path(path))
    return written


def _system(format: str, among: tuple[str, ...]) -> Any:
    if format not in among:
        raise InputError(f"Unknown format {format!r}. Use one of: {', '.join(among)}.")
    return _SYSTEMS.get(format) or _READ_ONLY[format]


# At most this many notes of a folder, and lines of a file, are examined.
_SAMPLE = 40
_KEY = re.compile(r'(?<!\\)"((?:[^"\\\n]){1,40})"\s*:')


@dataclass(frozen=True, slots=True)
class _Sample:
    """The examined part of a file or folder: its first JSON object, the JSON keys near the start, some notes."""

    object: dict[str, Any]
    keys: frozenset[str]
    notes: tuple[str, ...]
    mostly_notes: bool = False
    app: str = ""


_RULES: tuple[tuple[str, Callable[[_Sample], bool]], ...] = (
    ("cuetrail", lambda sample: "cuetrail" in sample.object),
    ("cozodb", lambda sample: {"headers", "rows"} <= sample.keys),
    ("logseq", lambda sample: sample.app == "logseq"),
    ("notion", lambda sample: sample.app == "notion"),
    ("org", lambda sample: sample.app == "org"),
    ("roam", lambda sample: {"title", "children", "string", "uid"} <= sample.keys),
    ("mcp-memory", lambda sample: sample.object.get("type") == "entity" and "name" in sample.object),
    ("mcp-memory", lambda sample: sample.object.get("type") == "relation" and {"from", "to"} <= sample.object.keys()),
    ("mcp-memory", lambda sample: {"entities", "entityType"} <= sample.keys),
    ("chatgpt", lambda sample: {"mapping", "create_time"} <= sample.keys),
    ("claude", lambda sample: "chat_messages" in sample.keys),
    ("mem0", lambda sample: "memory" in sample.keys or "results" in sample.object),
    ("mem0", lambda sample: {"memories", "content"} <= sample.keys),
    ("basic-memory", lambda sample: 2 * sum(map(_is_basic_note, sample.notes)) >= len(sample.notes) > 0),
    ("obsidian", lambda sample: sample.app == "obsidian" or sample.mostly_notes),
)
"""The first rule that matches names the format."""

# If the caller names one of these formats, a weaker sign is enough.
_LENIENT_RULES: Mapping[str, Callable[[_Sample], bool]] = {
    "basic-memory": lambda sample: any(map(_may_be_basic_note, sample.notes)),
    "obsidian": lambda sample: sample.app == "obsidian" or bool(sample.notes),
    "logseq": lambda sample: sample.app == "logseq" or bool(sample.notes),
    "notion": lambda sample: sample.app == "notion",
    "org": lambda sample: sample.app == "org",
}
_MISSING = {
    "basic-memory": "no note in it has a permalink, an observation (- [category] text) or a relation "
    "(- relation [[Note]]). `cuetrail ingest` takes plain notes in",
    "obsidian": "there is no Markdown note in it. `cuetrail ingest` takes other files in",
    "cozodb": 'it has no relations, such as {"memory": {"headers": [...], "rows": [[...]]}}',
    "logseq": "there is neither logseq/config.edn nor a page in it. `cuetrail ingest` takes other files in",
    "notion": "no name in it ends in the id that Notion gives pages. `cuetrail ingest` takes plain notes in",
    "org": "there is no .org file in it",
    "roam": "it is no list of pages with blocks. Export the graph from Roam as JSON",
    "chatgpt": f"there are no chats of ChatGPT in it. Give the {CHATS} of its export, or the unpacked folder",
    "claude": f"there are no chats of Claude in it. Give the {CHATS} of its export, or the unpacked folder",
}
"""Error texts for a path that is not in the named format. The importers of other formats report it themselves."""


def detect(path: Path) -> str | None:
    """Returns the name of the format, judged by content; None if it is unknown. Raises InputError for a missing path
    and for a pipe or device.

    An unpacked ChatGPT or Claude export is recognised by its `conversations.json`.
    """
    if not path.exists():
        raise InputError(f"There is no {path}. Check the path.")
    if not path.is_file() and not path.is_dir():
        # Reading a pipe or a device may never end.
        raise InputError(f"{path} is no file or folder, but a pipe or device: write its content into a file first")
    sample = _sample(path)
    return next((name for name, matches in _RULES if matches(sample)), None)


def recognise(path: Path, format: str | None = None) -> str:
    """Returns the format of a file or folder: `format` if it is given, else the one that the content shows.

    Raises ReadError if the content is not in the given format; InputError if `format` is no known name, if the path is
    missing, or if none is given and none can be detected.
    """
    if format is not None and format not in ALL:
        raise InputError(f"unknown format {format!r}: use one of {', '.join(ALL)}")
    detected = detect(path)
    refuse_others(path)
    if format is None and detected is None:
        if (product := product_of(_sample(path).object)) is not None:
            raise ReadError(f"{path} looks like an export of {product[0]}, which is not read: {product[1]}.")
        raise InputError(
            f"cannot tell what {path} is: name its format with --format ({', '.join(ALL)}), or take plain files in "
            f"with `cuetrail ingest`"
        )
    if format in (None, detected):
        return str(detected)
    assert format is not None
    if format in _LENIENT_RULES:
        if not _LENIENT_RULES[format](_sample(path)):
            raise ReadError(f"{path} is not in the format {format}: {_MISSING[format]}")
    elif detected is not None or format in _MISSING:
        reason = f"it looks like {detected}; leave --format out" if detected else _MISSING[format]
        raise ReadError(f"{path} is not in the format {format}: {reason}")
    return format


def _sample(path: Path) -> _Sample:
    if not path.is_dir():
        return _sample_file(path)
    chats = next((path / name for name in CHAT_FILES if (path / name).is_file()), None)
    return _sample_file(chats) if chats is not None else _sample_folder(path)


def _sample_file(path: Path) -> _Sample:
    text = _head(path)
    if path.suffix.lower() == ".org":
        return _Sample({}, frozenset(), (), app="org")
    if path.suffix.lower() == ".md" and is_page(path.name):
        return _Sample({}, frozenset(), (text,), app="notion")
    if path.suffix.lower() == ".md":
        return _Sample({}, frozenset(), (text,) if text.strip() else ())
    keys = frozenset(_KEY.findall(text)) if text.lstrip()[:1] in ("{", "[") else frozenset()
    return _Sample(_first_object(text), keys, ())


def _sample_folder(path: Path) -> _Sample:
    files = files_below(path)
    notes = sorted(file for file in files if is_note(file))
    step = max(1, len(notes) // _SAMPLE)
    texts = tuple(text for file in notes[::step] if (text := _head_if_readable(file)) is not None)
    alone = [file for file in files if file.suffix.lower() == ".json"]
    if len(alone) == 1 and not notes:
        return _sample_file(alone[0])
    return _Sample({}, frozenset(), texts, 2 * len(notes) > len(files), _app_of(path, files, len(notes)))


def _app_of(folder: Path, files: Sequence[Path], notes: int) -> str:
    """Returns the app that wrote a folder, known by its settings or the names of its files; "" without a sign."""
    if (folder / ".obsidian").is_dir():
        return "obsidian"
    if (folder / "logseq" / "config.edn").is_file() or {"pages", "journals"} <= {file.parent.name for file in files}:
        return "logseq"
    if 2 * sum(is_page(file.name) for file in files if file.suffix.lower() in (".md", ".csv")) > notes:
        return "notion"
    return "org" if 2 * sum(file.suffix.lower() == ".org" for file in files) > len(files) else ""


def _head_if_readable(file: Path) -> str | None:
    # The import itself reports a file that cannot be read.
    try:
        return _head(file)
    except ReadError:
        return None


def _head(path: Path) -> str:
    """Returns the start of a file as text. Bytes that are cut off or not UTF-8 do not matter here."""
    data = read_head(path)
    return decode_utf(data) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else data.decode("utf-8-sig", "replace")


def _first_object(text: str) -> dict[str, Any]:
    """Returns the whole text as a JSON object, else the first line that is one; {} if there is none near the start."""
    for candidate in (text, *text.split("\n")[:_SAMPLE]):
        try:
            value = parse_json(candidate)
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
    return {}


def _is_basic_note(text: str) -> bool:
    """True if a note has basic-memory's frontmatter, or two of: a type, an observation, a relation."""
    meta, items, _ = parse_note(text)
    kinds = {item.kind for item in items}
    signs = len(kinds & {"observation", "relation"}) + ("type" in meta)
    return {"title", "permalink"} <= meta.keys() or signs > 1


def _may_be_basic_note(text: str) -> bool:
    meta, items, _ = parse_note(text)
    return "permalink" in meta or {"title", "type"} <= meta.keys() or any(item.kind != "prose" for item in items)
