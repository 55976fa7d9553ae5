"""The verbs that ask a memory: what is in it, and what it holds on a cue."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from cuetrail.errors import CuetrailError, InputError
from cuetrail.evaluate import Comparison, Question, answer, compare, make_questions, measures_of
from cuetrail.model import Budget, Claim, Edge, Neighbourhood, Node, Rank, Recollection, Version
from cuetrail.recall import recipes
from cuetrail.recall.anchor.seeds import Chooser, Seeding, by_hybrid, query_tags
from cuetrail.recall.anchor.text_and_vector import Ask, Measure
from cuetrail.recall.pipeline import recall
from cuetrail.recall.query import parse_cue
from cuetrail.recall.recipes import Mode, Recipe
from cuetrail.recall.spread.activation import Stream, activate
from cuetrail.store.write import Progress
from cuetrail.text.timestamps import now_ms
from cuetrail.validation.arguments import MODES, RecallOptions, checked, refusal
from cuetrail.validation.records import chosen, make_flow, make_query_tags, make_seeding, make_seeds, make_where
from cuetrail.verbs.browsing import Browsing

log = logging.getLogger("cuetrail")

DEFAULT_BUDGET = Budget(tokens=2000)
WALK_BUDGET = Budget(chars=8000)
# For measuring what is found, whether or not there is room for its text.
UNBOUNDED = Budget(chars=1 << 30)


class Asking(Browsing):
    """The half of a `Memory` that reads. Of what a recall shows, the use is counted; else nothing is changed."""

    def _noticed(self, notices: tuple[str, ...]) -> tuple[str, ...]:
        return (*notices, self._vectors.notice) if self._vectors.notice else notices

    def _told(self, facts: list[str], nodes: list[str], now: int) -> None:
        """Count what was shown as used, once."""
        self.store.touch(self.scope, nodes, now, facts)

    @checked
    def get(self, id: str) -> Node | None:
        """The node with this id (or, failing that, this name), None if there is none in this scope."""
        found = self._find(id)
        return self.store.get(self.scope, [found]).get(found) if found is not None else None

    @checked
    def nodes(self, *ids: str) -> dict[str, Node]:
        """The nodes with these ids, in this order; those that are not in this scope are left out."""
        return self.store.get(self.scope, ids)

    @checked
    def ids(self, prefix: str, *, limit: int = 10) -> list[str]:
        """Ids of nodes that begin so, in order."""
        return self.store.ids(self.scope, prefix, limit)

    @checked
    def edge(self, id: str) -> Edge | None:
        """The edge with this id."""
        return self.store.edges(self.scope, [id]).get(id)

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
        if not isinstance(fuzzy, bool):
            raise refusal("fuzzy", fuzzy)
        where = make_where(tags, buckets, kinds, since, until, include_quarantined, include_archived)
        now = now_ms() if now is None else now
        found = recall(
            self.store, self.scope, cue, recipe=recipe, budget=budget, limit=limit, where=where,
            embed=self._vectors.of_query, count_tokens=count_tokens, fuzzy=fuzzy, now=now,
        )  # fmt: skip
        if record_access and found.hits:
            facts = [line["fact"]["id"] for hit in found.hits for line in hit.why.get("lines", ())]
            self._told(facts, [hit.node.id for hit in found.hits], now)
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
        min_results: int = 10,
        **options: Unpack[RecallOptions],
    ) -> Recollection:
        """What the words of a cue find (`.anchors`), and what shares tags and buckets with that (`.walkers`).

        `mode` favours internal memories ("all", more so "internal") or the others ("external"). `rank` orders walkers
        by the rarity of what they share ("idf") or by their number, time and likeness ("gravity"). Anchors get 70 % of
        the budget and walkers the rest; with `spill`, one may use what the other leaves. A cue that finds fewer than
        `min_results` is read again, more forgivingly. `options` are as in `recall`.
        """
        recipe = recipes.tag_walk(chosen("mode", mode, MODES), rank, spill, min_results)
        return self.recall(cue, budget=budget, recipe=recipe, **options)

    @checked
    def bench(
        self,
        questions: str | Path | Iterable[Mapping[str, Any] | Question],
        *,
        only: Iterable[str] = (),
        others: Mapping[str, Recipe] | None = None,
        limit: int = 10,
        progress: Progress | None = None,
        now: int | None = None,
    ) -> Comparison:
        """How well each recipe answers questions whose answers are known, so that one can be chosen for this memory.

        `questions` are a JSONL file or a list: {"question": ..., "gold": [ids or names]}. Gold that is a source counts
        as found with anything from it. `only` names recipes; `others` are your own. The first row is what the others
        are held against. Nothing is counted as used. Raises InputError for what is no question, or no node here.
        """
        if limit < 1:
            raise InputError("limit must be at least 1: nothing can be found otherwise")
        asked = [replace(one, gold=tuple(map(self._need, one.gold))) for one in make_questions(questions)]
        golden = self.store.get(self.scope, [id_ for one in asked for id_ in one.gold])
        sources = {
            node.source: node.id for node in golden.values() if node.kind == "source" and node.source is not None
        }
        moment = now_ms() if now is None else now

        def find(question: Question, recipe: Recipe) -> list[str]:
            when = moment if question.now is None else question.now
            found = self.recall(
                question.cue, recipe=recipe, limit=limit, budget=UNBOUNDED, record_access=False, now=when
            )
            nodes = (hit.node for hit in found.hits)
            return [n.id if n.id in question.gold else sources.get(n.source or "", n.id) for n in nodes]

        given = {}
        for name, recipe in _contenders(only, others or {}).items():
            find(asked[0], recipe)  # what is loaded once is no part of any time
            given[name] = [answer(partial(find, recipe=recipe), question) for question in asked]
            if progress:
                progress(name, len(asked), len(asked))
        return compare(asked, given, *measures_of(limit))

    @checked
    def activate(
        self,
        seeds: str | Iterable[str | tuple[str, float]],
        *,
        tags: Iterable[str] | None = None,
        max_depth: int = 5,
        max_branches: int = 3,
        min_activation: float = 0.005,
        tag_sim_floor: float = 0.15,
        claim: Claim = "energy",
        limit: int = 5,
        text_weight: float = 0.5,
        vector_weight: float = 0.5,
        choose_tags: Chooser | None = None,
        buckets: Iterable[str] = (),
        kinds: Iterable[str] = (),
        since: int | None = None,
        until: int | None = None,
        include_quarantined: bool = False,
        include_archived: bool = False,
        record_access: bool = True,
        stop: threading.Event | None = None,
        now: int | None = None,
    ) -> Stream:
        """Let energy flow from seeds along edges; one result per seed comes out as it is through.

        Seeds are ids with the energy they start with (1 where none is given), or a query that finds at most `limit` of
        them. `tags` are what the query is about: edges that have none of them let little through. By default a query
        has those that its words or its best memories name and edges carry; `choose_tags` may choose others. The other
        filters hold for every node on the way. Closing the stream, or `stop`, ends the walk.
        """
        flow = make_flow(max_depth, max_branches, min_activation, tag_sim_floor, claim)
        seeding = make_seeding(limit, text_weight, vector_weight)
        where = make_where((), buckets, kinds, since, until, include_quarantined, include_archived)
        about = None if tags is None else make_query_tags(tags)
        if isinstance(seeds, str):
            ask = Ask(self.store, self.scope, parse_cue(seeds, where), 0, len, 0, None, self._vectors.of_query)
            energies, about = self._found_by(ask, seeding, about, choose_tags)
            where = ask.cue.where
        else:
            energies = make_seeds(seeds)
        found = activate(self.store, self.scope, energies, about or (), flow, where, stop)
        return self._counted(found, now) if record_access else found

    def _found_by(
        self, ask: Ask, seeding: Seeding, tags: tuple[str, ...] | None, choose: Chooser | None
    ) -> tuple[dict[str, float], tuple[str, ...]]:
        """The seeds a query finds with their energies, and the tags it is about unless they are given."""
        anchored = by_hybrid(ask, seeding=seeding)
        for notice in self._noticed(ask.cue.notices + anchored.notices):
            log.warning(notice)
        if tags is None:
            tags = query_tags(ask, anchored.anchors, choose)
        return {anchor.node.id: seeding.energy(anchor) for anchor in anchored.anchors}, tags

    def _counted(self, found: Stream, now: int | None) -> Stream:
        """The same stream; at its end, all that came out of it is counted as used once."""
        shown: dict[str, None] = {}
        try:
            for one in found:
                shown.update(dict.fromkeys(id_ for path in one.paths for id_ in path.ids))
                if one.reason == "complete":
                    shown[one.seed] = None
                yield one
        finally:
            found.close()
            # What came out is worth more than the count of it.
            with contextlib.suppress(CuetrailError):
                if shown:
                    self.store.touch(self.scope, list(shown), now_ms() if now is None else now)


def _contenders(only: Iterable[str], others: Mapping[str, Recipe]) -> dict[str, Recipe]:
    """The recipes to compare by name, the default one first. Raises InputError for a name that no recipe has."""
    known = {**recipes.BY_NAME, **others}
    chosen = {}
    for name in list(only) or list(known):
        # Compared and not looked up: callers may pass what has no hash.
        if name not in list(known):
            raise InputError(f"there is no recipe {name!r:.60}: use some of {', '.join(known)}")
        chosen[name] = known[name]
    return chosen
