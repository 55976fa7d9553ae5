"""The data that the web page reads and no single verb returns, such as all that it shows about one memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cuetrail.errors import InputError, NotFound
from cuetrail.serve.json_data import to_json_data
from cuetrail.store.read import edges_by_id
from cuetrail.text.normalise import snippet
from cuetrail.text.timestamps import now_ms

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Node

EDGES, NOTES, PARAGRAPHS = 40, 50, 500
"""The most edges and notes of a node that are shown (strongest and newest first), and the most paragraphs of a file."""


def about(memory: Memory, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a node, given by id or name in `arguments["id"]`, with its edges, facts, notes and versions.

    Raises NotFound, and InputError without an id.
    """
    id_ = arguments.get("id")
    if not isinstance(id_, str):
        raise InputError('say of which memory: {"id": "..."}')
    node = memory.get(id_)
    if node is None:
        raise NotFound(f"there is no memory with the id or name {id_!r:.80} in this scope")
    return {
        "node": to_json_data(node),
        "mine": node.owner == memory.scope.user,
        "owner": node.owner,
        "team": node.team,
        "created": node.created,
        "updated": node.updated,
        "accesses": node.life.accesses,
        "confidence": node.life.confidence,
        "retention": node.life.retention,
        "labels": to_json_data(node.tag_details),
        "summary": str(node.props.get("summary") or ""),
        "contents": _contents(memory, node),
        **_edges(memory, node),
        "facts": _facts(memory, node),
        "history": to_json_data(memory.history(node.id)),
        "notes": to_json_data(memory.store.notes(memory.scope, [node.id], "node", now_ms(), NOTES).get(node.id, [])),
    }


def _edges(memory: Memory, node: Node) -> dict[str, Any]:
    """Returns the strongest edges of a node, each with a preview of the node at its other end."""
    near = memory.neighbours(node.id, EDGES)
    others = memory.nodes(*(one.id for one in near.neighbours))
    edges = edges_by_id(memory.store, memory.scope, [one.edge for one in near.neighbours])
    ties = [
        {
            "edge": one.edge, "kind": one.kind, "weight": one.weight, "tags": list(one.tags), "outgoing": one.outgoing,
            "type": edges[one.edge].type, "text": edges[one.edge].text, "node": _preview(others[one.id]),
        }
        for one in near.neighbours
        if one.id in others and one.edge in edges
    ]  # fmt: skip
    return {"degree": near.degree, "ties": ties}


def _contents(memory: Memory, node: Node) -> list[dict[str, str]]:
    """Returns the ids and texts of a file's passages in their order; [] for a node that is no file."""
    if node.kind != "source" or node.source is None:
        return []
    atoms = memory.store.atoms_of(memory.scope, [node.source]).get(node.source, [])
    return [{"id": one.id, "text": one.text} for one in sorted(atoms, key=lambda one: one.seq)[:PARAGRAPHS] if one.text]


def _facts(memory: Memory, node: Node) -> list[dict[str, Any]]:
    """Returns all facts ever stated about a node, with the titles of their objects."""
    facts = memory.fact_history(node.id)
    objects = memory.nodes(*(fact.object for fact in facts if fact.object is not None))
    titles = {id_: _preview(one)["title"] for id_, one in objects.items()}
    return [{**to_json_data(fact), "object_title": titles.get(fact.object or "")} for fact in facts]


def _preview(node: Node) -> dict[str, str]:
    return {"id": node.id, "kind": node.kind, "title": node.name or snippet(node.text, 90) or node.id}


VIEWS: dict[str, Callable[[Memory, Mapping[str, Any]], dict[str, Any]]] = {"about": about}
"""By name in `POST /view/NAME`."""
