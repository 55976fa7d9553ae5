"""Browsing without a question: nodes by time, and tags and buckets. Nothing counts as used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from cuetrail.model import Node, Scope, node_dict
from cuetrail.store.ports import Store
from cuetrail.store.read import PageRequest


@dataclass(frozen=True, slots=True)
class Timeline:
    """Nodes, the newest first. `more` is the `after` argument for the next page; None on the last page."""

    nodes: tuple[Node, ...]
    more: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {"nodes": [node_dict(node) for node in self.nodes], "more": self.more}


def timeline(store: Store, scope: Scope, query: PageRequest) -> Timeline:
    """Returns one page of the nodes that pass the filters, newest first, and where the next page begins."""
    found = store.page(scope, replace(query, limit=query.limit + 1))
    shown = found[: query.limit]
    more = "{}.{}".format(*shown[-1].spot) if len(found) > query.limit else None
    return Timeline(tuple(one.node for one in shown), more)
