"""Facts lead a recall, and mark texts that no longer hold, in the same way on every engine."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

import pytest

from cuetrail.model import Fact, Node, Scope, Where
from cuetrail.model.ids import fact_id
from cuetrail.recall import recipes
from cuetrail.recall.query import parse_cue
from cuetrail.recall.stage_types import RecallContext, Scored
from cuetrail.recall.trail_constants import Trail
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch, Stated

ME = Scope()
NOW = 1_765_929_600_000
DAY = 86_400_000


def fact(subject: str, predicate: str, value: str, at: int, ref: str | None = None) -> Stated:
    known: Any = {"confidence": 1.0, "status": "confirmed", "created": at, "source_ref": ref}
    return Stated(Fact(fact_id(subject, predicate, None, value), subject, predicate, None, value, **known), single=True)


@pytest.fixture
def known(store: Store) -> Store:
    texts = {
        "old": "Ann lives in Berlin, where the antenna is. Where, Berlin.",
        "new": "Ann lives in Lisbon.",
        "extracted": "The antenna of the camp is where Ann sits.",
    }
    nodes = [Node(id_, text=text, at=NOW, source=f"{id_}.md") for id_, text in texts.items()]
    store.write(ME, Batch(nodes=[*nodes, Node("ann", "person", "Ann", aliases=("Annie",), at=NOW)]))
    return store


@pytest.fixture
def moved(known: Store) -> Store:
    for number, home in enumerate(("Rome", "Berlin", "Lisbon")):
        known.write(ME, Batch(stated=[fact("ann", "lives_in", home, NOW + number * DAY)]))
    known.write(ME, Batch(stated=[fact("ann", "place", "camp", NOW, "extracted")]))
    known.write(ME, Batch(stated=[fact("ann", "place", "home", NOW + DAY, "new")]))
    return known


def answer(store: Store, cue: str, at: int = NOW + 3 * DAY, scope: Scope = ME, facts: int = 5) -> tuple[str, Scored]:
    recipe = recipes.trail(Trail(facts=facts))
    context = RecallContext(store, scope, parse_cue(cue, Where()), 10_000, len, 2_500, 10, None, at)
    anchored = recipe.anchor(context)
    return recipe.render(context, recipe.score(context, anchored, recipe.spread(context, anchored)))


def test_the_current_fact_leads_and_old_texts_are_marked_and_rank_lower(moved: Store) -> None:
    text, found = answer(moved, "where does Annie live, in Berlin?")
    assert [one.line for one in found.facts] == ["Ann lives in Lisbon (since 2025-12-19, stated by a user)"]
    assert text.startswith(found.facts[0].line + "\n\n")
    marks = {hit.node.id: hit.mark for hit in found.anchors}
    assert marks["old"] == "superseded 2025-12-19: lives in Lisbon"
    assert marks["new"] == ""
    order = [hit.node.id for hit in found.anchors]
    assert order.index("new") < order.index("old")
    _, plain = answer(moved, "where does Annie live, in Berlin?", facts=0)
    assert [hit.node.id for hit in plain.anchors].index("old") < [hit.node.id for hit in plain.anchors].index("new")


def test_a_text_is_marked_by_the_fact_that_was_read_from_it(moved: Store) -> None:
    _, found = answer(moved, "antenna camp")
    assert found.facts == ()
    marks = {hit.node.id: hit.mark for hit in found.anchors}
    assert marks["extracted"] == "superseded 2025-12-18: place: home"


def test_a_day_of_the_past_has_its_own_facts(moved: Store) -> None:
    _, found = answer(moved, "where did Ann live on 2025-12-17?")
    assert [(one.value, one.source) for one in found.facts] == [("Rome", None)]
    assert [one.value for one in answer(moved, "where does Ann live?", NOW + DAY)[1].facts] == ["Berlin"]


def test_a_stranger_sees_none_of_it(moved: Store) -> None:
    text, found = answer(moved, "where does Ann live?", scope=Scope(user="stranger"))
    assert (text, found.facts, found.anchors) == ("", (), ())


class Counting:
    """A store that counts the calls of its methods."""

    def __init__(self, store: Store) -> None:
        self.store, self.calls = store, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += 1
        return getattr(self.store, name)


@pytest.mark.parametrize("cue", ["where does Ann live?", "Ann", "the antenna", "what did Ann do on 2025-12-17?"])
def test_a_memory_without_facts_is_read_once_more(known: Store, cue: str) -> None:
    calls = []
    answers = []
    for facts in (0, 5):
        counting = Counting(known)
        answers.append(answer(cast("Store", counting), cue, facts=facts))
        calls.append(counting.calls)
    assert answers[0] == answers[1]
    assert calls[1] - calls[0] == Counter({"facts": 1})
