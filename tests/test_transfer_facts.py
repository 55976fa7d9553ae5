"""Facts move with a memory, whole, and find their place in another."""

from __future__ import annotations

from pathlib import Path

from cuetrail import Memory
from cuetrail.formulas import DAY

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
