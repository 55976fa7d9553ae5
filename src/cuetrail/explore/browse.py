"""Browsing without a question: nodes by time, and tags and buckets. Nothing counts as used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from cuetrail.errors import InputError
from cuetrail.model import Node, Provenance, Scope, Where, node_dict
from cuetrail.store.ports import Store
from cuetrail.store.read import PagePosition, PageRequest

_POSITION = re.compile(r"(-?\d{1,18})\.(\d{1,18})")


@dataclass(frozen=True, slots=True)
class Timeline:
    """Nodes, the newest first. `more` is the `after` argument for the next page; None on the last page."""

    nodes: tuple[Node, ...]
    more: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {"nodes": [node_dict(node) for node in self.nodes], "more": self.more}


def timeline(
    store: Store, scope: Scope, where: Where, provenance: Provenance | None, limit: int, after: str | None
) -> Timeline:
    """Returns one page of the nodes that pass the filters. Raises InputError for an `after` that is no position."""
    if limit < 1:
        raise InputError("limit must be at least 1: nothing could be listed otherwise")
    found = store.page(scope, PageRequest(limit + 1, where, provenance, _position(after)))
    shown = found[:limit]
    more = "{}.{}".format(*shown[-1].spot) if len(found) > limit else None
    return Timeline(tuple(one.node for one in shown), more)


def _position(after: str | None) -> PagePosition | None:
    if after is None:
        return None
    parts = _POSITION.fullmatch(after)
    if parts is None:
        raise InputError(f"after must be what `more` of the list before says, not {after!r:.60}")
    return PagePosition(int(parts[1]), int(parts[2]))
