"""Quarantine: nodes that are kept but not trusted. They keep all their content, and where they came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cuetrail.errors import MirrorError
from cuetrail.facts.resolve import nodes_of, require_own
from cuetrail.mirror import sync_registered
from cuetrail.model import Node, Provenance
from cuetrail.session import Session
from cuetrail.store.shared.ids import own_nodes
from cuetrail.store.write import Batch
from cuetrail.write.pipeline import write

FORMER = "quarantined_from"
"""The property that holds a node's provenance from before its quarantine."""


def set_aside(node: Node) -> Node:
    """Returns the node in quarantine; unchanged if it is there already."""
    if node.provenance == "quarantine":
        return node
    return replace(node, provenance="quarantine", props={**node.props, FORMER: node.provenance})


def release(node: Node) -> Node:
    """Returns the node as it was before its quarantine. One that was written into quarantine becomes external."""
    if node.provenance != "quarantine":
        return node
    provenance: Provenance = "internal" if node.props.get(FORMER) == "internal" else "external"
    return replace(node, provenance=provenance, props={k: v for k, v in node.props.items() if k != FORMER})


def still_aside(node: Node) -> Node:
    """Returns a node that its file states anew; in quarantine if a person had put it there."""
    return set_aside(node) if FORMER in node.props else node


def quarantine(session: Session, ids: Iterable[str], source: str | None, undo: bool, now: int) -> list[Node]:
    """Moves nodes, and those of a source file, into quarantine, or with `undo` out of it; returns those that moved.

    Mirrors follow. Raises NotFound if a node is missing or another user's, MirrorError if a mirror could not follow.
    """
    store, scope = session.store, session.scope
    named = require_own(store, scope, nodes_of(store, scope, ids, source), "move")
    moved: list[Node] = []
    teams: set[str] = set()
    for partition, nodes in own_nodes(store, scope, [node.id for node in named]).items():
        changed = [release(node) if undo else set_aside(node) for node in nodes]
        moving = [replace(new, updated=now) for new, old in zip(changed, nodes, strict=True) if new != old]
        if moving:
            write(session, Batch(nodes=moving), now, scope=partition)
            moved += moving
            teams |= {partition.share} if partition.share else set()
    followed = sync_registered(store, scope, session.home, teams=teams)
    if followed.problems:
        raise MirrorError(f"it is done, but a mirror may not show it yet. {'. '.join(followed.problems)}")
    return moved
