"""cuetrail's own exchange format: JSON lines, one record each, in a fixed order, so equal memories give equal bytes.

The first line says what it is: {"cuetrail": 1}. A field that has its default value is left out.
"""

from __future__ import annotations

import base64
import json
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from cuetrail.errors import ReadError
from cuetrail.model import Edge, Fact, Life, Link, Mention, Node, Note, SourceFile, Tag, Tombstone, Version
from cuetrail.store.ports import Batch, Record, VectorSpace

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
_T = TypeVar("_T")
_Test = Callable[[Any], bool]
# Whose a node is follows from who imports it and the line's team.
_LEFT_OUT = {"owner", "team"}
_OWN_TYPE = "relation"


@dataclass(frozen=True, slots=True)
class Line:
    """One record of an export, with its place and what belongs to it."""

    number: int
    team: str | None
    record: Record
    vector: bytes | None = None


def header(space: VectorSpace | None = None) -> str:
    """The first line of an export; `space` names the model of its vectors, if it has any."""
    vectors = {} if space is None else {"vectors": {"model": space.model, "dim": space.dim}}
    return json.dumps({"cuetrail": FORMAT, **vectors}) + "\n"


def read_header(raw: bytes, path: str) -> VectorSpace | None:
    """The model of the vectors in an export, None for one without. Raises ReadError when it is not one we can read."""
    try:
        head = json.loads(raw.decode("utf-8-sig"))
        version = head["cuetrail"]
    except (ValueError, TypeError, KeyError):
        raise ReadError(f"{path} is not a cuetrail export: its first line is not {header().strip()}") from None
    if version != FORMAT:
        raise ReadError(f"{path} has export format {version}, this cuetrail reads {FORMAT}: upgrade cuetrail")
    match head.get("vectors"):
        case {"model": str(model), "dim": int(dim)}:
            return VectorSpace(model, dim)
    return None


def dump_line(team: str | None, record: Record, vector: bytes | None = None) -> str:
    """One record as a line."""
    plain = _plain(record)
    # An edge has a type of its own; the line's says what the line is.
    line: dict[str, Any] = {_OWN_TYPE if name == "type" else name: value for name, value in plain.items()}
    line["type"] = _NAMES[type(record)]
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


def load_lines(lines: Iterable[bytes], dim: int | None, report: Callable[[str], None]) -> Iterator[Line]:
    """The records behind the header, with the vectors that have `dim` numbers (None: without vectors).

    A line that is no record is reported with its number and left out.
    """
    for number, raw in enumerate(lines, 2):
        if raw.strip():
            try:
                yield _load(number, raw.decode(), dim)
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                whole = "" if raw.endswith(b"\n") else ", it may be cut off"
                report(f"line {number} is not a record of a cuetrail export ({error}{whole}): it was left out")


def _load(number: int, raw: str, dim: int | None) -> Line:
    line = json.loads(raw, parse_constant=_no_number)
    if "\\u" in raw:
        # Half of a surrogate pair is valid JSON and no text; encoding it fails.
        json.dumps(line, ensure_ascii=False).encode()
    kind = _TYPES[line.pop("type")]
    if _OWN_TYPE in line:
        line["type"] = line.pop(_OWN_TYPE)
    team = line.pop("team", None)
    vector = line.pop("vector", None)
    if kind is Node:
        line["tag_details"] = tuple(_checked(Tag(*tag)) for tag in line.get("tag_details", ()))
        line["life"] = _checked(Life(**line.get("life", {})))
    for name in ("tags", "aliases", "buckets"):
        if name in line:
            line[name] = tuple(line[name])
    if team is not None and not isinstance(team, str):
        raise TypeError(f"team cannot be {team!r:.40}")
    return Line(number, team, _checked(kind(**line)), _vector(vector, dim))


def _vector(packed: Any, dim: int | None) -> bytes | None:
    """The vector of a line; None for one that is none, because another is soon made."""
    if dim is None or not isinstance(packed, str):
        return None
    try:
        vector = base64.b64decode(packed, validate=True)
    except ValueError:
        return None
    whole = len(vector) == 2 * dim and bool(np.isfinite(np.frombuffer(vector, "<f2")).all())
    return vector if whole else None


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not a number")


def _checked(record: _T) -> _T:
    """The record. Raises TypeError for a field whose value is not of its type; the engine relies on them."""
    kind: type = type(record)
    for name, fits in _tests(kind):
        value = getattr(record, name)
        if not fits(value):
            raise TypeError(f"{name} cannot be {value!r:.40}")
    return record


@cache
def _tests(kind: type) -> list[tuple[str, _Test]]:
    return [(name, _test(hint, name)) for name, hint in get_type_hints(kind).items()]


def _test(hint: Any, name: str) -> _Test:
    """Whether a value read from JSON is what a field's annotation says."""
    origin, options = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        tests = [_test(option, name) for option in options]
        return lambda value: any(test(value) for test in tests)
    if origin is Literal:
        return lambda value: isinstance(value, str) and value in options
    if origin is tuple:
        return lambda value: isinstance(value, tuple) and all(isinstance(item, options[0]) for item in value)
    if hint is int:
        # A SimHash has no sign; all other numbers fit the engine's 64 bits with one.
        low, high = (0, 2**64) if name == "simhash" else (-(2**63), 2**63)
        return lambda value: type(value) is int and low <= value < high
    if hint is float:
        return lambda value: type(value) in (int, float)
    return lambda value: isinstance(value, hint if origin is None else origin)


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
