"""Writes edges and relationships between nodes, and notes on both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cuetrail.errors import NotFound
from cuetrail.facts.resolve import find_node, require_node
from cuetrail.model import Edge, Note
from cuetrail.session import Session
from cuetrail.store.read import edges_by_id
from cuetrail.store.write import Batch
from cuetrail.validation.records import make_edge, make_note
from cuetrail.write.pipeline import adopt, write
from cuetrail.write.relationships import related

EDGES_PER_WRITE = 8_000


def link(session: Session, src: str, dst: str, given: Mapping[str, Any], now: int) -> Edge:
    """Writes an edge between two nodes, given by id or name, and returns it as stored. Raises NotFound."""
    store, scope = session.store, session.scope
    edge = make_edge(require_node(store, scope, src), require_node(store, scope, dst), given, now)
    write(session, Batch(nodes=adopt(session, (edge.src, edge.dst), now), edges=[edge], refuse_forgotten=True), now)
    return edges_by_id(store, scope, [edge.id])[edge.id]


def write_edges(session: Session, edges: Sequence[Edge], now: int) -> None:
    """Writes edges in batches: one transaction per edge would take a hundred times as long."""
    for start in range(0, len(edges), EDGES_PER_WRITE):
        write(session, Batch(edges=list(edges[start : start + EDGES_PER_WRITE])), now)


def relate(session: Session, src: str, dst: str, given: Mapping[str, Any], now: int) -> Edge:
    """Writes the relationship of two people, concepts or entities, given by id or name; returns it as stored.

    Raises NotFound for an unknown node, InputError for other kinds of nodes.
    """
    store, scope = session.store, session.scope
    ids = [require_node(store, scope, src), require_node(store, scope, dst)]
    nodes = store.get(scope, ids)
    confidence = 1.0 if given["confidence"] is None else given["confidence"]
    stated = make_edge(ids[0], ids[1], {**given, "kind": "relates", "id": None, "confidence": confidence}, now)
    edge, edges = related(store, scope, nodes[ids[0]], nodes[ids[1]], stated, given, now)
    write(session, Batch(nodes=adopt(session, ids, now), edges=edges, refuse_forgotten=True), now)
    return edges_by_id(store, scope, [edge.id])[edge.id]


def unlink(session: Session, ids: Sequence[str], now: int) -> list[str]:
    """Removes edges, given by id, and returns their ids. Raises NotFound if one is missing or a teammate's."""
    store, scope = session.store, session.scope
    found = edges_by_id(store, scope, ids)
    for id_ in ids:
        if id_ not in found:
            raise NotFound(f"there is no edge {id_!r} in this scope; `neighbours` shows the edges of a node")
    write(session, Batch(remove_edges=list(found)), now)
    remaining = edges_by_id(store, scope, list(found))
    if remaining:
        raise NotFound(f"the edge {next(iter(remaining))!r} is a teammate's: only who made it can remove it")
    return list(found)


def note(session: Session, target: str, text: str, expires: int | str | None, now: int) -> Note:
    """Writes a note on a node, given by id or name, or on an edge, given by id, and returns it. Raises NotFound."""
    store, scope = session.store, session.scope
    if find_node(store, scope, target) is None and edges_by_id(store, scope, [target]):
        made = make_note(target, text, expires, now, "edge")
        write(session, Batch(notes=[made], refuse_forgotten=True), now)
        return made
    made = make_note(require_node(store, scope, target), text, expires, now)
    write(session, Batch(nodes=adopt(session, (made.target,), now), notes=[made], refuse_forgotten=True), now)
    return made
