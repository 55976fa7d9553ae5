"""Facts survive export and import, and are merged with the facts of the target."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuetrail import Memory
from cuetrail.errors import InputError
from cuetrail.formulas import DAY
from cuetrail.model import Fact

NOW = 1_700_000_000_000


def test_facts_come_back_whole_with_their_history_and_their_use(tmp_path: Path) -> None:
    with Memory(tmp_path / "a", embedder=None) as memory:
        memory.add(name="Oslo", kind="place")
        for days, city in enumerate(("Bergen", "Oslo", "Bergen")):
            memory.fact("Ines", "lives_in", city, now=NOW + days * DAY)
        tea = memory.fact("Ines", "likes", "tea", tags=["drinks"], source="conversation", source_ref="turn 1", now=NOW)
        memory.retract(tea.id, now=NOW + DAY)
        memory.fact("Ines", "likes", "tea", valid_until=NOW + 9 * DAY, now=NOW + 2 * DAY)
        memory.narrate("Ines", now=NOW + 2 * DAY)
        memory.export(tmp_path / "facts.jsonl")
        stated = sorted(memory.fact_history("Ines"), key=lambda fact: fact.id)
    with Memory(tmp_path / "b", embedder=None) as memory:
        assert memory.import_(tmp_path / "facts.jsonl").facts == 5
        assert sorted(memory.fact_history("Ines"), key=lambda fact: fact.id) == stated
        assert memory.import_(tmp_path / "facts.jsonl").unchanged == 7
        assert sorted(memory.fact_history("Ines"), key=lambda fact: fact.id) == stated


def test_an_imported_value_finds_its_place_among_those_that_are_known(tmp_path: Path) -> None:
    with Memory(tmp_path / "a", embedder=None) as memory:
        memory.fact("Ines", "lives_in", "Oslo", now=NOW)
        memory.fact("Ines", "likes", "tea", now=NOW)
        memory.export(tmp_path / "facts.jsonl")
    with Memory(tmp_path / "b", embedder=None) as memory:
        memory.fact("Ines", "lives_in", "Bergen", now=NOW + DAY)
        memory.import_(tmp_path / "facts.jsonl")
        cities = [[f.value for f in memory.facts("Ines", as_of=NOW + days * DAY)] for days in range(2)]
        assert [sorted(map(str, found)) for found in cities] == [["Oslo", "tea"], ["Bergen", "tea"]]


def test_an_imported_value_leaves_no_gap_where_the_same_was_stated_here_at_another_time(tmp_path: Path) -> None:
    with Memory(tmp_path / "a", embedder=None) as memory:
        for day, town in enumerate(("Oslo", "Rome")):
            memory.fact("Ines", "lives_in", town, source="conversation", now=NOW + day * DAY)
        memory.export(tmp_path / "a.jsonl")
    with Memory(tmp_path / "b", embedder=None) as memory:
        memory.fact("Ines", "lives_in", "Rome", now=NOW + 3 * DAY)
        memory.import_(tmp_path / "a.jsonl")
        believed = [memory.facts("Ines", as_of=NOW + day * DAY) for day in range(5)]
        assert [[fact.value for fact in some] for some in believed] == [["Oslo"], *[["Rome"]] * 4]
        assert (believed[4][0].source, believed[4][0].status) == ("user_edit", "confirmed")


def test_an_imported_fact_takes_nothing_from_the_same_stated_here_at_another_time(tmp_path: Path) -> None:
    with Memory(tmp_path / "a", embedder=None) as memory:
        memory.fact("Ines", "uses", "awls", source="conversation", confidence=0.5, valid_until=NOW + DAY, now=NOW)
        memory.export(tmp_path / "a.jsonl")
    with Memory(tmp_path / "b", embedder=None) as memory:
        mine = memory.fact("Ines", "uses", "awls", now=NOW + 3 * DAY)
        for _ in range(2):
            memory.import_(tmp_path / "a.jsonl")
            believed = [memory.facts("Ines", as_of=NOW + day * DAY) for day in range(5)]
            assert [[fact.source for fact in some] for some in believed] == [
                ["conversation"], [], [], ["user_edit"], ["user_edit"],
            ]  # fmt: skip
            assert believed[4] == [mine]


def test_an_imported_vault_states_what_an_ingested_one_does(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    (vault / "Plan.md").write_text("---\nstatus: draft\n---\nJACQ Server uses DuckDB.\n", "utf-8")
    with Memory(tmp_path / "m", embedder=None) as memory:
        memory.import_(vault)
        assert [f.value for f in memory.facts("Plan")] == ["draft"]
        assert [f.value for f in memory.facts("JACQ Server")] == ["DuckDB"]


def history(memory: Memory) -> list[Fact]:
    return sorted((f for name in ("Ines", "Tower") for f in memory.fact_history(name)), key=lambda fact: fact.id)


@pytest.mark.parametrize("predicate", ["likes", "lives_in"])
def test_an_older_export_brings_nothing_back_that_was_taken_back_since(tmp_path: Path, predicate: str) -> None:
    with Memory(tmp_path / "m", embedder=None) as memory:
        memory.fact("Ines", predicate, "Oslo", now=NOW)
        said = memory.fact("Ines", predicate, "Rome", source="conversation", now=NOW + DAY)
        memory.export(tmp_path / "old.jsonl")
        memory.retract(said.id, now=NOW + 3 * DAY)
        before = history(memory)
        for _ in range(2):
            memory.import_(tmp_path / "old.jsonl")
            assert history(memory) == before


def test_an_export_brings_what_was_confirmed_and_taken_back_there(tmp_path: Path) -> None:
    with Memory(tmp_path / "a", embedder=None) as memory:
        drinks = [memory.fact("Ines", "likes", drink, source="file", now=NOW) for drink in ("tea", "ale")]
        memory.export(tmp_path / "old.jsonl")
        memory.confirm(drinks[0].id, now=NOW + DAY)
        memory.retract(drinks[1].id, now=NOW + DAY)
        memory.export(tmp_path / "new.jsonl")
        after = history(memory)
    with Memory(tmp_path / "b", embedder=None) as memory:
        for name in ("old", "new", "old"):
            memory.import_(tmp_path / f"{name}.jsonl")
        assert history(memory) == after


stated = st.fixed_dictionaries(
    {
        "subject": st.sampled_from(["Ines", "Tower"]),
        "predicate": st.sampled_from(["lives_in", "likes"]),
        "word": st.sampled_from(["Oslo", "oslo", "Rome"]),
        "begin": st.none() | st.integers(0, 9),
        "length": st.none() | st.integers(1, 4),
        "confidence": st.sampled_from([0.5, 0.9, 1.0]),
        "source": st.sampled_from(["user_edit", "file", "conversation"]),
        "ref": st.sampled_from([None, "a", "b"]),
    }
)
judged = st.fixed_dictionaries({"verdict": st.sampled_from(["retract", "confirm"]), "pick": st.integers(0, 5)})
lives = st.lists(st.one_of(stated, stated, judged), min_size=1, max_size=7)


def live(memory: Memory, steps: list[dict[str, Any]], first: int) -> None:
    for number, step in enumerate(steps, first):
        now = NOW + number * DAY // 2
        if "verdict" in step:
            known = [f for f in history(memory) if f.status in ("staged", "confirmed")]
            with contextlib.suppress(InputError):
                for fact in known[step["pick"] :][:1]:
                    getattr(memory, step["verdict"])(fact.id, now=now)
            continue
        begin = None if step["begin"] is None else NOW + step["begin"] * DAY
        end = None if step["length"] is None else (now if begin is None else begin) + step["length"] * DAY
        memory.fact(
            step["subject"], step["predicate"], step["word"], confidence=step["confidence"], source=step["source"],
            source_ref=step["ref"], valid_from=begin, valid_until=end, now=now,
        )  # fmt: skip


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(there=lives, since=lives, here=lives)
def test_a_file_that_is_imported_twice_says_what_it_says_once(
    tmp_path_factory: pytest.TempPathFactory, there: list[Any], since: list[Any], here: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("m")
    with Memory(folder / "a", embedder=None) as memory:
        live(memory, there, 0)
        memory.export(folder / "old.jsonl")
        live(memory, since, len(there))
        before = history(memory)
        memory.export(folder / "a.jsonl")
        for name in ("a", "old"):
            memory.import_(folder / f"{name}.jsonl")
            if name == "a":
                assert history(memory) == before, "one's own export changes nothing"
        taken_back = {(f.predicate, f.value, f.created) for f in before if f.status == "retracted"}
        again = [f for f in history(memory) if (f.predicate, f.value, f.created) in taken_back]
        assert {f.id for f in again if f.status == "retracted"} == {f.id for f in before if f.status == "retracted"}
    with Memory(folder / "b", embedder=None) as memory:
        live(memory, here, 3)
        memory.import_(folder / "a.jsonl")
        once = history(memory)
        memory.import_(folder / "a.jsonl")
        assert history(memory) == once
