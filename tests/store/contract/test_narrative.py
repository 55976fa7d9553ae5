"""Narratives, and the effect of dreams on facts, are the same on every engine."""

from __future__ import annotations

from typing import Any

import pytest

from cuetrail.facts.resolve_entity import resolve_entity
from cuetrail.model import Fact, Node, Scope, Where
from cuetrail.recall import recipes
from cuetrail.recall.narrative import Narrative, find_facts, write_narrative
from cuetrail.recall.query import parse_cue
from cuetrail.recall.stage_types import RecallContext
from cuetrail.store.ports import Store
from cuetrail.store.read import PageRequest
from cuetrail.store.vector_space import QueryVector, VectorSpace
from cuetrail.store.write import Batch, Stated
from tests.recall import narrative_sample as narrative
from tests.store.contract.test_records import vector

ME = Scope()
NOW = 1_765_929_600_000
DAY = 86_400_000
SPACE = VectorSpace("test", 3)
IDS = {"user": "user", "JACQ Project": "jacq", "DuckDB": "duckdb"}


@pytest.fixture
def known(store: Store) -> Store:
    """The facts of the seed's sample, and an atom that must not be taken for an entity."""
    store.vector_spaces().start(SPACE)
    nodes = [Node(IDS[name], kind, name, at=NOW) for name, kind in narrative.KINDS.items()]
    vectors = {"user": vector(1, 0, 0), "jacq": vector(0, 1, 0), "duckdb": vector(0, 0, 1), "atom": vector(1, 1, 1)}
    store.write(ME, Batch(nodes=[*nodes, Node("atom", text="user JACQ DuckDB")], vectors=vectors))
    known: Any = {"status": "confirmed", "source": "user_edit", "created": NOW}
    facts = [
        Fact(f"f{n}", IDS[s], p, IDS.get(v), None if v in IDS else v, 0.99 - n / 100, **known)
        for n, (s, p, v) in enumerate(narrative.FACTS)
    ]
    store.write(ME, Batch(stated=[Stated(fact) for fact in facts]))
    return store


def most_used(store: Store, limit: int) -> list[str]:
    """The entities whose facts are used most."""
    return [one.node.id for one in store.page(ME, PageRequest(limit, order="fact use"))]


def told(store: Store, cue: str, meant: bytes | None, at: int = NOW, scope: Scope = ME, **telling: Any) -> Narrative:
    def embed(_: str) -> QueryVector | None:
        return QueryVector(meant, SPACE) if meant is not None else None

    ask = RecallContext(store, scope, parse_cue(cue, Where()), 10_000, len, 2_500, None, embed, at)
    recipe = recipes.narrative(**telling)
    return write_narrative(ask, recipe, find_facts(ask, recipe))


def test_the_sample_is_told_by_meaning_and_by_name(known: Store) -> None:
    found = told(known, "anything", vector(3, 2, 1))
    assert found.text == narrative.TEXT
    assert [node.id for node in found.anchors] == ["user", "jacq", "duckdb"]
    assert not found.degraded
    by_name = told(known, "user and duckdb and the jacq project", None)
    assert by_name.degraded
    assert {line.text for line in by_name.lines} == {line.text for line in found.lines}


def test_the_cap_cuts_in_the_order_facts_are_come_to(known: Store) -> None:
    every = told(known, "x", vector(1, 0, 0), anchors=1, hops=3)
    for most in (0, 3, 4, 7):
        some = told(known, "x", vector(1, 0, 0), anchors=1, hops=3, max_facts=most)
        assert len(some.lines) == most
        assert {line.fact.id for line in some.lines} == {f"f{n}" for n in range(most)}
    assert len(every.lines) == 8
    assert [line.why["hop"] for line in every.lines] == [0, 0, 0, 1, 1, 1, 2, 2]


def test_what_was_believed_then_is_told_and_nobody_else_hears_it(known: Store) -> None:
    new = Fact("new", "jacq", "status", None, "done", 0.95, "confirmed", "user_edit", created=NOW + DAY)
    known.write(ME, Batch(stated=[Stated(new, single=True)]))
    assert "- status: done" in told(known, "x", vector(0, 1, 0), NOW + DAY).text
    assert "- status: active development" in told(known, "x", vector(0, 1, 0), NOW + DAY - 1).text
    assert told(known, "x", vector(0, 1, 0), scope=Scope(user="bob")).text == ""


def test_names_lead_to_entities(known: Store) -> None:
    found = {
        name: resolve_entity(known, ME, name) for name in ("jacq", "JACQ project", "Jácq Project", "JACQ Projectt")
    }
    assert {name: (one.id, one.how) if one else None for name, one in found.items()} == {
        "jacq": ("jacq", "id"),
        "JACQ project": ("jacq", "name"),
        "Jácq Project": ("jacq", "folded"),
        "JACQ Projectt": ("jacq", "fuzzy"),
    }
    assert resolve_entity(known, ME, "JACQ Projectt", "person") is None
    assert resolve_entity(known, Scope(user="bob"), "JACQ Project") is None


def test_facts_that_may_be_judged_come_in_pages_by_id(known: Store) -> None:
    known.touch(ME, [], NOW, ["f3"])
    dreaming = known.dream_pass(ME, "facts")
    assert dreaming.ageing_facts(NOW, "", 10) == []
    old = [fact.id for fact in dreaming.ageing_facts(NOW + DAY, "", 3)]
    assert (old, [fact.id for fact in dreaming.ageing_facts(NOW + DAY, old[-1], 10)]) == (
        ["f0", "f1", "f2"],
        ["f3", "f4", "f5", "f6", "f7"],
    )


def test_facts_with_hidden_ends_take_nobodys_place(known: Store) -> None:
    hidden = [Node(f"h{n}", "entity", f"Hidden {n}", provenance="quarantine") for n in range(12)]
    facts = [Fact(f"g{n}", "user", "knows", f"h{n}", confidence=1.0, created=NOW) for n in range(12)]
    known.write(ME, Batch(nodes=hidden, stated=[Stated(fact) for fact in facts]))
    assert [f.id for f in told(known, "x", vector(1, 0, 0), hops=1).facts] == ["f0", "f1", "f2"]


def test_the_entities_used_most_come_first_however_many_facts_the_first_one_has(known: Store) -> None:
    many = [Fact(f"h{n}", "jacq", "has", None, f"part {n}", created=NOW) for n in range(60)]
    known.write(ME, Batch(stated=[Stated(fact) for fact in many]))
    for ids in ([fact.id for fact in many], ["h0", "f0"], ["h0", "f0", "f6"]):
        known.touch(ME, [], NOW, ids)
    assert most_used(known, 2) == ["jacq", "user"]
    assert most_used(known, 9) == ["jacq", "user", "duckdb"]


def test_the_next_fact_to_hold_is_known_ahead(known: Store) -> None:
    assert known.version(ME, NOW).next_fact is None
    ahead = [Fact(f"a{n}", "user", "plans", None, f"trip {n}", created=NOW, valid_from=NOW + n * DAY) for n in (2, 1)]
    known.write(ME, Batch(stated=[Stated(fact) for fact in ahead]))
    assert [known.version(ME, NOW + n * DAY).next_fact for n in range(3)] == [NOW + DAY, NOW + 2 * DAY, None]
    assert known.version(Scope(user="bob"), NOW).next_fact is None
