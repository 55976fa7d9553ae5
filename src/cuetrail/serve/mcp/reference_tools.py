"""The nine tools of the reference MCP memory server, over a cuetrail memory, for clients that were made for it.

Entities, observations and relations are stored as an import of its file stores them: an entity is a node, an
observation an atom linked to it, a relation an edge. An end of a relation without an entity is a placeholder, a node
that is no entity yet. All other features of cuetrail work on them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuetrail.errors import InputError, ReadError
from cuetrail.model import Edge, Node
from cuetrail.model.ids import digest, stated_edge_id
from cuetrail.serve.mcp.reference_graph import (
    Observed,
    all_nodes,
    entities_of,
    given_text,
    named_entities,
    placeholders_of,
    relations_of,
    spelling,
)
from cuetrail.serve.memory_access import delete_nodes
from cuetrail.serve.tool import TEXT, TEXTS, Schema, Tool, ToolResult, array_of, described, object_of
from cuetrail.text.normalise import clean, norm_name
from cuetrail.text.timestamps import now_ms
from cuetrail.transfer.formats.graph_view import OBSERVATION_WEIGHT, RELATION_WEIGHT, is_placeholder
from cuetrail.transfer.formats.mcp_memory import FORMAT, entity_id, kind_of, observation_id, relation_id
from cuetrail.validation.records import make_node

if TYPE_CHECKING:
    from cuetrail.memory import Memory

GraphJson = dict[str, list[dict[str, Any]]]


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


def _graph(memory: Memory, entities: Sequence[Observed], others: Iterable[Node] = ()) -> GraphJson:
    """Returns these entities with the relations from or to them, and from or to the other nodes."""
    ids = [*(one.node.id for one in entities), *(node.id for node in others)]
    return {"entities": [one.to_dict() for one in entities], "relations": [row for _, row in relations_of(memory, ids)]}


def read_graph(memory: Memory, _arguments: dict[str, Any] | None = None) -> ToolResult:
    """Returns all entities and relations."""
    nodes = all_nodes(memory)
    return _result(_graph(memory, entities_of(memory, nodes), filter(is_placeholder, nodes)))


def _search_nodes(memory: Memory, given: dict[str, Any]) -> ToolResult:
    query = given["query"].lower()
    return _result(_graph(memory, [one for one in entities_of(memory, all_nodes(memory)) if one.contains(query)]))


def _open_nodes(memory: Memory, given: dict[str, Any]) -> ToolResult:
    found = {one.node.id: one.node for one in named_entities(memory, given["names"]).values()}
    return _result(_graph(memory, entities_of(memory, found.values())))


# --- writing


def _create_entities(memory: Memory, given: dict[str, Any]) -> ToolResult:
    names = [row["name"] for row in given["entities"]]
    known, placeholders = set(map(norm_name, named_entities(memory, names))), set(placeholders_of(memory, names))
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
        props |= spelling(row["name"]) | spelling(row["entityType"], "given_type")
        props |= {"stated": now} if row["name"] in placeholders else {}
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
    seen, atoms = Counter(map(clean, known)), list[Node]()
    for text in texts:
        if not text.strip():
            continue
        id_, props = observation_id(owner, clean(text), seen[clean(text)]), {"of": owner, **spelling(text)}
        item = {"id": id_, "text": text, "source": FORMAT, "props": props}
        atoms.append(replace(make_node(item, now), seq=first + len(atoms)))
        seen[clean(text)] += 1
    return atoms


def _add_nodes(memory: Memory, nodes: Sequence[Node], now: int) -> None:
    """Adds nodes and links observations to their entities. Deleted texts may be added again."""
    memory.add_many(nodes, allow_again=True, now=now)
    ties = [(atom.id, str(atom.props["of"]), "observation") for atom in nodes if "of" in atom.props]
    edges = [_edge(stated_edge_id(*tie), *tie, OBSERVATION_WEIGHT, now) for tie in ties]
    _write_edges(memory, edges, now)


def _edge(id_: str, src: str, dst: str, kind: str, weight: float, now: int, **more: Any) -> Edge:
    return Edge(id_, src, dst, kind, weight, created=now, updated=now, **more)


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


def _require(memory: Memory, names: Sequence[str]) -> dict[str, Observed]:
    known = named_entities(memory, names)
    for name in names:
        if name not in known:
            raise InputError(f"Entity with name {name} not found")
    return known


def _create_relations(memory: Memory, given: dict[str, Any]) -> ToolResult:
    rows, now = given["relations"], now_ms()
    ends, new = _ends(memory, [row[end] for row in rows for end in ("from", "to")], now)
    existing = {_key(row) for _, row in relations_of(memory, set(ends.values()))}
    made: list[dict[str, Any]] = []
    edges: list[Edge] = []
    for row in rows:
        if _key(row) in existing:
            continue
        existing.add(_key(row))
        props = {"seq": len(made), **spelling(row["relationType"])}
        type_ = clean(row["relationType"]).strip() or None
        src, dst = ends[row["from"]], ends[row["to"]]
        edges.append(_edge(relation_id(*_key(row)), src, dst, "relates", RELATION_WEIGHT, now, type=type_, props=props))
        made.append({name: row[name] for name in ("from", "to", "relationType")})
    if new:
        memory.add_many(new, allow_again=True, now=now)
    _write_edges(memory, edges, now)
    return _result({"relations": made}, made)


def _ends(memory: Memory, names: Sequence[str], now: int) -> tuple[dict[str, str], list[Node]]:
    """Returns the ids of the ends of relations by name, and new placeholders for names without a node. Raises
    InputError.
    """
    known = {name: one.node for name, one in named_entities(memory, names).items()}
    known |= {name: node for name, node in placeholders_of(memory, names).items() if name not in known}
    new: dict[str, Node] = {}
    for name in names:
        norm = norm_name(name)
        if not norm:
            raise InputError("an end of a relation needs a name")
        if name not in known and norm not in new:
            props = {"placeholder": True, **spelling(name)}
            item = {"id": entity_id(norm), "kind": "entity", "name": name, "source": FORMAT, "props": props}
            new[norm] = replace(make_node(item, now), seq=0)
    ids = {name: (known[name] if name in known else new[norm_name(name)]).id for name in names}
    return ids, list(new.values())


def _key(row: dict[str, Any]) -> tuple[str, str, str]:
    return norm_name(row["from"]), norm_name(row["to"]), clean(row["relationType"])


def _delete_entities(memory: Memory, given: dict[str, Any]) -> ToolResult:
    names = given["entityNames"]
    entities = {one.node.id: one for one in named_entities(memory, names).values()}
    atoms = [atom for one in entities.values() for atom in one.atoms]
    # The relations of a name that is no entity go too.
    others = [node for node in placeholders_of(memory, names).values() if node.id not in entities]
    delete_nodes(memory, [*(one.node for one in entities.values()), *others], atoms)
    return _done("Entities deleted successfully")


def _delete_observations(memory: Memory, given: dict[str, Any]) -> ToolResult:
    rows = given["deletions"]
    known = named_entities(memory, [row["entityName"] for row in rows])
    atoms: dict[str, Node] = {}
    for row in rows:
        found = known[row["entityName"]].atoms if row["entityName"] in known else ()
        atoms |= {atom.id: atom for atom in found if given_text(atom, atom.text) in row["observations"]}
    delete_nodes(memory, [], list(atoms.values()))
    return _done("Observations deleted successfully")


def _delete_relations(memory: Memory, given: dict[str, Any]) -> ToolResult:
    rows = given["relations"]
    names = {row[end] for row in rows for end in ("from", "to")}
    ids = {one.node.id for one in named_entities(memory, names).values()}
    ids |= {node.id for node in placeholders_of(memory, names).values()}
    wanted = {_key(row) for row in rows}
    memory.unlink(*[edge.id for edge, row in relations_of(memory, ids) if _key(row) in wanted])
    return _done("Relations deleted successfully")


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
