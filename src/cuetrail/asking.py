"""The verbs that ask a memory: what is in it, and what it holds on a cue."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Unpack

from cuetrail import recipes
from cuetrail.anchor import Measure
from cuetrail.arguments import RecallOptions, checked
from cuetrail.boundary import make_where
from cuetrail.errors import NotFound
from cuetrail.model import Budget, Edge, Fact, Neighbourhood, Node, Rank, Recollection, Scope, Version
from cuetrail.recall import recall
from cuetrail.recipes import Mode, Recipe
from cuetrail.store.base import Store
from cuetrail.text import norm_name
from cuetrail.vectors import Vectors

DEFAULT_BUDGET = Budget(tokens=2000)
WALK_BUDGET = Budget(chars=8000)


def now_ms() -> int:
    """The current time as every record keeps it."""
    return time.time_ns() // 1_000_000


class Asking:
    """The half of a `Memory` that reads. Of what a recall shows, the use is counted; else nothing is changed."""

    scope: Scope
    store: Store
    _vectors: Vectors

    def _noticed(self, notices: tuple[str, ...]) -> tuple[str, ...]:
        return (*notices, self._vectors.notice) if self._vectors.notice else notices

    @checked
    def get(self, id: str) -> Node | None:
        """The node with this id (or, failing that, this name), None if there is none in this scope."""
        found = self._find(id)
        return self.store.get(self.scope, [found]).get(found) if found is not None else None

    @checked
    def ids(self, prefix: str, *, limit: int = 10) -> list[str]:
        """Ids of nodes that begin so, in order."""
        return self.store.ids(self.scope, prefix, limit)

    @checked
    def edge(self, id: str) -> Edge | None:
        """The edge with this id."""
        return self.store.edges(self.scope, [id]).get(id)

    @checked
    def facts(self, subject: str) -> list[Fact]:
        """What is stated of a subject, given by id or name; the most certain first."""
        found = self._find(subject)
        return self.store.facts(self.scope, [found]).get(found, []) if found is not None else []

    @checked
    def neighbours(self, id: str, limit: int = 10) -> Neighbourhood:
        """The strongest edges of a node."""
        found = self._need(id)
        return self.store.neighbours(self.scope, [found], limit)[found]

    @checked
    def history(self, id: str) -> list[Version]:
        """What a node said before it was corrected, the oldest first."""
        return self.store.history(self.scope, id)

    @checked
    def recall(
        self,
        cue: str,
        *,
        budget: Budget = DEFAULT_BUDGET,
        limit: int | None = None,
        recipe: Recipe = recipes.TRAIL,
        tags: Iterable[str] = (),
        buckets: Iterable[str] = (),
        kinds: Iterable[str] = (),
        since: int | None = None,
        until: int | None = None,
        include_quarantined: bool = False,
        include_archived: bool = False,
        fuzzy: bool = False,
        record_access: bool = True,
        count_tokens: Measure | None = None,
        now: int | None = None,
    ) -> Recollection:
        """What the memory holds on a cue: text within the budget, hits, and why each is there.

        `fuzzy` forgives typos, and then goes by words alone.
        """
        where = make_where(tags, buckets, kinds, since, until, include_quarantined, include_archived)
        found = recall(
            self.store, self.scope, cue, recipe=recipe, budget=budget, limit=limit, where=where,
            embed=self._vectors.of_query, count_tokens=count_tokens, fuzzy=fuzzy,
        )  # fmt: skip
        if record_access and found.hits:
            self.store.touch(self.scope, [hit.node.id for hit in found.hits], now_ms() if now is None else now)
        return replace(found, notices=self._noticed(found.notices)) if self._vectors.notice else found

    @checked
    def tag_walk(
        self,
        cue: str,
        *,
        budget: Budget = WALK_BUDGET,
        mode: Mode = "all",
        rank: Rank = "idf",
        spill: bool = False,
        **options: Unpack[RecallOptions],
    ) -> Recollection:
        """What the words of a cue find (`.anchors`), and what shares tags and buckets with that (`.walkers`).

        `mode` favours internal memories ("all", more so "internal") or the others ("external"). `rank` orders walkers
        by the rarity of what they share ("idf") or by their number, time and likeness ("gravity"). Anchors get 70 % of
        the budget and walkers the rest; with `spill`, one may use what the other leaves. `options` are as in `recall`.
        """
        return self.recall(cue, budget=budget, recipe=recipes.tag_walk(mode, rank, spill), **options)

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
