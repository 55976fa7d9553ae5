"""The view `about`: everything the page shows of one memory, and the note that the memory is a passage of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cuetrail.errors import NotFound
from cuetrail.model.ids import source_id
from cuetrail.model.records import HEADING, TITLE
from cuetrail.serve.json_data import to_json_data
from cuetrail.serve.rest.views.files import file_of
from cuetrail.store.read import edges_by_id
from cuetrail.text.normalise import snippet
from cuetrail.text.timestamps import now_ms, utc_date

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Node

EDGES, NOTES, PASSAGES = 40, 50, 500
"""The most edges and notes of a node that are shown (strongest and newest first), and the most passages of a note."""


def about(memory: Memory, arguments: Mapping[str, Any], local: bool) -> dict[str, Any]:
    """Returns a node, given by id or name in `arguments["id"]`, with its edges, facts, notes, versions and its note.

    Raises NotFound.
    """
    id_ = arguments["id"]
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
        "note": _note(memory, node),
        "file": file_of(memory, node.source) if local and node.source is not None else None,
        **_edges(memory, node),
        "facts": _facts(memory, node),
        "history": to_json_data(memory.history(node.id)),
        "notes": to_json_data(memory.store.notes(memory.scope, [node.id], "node", now_ms(), NOTES).get(node.id, [])),
    }


def _note(memory: Memory, node: Node) -> dict[str, Any] | None:
    """Returns the note or conversation of a passage, or the one that the node stands for: its id, its title, its
    passages in order, and how many are left out before and after them. None for a node without a source.
    """
    if node.source is None:
        return None
    found = memory.store.atoms_of(memory.scope, [node.source]).get(node.source, [])
    passages = sorted((one for one in found if one.text and one.kind == "atom"), key=lambda one: one.seq)
    here = next((at for at, one in enumerate(passages) if one.id == node.id), 0)
    first = max(0, min(here - PASSAGES // 2, len(passages) - PASSAGES))
    shown = passages[first : first + PASSAGES]
    top = memory.nodes(source_id(node.source)).get(source_id(node.source))
    title = (top.name if top is not None else None) or next((one.props.get(TITLE) for one in passages), None)
    return {
        "id": top.id if top is not None else None,
        "title": title or node.source,
        "passages": [
            {"id": one.id, "text": one.text, "heading": one.props.get(HEADING), "speaker": one.props.get("speaker")}
            for one in shown
        ],
        "before": first,
        "after": len(passages) - first - len(shown),
    }


def _edges(memory: Memory, node: Node) -> dict[str, Any]:
    """Returns the strongest edges of a node, each with a preview of the node at its other end."""
    near = memory.neighbours(node.id, EDGES)
    others = memory.nodes(*(one.id for one in near.neighbours))
    edges = edges_by_id(memory.store, memory.scope, [one.edge for one in near.neighbours])
    ties = [
        {
            "edge": one.edge, "kind": one.kind, "weight": one.weight, "tags": list(one.tags), "outgoing": one.outgoing,
            "type": edges[one.edge].type, "text": edges[one.edge].text, "stated": edges[one.edge].via is None,
            "node": _preview(others[one.id]),
        }
        for one in near.neighbours
        if one.id in others and one.edge in edges
    ]  # fmt: skip
    return {"degree": near.degree, "ties": ties}


def _facts(memory: Memory, node: Node) -> list[dict[str, Any]]:
    """Returns all facts ever stated about a node, with the titles of their objects."""
    facts = memory.fact_history(node.id)
    objects = memory.nodes(*(fact.object for fact in facts if fact.object is not None))
    titles = {id_: _preview(one)["title"] for id_, one in objects.items()}
    return [{**to_json_data(fact), "object_title": titles.get(fact.object or "")} for fact in facts]


def _preview(node: Node) -> dict[str, str]:
    # A turn of a conversation is known by what is said in it.
    titles = () if node.props.get("speaker") else (node.props.get(TITLE), node.props.get(HEADING))
    named = node.name or " › ".join(str(one) for one in titles if one)
    sitting = f"Sitting of {utc_date(node.at)}" if node.kind == "episode" else ""
    return {"id": node.id, "kind": node.kind, "title": named or snippet(node.text, 90) or sitting or node.id}
