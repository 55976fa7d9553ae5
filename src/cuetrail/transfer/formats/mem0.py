"""Imports and exports mem0: `get_all` answers and exports, as JSON or JSONL.

    {"results": [{"id": "m1", "memory": "Likes tea", "user_id": "ada", "categories": ["food"],
                  "created_at": "2024-07-26T10:29:36Z"}],
     "relations": [{"source": "ada", "relationship": "likes", "target": "tea"}]}

A memory becomes an atom, a relation an edge between two entity nodes. A plain list, {"memories": [...]}, a list of
result pages and one memory per line are read too. Every field is stored in the atom's props and exported again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuetrail.errors import ReadError
from cuetrail.model import Edge, FileError, Node
from cuetrail.model.ids import digest
from cuetrail.model.tags import make_tags, norm_buckets
from cuetrail.store.read import Record
from cuetrail.text.normalise import clean, norm_name
from cuetrail.transfer.formats.graph_view import RELATION_WEIGHT, GraphView, graph_view, is_placeholder
from cuetrail.transfer.formats.text_files import (
    Report,
    decode_utf,
    numbered_lines,
    parse_json,
    read_bytes,
    reporter,
    to_iso,
    to_ms,
    write_text,
)

FORMAT = "mem0"
PREFIX = "mem0:"

OWNER_KEYS = ("user_id", "agent_id", "app_id", "run_id")
"""The fields that name the owner of a memory. Each value becomes a bucket."""
_TEXT_KEYS = ("memory", "content", "text", "data")
_TARGET_KEYS = ("target", "destination")
_TYPE_KEYS = ("relationship", "relation")
_LIST_KEYS = ("results", "memories", "relations")


@dataclass(slots=True)
class _Records:
    atoms: dict[str, Node] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)


def load(path: Path, errors: list[FileError] | None = None) -> Iterator[Record]:
    """Returns all atoms and entities of the file, then all edges. Leaves out bad items and adds them to `errors`.

    Raises InputError if the file does not exist, ReadError if it is neither JSON nor JSONL.
    """
    report = reporter(path, errors)
    found = _Records()
    for where, row in _rows(path, report):
        if not isinstance(row, dict):
            report(f"{where}: not an object and left out.")
        elif "source" in row and any(key in row for key in _TARGET_KEYS) and _text_key(row) is None:
            _take_relation(found, row, where, report)
        else:
            _take_memory(found, row, where, report)
    return iter([*found.atoms.values(), *map(_entity, found.names.values()), *found.edges.values()])


def _rows(path: Path, report: Report) -> Iterator[tuple[str, Any]]:
    data = read_bytes(path)
    try:
        whole = parse_json(decode_utf(data)) if data.strip() else []
    except ValueError as e:
        yield from _json_lines(path, data, e, report)
        return
    yield from _flatten(whole, "item", report)


def _json_lines(path: Path, data: bytes, whole: ValueError, report: Report) -> Iterator[tuple[str, Any]]:
    """Yields the objects of a JSONL file. Raises ReadError with the error of the whole file if no line is an object."""
    rows: list[tuple[str, Any]] = []
    problems: list[str] = []
    for number, line in numbered_lines(data, problems.append):
        try:
            value = parse_json(line)
        except ValueError as e:
            problems.append(f"line {number}: not valid JSON ({e}). Correct or delete the line and import again.")
            continue
        rows.extend(_flatten(value, f"line {number}", report) if isinstance(value, dict) else [])
    if not rows:
        raise ReadError(f"{path} is neither JSON nor JSONL ({whole}). Export it from mem0 again.") from whole
    for problem in problems:
        report(problem)
    yield from rows


def _flatten(value: Any, where: str, report: Report) -> Iterator[tuple[str, Any]]:
    """Yields the single memories and relations in a JSON value, each with its position in words for messages.

    Lists, result objects and lists of result pages are taken apart. Anything else is yielded as it is. A key that
    should hold a list and does not is reported and left out.
    """
    if isinstance(value, list):
        for number, row in enumerate(value, 1):
            yield from _flatten(row, f"{where} {number}", report)
    elif isinstance(value, dict) and not _text_key(value) and any(key in value for key in _LIST_KEYS):
        for key in _LIST_KEYS:
            part = value.get(key)
            if isinstance(part, list):
                yield from _flatten(part, key if where == "item" else f"{where}, {key}", report)
            elif part is not None:
                report(f"{where}: {key} is not a list and was left out.")
    else:
        yield where, value


def _text_key(row: dict[str, Any]) -> str | None:
    return next((key for key in _TEXT_KEYS if isinstance(row.get(key), str)), None)


def _take_memory(found: _Records, row: dict[str, Any], where: str, report: Report) -> None:
    key = _text_key(row)
    if key is None or not row[key].strip():
        report(f'{where}: no text under "memory". It was left out.')
        return
    text, props = row[key], {k: v for k, v in row.items() if k not in ("id", key)}
    created = _time(row, ("created_at", "createdAt"), where, report)
    updated = _time(row, ("updated_at", "updatedAt"), where, report)
    at = created if created is not None else updated or 0
    buckets = norm_buckets(str(row[name]) for name in OWNER_KEYS if isinstance(row.get(name), str | int))
    node = Node(
        _atom_id(row, text), text=text, tag_details=make_tags(_categories(row)), buckets=buckets, source=FORMAT,
        seq=len(found.atoms), at=at, props=props, created=at, updated=updated if updated is not None else at,
    )  # fmt: skip
    if found.atoms.setdefault(node.id, node).text != text:
        report(f"{where}: a second memory with the id {row['id']!r}; the first was kept.")


def _atom_id(row: dict[str, Any], text: str) -> str:
    given = row.get("id")
    known = isinstance(given, str | int) and not isinstance(given, bool) and str(given).strip()
    return PREFIX + (str(given) if known else digest(FORMAT, text, str(row.get("user_id")), str(row.get("agent_id"))))


def _time(row: dict[str, Any], names: tuple[str, ...], where: str, report: Report) -> int | None:
    value = next((row[name] for name in names if row.get(name) is not None), None)
    ms = to_ms(value)
    if value is not None and ms is None:
        report(f"{where}: {names[0]} {value!r} is not a time; the memory was taken without it.")
    return ms


def _categories(row: dict[str, Any]) -> list[str]:
    value = row.get("categories")
    return [v for v in ([value] if isinstance(value, str) else value or []) if isinstance(v, str)]


def _take_relation(found: _Records, row: dict[str, Any], where: str, report: Report) -> None:
    target = next((key for key in _TARGET_KEYS if key in row), "target")
    kind = next((key for key in _TYPE_KEYS if key in row), "relationship")
    ends = [row.get("source"), row.get(target)]
    norms = [norm_name(end) if isinstance(end, str) else "" for end in ends]
    if not all(norms) or not isinstance(row.get(kind), str):
        report(f"{where}: a relation needs source, relationship and target.")
        return
    for norm, end in zip(norms, ends, strict=True):
        found.names.setdefault(norm, str(end))
    fields = {k: v for k, v in row.items() if k not in ("source", target, kind)}
    props = {"seq": len(found.edges)} | ({"fields": fields} if fields else {})
    edge_id = digest(FORMAT, "relation", *norms, row[kind])
    src, dst = (_entity_id(norm) for norm in norms)
    found.edges.setdefault(edge_id, Edge(edge_id, src, dst, weight=RELATION_WEIGHT, type=row[kind], props=props))


def _entity_id(norm: str) -> str:
    return digest(FORMAT, "entity", norm)


def _entity(name: str) -> Node:
    """Returns an entity node. mem0 writes names as `ada_lovelace`; `ada lovelace` becomes an alias."""
    spaced = name.replace("_", " ").strip()
    aliases = (spaced,) if spaced and spaced != name else ()
    return Node(_entity_id(norm_name(name)), "entity", name, aliases=aliases, source=FORMAT)


def dump(records: Iterable[Record], path: Path) -> int:
    """Writes the records as {"results": [...], "relations": [...]}; returns the number of memories.

    Every node with a text becomes a memory, every relation between named nodes a relation; the rest is left out.
    Raises InputError if the path cannot be written.
    """
    graph = graph_view(records)
    results = list(_results(graph))
    relations = list(_relations(graph))
    answer = {"results": results} | ({"relations": relations} if relations else {})
    write_text(path, json.dumps(answer, ensure_ascii=False, indent=2, default=str) + "\n")
    return len(results)


def _results(graph: GraphView) -> Iterator[dict[str, Any]]:
    used: set[str] = set()
    parts = [part for parts in graph.parts.values() for part in parts]
    for node in sorted([*graph.owners, *parts], key=lambda n: (n.seq, n.id)):
        text = clean(node.text)
        if not text.strip() or is_placeholder(node):
            continue
        short = node.id.removeprefix(PREFIX)
        short = digest(node.id) if short in used else short
        used.add(short)
        yield {"id": short, "memory": text, **(_own_fields(node) if node.id.startswith(PREFIX) else _new_fields(node))}


def _own_fields(node: Node) -> dict[str, Any]:
    """Returns the imported fields of a memory. If the user changed its tags, they replace the categories."""
    fields = {k: v for k, v in node.props.items() if k not in ("id", "memory")}
    tags = tuple(tag for tag in node.tag_details if tag.origin == "user")
    if make_tags(_categories(fields)) != tags:
        fields["categories"] = [tag.display for tag in tags]
    return fields


def _new_fields(node: Node) -> dict[str, Any]:
    """Returns mem0's fields for a node that was not imported from mem0."""
    fields: dict[str, Any] = {"metadata": dict(node.props)} if node.props else {}
    tags = [tag.display for tag in node.tag_details if tag.origin == "user"]
    if tags:
        fields["categories"] = tags
    if at := to_iso(node.at):
        fields["created_at"] = at
    return fields


def _relations(graph: GraphView) -> Iterator[dict[str, Any]]:
    for relation in graph.relations:
        src, dst = clean(relation.src.name or ""), clean(relation.dst.name or "")
        if norm_name(src) and norm_name(dst):
            row: dict[str, Any] = {"source": src, "relationship": clean(relation.type), "target": dst}
            extra = relation.edge.props.get("fields") if relation.edge else None
            yield row | ({k: v for k, v in extra.items() if k not in row} if isinstance(extra, dict) else {})
