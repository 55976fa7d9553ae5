"""Imports and exports `memory.jsonl`, the file of the reference MCP memory server.

    {"type":"entity","name":"Ada","entityType":"person","observations":["Lives in Turin"]}
    {"type":"relation","from":"Ada","to":"JACQ","relationType":"works_on"}

An entity becomes a node, each relation an edge, each observation an atom connected to its entity, so that it can be
found, cited and forgotten alone. The output of `read_graph` ({"entities": [...], "relations": [...]}) is read too.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cuetrail.model import Edge, FileError, Node
from cuetrail.model.ids import digest
from cuetrail.store.read import Record
from cuetrail.text.normalise import clean, norm_name
from cuetrail.transfer.formats.graph_view import (
    KINDS,
    OBSERVATION_WEIGHT,
    RELATION_WEIGHT,
    GraphView,
    graph_view,
    is_placeholder,
    label,
)
from cuetrail.transfer.formats.text_files import Report, numbered_lines, parse_json, read_bytes, reporter, write_text

FORMAT = "mcp-memory"

_ENTITY_KEYS = frozenset({"type", "name", "entityType", "observations"})
_RELATION_KEYS = frozenset({"type", "from", "to", "relationType"})


@dataclass(slots=True)
class _Entity:
    """One entity of the file. Lines whose names differ only in case or spacing are joined."""

    name: str
    type: str
    fields: dict[str, Any]
    spellings: list[str] = field(default_factory=list)
    observations: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Graph:
    entities: dict[str, _Entity] = field(default_factory=dict)
    relations: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def load(path: Path, errors: list[FileError] | None = None) -> Iterator[Record]:
    """Returns all nodes of the file, then all edges. Leaves out bad lines and adds them to `errors`.

    An entity that is only named by a relation becomes a node with `props["placeholder"]`. Raises InputError or
    ReadError if the file does not exist or cannot be read.
    """
    report = reporter(path, errors)
    graph = _Graph()
    for where, row in _rows(read_bytes(path), report):
        if not isinstance(row, dict) or row.get("type") not in ("entity", "relation"):
            report(f'{where}: neither an entity nor a relation. Its "type" must be "entity" or "relation".')
        elif row["type"] == "entity":
            _take_entity(graph, row, where, report)
        else:
            _take_relation(graph, row, where, report)
    return iter([*_nodes(graph), *_edges(graph)])


def _rows(data: bytes, report: Report) -> Iterator[tuple[str, Any]]:
    """Yields the position and the value of each line, or of each entity and relation if the file is one JSON object."""
    lines = list(numbered_lines(data, report))
    whole = _whole("\n".join(line for _, line in lines)) if lines and '"type"' not in lines[0][1][:40] else None
    if whole is not None:
        for key, kind in (("entities", "entity"), ("relations", "relation")):
            for number, row in enumerate(whole.get(key) or [], 1):
                yield f"{kind} {number}", {**row, "type": kind} if isinstance(row, dict) else row
        return
    for number, line in lines:
        try:
            yield f"line {number}", parse_json(line)
        except ValueError as e:
            report(f"line {number}: not valid JSON ({e}). Correct or delete the line and import again.")


def _whole(text: str) -> Mapping[str, Any] | None:
    try:
        value = parse_json(text)
    except ValueError:
        return None
    lists = isinstance(value, dict) and all(isinstance(value.get(k, []), list) for k in ("entities", "relations"))
    return value if lists and ("entities" in value or "relations" in value) else None


def _take_entity(graph: _Graph, row: dict[str, Any], where: str, report: Report) -> None:
    name, kind, observations = row.get("name"), row.get("entityType", "entity"), row.get("observations", [])
    norm = norm_name(name) if isinstance(name, str) else ""
    if not norm or not isinstance(kind, str) or not isinstance(observations, list):
        report(f"{where}: an entity needs a name, an entityType and a list of observations.")
        return
    fields = {k: v for k, v in row.items() if k not in _ENTITY_KEYS}
    entity = graph.entities.setdefault(norm, _Entity(str(name), kind, fields))
    if entity.type != kind:
        report(f"{where}: {name!r} is already a {entity.type!r}; it stays one and its observations were joined.")
    if name != entity.name and name not in entity.spellings:
        entity.spellings.append(str(name))
    for number, text in enumerate(observations, 1):
        if not isinstance(text, str):
            report(f"{where}: observation {number} is not a text and was left out.")
        elif text.strip():
            entity.observations.append(text)


def _take_relation(graph: _Graph, row: dict[str, Any], where: str, report: Report) -> None:
    ends, kind = [row.get("from"), row.get("to")], row.get("relationType")
    norms = [norm_name(end) if isinstance(end, str) else "" for end in ends]
    if not all(norms) or not isinstance(kind, str):
        report(f"{where}: a relation needs from, to and relationType.")
        return
    for norm, end in zip(norms, ends, strict=True):
        graph.missing.setdefault(norm, str(end))
    fields = {k: v for k, v in row.items() if k not in _RELATION_KEYS}
    graph.relations.setdefault((norms[0], norms[1], kind), fields)


def entity_id(norm: str) -> str:
    """Returns the id of the entity with this normalised name."""
    return digest(FORMAT, "entity", norm)


def observation_id(owner: str, text: str, before: int) -> str:
    """Returns the id of an observation; `before` counts earlier ones of the entity with the same text."""
    return digest(FORMAT, "observation", owner, text, str(before))


def relation_id(src: str, dst: str, kind: str) -> str:
    """Returns the id of a relation between entities with these normalised names."""
    return digest(FORMAT, "relation", src, dst, kind)


def kind_of(entity_type: str) -> tuple[str, dict[str, Any]]:
    """Returns the kind of node for an entity type, and the props that preserve the type."""
    folded = entity_type.strip().casefold()
    kind = folded if folded in KINDS else "entity"
    return kind, {} if kind == entity_type else {"entityType": entity_type}


def _nodes(graph: _Graph) -> Iterator[Node]:
    for seq, (norm, entity) in enumerate(graph.entities.items()):
        yield _entity_node(norm, entity, seq)
        yield from _observations(norm, entity)
    for norm, name in graph.missing.items():
        if norm not in graph.entities:
            yield Node(entity_id(norm), kind="entity", name=name, source=FORMAT, props={"placeholder": True})


def _entity_node(norm: str, entity: _Entity, seq: int) -> Node:
    kind, props = kind_of(entity.type)
    if entity.fields:
        props["fields"] = entity.fields
    aliases = tuple(entity.spellings)
    return Node(entity_id(norm), kind, entity.name, aliases=aliases, source=FORMAT, seq=seq, props=props)


def _observations(norm: str, entity: _Entity) -> Iterator[Node]:
    """Yields an atom per observation. Two equal observations of one entity are two atoms."""
    owner, seen = entity_id(norm), Counter[str]()
    for seq, text in enumerate(entity.observations):
        atom_id = observation_id(owner, text, seen[text])
        seen[text] += 1
        yield Node(atom_id, "atom", text=text, source=FORMAT, seq=seq, props={"of": owner})


def _edges(graph: _Graph) -> Iterator[Edge]:
    for norm, entity in graph.entities.items():
        owner = entity_id(norm)
        for atom in _observations(norm, entity):
            edge_id = digest(FORMAT, "observation", atom.id, owner)
            yield Edge(edge_id, atom.id, owner, kind="observation", weight=OBSERVATION_WEIGHT)
    for seq, ((src, dst, kind), fields) in enumerate(graph.relations.items()):
        props = {"seq": seq} | ({"fields": fields} if fields else {})
        edge_id = relation_id(src, dst, kind)
        yield Edge(edge_id, entity_id(src), entity_id(dst), weight=RELATION_WEIGHT, type=kind, props=props)


def dump(records: Iterable[Record], path: Path) -> int:
    """Writes the records as `memory.jsonl`; returns the number of entities and relations.

    An atom without an owner becomes an entity with its text as observation, a fact becomes a relation or an
    observation. Placeholders are left out, relations to them are written. Raises InputError if the path cannot be
    written.
    """
    graph = graph_view(records)
    rows = [*_entity_rows(graph), *_relation_rows(graph)]
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":"), default=str) + "\n" for row in rows)
    write_text(path, "".join(lines))
    return len(rows)


def _entity_rows(graph: GraphView) -> Iterator[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    spellings: dict[str, list[str]] = {}
    for node in graph.owners:
        texts = [node.text, *(part.text for part in graph.parts.get(node.id, []))]
        texts += [f"{fact.predicate}: {fact.value}" for fact in graph.values.get(node.id, [])]
        texts = [text for text in map(clean, texts) if text.strip()]
        if is_placeholder(node) and not texts:
            continue
        name = label(node)
        norm = norm_name(name)
        kind = str(node.props.get("entityType", node.kind))
        row = rows.setdefault(norm, {"type": "entity", "name": name, "entityType": kind, "observations": []})
        row["observations"] += texts
        row |= {k: v for k, v in _fields(node.props).items() if k not in row}
        also = [clean(alias) for alias in (name, *node.aliases) if norm_name(alias) == norm]
        spellings.setdefault(norm, []).extend(a for a in also if a not in (row["name"], *spellings.get(norm, [])))
    for norm, row in rows.items():
        yield row
        for spelling in spellings[norm]:
            yield {"type": "entity", "name": spelling, "entityType": row["entityType"], "observations": []}


def _relation_rows(graph: GraphView) -> Iterator[dict[str, Any]]:
    written: set[tuple[str, str, str]] = set()
    for relation in graph.relations:
        src, dst, kind = label(relation.src), label(relation.dst), clean(relation.type)
        key = (norm_name(src), norm_name(dst), kind)
        if key not in written:
            written.add(key)
            row = {"type": "relation", "from": src, "to": dst, "relationType": kind}
            extra = _fields(relation.edge.props) if relation.edge else {}
            yield row | {k: v for k, v in extra.items() if k not in row}


def _fields(props: Mapping[str, Any]) -> Mapping[str, Any]:
    fields = props.get("fields")
    return fields if isinstance(fields, Mapping) else {}
