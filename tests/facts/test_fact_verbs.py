"""Fact verbs: ambiguous names, repeated statements, times, the narrative cache, the archive."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from cuetrail import Budget, Memory, Scope
from cuetrail.errors import InputError
from cuetrail.formulas import DAY
from cuetrail.model import Fact
from cuetrail.recall import recipes
from cuetrail.store.write import Batch

NOW = 1_765_929_600_000


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m", embedder=None) as opened:
        yield opened


def said(memory: Memory, subject: str, **when: Any) -> list[tuple[str, str]]:
    found = memory.facts(subject, **(when or {"now": NOW + 9 * DAY}))
    objects = memory.nodes(*[f.object for f in found if f.object])
    return sorted((f.predicate, str(f.value if f.object is None else objects[f.object].name)) for f in found)


# --- names


def test_a_name_of_two_types_is_asked_back_and_changes_nothing(memory: Memory) -> None:
    ids = [memory.add(name="Mercury", kind=kind).id for kind in ("planet", "person")]
    for ask in (
        lambda: memory.fact("mercury", "sings", "opera"),
        lambda: memory.fact("user", "sees", "Mercury"),
        lambda: memory.facts("Mercury"),
    ):
        with pytest.raises(InputError, match="give the id, or the kind") as error:
            ask()
        assert all(id_ in str(error.value) for id_ in ids)
    assert memory.stats().facts == 0
    assert memory.fact("Mercury", "sings", "opera", kind="person").subject == ids[1]
    assert memory.fact("user", "sees", ids[0]).object == ids[0]


def test_aliases_that_collide_are_asked_back_and_a_name_goes_before_an_alias(memory: Memory) -> None:
    for name in ("Alpha", "Beta"):
        memory.add(name=name, aliases=["JQ"], kind="project")
    with pytest.raises(InputError, match="'JQ' may mean several"):
        memory.fact("JQ", "uses", "tea")
    named = memory.add(name="JQ", kind="project")
    assert memory.fact("JQ", "uses", "tea").subject == named.id


def test_a_team_may_call_things_as_i_do(tmp_path: Path) -> None:
    ann = Scope(user="ann", teams=("ops",))
    with Memory(tmp_path / "m", embedder=None, scope=ann) as mine:
        own = mine.add(name="Tower", kind="place")
        shared = mine.scoped(Scope(user="ann", teams=("ops",), share="ops"))
        shared.add(name="Tower", kind="place", id="the tower")
        assert mine.fact("Tower", "height", "9 m").subject == own.id
        assert shared.fact("Tower", "height", "9 m").subject == "the tower"


@pytest.mark.parametrize(
    ("one", "other"),
    [("Project 2024", "Project 2025"), ("Sprint 12", "Sprint 13"), ("Version 1.10.2", "Version 1.10.3"),
     ("Anna Schmidt", "Anne Schmidt"), ("Ole Petersen", "Ole Peterson"), ("Symptomatic", "Asymptomatic"),
     ("Mary Williams", "Mary William"), ("Interstate Line", "Intrastate Line"), ("Karl Schmid", "Karl Schmidt"),
     ("Maria Garcia", "Mario Garcia"), ("Apollo Mission XI", "Apollo Mission XII")],
)  # fmt: skip
def test_a_number_or_a_short_word_tells_two_names_apart(memory: Memory, one: str, other: str) -> None:
    assert memory.fact(one, "is", "first").subject != memory.fact(other, "is", "second").subject


@pytest.mark.parametrize(
    ("name", "plain"),
    [("Øyvind Bråten", "oyvind braten"), ("Łódź", "Lodz"), ("Đorđe", "Dorde"), ("Kjærlighet", "KJAERLIGHET")],
)
def test_letters_with_strokes_are_read_without_them(memory: Memory, name: str, plain: str) -> None:
    stated = memory.fact(name, "is", "here")
    assert memory.fact(plain, "is", "there").subject == stated.subject
    assert [f.value for f in memory.facts(plain)] == ["there", "here"]
    assert memory.doctor() == []


def test_what_a_rule_made_an_entity_of_becomes_what_a_user_adds_by_that_name(memory: Memory) -> None:
    memory.ingest_text("Marek Dvorak lives in Brno. Marek Dvorak works on the relay.", source="a.md", now=NOW)
    added = memory.add(name="Marek Dvorak", kind="person", now=NOW)
    memory.fact("marek dvorak", "likes", "tea", now=NOW)
    assert {f.subject for f in memory.facts("Marek Dvorak", now=NOW)} == {added.id}
    assert len(said(memory, "Marek Dvorak")) == 3
    assert "entity" not in memory.stats().kinds


@pytest.mark.parametrize("given", [{"name": "Ines"}, {"name": "Ines Okafor", "aliases": ["Ines"]}])
def test_what_was_stated_of_a_name_is_of_what_a_user_adds_by_that_name(memory: Memory, given: dict[str, Any]) -> None:
    memory.fact("Ines", "uses", "DuckDB", now=NOW)
    memory.fact("user", "knows", "Ines", now=NOW)
    added = memory.add(kind="person", now=NOW, **given)
    memory.fact("Ines", "likes", "tea", now=NOW)
    assert {f.subject for f in memory.facts("Ines", now=NOW)} == {added.id}
    assert said(memory, "Ines") == [("likes", "tea"), ("uses", "DuckDB")]
    assert said(memory, "user") == [("knows", added.name)]
    ship = memory.add(name="Ines", kind="ship", now=NOW)
    assert memory.facts(ship.id, now=NOW) == []
    assert len(memory.facts(added.id, now=NOW)) == 2


def test_values_that_pass_to_another_entity_are_fitted_in_there(memory: Memory) -> None:
    memory.ingest_text("JACQ Server is located in Oslo.", source="v/One.md", now=NOW)
    memory.ingest_text("---\nlocated_in: Bergen\n---\nThe plan.", source="v/JACQ Server.md", now=NOW + DAY)
    assert said(memory, "JACQ Server") == [("located_in", "Bergen")]
    assert said(memory, "JACQ Server", as_of=NOW) == [("located_in", "Oslo")]


# --- what is stated


def test_a_value_that_becomes_an_entity_is_told_once(memory: Memory) -> None:
    memory.fact("JACQ", "uses", "DuckDB", now=NOW)
    memory.fact("JACQ", "located_in", "Oslo", now=NOW)
    for name in ("DuckDB", "Oslo"):
        memory.add(name=name, kind="concept", now=NOW)
    memory.fact("JACQ", "uses", "duckdb", now=NOW + DAY)
    memory.fact("JACQ", "located_in", "Oslo", now=NOW + DAY)
    found = memory.fact_history("JACQ")
    assert [(f.object is None, f.status, f.created) for f in found] == [(False, "confirmed", NOW)] * 2
    assert "JACQ" in memory.narrate("duckdb", now=NOW).text


def test_a_fact_that_would_end_before_it_begins_is_refused(memory: Memory) -> None:
    given: list[dict[str, Any]] = [{"valid_from": NOW, "valid_until": NOW}, {"valid_until": NOW - DAY}]
    for times in given:
        with pytest.raises(InputError, match="cannot end before it begins"):
            memory.fact("Ines", "visited", "Rome", now=NOW, **times)
    assert memory.get("Ines") is None
    assert memory.fact("Ines", "visited", "Rome", valid_until=NOW + 1, now=NOW).valid_until == NOW + 1


@pytest.mark.parametrize(("given", "words"), [({"source": " "}, "needs a source"), ({"object": "\ud800"}, "broken")])
def test_what_says_nothing_is_refused(memory: Memory, given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        memory.fact("Ines", "likes", **{"object": "tea", **given})


def test_what_was_taken_back_and_is_stated_from_before_is_believed_once_then(memory: Memory) -> None:
    tea = memory.fact("Ines", "likes", "tea", now=NOW)
    memory.retract(tea.id, now=NOW + DAY)
    memory.fact("Ines", "likes", "tea", now=NOW + 2 * DAY)
    memory.fact("Ines", "likes", "Tea", valid_from=NOW - DAY, now=NOW + 3 * DAY)
    for days in range(-1, 4):
        assert said(memory, "Ines", as_of=NOW + days * DAY) == [("likes", "tea")]


def test_who_is_meant_by_i_in_what_others_wrote_nobody_knows(memory: Memory) -> None:
    memory.fact("user", "lives_in", "Oslo", now=NOW)
    text = "I live in Bergen. I use Vim. My name is Eve. JACQ Server uses DuckDB."
    memory.ingest_text(text, source="blog.md", provenance="external", now=NOW + DAY)
    assert said(memory, "user") == [("lives_in", "Oslo")]
    assert said(memory, "JACQ Server") == [("uses", "DuckDB")]


# --- kinds, teams, declarations


def test_what_nobody_gave_a_kind_gets_one_and_no_namesake(memory: Memory) -> None:
    stated = memory.fact("Ines Okafor", "likes", "tea", now=NOW)
    memory.edit(stated.subject, aliases=["Nessie"], now=NOW)
    for name in ("Nessie", "ines okafor"):
        assert memory.fact(name, "likes", "milk", kind="person", now=NOW).subject == stated.subject
    assert (memory.get("Nessie") or memory.add()).kind == "person"
    assert memory.fact("Ines Okafor", "likes", "jam", kind="ship", now=NOW).subject != stated.subject


def test_an_alias_of_something_of_another_kind_is_asked_back(memory: Memory) -> None:
    made = memory.add(name="Project Jackdaw", aliases=["JACQ"], kind="project", now=NOW)
    with pytest.raises(InputError, match="'JACQ' is an alias of 'Project Jackdaw', a project: leave out the kind"):
        memory.fact("JACQ", "uses", "tea", kind="tool", now=NOW)
    assert memory.fact("JACQ", "uses", "tea", kind="project", now=NOW).subject == made.id
    tool = memory.add(name="JACQ", kind="tool", now=NOW)
    assert memory.fact("JACQ", "uses", "tea", kind="tool", now=NOW).subject == tool.id


@pytest.mark.parametrize(("name", "slip"), [("Project Jackdaw", "Project Jackdwa"), ("Malaga House", "Mallaga House")])
def test_a_slip_of_the_pen_is_no_other_name(memory: Memory, name: str, slip: str) -> None:
    assert memory.fact(name, "is", "here").subject == memory.fact(slip, "is", "there").subject


def test_of_what_one_sees_in_several_places_one_value_is_believed(tmp_path: Path) -> None:
    ann = Scope(user="ann", teams=("ops",))
    with Memory(tmp_path / "m", embedder=None, scope=ann) as mine:
        ops, bob = (mine.scoped(Scope(user=u, teams=("ops",), share=s)) for u, s in (("ann", "ops"), ("bob", None)))
        ops.add(name="Tower", kind="place", now=NOW)
        ops.fact("Tower", "status", "fine", now=NOW)
        ops.fact("Tower", "has", "a mast", now=NOW)
        mine.fact("Tower", "status", "condemned", now=NOW + DAY)
        mine.fact("Tower", "has", "A mast", now=NOW + DAY)
        asked: Any = {"record_access": False, "now": NOW + 2 * DAY}
        assert said(mine, "Tower") == [("has", "A mast"), ("status", "condemned")]
        assert mine.narrate("Tower", **asked).text.count("\n- ") == 2
        assert said(bob, "Tower") == [("has", "a mast"), ("status", "fine")]
        assert "fine" in bob.narrate("Tower", **asked).text


def test_a_declaration_is_of_who_makes_it_and_reaches_what_he_stated(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", embedder=None, scope=Scope(user="ann")) as ann:
        bob = ann.scoped(Scope(user="bob"))
        for memory in (ann, bob):
            for days, firm in enumerate(("ACME", "Initech")):
                memory.fact("user", "works_at", firm, now=NOW + days * DAY)
        told = ann.narrate("user", now=NOW + 2 * DAY)
        ann.declare("works_at")
        assert (len(told.lines), len(ann.narrate("user", now=NOW + 2 * DAY).lines)) == (2, 1)
        assert said(ann, "user") == [("works_at", "Initech")]
        assert len(said(bob, "user")) == 2
        ann.declare("works_at", single=False)
        assert len(said(ann, "user")) == 2


def test_what_a_plan_parts_in_two_can_be_taken_back_by_either_part(memory: Memory) -> None:
    for at in (0, 1):
        who = f"Ines {at}"
        memory.fact(who, "lives_in", "Bergen", now=NOW)
        memory.fact(who, "lives_in", "Rome", valid_from=NOW + 5 * DAY, valid_until=NOW + 6 * DAY, now=NOW + 1)
        parts = [fact for day in (1, 7) for fact in memory.facts(who, as_of=NOW + day * DAY)]
        assert [fact.value for fact in parts] == ["Bergen", "Bergen"]
        taken = memory.retract(parts[at].id, now=NOW + 2 * DAY)
        assert (taken.value, taken.status, taken.valid_until) == ("Bergen", "retracted", NOW + 2 * DAY)
        believed = [said(memory, who, as_of=NOW + day * DAY) for day in (1, 3, 5, 7)]
        assert believed == [[("lives_in", "Bergen")], [], [("lives_in", "Rome")], []]


@pytest.mark.parametrize("predicate", ["lives_in", "uses"])
def test_what_a_user_states_without_an_end_gets_none_from_a_chat(memory: Memory, predicate: str) -> None:
    memory.fact("Ines", predicate, "Bergen", now=NOW)
    memory.fact("Ines", predicate, "Bergen", source="conversation", valid_until=NOW + 3 * DAY, now=NOW + DAY)
    assert said(memory, "Ines", as_of=NOW + 5 * DAY) == [(predicate, "Bergen")]


def test_a_value_that_was_superseded_may_be_taken_back_so_that_it_stays_away(memory: Memory) -> None:
    oslo, rome = (memory.fact("Ines", "lives_in", c, now=NOW + n * DAY) for n, c in enumerate(("Oslo", "Rome")))
    with pytest.raises(InputError, match="is superseded"):
        memory.confirm(oslo.id, now=NOW + 2 * DAY)
    assert memory.retract(oslo.id, now=NOW + 2 * DAY).status == "retracted"
    memory.retract(rome.id, now=NOW + 3 * DAY)
    assert [said(memory, "Ines", as_of=NOW + n * DAY) for n in range(4)] == [
        [("lives_in", "Oslo")], [("lives_in", "Rome")], [("lives_in", "Rome")], [],
    ]  # fmt: skip


# --- telling


def test_by_default_three_entities_two_hops_ten_facts_each_and_thirty_in_all_are_told(memory: Memory) -> None:
    names = [f"tower {number}" for number in range(5)]
    for name in names:
        memory.add(name=name, kind="place", now=NOW)
    far = ("tower 0", "tower 0 east", "tower 0 east annex")
    for subject, object_ in pairwise(far):
        memory.add(name=object_, kind="wing", now=NOW)
        memory.fact(subject, "has", object_, confidence=1.0, now=NOW)
    memory.fact(far[-1], "has", "a door", now=NOW)
    for name in names:
        for number in range(12):
            memory.fact(name, "part", f"{name} {number}", confidence=0.9 - number / 100, now=NOW)
    found = memory.narrate("tower", now=NOW)
    assert (len(found.anchors), len(found.lines)) == (3, 30)
    alone = memory.narrate("tower 0", anchors=1, now=NOW)
    assert [line.why["hop"] for line in alone.lines].count(0) == 10
    assert {line.why["hop"] for line in alone.lines} == {0, 1}


def test_a_small_budget_for_many_facts_is_filled_without_measuring_the_text_for_each(memory: Memory) -> None:
    memory.add(name="hub", id="hub", kind="entity", now=NOW)
    facts = [Fact(f"f{n}", "hub", "has", value=f"part {n}", created=NOW) for n in range(2_000)]
    memory.store.write(memory.scope, Batch(facts=facts))
    measured = 0

    def count(text: str) -> int:
        nonlocal measured
        measured += len(text)
        return len(text)

    budget: Any = {"budget": Budget(tokens=1_000), "count_tokens": count}
    found = memory.narrate("hub", per_entity=2_000, max_facts=2_000, now=NOW, **budget)
    assert 980 < len(found.text) <= 1_000
    assert measured < 400_000


def test_what_is_told_is_kept_from_the_archive_and_what_is_stated_comes_back_from_it(memory: Memory) -> None:
    for name in ("JACQ", "Other"):
        memory.fact(name, "uses", "DuckDB", now=NOW)
        memory.recall(name, now=NOW)
    for month in range(1, 15):
        assert memory.narrate("JACQ", now=NOW + month * 30 * DAY).answerable
    late = NOW + 420 * DAY
    memory.dream(only=["decay"], now=late)
    states = {name: node.life.state for name in ("JACQ", "Other") if (node := memory.get(name)) is not None}
    assert (states["JACQ"] != "archived", states["Other"]) == (True, "archived")
    assert memory.narrate("Other", now=late).text == ""
    memory.fact("Other", "uses", "tea", now=late)
    assert "tea" in memory.narrate("Other", now=late).text


def test_a_recall_by_the_recipe_counts_its_facts_as_used(memory: Memory) -> None:
    memory.fact("JACQ", "uses", "DuckDB", now=NOW)
    memory.recall("JACQ", recipe=recipes.NARRATIVE, now=NOW)
    memory.recall("JACQ", recipe=recipes.NARRATIVE, record_access=False, now=NOW)
    assert [f.access_count for f in memory.facts("JACQ", now=NOW)] == [1]


def test_nothing_is_told_again_past_the_end_of_a_fact_or_the_beginning_of_another(memory: Memory) -> None:
    memory.fact("JACQ", "status", "closing", valid_until=NOW + 10_000, now=NOW)
    memory.fact("JACQ", "opens", "soon", valid_from=NOW + 20_000, now=NOW)
    for seconds in range(0, 40, 5):
        told = memory.narrate("JACQ", now=NOW + seconds * 1000, record_access=False)
        assert told == memory.narrate("JACQ", now=NOW + seconds * 1000, record_access=False, cache=False), seconds
    assert memory.stats().narratives["hits"] == 5
