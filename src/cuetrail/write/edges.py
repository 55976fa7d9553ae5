"""Writes and removes edges between nodes. `relationships` writes those of people, concepts and entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cuetrail.errors import NotFound
from cuetrail.facts.find_node import require_node
from cuetrail.model import Edge
from cuetrail.session import Session
from cuetrail.store.read import edges_by_id
from cuetrail.store.write import Batch
from cuetrail.validation.records import make_edge
from cuetrail.write.pipeline import adopt, write

EDGES_PER_WRITE = 8_000


def link(session: Session, src: str, dst: str, given: Mapping[str, Any], now: int) -> Edge:
    """Writes an edge between two nodes, given by id or name, and returns it as stored. Raises NotFound for an unknown
    node, and InputError as `make_edge` does.
    """
    store, scope = session.store, session.scope
    edge = make_edge(require_node(store, scope, src), require_node(store, scope, dst), given, now)
    write(session, Batch(nodes=adopt(session, (edge.src, edge.dst), now), edges=[edge], refuse_forgotten=True), now)
    return edges_by_id(store, scope, [edge.id])[edge.id]


def write_edges(session: Session, edges: Sequence[Edge], now: int) -> None:
    """Writes edges in batches: one transaction per edge would take a hundred times as long."""
    for start in range(0, len(edges), EDGES_PER_WRITE):
        write(session, Batch(edges=list(edges[start : start + EDGES_PER_WRITE])), now)


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
