"""Succession: when a node is replaced by another, its facts, notes and stated edges pass to that successor.

Stated edges are those that callers made. Each record stays with its owner: a fact that a teammate stated about a shared
node remains the teammate's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from cuetrail.model.ids import fact_id, past_fact_id, stated_edge_id
from cuetrail.store.shared.fact_writes import refit_facts
from cuetrail.store.transaction import StoredEdge, StoredFact, WriteTransaction


class Successor(NamedTuple):
    """The key and the id of a node that replaces another one."""

    key: int
    id: str


Successors = Mapping[int, Successor]
"""The successor of each replaced node, by the key of the replaced one."""


def find_successors(tx: WriteTransaction, pairs: Mapping[str, str]) -> Successors:
    """Returns the successors of the user's own nodes. `pairs` maps old to new ids; unknown ones are left out."""
    old, new = tx.find_own(pairs), tx.find_own(pairs.values())
    return {old[a]: Successor(new[b], b) for a, b in pairs.items() if a in old and b in new}


def pass_on(tx: WriteTransaction, pairs: Mapping[str, str]) -> None:
    """Moves facts, notes and edges that callers made from old nodes to their successors. `pairs` maps old to new
    ids.
    """
    successors = find_successors(tx, pairs)
    pass_facts(tx, successors)
    _pass_edges(tx, successors)
    tx.notes.move({old: new.key for old, new in successors.items()})


def pass_facts(tx: WriteTransaction, successors: Successors) -> None:
    """Moves the facts of nodes to their successors. An id that was made from the content of a fact is made again from
    the new content. A fact that the successor has already is kept as a second statement of it.
    """
    found = sorted(tx.facts.of_nodes(list(successors)), key=lambda row: (row.fact.created, row.handle))
    moved = [_moved_fact(row, successors) for row in found]
    taken = tx.facts.taken({(row.partition, row.fact.id) for row in moved})
    moves = []
    for old, new in zip(found, moved, strict=True):
        id_ = new.fact.id
        if id_ != old.fact.id and (new.partition, id_) in taken:
            id_ = past_fact_id(id_, old.fact.id)
            new = replace(new, fact=replace(new.fact, id=id_))
        taken.discard((old.partition, old.fact.id))
        taken.add((new.partition, id_))
        moves.append((old, new))
    tx.facts.move(moves)
    refit_facts(tx, list(dict.fromkeys((new.partition, new.subject, new.fact.predicate) for _, new in moves)))


def _moved_fact(row: StoredFact, successors: Successors) -> StoredFact:
    """Returns the fact with its nodes replaced by their successors. An id made from its content is made again."""
    fact = row.fact
    subject = successors.get(row.subject, Successor(row.subject, fact.subject))
    object_ = None if row.object is None else successors.get(row.object)
    object_key, object_id = object_ or (row.object, fact.object)
    has_made_id = fact.id == fact_id(fact.subject, fact.predicate, fact.object, fact.value)
    id_ = fact_id(subject.id, fact.predicate, object_id, fact.value) if has_made_id else fact.id
    new = replace(fact, id=id_, subject=subject.id, object=object_id)
    return StoredFact(row.handle, row.partition, subject.key, object_key, new)


def _pass_edges(tx: WriteTransaction, successors: Successors) -> None:
    """Moves edges that callers made to the successors of their nodes, unless one exists there or would become a
    loop.
    """
    found = sorted(tx.edges.stated(list(successors)), key=lambda row: (row.edge.created, row.handle))
    moved = [_moved_edge(row, successors) for row in found]
    taken = tx.edges.taken({(row.partition, row.edge.id) for row in moved})
    moves: list[tuple[StoredEdge, StoredEdge]] = []
    for old, new in zip(found, moved, strict=True):
        becomes_loop = new.src == new.dst and old.src != old.dst
        if becomes_loop or (new.edge.id != old.edge.id and (new.partition, new.edge.id) in taken):
            continue
        taken.discard((old.partition, old.edge.id))
        taken.add((new.partition, new.edge.id))
        moves.append((old, new))
    tx.edges.move(moves)


def _moved_edge(row: StoredEdge, successors: Successors) -> StoredEdge:
    """Returns the edge with its nodes replaced by their successors. An id made from its content is made again."""
    edge = row.edge
    src = successors.get(row.src, Successor(row.src, edge.src))
    dst = successors.get(row.dst, Successor(row.dst, edge.dst))
    has_made_id = edge.id == stated_edge_id(edge.src, edge.dst, edge.kind)
    id_ = stated_edge_id(src.id, dst.id, edge.kind) if has_made_id else edge.id
    return StoredEdge(row.handle, row.partition, src.key, dst.key, replace(edge, id=id_, src=src.id, dst=dst.id))
