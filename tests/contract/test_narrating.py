"""A narrative is the same on every engine, and so is what becomes of facts in a dream."""

from __future__ import annotations

from typing import Any

import pytest

from cuetrail import recipes
from cuetrail.anchor import Ask, Embedded
from cuetrail.cue import parse_cue
from cuetrail.model import Fact, Node, Scope, Where
from cuetrail.narrate import Narrative, narrate
from cuetrail.resolution import resolve_entity
from cuetrail.store.base import Batch, Store, VectorSpace
from cuetrail.store.facts import Stated
from tests.contract.test_records import vector

ME = Scope()
NOW = 1_765_929_600_000
DAY = 86_400_000
SPACE = VectorSpace("test", 3)
SAMPLE = """\
### 👤 USER CONTEXT
- prefers: dark mode
- prefers: TypeScript over JavaScript
- works_on: JACQ Project

### 💡 CONTEXT: JACQ Project
- uses: DuckDB
- uses: Next.js 16
- status: active development

### 💡 CONTEXT: DuckDB
- type: embedded OLAP database
- supports: vector search via VSS extension"""


@pytest.fixture
def known(store: Store) -> Store:
    """The facts of the seed's sample, and an atom that must not be taken for an entity."""
    store.start_vector_space(SPACE)
    told = [
        ("user", "prefers", None, "dark mode"),
        ("user", "prefers", None, "TypeScript over JavaScript"),
        ("user", "works_on", "jacq", None),
        ("jacq", "uses", "duckdb", None),
        ("jacq", "uses", None, "Next.js 16"),
        ("jacq", "status", None, "active development"),
        ("duckdb", "type", None, "embedded OLAP database"),
        ("duckdb", "supports", None, "vector search via VSS extension"),
    ]
    names = {"user": ("person", "user"), "jacq": ("project", "JACQ Project"), "duckdb": ("concept", "DuckDB")}
    nodes = [Node(id_, kind, name, at=NOW) for id_, (kind, name) in names.items()]
    vectors = {"user": vector(1, 0, 0), "jacq": vector(0, 1, 0), "duckdb": vector(0, 0, 1), "atom": vector(1, 1, 1)}
    store.write(ME, Batch(nodes=[*nodes, Node("atom", text="user JACQ DuckDB")], vectors=vectors))
    facts = [
        Fact(f"f{n}", s, p, o, v, 0.99 - n / 100, "confirmed", "user_edit", created=NOW)
        for n, (s, p, o, v) in enumerate(told)
    ]
    store.write(ME, Batch(stated=[Stated(fact) for fact in facts]))
    return store


def told(store: Store, cue: str, meant: bytes | None, at: int = NOW, scope: Scope = ME, **telling: Any) -> Narrative:
    def embed(_: str) -> Embedded | None:
        return Embedded(meant, SPACE) if meant is not None else None

    ask = Ask(store, scope, parse_cue(cue, Where()), 10_000, len, 2_500, None, embed, at)
    return narrate(ask, recipes.narrative(**telling))


def test_the_sample_is_told_by_meaning_and_by_name(known: Store) -> None:
    found = told(known, "anything", vector(3, 2, 1))
    assert found.text == SAMPLE
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
    known.touch_facts(ME, ["f3"], NOW)
    dreaming = known.dreaming(ME, "facts")
    assert dreaming.ageing(NOW, "", 10) == []
    old = [fact.id for fact in dreaming.ageing(NOW + DAY, "", 3)]
    assert (old, [fact.id for fact in dreaming.ageing(NOW + DAY, old[-1], 10)]) == (
        ["f0", "f1", "f2"],
        ["f3", "f4", "f5", "f6", "f7"],
    )
