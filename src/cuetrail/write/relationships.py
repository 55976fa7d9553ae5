"""Writes relationships of people, concepts and entities: their kinds, and how a new statement changes an old one.

Two of them have one relationship at a time; the earlier ones are history.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

from cuetrail.errors import InputError
from cuetrail.facts.find_node import require_node
from cuetrail.model import Edge, Node, Scope, Where
from cuetrail.model.ids import relationship_id
from cuetrail.model.records import SEMANTIC_KINDS, SEMANTIC_ROLES
from cuetrail.session import Session
from cuetrail.store.graph import EdgeFilter, StepQuery
from cuetrail.store.ports import Store
from cuetrail.store.read import edges_by_id
from cuetrail.store.write import Batch
from cuetrail.validation.records import make_edge
from cuetrail.write.pipeline import adopt, write

KINDS = {
    ("person", "person"): "has_relationship_with",
    ("person", "concept"): "engages_with",
    ("person", "entity"): "associated_with",
    ("concept", "concept"): "relates_to",
    ("concept", "entity"): "involves",
    ("entity", "entity"): "connected_to",
}
"""The kind of edge between two nodes, by what both count as (SEMANTIC_ROLES), in this order."""


CONTRADICTED = ("type", "attitude", "proximity")
"""A different value of one of these contradicts the relationship that holds."""


CARRIED_OVER = ("text", "weight", "type", "attitude", "proximity", "tags", "confidence", "valid_from", "valid_until")
"""If a relationship is restated without one of these, it keeps the value it has."""


MOST = 10_000
"""The number of a node's relationships that are searched for those with the other node."""


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


def ordered(src: Node, dst: Node) -> tuple[Node, Node, str]:
    """Returns both ends in the order of KINDS, and the kind of edge. Raises InputError if nodes of these kinds have no
    relationships.
    """
    for one, other in ((src, dst), (dst, src)):
        roles = (SEMANTIC_ROLES.get(one.kind, ""), SEMANTIC_ROLES.get(other.kind, ""))
        if roles in KINDS:
            return one, other, KINDS[roles]
    strange = src if src.kind not in SEMANTIC_KINDS else dst
    raise InputError(
        f"{strange.id!r} is of the kind {strange.kind}: only nodes of the kinds {', '.join(SEMANTIC_KINDS)} have "
        "relationships; `link` joins any two nodes"
    )


def related(
    store: Store, scope: Scope, src: Node, dst: Node, stated: Edge, given: Mapping[str, Any], now: int
) -> tuple[Edge, list[Edge]]:
    """Returns the relationship of two nodes as it is from now on, and the edges to write for that. Raises InputError if
    both are the same node, or their kinds have no relationships.

    `stated` is the new statement as an edge, `given` the arguments it was made from; one that is None keeps the value
    of the relationship that holds. If the statement contradicts that relationship, the old one is closed and a new one
    begins. It ends when a later relationship that is already stated begins. A statement about the past closes an open
    relationship that says the same; otherwise it becomes a relationship that has ended, and nothing is closed.
    """
    if src.id == dst.id:
        raise InputError(f"{src.id!r} cannot be related to itself: name two nodes")
    one, other, kind = ordered(src, dst)
    edge = replace(stated, src=one.id, dst=other.id, kind=kind)
    between = _between(store, scope, edge)
    if edge.valid_until is not None and edge.valid_until <= now:
        same = _same_past(edge, between, now)
        edge = _restated(edge, same, given) if same else replace(edge, id=_id(edge, now, edge.valid_from))
        return edge, [edge]
    begin = now if edge.valid_from is None else edge.valid_from
    at = max(begin, now)
    old = _holding(between, at)
    closed = []
    if old is None:
        edge = replace(edge, id=_id(edge, now))
    elif _contradicts(edge, old) or (_start(old) <= now < begin and _adds(edge, old)):
        closed.append(
            replace(old, valid_until=max(begin, begin if old.valid_from is None else old.valid_from), updated=now)
        )
        edge = replace(edge, id=_id(edge, now, old.id), valid_from=begin)
    else:
        edge = _restated(edge, old, given)
        # A relationship that holds already is not postponed.
        edge = replace(edge, valid_from=old.valid_from) if _start(old) <= now < begin else edge
    later = [one for one in between if one is not old and at < _start(one) < _end(one)]
    if edge.valid_until is None:
        begins = [one.valid_from for one in later if one.valid_from is not None]
        edge = replace(edge, valid_until=min(begins, default=None))
    closed += [_postponed(one, edge, now) for one in later if _start(one) < _end(edge)]
    return edge, [*closed, edge]


def _id(edge: Edge, *of: object) -> str:
    return relationship_id(edge.src, edge.dst, edge.kind, *map(str, of))


def _start(edge: Edge) -> float:
    return -inf if edge.valid_from is None else edge.valid_from


def _end(edge: Edge) -> float:
    return inf if edge.valid_until is None else edge.valid_until


def _restated(new: Edge, old: Edge, given: Mapping[str, Any]) -> Edge:
    """Returns the new statement with the id of the old one, and with the old value of each field it does not give."""
    empty = (None, "", ())
    old_values = {n: getattr(old, n) for n in CARRIED_OVER if given[n] is None or getattr(new, n) in empty}
    return replace(new, **old_values, id=old.id)


def _same_past(new: Edge, between: Sequence[Edge], now: int) -> Edge | None:
    """Returns the relationship that a statement about the past restates: an open one that it ends, else one with the
    same times; None if there is neither.
    """
    same = [one for one in between if not _contradicts(new, one)]
    held = _holding(same, now)
    if held is not None and _start(held) < _end(new) and new.valid_from in (None, held.valid_from):
        return held
    times = new.valid_from, new.valid_until
    return max((one for one in same if (one.valid_from, one.valid_until) == times), key=_newest, default=None)


def _postponed(one: Edge, edge: Edge, now: int) -> Edge:
    """Returns the relationship `one` with its start moved to the end of `edge`. If it ends before that, its time span
    becomes empty: it ends when it starts.
    """
    if _end(one) <= _end(edge):
        return replace(one, valid_until=one.valid_from, updated=now)
    return replace(one, valid_from=edge.valid_until, updated=now)


def _contradicts(new: Edge, old: Edge) -> bool:
    return any(a is not None and b is not None and a != b for a, b in _levels(new, old))


def _adds(new: Edge, old: Edge) -> bool:
    return any(a is not None and a != b for a, b in _levels(new, old))


def _levels(new: Edge, old: Edge) -> list[tuple[object, object]]:
    return [(_folded(getattr(new, name)), _folded(getattr(old, name))) for name in CONTRADICTED]


def _folded(value: object) -> object:
    return value.casefold() if isinstance(value, str) else value


def _holding(edges: Sequence[Edge], at: int) -> Edge | None:
    """Returns the newest of the relationships that are valid at a time; None if none is."""
    return max((edge for edge in edges if _start(edge) <= at < _end(edge)), key=_newest, default=None)


def _newest(edge: Edge) -> tuple[int, str]:
    return edge.updated, edge.id


def _between(store: Store, scope: Scope, edge: Edge) -> list[Edge]:
    """Returns all stated relationships of the two nodes, also past and future ones."""
    ties, where = EdgeFilter(kinds=(edge.kind,), stated=True), Where(quarantined=True, archived=True)
    steps = store.steps(scope, StepQuery((edge.src,), MOST, "both", ties, where)).get(edge.src, [])
    return [step.edge for step in steps if step.other == edge.dst]
