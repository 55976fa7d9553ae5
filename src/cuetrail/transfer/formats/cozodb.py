"""Imports exports of CozoDB: relations with headers and rows, as `/export`, `:export` and queries give them.

    {"memory": {"headers": ["id", "content", "source", "sequence", "timestamp", "tags", "buckets"], "rows": [[...]]},
     "edges": {"headers": ["from", "to", "weight"], "rows": [[...]]}}

The headers tell what a relation holds. One with a text is atoms, one with two ends is edges, one with an atom and a tag
or bucket is labels of atoms, one with a path alone is sources. Vectors, hashes and indexes are not read: cuetrail makes
its own. What is not read is counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cuetrail.errors import ReadError
from cuetrail.model import Edge, FileError, Node, Provenance
from cuetrail.model.ids import digest
from cuetrail.model.tags import make_tags, norm_buckets
from cuetrail.store.read import Record
from cuetrail.text.normalise import norm_tag
from cuetrail.transfer.formats.text_files import Report, decode_utf, parse_json, read_bytes, reporter, to_ms

FORMAT = "cozodb"
EDGE_WEIGHT = 0.5

# The headers under which a field is found, the usual one first.
_HEADERS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "uid", "atom_id", "memory_id", "node_id"),
    "text": ("content", "text", "body"),
    "name": ("name", "title"),
    "kind": ("kind",),
    "source": ("source", "source_path", "path", "file", "file_path", "source_id"),
    "seq": ("seq", "sequence", "chunk_index", "position", "idx"),
    "at": ("timestamp", "at", "created_at", "created", "time", "ts", "date"),
    "tags": ("tags",),
    "tag": ("tag", "label"),
    "buckets": ("buckets",),
    "bucket": ("bucket",),
    "provenance": ("provenance",),
    "src": ("from", "src", "source", "from_id", "src_id", "source_id", "parent"),
    "dst": ("to", "dst", "target", "to_id", "dst_id", "target_id", "child"),
    "type": ("type", "relation", "relationship", "kind", "label"),
    "weight": ("weight", "strength", "score"),
}
_DERIVED = ("embedding", "embeddings", "vector", "hash", "content_hash", "simhash", "vec")
_WRAPPERS = ("data", "relations", "result")
_PROVENANCES: tuple[Provenance, ...] = ("internal", "external", "quarantine")


@dataclass(slots=True)
class _Relation:
    """One relation: its name, and its rows as mappings from headers to values, each with its number."""

    name: str
    headers: tuple[str, ...]
    rows: list[tuple[int, dict[str, Any]]]

    def has(self, *fields: str) -> bool:
        """True if it has a header for each of these fields."""
        return all(any(name in self.headers for name in _HEADERS[one]) for one in fields)


@dataclass(slots=True)
class _Atoms:
    """The atoms of all relations by id, and the tags and buckets that other relations give them."""

    nodes: dict[str, Node] = field(default_factory=dict)
    tags: dict[str, list[str]] = field(default_factory=dict)
    buckets: dict[str, list[str]] = field(default_factory=dict)


def node_id(given: str) -> str:
    """Returns the id that an atom gets here, from its id in CozoDB."""
    return f"{FORMAT}:{given}"


def load(path: Path, errors: list[FileError] | None = None, skipped: Counter[str] | None = None) -> Iterator[Record]:
    """Returns all nodes of the relations, then all edges. Leaves out bad rows and adds them to `errors`; `skipped`
    counts what is not read at all.

    Raises InputError or ReadError if the file does not exist, cannot be read, or has no relations.
    """
    report, gone = reporter(path, errors), Counter[str]() if skipped is None else skipped
    relations = _relations(_value(path), report, gone)
    if not relations:
        raise ReadError(f'{path} has no relations. It must be like {{"memory": {{"headers": [...], "rows": [...]}}}}.')
    atoms = _Atoms()
    edges: dict[str, Edge] = {}
    later: list[tuple[_Relation, Callable[[_Relation, _Atoms, dict[str, Edge], Report], None]]] = []
    for relation in relations:
        if relation.has("id", "text"):
            _take_atoms(relation, atoms, report)
            for header in set(_DERIVED).intersection(relation.headers):
                gone[f"values of {relation.name}.{header}"] += len(relation.rows)
        elif relation.has("src", "dst"):
            later.append((relation, _take_edges))
        elif relation.has("id", "tag") or relation.has("id", "bucket"):
            later.append((relation, _take_labels))
        else:
            gone[f"rows of the relation {relation.name}, which has neither atoms, edges nor tags"] += len(relation.rows)
    for relation, take in later:
        take(relation, atoms, edges, report)
    return iter([*(_labelled(atoms, id_, node) for id_, node in atoms.nodes.items()), *edges.values()])


def _value(path: Path) -> Any:
    try:
        return parse_json(decode_utf(read_bytes(path)))
    except ValueError as error:
        raise ReadError(f"{path} is not valid JSON ({error}). Export it from CozoDB again.") from error


def _relations(value: Any, report: Report, skipped: Counter[str]) -> list[_Relation]:
    for name in _WRAPPERS:
        if isinstance(value, dict) and isinstance(value.get(name), dict) and "rows" not in value:
            value = value[name]
    if not isinstance(value, dict):
        return []
    # The answer of a query is one relation without a name.
    given = {"query": value} if {"headers", "rows"} <= value.keys() else value
    return [found for name, one in given.items() if (found := _relation(str(name), one, report, skipped)) is not None]


def _relation(name: str, value: Any, report: Report, skipped: Counter[str]) -> _Relation | None:
    if not isinstance(value, dict) or not {"headers", "rows"} <= value.keys():
        return None
    if ":" in name:
        skipped["indexes"] += 1
        return None
    headers, rows = value["headers"], value["rows"]
    if not isinstance(headers, list) or not isinstance(rows, list) or not all(isinstance(h, str) for h in headers):
        report(f"relation {name!r} was not read: its headers and rows must be lists.")
        return None
    plain = tuple(header.strip().casefold() for header in headers)
    found = _Relation(name, plain, [])
    for number, row in enumerate(rows, 1):
        if isinstance(row, list) and len(row) == len(plain):
            found.rows.append((number, dict(zip(plain, row, strict=True))))
        else:
            report(f"relation {name!r}, row {number}: it has not the {len(plain)} values that the headers name.")
    return found


def _get(row: Mapping[str, Any], field_: str) -> Any:
    return next((row[name] for name in _HEADERS[field_] if row.get(name) is not None), None)


def _take_atoms(relation: _Relation, atoms: _Atoms, report: Report) -> None:
    positions: dict[str, int] = {}
    has_seq = relation.has("seq")
    for number, row in relation.rows:
        id_, text = _word(_get(row, "id")), _get(row, "text")
        where = f"relation {relation.name!r}, row {number}"
        if not id_ or not isinstance(text, str) or not (text.strip() or _get(row, "name")):
            report(f"{where}: an atom needs an id and a text.")
            continue
        if id_ in atoms.nodes:
            report(f"{where}: the id {id_!r:.60} is there twice. The first row was taken.")
            continue
        source = _word(_get(row, "source")) or FORMAT
        positions[source] = positions.get(source, -1) + 1
        seq = _whole(_get(row, "seq")) if has_seq else positions[source]
        atoms.nodes[id_] = _node(id_, text, source, positions[source] if seq is None else seq, row, relation.headers)


def _node(id_: str, text: str, source: str, seq: int, row: Mapping[str, Any], headers: Sequence[str]) -> Node:
    at, provenance = to_ms(_get(row, "at")) or 0, str(_get(row, "provenance") or "internal")
    used = {name for one in _HEADERS for name in _HEADERS[one] if one not in ("src", "dst", "type", "weight")}
    rest = {name: row[name] for name in headers if name not in used and name not in _DERIVED and row[name] is not None}
    name, kind = _word(_get(row, "name")), norm_tag(_word(_get(row, "kind")))
    return Node(
        node_id(id_), kind or "atom", name or None, text=text,
        tag_details=make_tags([*_list(_get(row, "tags")), *_list(_get(row, "tag"))]),
        buckets=norm_buckets([*_list(_get(row, "buckets")), *_list(_get(row, "bucket"))]),
        source=source, seq=seq, at=at,
        provenance=next((one for one in _PROVENANCES if one == provenance), "internal"),
        props={"cozo_id": id_} | ({"fields": rest} if rest else {}), created=at, updated=at,
    )  # fmt: skip


def _take_labels(relation: _Relation, atoms: _Atoms, _edges: dict[str, Edge], report: Report) -> None:
    for number, row in relation.rows:
        id_ = _word(_get(row, "id"))
        if id_ not in atoms.nodes:
            report(f"relation {relation.name!r}, row {number}: there is no atom {id_!r:.60}.")
            continue
        atoms.tags.setdefault(id_, []).extend(_list(_get(row, "tag")))
        atoms.buckets.setdefault(id_, []).extend(_list(_get(row, "bucket")))


def _labelled(atoms: _Atoms, id_: str, node: Node) -> Node:
    tags, buckets = atoms.tags.get(id_), atoms.buckets.get(id_)
    if tags:
        known = {tag.name for tag in node.tag_details}
        node = replace(node, tag_details=node.tag_details + tuple(t for t in make_tags(tags) if t.name not in known))
    return replace(node, buckets=norm_buckets([*node.buckets, *buckets])) if buckets else node


def _take_edges(relation: _Relation, atoms: _Atoms, edges: dict[str, Edge], report: Report) -> None:
    for number, row in relation.rows:
        src, dst = _word(_get(row, "src")), _word(_get(row, "dst"))
        where = f"relation {relation.name!r}, row {number}"
        if missing := [end for end in (src, dst) if end not in atoms.nodes]:
            report(f"{where}: there is no atom {missing[0]!r:.60}.")
            continue
        if src == dst:
            report(f"{where}: it leads from {src!r:.60} to itself.")
            continue
        weight = _get(row, "weight")
        share = weight if isinstance(weight, int | float) and not isinstance(weight, bool) else EDGE_WEIGHT
        type_ = _word(_get(row, "type")) or relation.name
        id_ = digest(FORMAT, "edge", src, dst, type_)
        at = to_ms(_get(row, "at")) or 0
        edges[id_] = Edge(
            # A whole number may be too large for a float before it is cut off.
            id_,
            node_id(src),
            node_id(dst),
            weight=float(min(max(share, 0.25), 1.0)),
            type=type_,
            created=at,
            updated=at,
        )


def _word(value: Any) -> str:
    """Returns a text or a whole number as text; "" for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else ""


def _whole(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _list(value: Any) -> list[str]:
    """Returns the words in a value: a list, a text that is a JSON list, or a text with commas; [] for anything else."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = value.strip("[] ")
    if isinstance(value, str):
        value = value.split(",")
    return [word for one in (value if isinstance(value, list) else []) if (word := _word(one))]
