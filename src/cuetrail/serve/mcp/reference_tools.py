"""The nine tools of the reference MCP memory server, over a cuetrail memory, for clients that were made for it.

Entities, observations and relations are stored as an import of its file stores them: an entity is a node, an
observation an atom linked to it, a relation an edge. All other features of cuetrail work on them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuetrail.errors import InputError, ReadError
from cuetrail.model import Edge, Node, TextQuery, Where
from cuetrail.model.ids import digest, stated_edge_id
from cuetrail.serve.memory_access import delete_nodes
from cuetrail.serve.tool import TEXT, TEXTS, Schema, Tool, ToolResult, array_of, described, object_of
from cuetrail.store.graph import EdgeFilter, StepQuery
from cuetrail.text.normalise import clean, norm_name
from cuetrail.text.timestamps import now_ms
from cuetrail.transfer.formats.graph_view import KINDS, OBSERVATION_WEIGHT, RELATION_WEIGHT, STRUCTURE, is_placeholder
from cuetrail.transfer.formats.mcp_memory import FORMAT, entity_id, kind_of, observation_id, relation_id
from cuetrail.validation.records import make_node

if TYPE_CHECKING:
    from cuetrail.memory import Memory

MAX_NODES = 100_000
_WHERE = Where(kinds=tuple(sorted(KINDS)), quarantined=True, archived=True)
_ATOMS = Where(quarantined=True, archived=True)

GraphJson = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class _Observed:
    """An entity with the atoms of its observations in their order."""

    node: Node
    atoms: tuple[Node, ...]

    @property
    def type(self) -> str:
        return str(self.node.props.get("entityType", self.node.kind))

    @property
    def observations(self) -> list[str]:
        own = [self.node.text] if self.node.text else []
        return own + [atom.text for atom in self.atoms]

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.node.name, "entityType": self.type, "observations": self.observations}

    def contains(self, query: str) -> bool:
        """True if its name, its type or an observation contains the lower-case query."""
        return any(query in text.lower() for text in (self.node.name or "", self.type, *self.observations))


def import_reference_file(memory: Memory, file: Path) -> None:
    """Imports the file of the reference server if it has changed since the last time. A missing file is ignored.

    Raises ReadError if the file is broken.
    """
    try:
        state = digest(file.read_bytes().decode("utf-8", "replace"))
    except FileNotFoundError:
        return
    except OSError as error:
        raise ReadError(f"{file} cannot be read ({error.strerror}): check MEMORY_FILE_PATH") from error
    name = f"taken over:{digest(str(file.absolute()), memory.scope.tenant, memory.scope.user)}"
    if memory.store.settings.get(name) != state:
        memory.import_(file, format=FORMAT)
        memory.store.settings[name] = state


# --- reading


def _entities(memory: Memory, nodes: Iterable[Node]) -> list[_Observed]:
    """Returns those of the nodes that are entities, oldest first, with the atoms of their observations."""
    # Names that were extracted from a text, or that only a relation mentions, are not entities yet.
    stated = [node for node in nodes if node.name and not is_placeholder(node) and "found" not in node.props]
    stated.sort(key=lambda node: (node.created, node.seq, node.id))
    query = StepQuery(tuple(node.id for node in stated), MAX_NODES, "in", EdgeFilter(kinds=("observation",)), _ATOMS)
    steps = memory.store.steps(memory.scope, query) if stated else {}
    atoms = memory.nodes(*{step.other for found in steps.values() for step in found})
    observed = {id_: [atoms[step.other] for step in found if step.other in atoms] for id_, found in steps.items()}
    return [
        _Observed(node, tuple(sorted(observed.get(node.id, ()), key=lambda atom: (atom.seq, atom.id))))
        for node in stated
    ]


def _all_entities(memory: Memory) -> list[_Observed]:
    found = memory.store.text(memory.scope, TextQuery(""), MAX_NODES, _WHERE, nodes=True)
    return _entities(memory, [one.node for one in found if one.node is not None])


def _named(memory: Memory, names: Iterable[str]) -> dict[str, _Observed]:
    """Returns the entities with these names, by the name given."""
    norms = {name: norm_name(name) for name in names}
    ids = memory.store.named(memory.scope, list(norms.values()))
    nodes = memory.nodes(*(id_ for some in ids.values() for id_ in some))
    known = {one.node.id: one for one in _entities(memory, [n for n in nodes.values() if n.kind in KINDS])}
    found = {name: [known[id_] for id_ in ids.get(norm, ()) if id_ in known] for name, norm in norms.items()}
    return {name: some[0] for name, some in found.items() if some}


def _relations(memory: Memory, ids: Collection[str]) -> list[tuple[Edge, dict[str, Any]]]:
    """Returns the relations from or to one of these nodes, oldest first: each edge and its JSON."""
    if not ids:
        return []
    steps = memory.store.steps(memory.scope, StepQuery(tuple(ids), MAX_NODES, "both", EdgeFilter(at=now_ms()), _WHERE))
    edges = {step.edge.id: step.edge for some in steps.values() for step in some}
    stated = [edge for edge in edges.values() if edge.via is None and edge.kind not in STRUCTURE]
    stated.sort(key=lambda edge: (edge.created, edge.props.get("seq", 0), edge.id))
    nodes = memory.nodes(*{end for edge in stated for end in (edge.src, edge.dst)})
    names = {id_: node.name for id_, node in nodes.items()}
    return [
        (edge, {"from": names[edge.src], "to": names[edge.dst], "relationType": edge.type or edge.kind})
        for edge in stated
        if names.get(edge.src) and names.get(edge.dst)
    ]


def _graph(memory: Memory, entities: Sequence[_Observed]) -> GraphJson:
    relations = [row for _, row in _relations(memory, [one.node.id for one in entities])]
    return {"entities": [one.to_dict() for one in entities], "relations": relations}


def read_graph(memory: Memory, _given: dict[str, Any] | None = None) -> ToolResult:
    """Returns all entities and relations."""
    return _result(_graph(memory, _all_entities(memory)))


def _search_nodes(memory: Memory, given: dict[str, Any]) -> ToolResult:
    query = given["query"].lower()
    return _result(_graph(memory, [one for one in _all_entities(memory) if one.contains(query)]))


def _open_nodes(memory: Memory, given: dict[str, Any]) -> ToolResult:
    found = {one.node.id: one.node for one in _named(memory, given["names"]).values()}
    return _result(_graph(memory, _entities(memory, found.values())))


# --- writing


def _create_entities(memory: Memory, given: dict[str, Any]) -> ToolResult:
    known = {norm_name(name) for name in _named(memory, [row["name"] for row in given["entities"]])}
    made: list[dict[str, Any]] = []
    nodes: list[Node] = []
    now = now_ms()
    for row in given["entities"]:
        norm = norm_name(row["name"])
        if not norm:
            raise InputError("an entity needs a name")
        if norm in known:
            continue
        known.add(norm)
        kind, props = kind_of(row["entityType"])
        item = {"id": entity_id(norm), "kind": kind, "name": row["name"], "source": FORMAT, "props": props}
        owner = replace(make_node(item, now), seq=len(nodes))
        nodes += [owner, *_atoms(owner.id, [], 0, row["observations"], now)]
        observed = [text for text in row["observations"] if text.strip()]
        made.append({"name": row["name"], "entityType": row["entityType"], "observations": observed})
    _add_nodes(memory, nodes, now)
    return _result({"entities": made}, made)


def _atoms(owner: str, known: Sequence[str], first: int, texts: Iterable[str], now: int) -> list[Node]:
    """Returns an atom for each of the `texts` (observations of the entity `owner`) that is not blank, with positions
    that count up from `first`. `known` are the texts of the observations it already has: nothing is skipped for
    them, but a text that is among them, or is repeated, gets another id than the first one like it.
    """
    seen, atoms = Counter(known), list[Node]()
    for text in texts:
        if not text.strip():
            continue
        item = {"id": observation_id(owner, text, seen[text]), "text": text, "source": FORMAT, "props": {"of": owner}}
        atoms.append(replace(make_node(item, now), seq=first + len(atoms)))
        seen[text] += 1
    return atoms


def _add_nodes(memory: Memory, nodes: Sequence[Node], now: int) -> None:
    """Adds nodes and links observations to their entities. Deleted texts may be added again."""
    memory.add_many(nodes, allow_again=True, now=now)
    ties = [(atom.id, str(atom.props["of"]), "observation") for atom in nodes if "of" in atom.props]
    edges = [_edge(stated_edge_id(*tie), *tie, OBSERVATION_WEIGHT, now) for tie in ties]
    _write_edges(memory, edges, now)


def _edge(id_: str, src: str, dst: str, kind: str, weight: float, now: int, type_: str | None = None) -> Edge:
    return Edge(id_, src, dst, kind, weight, type=type_, created=now, updated=now)


def _write_edges(memory: Memory, edges: Sequence[Edge], now: int) -> None:
    # Imported here: the list of tools is answered without the verbs.
    from cuetrail.write.edges import write_edges

    write_edges(memory.session, edges, now)


def _add_observations(memory: Memory, given: dict[str, Any]) -> ToolResult:
    rows = given["observations"]
    known = _require(memory, [row["entityName"] for row in rows])
    now = now_ms()
    results: list[dict[str, Any]] = []
    nodes: list[Node] = []
    texts = {one.node.id: one.observations for one in known.values()}
    ends = {one.node.id: one.atoms[-1].seq + 1 if one.atoms else 0 for one in known.values()}
    for row in rows:
        owner = known[row["entityName"]].node.id
        new = [text for text in row["contents"] if text.strip() and text not in texts[owner]]
        nodes += _atoms(owner, texts[owner], ends[owner], new, now)
        ends[owner] += len(new)
        texts[owner] = [*texts[owner], *new]
        results.append({"entityName": row["entityName"], "addedObservations": new})
    _add_nodes(memory, nodes, now)
    return _result({"results": results}, results)


def _require(memory: Memory, names: Sequence[str]) -> dict[str, _Observed]:
    known = _named(memory, names)
    for name in names:
        if name not in known:
            raise InputError(f"Entity with name {name} not found")
    return known


def _create_relations(memory: Memory, given: dict[str, Any]) -> ToolResult:
    rows = given["relations"]
    known = _require(memory, [row[end] for row in rows for end in ("from", "to")])
    existing = {_key(row) for _, row in _relations(memory, {one.node.id for one in known.values()})}
    made: list[dict[str, Any]] = []
    edges: list[Edge] = []
    now = now_ms()
    for row in rows:
        src, dst = known[row["from"]].node, known[row["to"]].node
        if _key(row) in existing:
            continue
        existing.add(_key(row))
        type_ = clean(row["relationType"]).strip() or None
        edges.append(_edge(relation_id(*_key(row)), src.id, dst.id, "relates", RELATION_WEIGHT, now + len(made), type_))
        made.append({name: row[name] for name in ("from", "to", "relationType")})
    _write_edges(memory, edges, now)
    return _result({"relations": made}, made)


def _key(row: dict[str, Any]) -> tuple[str, str, str]:
    return norm_name(row["from"]), norm_name(row["to"]), clean(row["relationType"])


def _delete_entities(memory: Memory, given: dict[str, Any]) -> ToolResult:
    names = given["entityNames"]
    known = _named(memory, names)
    entities = {one.node.id: one for one in known.values()}.values()
    atoms = [atom for one in entities for atom in one.atoms]
    delete_nodes(memory, [one.node for one in entities], atoms)
    missing = [name for name in names if name not in known]
    partly = f"Deleted {len(names) - len(missing)} of {len(names)} entities. Not found: {', '.join(missing)}"
    return _done(partly if missing else "Entities deleted successfully")


def _delete_observations(memory: Memory, given: dict[str, Any]) -> ToolResult:
    rows = given["deletions"]
    known = _named(memory, [row["entityName"] for row in rows])
    atoms: dict[str, Node] = {}
    for row in rows:
        if row["entityName"] in known:
            entity = known[row["entityName"]]
            atoms |= {atom.id: atom for atom in entity.atoms if atom.text in row["observations"]}
    delete_nodes(memory, [], list(atoms.values()))
    requested = sum(len(row["observations"]) for row in rows)
    missing = [row["entityName"] for row in rows if row["entityName"] not in known]
    partly = f"Deleted {len(atoms)} of {requested} observations."
    partly += f" Entities not found: {', '.join(missing)}" if missing else ""
    return _done("Observations deleted successfully" if len(atoms) == requested else partly)


def _delete_relations(memory: Memory, given: dict[str, Any]) -> ToolResult:
    rows = given["relations"]
    known = _named(memory, {row[end] for row in rows for end in ("from", "to")})
    wanted = {_key(row) for row in rows}
    found = [e.id for e, row in _relations(memory, {one.node.id for one in known.values()}) if _key(row) in wanted]
    memory.unlink(*found)
    partly = f"Deleted {len(found)} of {len(rows)} relations. The rest matched nothing."
    return _done("Relations deleted successfully" if len(found) == len(rows) else partly)


# --- results and tools


def _result(data: dict[str, Any], text_data: object = None) -> ToolResult:
    return ToolResult(json.dumps(data if text_data is None else text_data, indent=2, ensure_ascii=False), data)


def _done(message: str) -> ToolResult:
    return ToolResult(message, {"success": True, "message": message})


def _rows(**properties: str) -> Schema:
    """Returns the schema of a list of objects from a description of each property; `[]` at its end means a list."""
    return array_of(
        object_of(
            **{
                name.rstrip("_"): described(TEXTS if text.endswith("[]") else TEXT, text.removesuffix("[]"))
                for name, text in properties.items()
            }
        )
    )


_ENTITIES = _rows(name="The name of the entity", entityType="Its type", observations="What is observed of it[]")
_RELATIONS = _rows(from_="Where it starts", to="Where it ends", relationType="Its type, in active voice")
_GRAPH = object_of(entities=_ENTITIES, relations=_RELATIONS)
_ADDED = _rows(entityName="The entity", addedObservations="What was new[]")
_DONE = object_of(success={"type": "boolean"}, message=TEXT)
_CONTENTS = _rows(entityName="The entity", contents="What to add[]")
_DELETIONS = _rows(entityName="The entity", observations="What to delete[]")
_QUERY: Schema = {"type": "string", "maxLength": 2048, "description": "Part of a name, a type or an observation"}


def _tool(
    name: str, description: str, argument: str | None, schema: Schema, call: Callable[..., ToolResult], output: Schema,
    *, writes: bool = False, destroys: bool = False,
) -> Tool:  # fmt: skip
    title = name.replace("_", " ").title()
    properties = {argument: schema} if argument else {}
    needed = (argument,) if argument else ()
    repeatable = destroys or not writes
    return Tool(name, title, description, properties, call, needed, output, writes, destroys, repeatable, lenient=True)


TOOLS: tuple[Tool, ...] = (
    _tool("create_entities", "Create entities; existing names are skipped.", "entities",
          _ENTITIES, _create_entities, object_of(entities=_ENTITIES), writes=True),
    _tool("create_relations", "Create relations between entities, in active voice; existing ones are skipped.",
          "relations", _RELATIONS, _create_relations, object_of(relations=_RELATIONS), writes=True),
    _tool("add_observations", "Add observations to existing entities.", "observations",
          _CONTENTS, _add_observations, object_of(results=_ADDED), writes=True),
    _tool("delete_entities", "Delete entities with their observations and relations.", "entityNames",
          described(TEXTS, "Names of entities"), _delete_entities, _DONE, writes=True, destroys=True),
    _tool("delete_observations", "Delete observations of entities.", "deletions",
          _DELETIONS, _delete_observations, _DONE, writes=True, destroys=True),
    _tool("delete_relations", "Delete relations.", "relations",
          _RELATIONS, _delete_relations, _DONE, writes=True, destroys=True),
    _tool("read_graph", "All entities and relations.", None, {}, read_graph, _GRAPH),
    _tool("search_nodes", "Entities whose name, type or observations contain the query, and their relations.",
          "query", _QUERY, _search_nodes, _GRAPH),
    _tool("open_nodes", "The entities with these names, and their relations.", "names",
          described(TEXTS, "Names of entities"), _open_nodes, _GRAPH),
)  # fmt: skip
