"""Quarantine: nodes that are kept but not trusted. They keep all their content, and where they came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cuetrail.errors import MirrorError
from cuetrail.facts.find_node import nodes_of, require_own
from cuetrail.mirror import sync_registered
from cuetrail.model import Node
from cuetrail.model.records import into_quarantine, out_of_quarantine
from cuetrail.session import Session
from cuetrail.store.shared.ids import own_nodes
from cuetrail.store.write import Batch
from cuetrail.write.pipeline import write


def quarantine(session: Session, ids: Iterable[str], source: str | None, undo: bool, now: int) -> list[Node]:
    """Moves nodes, and all nodes of a source file, into quarantine, or with `undo` out of it; returns those that moved.

    Updates mirrors. Raises NotFound if a node is missing or another user's, MirrorError if a mirror was not updated.
    """
    store, scope = session.store, session.scope
    named = require_own(store, scope, nodes_of(store, scope, ids, source), "move")
    moved: list[Node] = []
    teams: set[str] = set()
    for partition, nodes in own_nodes(store, scope, [node.id for node in named]).items():
        changed = [out_of_quarantine(node) if undo else into_quarantine(node) for node in nodes]
        moving = [replace(new, updated=now) for new, old in zip(changed, nodes, strict=True) if new != old]
        if moving:
            write(session, Batch(nodes=moving), now, scope=partition)
            moved += moving
            teams |= {partition.share} if partition.share else set()
    followed = sync_registered(store, scope, session.home, teams=teams)
    if followed.problems:
        raise MirrorError(f"it is done, but a mirror may not show it yet. {'. '.join(followed.problems)}")
    return moved
