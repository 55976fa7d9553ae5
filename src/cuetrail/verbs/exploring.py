"""The verbs that look around in a memory: along edges, and from every side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

from cuetrail.embed.vectors import Vectors
from cuetrail.errors import EmbedderError, InputError, NotFound
from cuetrail.explore.brief import Brief, brief
from cuetrail.explore.candidates import CANDIDATES, Expander, Quest, complements
from cuetrail.explore.explore import Exploration, explore
from cuetrail.model import Budget, Direction, Scope
from cuetrail.recall.anchor.text_and_vector import Measure
from cuetrail.recall.render.text import budget_measure
from cuetrail.recall.spread.traversal import Rank, Traversal, Way, hops, rank
from cuetrail.store.ports import Store
from cuetrail.store.vector_space import QueryVector
from cuetrail.text.normalise import norm_name
from cuetrail.text.similarity import MEASURES
from cuetrail.text.timestamps import now_ms
from cuetrail.validation.arguments import checked
from cuetrail.validation.exploration import make_matches, make_queries, make_weights, with_complements
from cuetrail.validation.records import check_range, chosen, make_ties, make_where

G = TypeVar("G")
T = TypeVar("T")
MOST_HOPS = 3
# A walk that goes home more seldom would take for ever to settle.
MOST_DAMPING = 0.99
BRIEF_BUDGET = Budget(tokens=1300)


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
        for name, most in (("limit", limit), ("top_k", top_k)):
            if most < 1:
                raise InputError(f"{name} must be at least 1: nothing could be found otherwise")
        if chosen("mode", mode, ("hops", "ppr")) == "hops":
            check_range("max_hops", max_hops, 1, MOST_HOPS)
            found = hops(self.store, self.scope, seeds, way, max_hops, limit)
        else:
            check_range("depth", depth, 0, 10)
            if not 0 <= damping <= MOST_DAMPING:
                raise InputError(f"damping must be from 0 to {MOST_DAMPING}, not {damping}")
            found = rank(self.store, self.scope, seeds, way, Rank(depth, damping, top_k))
        if record_access and found.arrivals:
            self.store.touch(self.scope, [node.id for node in found.nodes], moment)
        return found

    @checked
    def explore(
        self,
        queries: Iterable[str | Mapping[str, Any]] = (),
        *,
        text_matches: Iterable[str] = (),
        relationship_filters: Mapping[str, Any] | None = None,
        granularity: int = 1,
        multi_query: bool = False,
        mode: Literal["fast", "deep"] = "fast",
        weights: Mapping[str, float] | None = None,
        fuzzy: str = "levenshtein",
        explain: bool = False,
        expander: Expander | None = None,
        tags: Iterable[str] = (),
        buckets: Iterable[str] = (),
        since: int | None = None,
        until: int | None = None,
        include_quarantined: bool = False,
        include_archived: bool = False,
        record_access: bool = True,
        now: int | None = None,
    ) -> Exploration:
        """What the memory holds on some questions: people, concepts, entities and their relationships, what happened,
        and artifacts.

        `queries` find by meaning; each is a text or {"query": ..., "threshold": ...}. `text_matches` find by name and
        tag, and relationships by what is said of them. `granularity` says whether single sources are told (1),
        storylines (2) or macros (3). With `multi_query`, and in mode "deep", more queries are made of each, by
        templates or by the `expander`. `weights` are those of "semantic", "time" and "salience". Raises InputError
        where there is nothing to look for.
        """
        moment = now_ms() if now is None else now
        matches = make_matches(text_matches)
        asked = make_queries(queries, matches)
        alone = ""
        if multi_query or chosen("mode", mode, tuple(CANDIDATES)) == "deep":
            asked, alone = with_complements(asked, expander or complements)
        check_range("granularity", granularity, 1, 3)
        careful = _Careful(self._vectors)
        quest = Quest(
            self.store, self.scope, asked, matches, moment, careful.query, careful.texts,
            granularity, mode, make_weights(weights), chosen("fuzzy", fuzzy, tuple(MEASURES)),
            make_ties(relationship_filters, moment),
            make_where(tags, buckets, (), since, until, include_quarantined, include_archived),
        )  # fmt: skip
        found = explore(quest)
        if record_access and found.items:
            shown = [item.node.id for item in found.items if item.detail == "full"]
            self.store.touch(self.scope, list(dict.fromkeys(shown)), moment)
        notices = [notice for notice in (alone, careful.failure, self._vectors.notice) if notice]
        return replace(found, meta={**_asked(quest), "explain": explain, "notices": notices})

    @checked
    def brief(
        self,
        *,
        budget: Budget = BRIEF_BUDGET,
        count_tokens: Measure | None = None,
        record_access: bool = True,
        now: int | None = None,
    ) -> Brief:
        """What to know at the start of a conversation: whose memory it is, 10 core beliefs, 5 goals, 10 relationships,
        and the last 7 days, within the budget.
        """
        moment = now_ms() if now is None else now
        size, measure, _ = budget_measure(budget, count_tokens)
        found = brief(self.store, self.scope, moment, size, measure)
        if record_access and found.ids:
            self.store.touch(self.scope, list(found.ids), moment)
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


def _asked(quest: Quest) -> dict[str, Any]:
    """How it was asked, as plain data."""
    return {
        "queries": [{"query": one.text, "threshold": one.threshold} for one in quest.queries],
        "text_matches": list(quest.text_matches),
        "granularity": quest.granularity,
        "mode": quest.mode,
        "weights": dict(zip(("semantic", "time", "salience"), quest.weights, strict=True)),
        "now": quest.now,
    }


class _Careful:
    """The embedder for one exploration: where it fails, words alone answer, and `failure` says so."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors, self.failure = vectors, ""

    def query(self, text: str) -> QueryVector | None:
        return self._tried(self._vectors.of_repeated, text)

    def texts(self, texts: Sequence[str]) -> list[bytes] | None:
        return self._tried(self._vectors.of_texts, texts)

    def _tried(self, make: Callable[[G], T | None], given: G) -> T | None:
        try:
            return make(given)
        except EmbedderError as error:
            self.failure = f"answered from words alone: {error}"
            return None
