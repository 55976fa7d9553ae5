"""cuetrail's own exchange format: JSON lines, one record each, in a fixed order, so equal memories give equal bytes.

The first line says what it is: {"cuetrail": 1}. A field that has its default value is left out.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from typing import Any

from cuetrail.errors import ReadError
from cuetrail.model import Edge, Fact, Life, Link, Mention, Node, Note, SourceFile, Tag, Tombstone, Version
from cuetrail.store.base import Batch, Record

FORMAT = 1
_TYPES: dict[str, type[Record]] = {
    "source": SourceFile,
    "tombstone": Tombstone,
    "node": Node,
    "version": Version,
    "edge": Edge,
    "fact": Fact,
    "note": Note,
    "mention": Mention,
    "link": Link,
}
_NAMES = {kind: name for name, kind in _TYPES.items()}
# Whose a node is follows from who imports it and the line's team.
_LEFT_OUT = {"owner", "team"}


def header() -> str:
    """The first line of an export."""
    return json.dumps({"cuetrail": FORMAT}) + "\n"


def dump_line(team: str | None, record: Record, vector: bytes | None = None) -> str:
    """One record as a line."""
    line: dict[str, Any] = {"type": _NAMES[type(record)], **_plain(record)}
    if team is not None:
        line["team"] = team
    if vector is not None:
        line["vector"] = base64.b64encode(vector).decode()
    return json.dumps(line, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def _plain(record: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        if field.name in _LEFT_OUT or value == default:
            continue
        if field.name == "tag_details":
            value = [[tag.name, tag.display, tag.origin] for tag in value]
        elif isinstance(value, Life):
            value = _plain(value)
        found[field.name] = value
    return found


def load_lines(lines: Iterable[str], path: str) -> Iterator[tuple[int, str | None, Record, bytes | None]]:
    """(line number, team, record, vector) of each line. Raises ReadError that names the line."""
    numbered = enumerate(lines, 1)
    _check_header(next(numbered, (1, ""))[1], path)
    for number, raw in numbered:
        if raw.strip():
            yield number, *_load(raw, f"{path}, line {number}")


def _check_header(raw: str, path: str) -> None:
    try:
        version = json.loads(raw)["cuetrail"]
    except (ValueError, TypeError, KeyError):
        raise ReadError(f"{path} is not a cuetrail export: its first line is not {header().strip()}") from None
    if version != FORMAT:
        raise ReadError(f"{path} has export format {version}, this cuetrail reads {FORMAT}: upgrade cuetrail")


def _load(raw: str, where: str) -> tuple[str | None, Record, bytes | None]:
    try:
        line = json.loads(raw)
        kind = _TYPES[line.pop("type")]
        team = line.pop("team", None)
        vector = line.pop("vector", None)
        if kind is Node:
            line["tag_details"] = tuple(Tag(*tag) for tag in line.get("tag_details", ()))
            line["life"] = Life(**line.get("life", {}))
        for name in ("tags", "aliases", "buckets"):
            if name in line:
                line[name] = tuple(line[name])
        return team, kind(**line), base64.b64decode(vector) if vector else None
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ReadError(f"{where} is not a record of a cuetrail export ({error!r}): nothing of it was taken") from error


def put(batch: Batch, record: Record) -> None:
    """Add a record to the list of a batch it belongs to."""
    lists: Mapping[type[Record], list[Any]] = {
        SourceFile: batch.sources,
        Tombstone: batch.tombstones,
        Node: batch.nodes,
        Version: batch.versions,
        Edge: batch.edges,
        Fact: batch.facts,
        Note: batch.notes,
        Mention: batch.mentions,
        Link: batch.links,
    }
    lists[type(record)].append(record)


def ends_of(record: Record) -> tuple[str, ...]:
    """The ids of the nodes a record cannot be without."""
    if isinstance(record, Edge):
        return (record.src, record.dst)
    if isinstance(record, Fact):
        return (record.subject,) if record.object is None else (record.subject, record.object)
    if isinstance(record, Note):
        return (record.target,)
    if isinstance(record, Mention):
        return (record.source, record.node)
    return (record.src,) if isinstance(record, Link) else ()
