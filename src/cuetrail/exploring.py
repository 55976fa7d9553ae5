"""The verbs that look around in a memory: along edges, and from every side."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from cuetrail.arguments import checked
from cuetrail.boundary import check_range, chosen, make_ties, make_where
from cuetrail.errors import InputError, NotFound
from cuetrail.model import Scope
from cuetrail.store.base import Store
from cuetrail.store.steps import Direction
from cuetrail.text import norm_name
from cuetrail.traversal import Rank, Traversal, Way, hops, rank
from cuetrail.vectors import Vectors

MOST_HOPS = 3


def now_ms() -> int:
    """The current time as every record keeps it."""
    return time.time_ns() // 1_000_000


class Exploring:
    """The part of a `Memory` that looks around. Of what it shows, the use is counted; else nothing is changed."""

    scope: Scope
    store: Store
    _vectors: Vectors

    @checked
    def traverse(
        self,
        start: str | Iterable[str],
        *,
        mode: Literal["hops", "ppr"] = "hops",
        direction: Direction = "both",
        max_hops: int = 1,
        depth: int = 3,
        damping: float = 0.85,
        top_k: int = 20,
        limit: int = 100,
        relationship_filters: Mapping[str, Any] | None = None,
        tags: Iterable[str] = (),
        buckets: Iterable[str] = (),
        kinds: Iterable[str] = (),
        since: int | None = None,
        until: int | None = None,
        include_quarantined: bool = False,
        include_archived: bool = False,
        record_access: bool = True,
        now: int | None = None,
    ) -> Traversal:
        """Where edges lead from nodes, given by id or name: up to `max_hops` away, or, with mode "ppr", where a random
        walk from them is most often (personalised PageRank).

        Filters hold for every edge and every node on the way, and before anything is scored. Raises NotFound for a
        start that is not there; it is never a query.
        """
        moment = now_ms() if now is None else now
        where = make_where(tags, buckets, kinds, since, until, include_quarantined, include_archived)
        ties = make_ties(relationship_filters, moment)
        way = Way(chosen("direction", direction, ("out", "in", "both")), ties, where)
        seeds = self._starts([start] if isinstance(start, str) else start)
        if chosen("mode", mode, ("hops", "ppr")) == "hops":
            check_range("max_hops", max_hops, 1, MOST_HOPS)
            found = hops(self.store, self.scope, seeds, way, max_hops, limit)
        else:
            check_range("depth", depth, 0, 10)
            if not 0 <= damping < 1:
                raise InputError(f"damping must be from 0 to less than 1, not {damping}")
            found = rank(self.store, self.scope, seeds, way, Rank(depth, damping, top_k))
        if record_access and found.arrivals:
            self.store.touch(self.scope, [node.id for node in found.nodes], moment)
        return found

    def _starts(self, given: Iterable[Any]) -> list[str]:
        """The ids of nodes given by id or name, each once."""
        ids: dict[str, None] = {}
        for one in given:
            if not isinstance(one, str):
                raise InputError(f"a start must be the id or the name of a node, not {one!r:.60}")
            ids[self._need(one)] = None
        if not ids:
            raise InputError("say where to start: give the id or the name of a node")
        return list(ids)

    def _find(self, id_or_name: str) -> str | None:
        if self.store.get(self.scope, [id_or_name]):
            return id_or_name
        norm = norm_name(id_or_name)
        found = self.store.named(self.scope, [norm]).get(norm)
        return found[0] if found else None

    def _need(self, id_or_name: str) -> str:
        found = self._find(id_or_name)
        if found is None:
            raise NotFound(
                f"there is no node with the id or name {id_or_name!r} in this scope; `recall` finds nodes and their ids"
            )
        return found
