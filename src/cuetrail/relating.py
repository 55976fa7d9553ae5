"""Relationships between people, concepts and entities: one at a time between two, the earlier ones are history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cuetrail.boundary import make_edge
from cuetrail.errors import InputError
from cuetrail.lifecycle import SEMANTIC
from cuetrail.model import Edge, Node, Scope, Where
from cuetrail.store.base import Store
from cuetrail.store.steps import StepQuery, Ties
from cuetrail.text import digest

KINDS = {
    ("person", "person"): "has_relationship_with",
    ("person", "concept"): "engages_with",
    ("person", "entity"): "associated_with",
    ("concept", "concept"): "relates_to",
    ("concept", "entity"): "involves",
    ("entity", "entity"): "connected_to",
}
"""What joins a pair, by the kinds of both, in this order."""

CONTRADICTED = ("type", "attitude", "proximity")
KEPT = ("text", "weight", "type", "attitude", "proximity", "valid_from")
# So many relationships of a node are looked through for the one with the other.
MOST = 10_000


def ordered(src: Node, dst: Node) -> tuple[Node, Node, str]:
    """Both ends in the order their kinds have, and what joins them. Raises InputError for what cannot be related."""
    for one, other in ((src, dst), (dst, src)):
        if (one.kind, other.kind) in KINDS:
            return one, other, KINDS[one.kind, other.kind]
    strange = src if src.kind not in SEMANTIC else dst
    raise InputError(
        f"{strange.id!r} is of the kind {strange.kind}: only a person, concept or entity has relationships; "
        "`link` joins any two nodes"
    )


def related(
    store: Store, scope: Scope, src: Node, dst: Node, given: Mapping[str, Any], now: int
) -> tuple[Edge, list[Edge]]:
    """The relationship of two nodes as it is now, and the edges to write for that.

    What is not said stays as it was. Where it contradicts what was held, that is closed, and another begins.
    What is over already closes nothing: it is history at once.
    """
    stated = make_edge(src.id, dst.id, {**given, "kind": "relates", "id": None}, now)
    if src.id == dst.id:
        raise InputError(f"{src.id!r} cannot be related to itself: name two nodes")
    one, other, kind = ordered(src, dst)
    begin = now if given["valid_from"] is None else given["valid_from"]
    edge = replace(stated, src=one.id, dst=other.id, kind=kind)
    if edge.valid_until is not None and edge.valid_until <= now:
        edge = replace(edge, id=digest("relationship", one.id, other.id, kind, str(now), str(begin)))
        return edge, [edge]
    old = _present(store, scope, one.id, other.id, kind, max(begin, now))
    if old is None:
        edge = replace(edge, id=digest("relationship", one.id, other.id, kind, str(now)))
        return edge, [edge]
    if _contradicts(edge, old):
        end = begin if old.valid_from is None else max(begin, old.valid_from)
        closed = replace(old, valid_until=end, updated=now)
        edge = replace(edge, id=digest("relationship", one.id, other.id, kind, str(now), old.id), valid_from=begin)
        return edge, [closed, edge]
    kept = {name: getattr(old, name) for name in KEPT if getattr(edge, name) in (None, "")}
    edge = replace(edge, **kept, id=old.id, tags=edge.tags or old.tags)
    return edge, [edge]


def _contradicts(new: Edge, old: Edge) -> bool:
    pairs = [(getattr(new, name), getattr(old, name)) for name in CONTRADICTED]
    return any(a is not None and b is not None and _folded(a) != _folded(b) for a, b in pairs)


def _folded(value: object) -> object:
    return value.casefold() if isinstance(value, str) else value


def _present(store: Store, scope: Scope, src: str, dst: str, kind: str, at: int) -> Edge | None:
    """The relationship of these two that is held at a time."""
    where = Where(quarantined=True, archived=True)
    steps = store.steps(scope, StepQuery((src,), MOST, "both", Ties(kinds=(kind,), at=at), where)).get(src, [])
    found = [step.edge for step in steps if step.other == dst and step.edge.via is None]
    return max(found, key=lambda edge: (edge.updated, edge.id), default=None)
