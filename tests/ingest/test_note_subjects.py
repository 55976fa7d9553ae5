"""A note and the entity of the same name are one subject; facts of others survive the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cuetrail import Memory, Scope
from cuetrail.errors import InputError
from cuetrail.formulas import DAY

NOW = 1_765_929_600_000


@pytest.fixture(params=["local", "neo4j"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    address = tmp_path / "m" if request.param == "local" else request.getfixturevalue("server").uri
    with Memory(address, embedder=None) as opened:
        yield opened


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    made = tmp_path / "vault"
    made.mkdir()
    return made


def said(memory: Memory, subject: str = "JACQ", **when: Any) -> dict[str, str]:
    found = memory.facts(subject, **(when or {"now": NOW + 20 * DAY}))
    names = memory.nodes(*[f.object for f in found if f.object])
    told = {f.predicate: f.value if f.object is None else names[f.object].name for f in found}
    assert len(told) == len(found)
    return {predicate: str(value) for predicate, value in told.items()}


def write(vault: Path, memory: Memory, day: int, **notes: str | None) -> None:
    """Put notes into a vault, or take them out of it, and take it in on a day."""
    for name, text in notes.items():
        path = vault / f"{name.replace('_', ' ')}.md"
        path.unlink() if text is None else path.write_text(text, "utf-8")
    memory.ingest(vault, now=NOW + day * DAY)


NOTE = "---\nstatus: draft\nowner: Ines\n---\nIt ships in May.\n"


@pytest.mark.parametrize("made", [{"name": "JACQ"}, {"name": "JACQ Project", "aliases": ["JACQ"], "kind": "project"}])
def test_what_a_note_states_is_of_the_users_own_entity_of_its_name(
    memory: Memory, vault: Path, made: dict[str, Any]
) -> None:
    if "kind" in made:
        memory.add(**made, now=NOW)
    mine = memory.fact("JACQ", "status", "paused", now=NOW)
    memory.fact("JACQ", "uses", "DuckDB", now=NOW)
    write(vault, memory, 1, JACQ=NOTE, Other="JACQ has a long tail.\n\nkind:: plan\n")
    both = {"status": "draft", "uses": "DuckDB", "owner": "Ines"}
    assert said(memory) == said(memory, mine.subject) == both
    assert said(memory, as_of=NOW) == {"status": "paused", "uses": "DuckDB"}
    assert [f.status for f in memory.fact_history("JACQ") if f.value == "paused"] == ["superseded"]
    told = memory.narrate("JACQ", now=NOW + 20 * DAY).text
    assert told.count("CONTEXT") == 1
    assert "draft" in told
    memory.fact("JACQ", "status", "live", now=NOW + 2 * DAY)
    note = next(node.id for node in memory.nodes(*memory.store.named(memory.scope, ["jacq"])["jacq"]).values()
                if node.kind == "source")  # fmt: skip
    assert said(memory, note) == {**both, "status": "live"}
    write(vault, memory, 3, JACQ=None)
    assert said(memory) == {"status": "live", "uses": "DuckDB"}
    assert said(memory, as_of=NOW + DAY) == both


@pytest.mark.parametrize("how", ["add", "alias", "kind", "import"])
def test_an_entity_that_gets_the_name_of_a_note_has_what_was_stated_of_it(
    memory: Memory, vault: Path, how: str, tmp_path: Path
) -> None:
    write(vault, memory, 0, JACQ=NOTE, Other="Marek Dvorak uses JACQ.\n")
    memory.fact("JACQ", "uses", "DuckDB", now=NOW)
    if how == "add":
        memory.add(name="JACQ", kind="project", now=NOW + DAY)
    elif how == "alias":
        memory.add(name="The Project", aliases=["JACQ"], kind="project", now=NOW + DAY)
    elif how == "kind":
        memory.fact("JACQ", "status", "live", kind="project", now=NOW + DAY)
    else:
        with Memory(tmp_path / "other", embedder=None) as other:
            other.add(name="JACQ", kind="project", now=NOW)
            other.export(tmp_path / "other.jsonl")
        memory.import_(tmp_path / "other.jsonl")
    memory.fact("JACQ", "status", "live", now=NOW + 2 * DAY)
    assert said(memory) == {"status": "live", "uses": "DuckDB", "owner": "Ines"}
    assert said(memory, as_of=NOW)["status"] == "draft"
    (fact,) = memory.facts("Marek Dvorak", now=NOW + 2 * DAY)
    assert memory.nodes(str(fact.object))[str(fact.object)].kind == "project"
    assert memory.narrate("JACQ", now=NOW + 3 * DAY).text.count("CONTEXT: ") == 2


def test_what_others_stated_of_a_name_outlives_the_file_of_that_name(memory: Memory, vault: Path) -> None:
    write(vault, memory, 0, JACQ=NOTE, Other="JACQ uses DuckDB.\n\nMarek Dvorak uses JACQ.\n")
    mine = memory.fact("JACQ", "lives_in", "Oslo", now=NOW)
    assert said(memory) == {"status": "draft", "owner": "Ines", "uses": "DuckDB", "lives_in": "Oslo"}
    write(vault, memory, 2, JACQ=None)
    assert said(memory) == {"uses": "DuckDB", "lives_in": "Oslo"}
    assert said(memory, as_of=NOW + DAY) == {"status": "draft", "owner": "Ines", "uses": "DuckDB", "lives_in": "Oslo"}
    assert {f.value: f.status for f in memory.fact_history("JACQ") if f.predicate in ("status", "lives_in")} == {
        "draft": "retracted",
        mine.value: "confirmed",
    }
    assert said(memory, "Marek Dvorak") == {"uses": "JACQ"}
    assert "source" not in {node.kind for node in memory.nodes(*_named(memory)).values()}
    write(vault, memory, 3, JACQ=NOTE.replace("draft", "live"))
    assert said(memory) == {"status": "live", "owner": "Ines", "uses": "DuckDB", "lives_in": "Oslo"}
    assert said(memory, as_of=NOW + DAY)["status"] == "draft"
    write(vault, memory, 4, Other=None)
    assert said(memory) == {"status": "live", "owner": "Ines", "lives_in": "Oslo"}
    assert memory.doctor() == []


def _named(memory: Memory) -> list[str]:
    return memory.store.named(memory.scope, ["jacq"])["jacq"]


def test_a_file_that_is_forgotten_takes_along_what_it_stated_and_nothing_else(memory: Memory, vault: Path) -> None:
    write(vault, memory, 0, JACQ=NOTE, Other="JACQ uses DuckDB.\n", Alone=NOTE)
    memory.fact("JACQ", "lives_in", "Oslo", now=NOW)
    for name in ("JACQ", "Alone"):
        memory.forget(source=f"vault/{name}.md", now=NOW + DAY)
    assert said(memory) == {"uses": "DuckDB", "lives_in": "Oslo"}
    assert said(memory, as_of=NOW) == {"lives_in": "Oslo"} | {"uses": "DuckDB"}
    assert {f.predicate for f in memory.fact_history("JACQ")} == {"lives_in", "uses"}
    assert memory.get("Alone") is None
    memory.ingest(vault, now=NOW + 2 * DAY)
    assert said(memory) == {"uses": "DuckDB", "lives_in": "Oslo"}


def test_who_forgets_a_note_by_its_name_forgets_all_that_was_stated_of_it(memory: Memory, vault: Path) -> None:
    write(vault, memory, 0, JACQ=NOTE, Other="JACQ uses DuckDB.\n")
    memory.fact("JACQ", "lives_in", "Oslo", now=NOW)
    memory.forget("JACQ", now=NOW + DAY)
    assert (memory.get("JACQ"), memory.fact_history("JACQ")) == (None, [])


def test_a_note_that_goes_leaves_its_past_to_no_other_note_of_its_name(memory: Memory, vault: Path) -> None:
    (vault / "a").mkdir()
    (vault / "a" / "index.md").write_text("---\nstatus: draft\n---\nOne.\n", "utf-8")
    write(vault, memory, 0, index="---\nstatus: live\n---\nAnother.\n")
    (vault / "a" / "index.md").unlink()
    memory.ingest(vault, now=NOW + DAY)
    assert [f.value for f in memory.fact_history("index")] == ["live"]


def test_a_note_of_a_team_is_not_about_what_somebody_keeps_for_himself(memory: Memory) -> None:
    memory.scope = Scope(user="ann", teams=("ops",))
    memory.fact("JACQ", "status", "paused", now=NOW)
    memory.scope = Scope(user="ann", teams=("ops",), share="ops")
    memory.ingest_text(NOTE, source="JACQ.md", now=NOW + DAY)
    memory.scope = Scope(user="bob", teams=("ops",))
    assert said(memory) == {"status": "draft", "owner": "Ines"}


@pytest.mark.parametrize("text", ["JACQ Server uses DuckDB. It {}.", "---\nuses: DuckDB\n---\nIt {}."])
@pytest.mark.parametrize("first", [True, False])
def test_what_is_stated_again_by_an_edited_file_goes_when_that_file_goes(
    memory: Memory, vault: Path, text: str, first: bool
) -> None:
    one, other = ("a", "b") if first else ("b", "a")
    name = "JACQ Server" if text.startswith("JACQ") else one
    write(vault, memory, 0, **{one: text.format("rains"), other: text.format("pours")})
    write(vault, memory, 1, **{one: text.format("snows"), other: None})
    assert said(memory, name) == {"uses": "DuckDB"}
    write(vault, memory, 2, **{one: None})
    assert said(memory, name) == {}


def test_what_a_deleted_file_alone_stated_of_its_name_is_history(memory: Memory, vault: Path) -> None:
    write(vault, memory, 0, JACQ=NOTE, Other="Nothing here.\n")
    write(vault, memory, 2, JACQ=None)
    assert said(memory) == {}
    assert said(memory, as_of=NOW + DAY) == {"status": "draft", "owner": "Ines"}
    assert {f.status for f in memory.fact_history("JACQ")} == {"retracted"}
    assert memory.narrate("JACQ", now=NOW + 3 * DAY).text == ""


@pytest.mark.parametrize("scope", [Scope(user="ann"), Scope(user="ann", teams=("ops",), share="ops")])
def test_what_a_file_states_of_a_name_that_two_texts_shared_outlives_the_other_text(
    memory: Memory, vault: Path, scope: Scope
) -> None:
    mine = memory.scoped(scope)
    write(vault, mine, 0, Diary="place:: Rome\n")
    write(vault, mine, 1, JACQ="uses:: Rome\n")
    write(vault, mine, 2, Diary=None)
    assert said(mine) == {"uses": "Rome"}


def test_what_a_renamed_note_says_of_its_old_name_is_of_that_name(memory: Memory, vault: Path) -> None:
    write(vault, memory, 0, Ines="Ines uses SQLite.\n\nowner:: Tom\n")
    (vault / "Ines.md").rename(vault / "JACQ.md")
    write(vault, memory, 1)
    assert said(memory) == {"owner": "Tom"}
    assert said(memory, "Ines") == {"uses": "SQLite"}
    write(vault, memory, 2, JACQ="Ines uses SQLite, too.\n\nowner:: Tom\n")
    assert said(memory) == {"owner": "Tom"}


def test_a_file_that_returns_as_it_was_states_again_what_nobody_took_back(memory: Memory, vault: Path) -> None:
    file, elsewhere = vault / "Diary.md", vault.parent / "Diary.md"
    file.write_text("JACQ uses DuckDB.\n\nJACQ uses SQLite.\n", "utf-8")
    os.utime(file, (NOW / 1000 - 9, NOW / 1000 - 9))
    write(vault, memory, 1)
    (wrong,) = [fact for fact in memory.facts("JACQ", now=NOW + DAY) if fact.value == "DuckDB"]
    memory.retract(wrong.id, now=NOW + 2 * DAY)
    file.rename(elsewhere)
    write(vault, memory, 3)
    assert said(memory) == {}
    elsewhere.rename(file)
    write(vault, memory, 4)
    assert said(memory) == {"uses": "SQLite"}
    assert len(memory.facts("JACQ", as_of=NOW)) == 2


def test_a_note_that_may_be_about_several_is_asked_back_and_nothing_is_lost(memory: Memory, vault: Path) -> None:
    write(vault, memory, 0, JACQ=NOTE)
    first = memory.add(name="JACQ", kind="project", now=NOW)
    second = memory.add(name="JACQ", kind="person", now=NOW)
    for ask in (lambda: memory.facts("JACQ"), lambda: memory.fact("JACQ", "uses", "tea")):
        with pytest.raises(InputError, match="may mean several: give the id, or the kind") as error:
            ask()
        assert first.id in str(error.value)
        assert second.id in str(error.value)
    assert said(memory, first.id) == {"status": "draft", "owner": "Ines"}
    assert memory.fact("JACQ", "likes", "tea", kind="person", now=NOW).subject == second.id
