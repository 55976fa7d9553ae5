"""What the importers share: careful reading, safe writing, and records seen as a graph of names.

Reading never stops at a bad part: it is reported with its place and the rest goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cuetrail.errors import InputError, ReadError
from cuetrail.files import replacing
from cuetrail.model import Edge, Fact, FileError, Node
from cuetrail.store.ports import Record
from cuetrail.text.normalise import clean, norm_name

KINDS = frozenset({"person", "project", "concept", "decision", "preference", "file", "conversation", "entity"})
"""Types of other systems that are kinds of ours; any other type becomes an `entity` that remembers its type."""

OBSERVATION_WEIGHT = 0.85
RELATION_WEIGHT = 0.65
LINK_WEIGHT = 0.45

STRUCTURE = frozenset({"observation", "part_of"})
"""Edge kinds that tie an atom to its owner; they are written as the owner's content, not as relations."""

_LAST = 1 << 62
_EPOCH_MS_FROM = 1e11  # larger numbers are milliseconds: as seconds they would be after the year 5000

Report = Callable[[str], None]


def reporter(path: Path, errors: list[FileError] | None) -> Report:
    """A function that notes a problem of `path` in `errors`; without a list, problems are passed over."""

    def report(message: str) -> None:
        if errors is not None:
            errors.append(FileError(str(path), message))

    return report


def read_bytes(path: Path) -> bytes:
    """The file's bytes. Raises InputError when there is no such file, ReadError when it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError as e:
        raise InputError(f"There is no {path}. Check the path.") from e
    except IsADirectoryError as e:
        raise InputError(f"{path} is a folder. Give the file inside it.") from e
    except OSError as e:
        raise ReadError(f"{path} cannot be read ({e.strerror or e}). Check its permissions.") from e


def decode(data: bytes) -> str:
    """The text of UTF-8 bytes, or of UTF-16 ones that say so with a byte order mark. Raises ValueError."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    return data.decode("utf-8-sig")


def numbered_lines(data: bytes, report: Report) -> Iterator[tuple[int, str]]:
    """(line number, text) of every line that is not blank; a line that is not UTF-8 is reported and left out."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            line = raw.decode("utf-8").strip(" \t\r")
        except UnicodeDecodeError:
            report(f"line {number}: not UTF-8 text. Save the file as UTF-8 and import it again.")
            continue
        if line:
            yield number, line


def parse_json(text: str) -> Any:
    """The JSON value with all its strings cleaned; NaN and infinities become null. Raises ValueError."""
    try:
        return _cleaned(json.loads(text, parse_constant=lambda _: None))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(v) for v in value]
    if isinstance(value, dict):
        return {clean(str(k)): _cleaned(v) for k, v in value.items()}
    return value


def to_ms(value: object) -> int | None:
    """UTC milliseconds of an ISO 8601 text or an epoch number (seconds or milliseconds), None when it is neither.

    >>> to_ms("1970-01-01T00:00:01Z"), to_ms(1), to_ms("soon")
    (1000, 1000, None)
    """
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
            return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return round(value if abs(value) > _EPOCH_MS_FROM else value * 1000)
    except (ValueError, OverflowError):
        pass
    return None


def to_iso(ms: int) -> str | None:
    """ISO 8601 text of UTC milliseconds; None for 0 (not stated) and for times no calendar has."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat() if ms else None
    except (ValueError, OverflowError, OSError):
        return None


def write_text(path: Path, text: str) -> None:
    """Put the text in the file, all or nothing. Raises InputError when the place cannot be written."""
    try:
        with replacing(path) as file:
            file.write(text.encode("utf-8", "ignore"))
    except OSError as e:
        raise InputError(f"{path} cannot be written ({e.strerror or e}). Choose another place.") from e


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed link between two named things. `edge` is None when it comes from a fact."""

    src: Node
    dst: Node
    type: str
    edge: Edge | None = None


@dataclass(frozen=True, slots=True)
class View:
    """Records as the other systems see them: owners, what belongs to each, and relations between owners.

    `owners` are all nodes that belong to no other, in order. `parts` maps an owner's id to its atoms, in order;
    `values` maps it to its facts with a literal value.
    """

    owners: tuple[Node, ...]
    parts: dict[str, list[Node]]
    relations: tuple[Relation, ...]
    values: dict[str, list[Fact]]


def view(records: Iterable[Record]) -> View:
    """The records by owner. Rule-made edges, ended edges and inactive facts are not in it, nor are notes."""
    rows = list(records)
    nodes = {n.id: n for n in sorted((r for r in rows if isinstance(r, Node)), key=lambda n: (n.seq, n.id))}
    parts: dict[str, list[Node]] = {}
    owners: dict[str, Node] = {}
    for node in nodes.values():
        owner = nodes.get(str(node.props.get("of"))) if node.kind == "atom" else None
        if owner is not None and owner.kind != "atom":
            parts.setdefault(owner.id, []).append(node)
        else:
            owners[node.id] = node
    edges = sorted((r for r in rows if isinstance(r, Edge)), key=lambda e: (position(e), e.id))
    facts = [r for r in rows if isinstance(r, Fact) and r.status in ("staged", "confirmed")]
    relations = [
        Relation(owners[e.src], owners[e.dst], e.kind if e.type is None else e.type, e)
        for e in edges
        if e.src in owners and e.dst in owners and e.kind not in STRUCTURE and e.via is None and e.valid_until is None
    ]
    relations += [
        Relation(owners[f.subject], owners[f.object], f.predicate)
        for f in facts
        if f.subject in owners and f.object is not None and f.object in owners
    ]
    values: dict[str, list[Fact]] = {}
    for fact in facts:
        if fact.subject in owners and fact.object is None and fact.value is not None:
            values.setdefault(fact.subject, []).append(fact)
    return View(tuple(owners.values()), parts, tuple(relations), values)


def position(edge: Edge) -> int:
    """Where the edge stood in its file; after all others when it was not read from one."""
    seq = edge.props.get("seq")
    return seq if isinstance(seq, int) else _LAST


def label(node: Node) -> str:
    """The name other systems know the node by: its own, or its id when it has none."""
    name = clean(node.name or "")
    return name if norm_name(name) else node.id


def is_placeholder(node: Node) -> bool:
    """Whether the node only stands for something a relation named and the file did not have."""
    return bool(node.props.get("placeholder"))
