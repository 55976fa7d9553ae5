"""Quarantine: memories that are kept but not trusted. Nothing of them is lost, nor where they came from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from cuetrail.errors import MirrorError
from cuetrail.mirror import sync_registered
from cuetrail.model import Node, Provenance, Scope
from cuetrail.store.ports import Store
from cuetrail.store.read import own_nodes
from cuetrail.store.write import Batch, Written

FORMER = "quarantined_from"
"""The property that keeps what a node's provenance was before."""

Write = Callable[[Batch, Scope], Written]


def move(
    store: Store, scope: Scope, write: Write, ids: Sequence[str], undo: bool, now: int, memory: Path
) -> list[Node]:
    """Put the user's own nodes into quarantine, or take them out, also in mirrors of the memory; those that moved."""
    moved: list[Node] = []
    teams: set[str] = set()
    for place, nodes in own_nodes(store, scope, ids).items():
        changed = [let_back(node) if undo else set_aside(node) for node in nodes]
        moving = [replace(new, updated=now) for new, old in zip(changed, nodes, strict=True) if new != old]
        if moving:
            write(Batch(nodes=moving), place)
            moved += moving
            teams |= {place.share} if place.share else set()
    followed = sync_registered(store, scope, memory, teams=teams)
    if followed.problems:
        raise MirrorError(f"it is done, but a mirror may not show it yet. {'. '.join(followed.problems)}")
    return moved


def set_aside(node: Node) -> Node:
    """The node in quarantine; as it is if it is there already."""
    if node.provenance == "quarantine":
        return node
    return replace(node, provenance="quarantine", props={**node.props, FORMER: node.provenance})


def let_back(node: Node) -> Node:
    """The node as it was before its quarantine. One that came in quarantined is external from now on."""
    if node.provenance != "quarantine":
        return node
    provenance: Provenance = "internal" if node.props.get(FORMER) == "internal" else "external"
    return replace(node, provenance=provenance, props={k: v for k, v in node.props.items() if k != FORMER})


def still_aside(node: Node) -> Node:
    """A node as its file states it anew: one that was set aside by hand stays so."""
    return set_aside(node) if FORMER in node.props else node
