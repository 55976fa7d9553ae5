"""The JSONL format of cuetrail: one record per line, in a fixed order, so that equal memories give equal bytes.

The first line is a header, {"cuetrail": 1}. A field with its default value is left out.
"""

from __future__ import annotations

import base64
import json
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any, BinaryIO, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

from cuetrail.errors import ReadError
from cuetrail.files import CHUNK_BYTES, load_json
from cuetrail.model import Edge, Fact, Life, Link, Mention, Node, Note, SourceFile, Tag, Tombstone, Version
from cuetrail.model.tags import make_tags
from cuetrail.store.read import Record
from cuetrail.store.vector_space import VectorSpace
from cuetrail.store.write import Batch

FORMAT = 1
_TYPES: dict[str, type[Record]] = {
    "source": SourceFile, "tombstone": Tombstone, "node": Node, "version": Version, "edge": Edge, "fact": Fact,
    "note": Note, "mention": Mention, "link": Link,
}  # fmt: skip
_NAMES = {kind: name for name, kind in _TYPES.items()}
_T = TypeVar("_T")
_Test = Callable[[Any], bool]
# An import sets these: the owner is the user who imports, the team is that of the line.
_LEFT_OUT = {"owner", "team"}
# An edge has a field `type` too; in a line, `type` is the type of the record.
_EDGE_TYPE = "relation"


@dataclass(frozen=True, slots=True)
class ExportLine:
    """One record of an export, with its line number, team, vector and size in characters."""

    number: int
    team: str | None
    record: Record
    vector: bytes | None = None
    size: int = 0


def header(space: VectorSpace | None = None) -> str:
    """Returns the first line of an export. `space` is the vector space of its vectors, None if it has none."""
    vectors = {} if space is None else {"vectors": {"model": space.model, "dim": space.dim}}
    return json.dumps({"cuetrail": FORMAT, **vectors}) + "\n"


def read_header(raw: bytes, path: str) -> VectorSpace | None:
    """Returns the vector space of an export, None if it has no vectors. Raises ReadError for any other file."""
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
    """Returns one record as a line of JSON."""
    plain = _plain(record)
    line: dict[str, Any] = {_EDGE_TYPE if name == "type" else name: value for name, value in plain.items()}
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


MOST_LINE_BYTES = 64_000_000
"""The longest line that an import reads."""


def short_lines(file: BinaryIO) -> Iterator[bytes]:
    """Yields the lines of a file. A line over MOST_LINE_BYTES is cut to one byte more, and the rest is skipped."""
    while line := file.readline(MOST_LINE_BYTES + 1):
        yield line
        rest = line if len(line) > MOST_LINE_BYTES else b""
        while rest and not rest.endswith(b"\n"):
            rest = file.readline(CHUNK_BYTES)


def load_lines(lines: Iterable[bytes], dim: int | None, report: Callable[[int, str], None]) -> Iterator[ExportLine]:
    """Yields the records after the header, with vectors of dimension `dim` (None: without vectors).

    Leaves out lines that are not records and reports them with their number.
    """
    for number, raw in enumerate(lines, 2):
        if len(raw) > MOST_LINE_BYTES:
            report(number, f"line {number} has more than {MOST_LINE_BYTES} bytes: it was left out")
        elif raw.strip():
            try:
                yield _load(number, raw.decode(), dim)
            except (ReadError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
                hint = "" if raw.endswith(b"\n") else ", it may be cut off"
                report(number, f"line {number} is not a record of a cuetrail export ({error}{hint}): it was left out")


def _load(number: int, raw: str, dim: int | None) -> ExportLine:
    line = load_json(raw, parse_constant=_no_number)
    if "\\u" in raw:
        # Half of a surrogate pair is valid JSON, but cannot be encoded: this raises.
        json.dumps(line, ensure_ascii=False).encode()
    kind = _TYPES[line.pop("type")]
    if _EDGE_TYPE in line:
        line["type"] = line.pop(_EDGE_TYPE)
    team = line.pop("team", None)
    vector = line.pop("vector", None)
    if kind is Node:
        if "tags" in line:
            # A short form for lines that people write: tags of a person, by name.
            named = make_tags(_texts("tags", line.pop("tags")))
            line["tag_details"] = [
                *line.get("tag_details", ()),
                *((tag.name, tag.display, tag.origin) for tag in named),
            ]
        line["tag_details"] = tuple(_checked(Tag(*tag)) for tag in line.get("tag_details", ()))
        line["life"] = _checked(Life(**line.get("life", {})))
    for name in ("tags", "aliases", "buckets"):
        if name in line:
            line[name] = tuple(line[name])
    if team is not None and not isinstance(team, str):
        raise TypeError(f"team cannot be {team!r:.40}")
    return ExportLine(number, team, _checked(kind(**line)), _vector(vector, dim), len(raw))


def _texts(name: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise TypeError(f"{name} must be a list of texts")
    return value


def _vector(packed: Any, dim: int | None) -> bytes | None:
    """Returns the vector of a line; None if it is invalid, because the embedder will make another.

    It is the text that an export has, or a list of numbers, which is brought to length 1.
    """
    if dim is not None and isinstance(packed, list) and len(packed) == dim:
        plain = [one for one in packed if type(one) in (int, float)]
        length = float(np.linalg.norm(plain)) if len(plain) == dim else 0.0
        return (np.asarray(plain) / length).astype("<f2").tobytes() if 0 < length < float("inf") else None
    if dim is None or not isinstance(packed, str):
        return None
    try:
        vector = base64.b64decode(packed, validate=True)
    except ValueError:
        return None
    valid = len(vector) == 2 * dim and bool(np.isfinite(np.frombuffer(vector, "<f2")).all())
    return vector if valid else None


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not a number")


def _checked(record: _T) -> _T:
    """Returns the record. Raises TypeError for a field whose value is not of its annotated type."""
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
    """Returns a function that checks a value read from JSON against the annotation of a field."""
    origin, options = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        tests = [_test(option, name) for option in options]
        return lambda value: any(test(value) for test in tests)
    if origin is Literal:
        return lambda value: isinstance(value, str) and value in options
    if origin is tuple:
        return lambda value: isinstance(value, tuple) and all(isinstance(item, options[0]) for item in value)
    if hint is int:
        # A SimHash is unsigned; all other numbers must fit signed 64 bits.
        low, high = (0, 2**64) if name == "simhash" else (-(2**63), 2**63)
        return lambda value: type(value) is int and low <= value < high
    if hint is float:
        return lambda value: type(value) in (int, float)
    return lambda value: isinstance(value, hint if origin is None else origin)


def add_to_batch(batch: Batch, record: Record) -> None:
    """Adds a record to the batch's list of its type."""
    # The list of nodes is `batch.nodes`, that of edges `batch.edges`, and so on.
    getattr(batch, f"{_NAMES[type(record)]}s").append(record)


def type_name(record: Record) -> str:
    """Returns the `type` that the line of a record has."""
    return _NAMES[type(record)]


def id_of(record: Record) -> str:
    """Returns what identifies a record in a report: its id, path or hash, or the node that it belongs to."""
    match record:
        case SourceFile():
            return record.path
        case Tombstone():
            return record.hash
        case Mention():
            return f"{record.source} {record.node}"
        case Link():
            return f"{record.src} {record.display}"
    return record.id


def required_ids(record: Record) -> tuple[str, ...]:
    """Returns the ids of the nodes that must exist for a record to be stored."""
    if isinstance(record, Edge):
        return (record.src, record.dst)
    if isinstance(record, Fact):
        return (record.subject,) if record.object is None else (record.subject, record.object)
    if isinstance(record, Note):
        return (record.target,)
    if isinstance(record, Mention):
        return (record.source, record.node)
    return (record.src,) if isinstance(record, Link) else ()
