"""What the page shows of a memory that no single verb tells: read with the verbs, put together for one look."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cuetrail.errors import InputError, NotFound
from cuetrail.serve.tool import plain
from cuetrail.text.normalise import snippet
from cuetrail.text.timestamps import now_ms

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Node

View = Callable[["Memory", Mapping[str, Any]], dict[str, Any]]

TIES, NOTES, CONTENTS = 40, 50, 500
"""How many edges and notes of a node are shown, the strongest and the newest first, and paragraphs of a file."""


def about(memory: Memory, given: Mapping[str, Any]) -> dict[str, Any]:
    """All there is to know of a node, given by id or name. Raises NotFound."""
    id_ = given.get("id")
    if not isinstance(id_, str):
        raise InputError('say of which memory: {"id": "..."}')
    node = memory.get(id_)
    if node is None:
        raise NotFound(f"there is no memory with the id or name {id_!r:.80} in this scope")
    return {
        "node": plain(node),
        "mine": node.owner == memory.scope.user,
        "owner": node.owner,
        "team": node.team,
        "created": node.created,
        "updated": node.updated,
        "accesses": node.life.accesses,
        "confidence": node.life.confidence,
        "retention": node.life.retention,
        "labels": plain(node.tag_details),
        "summary": str(node.props.get("summary") or ""),
        "contents": _contents(memory, node),
        **_joined(memory, node),
        "facts": _facts(memory, node),
        "history": plain(memory.history(node.id)),
        "notes": plain(memory.store.notes(memory.scope, [node.id], "node", now_ms(), NOTES).get(node.id, [])),
    }


def _joined(memory: Memory, node: Node) -> dict[str, Any]:
    """The strongest edges of a node with what is at their other ends."""
    near = memory.neighbours(node.id, TIES)
    others = memory.nodes(*(one.id for one in near.neighbours))
    edges = memory.store.edges(memory.scope, [one.edge for one in near.neighbours])
    ties = [
        {
            "edge": one.edge, "kind": one.kind, "weight": one.weight, "tags": list(one.tags), "outgoing": one.outgoing,
            "type": edges[one.edge].type, "text": edges[one.edge].text, "node": _glimpse(others[one.id]),
        }
        for one in near.neighbours
        if one.id in others and one.edge in edges
    ]  # fmt: skip
    return {"degree": near.degree, "ties": ties}


def _contents(memory: Memory, node: Node) -> list[dict[str, str]]:
    """What a file holds, in its order."""
    if node.kind != "source" or node.source is None:
        return []
    atoms = memory.store.atoms_of(memory.scope, [node.source]).get(node.source, [])
    return [{"id": one.id, "text": one.text} for one in sorted(atoms, key=lambda one: one.seq)[:CONTENTS] if one.text]


def _facts(memory: Memory, node: Node) -> list[dict[str, Any]]:
    """All that was ever stated of a node; an object comes with its title."""
    facts = memory.fact_history(node.id)
    objects = memory.nodes(*(fact.object for fact in facts if fact.object is not None))
    titles = {id_: _glimpse(one)["title"] for id_, one in objects.items()}
    return [{**plain(fact), "object_title": titles.get(fact.object or "")} for fact in facts]


def _glimpse(node: Node) -> dict[str, str]:
    return {"id": node.id, "kind": node.kind, "title": node.name or snippet(node.text, 90) or node.id}


VIEWS: dict[str, View] = {"about": about}
"""By the names under which the page asks for them, `POST /view/NAME`."""
