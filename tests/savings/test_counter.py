"""Answers are counted per day and user, with the tokens of the whole notes they were made from."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from cuetrail import Memory, Scope
from cuetrail.errors import MemoryError_
from cuetrail.formulas import DAY, estimated_tokens
from cuetrail.memory import read_by_a_person
from cuetrail.model import Saved, Savings
from cuetrail.text.timestamps import utc_date

NOW = 1_780_000_000_000
NOTE = "# Connector\n\nThe connector shrinks in frost.\n\n## Wiring\n\n" + "The other lines say more of the mast. " * 60


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path / "memory", embedder=None)
    memory.ingest_text(NOTE, source="connector.md")
    memory.add("Frost came early on the ridge", id="alone")
    return memory


def test_an_answer_counts_its_tokens_and_those_of_its_notes_as_a_whole(memory: Memory) -> None:
    answer = memory.recall("frost", budget=60, now=NOW)
    found = memory.savings()
    assert {hit.node.source for hit in answer.hits} == {"connector.md", None}
    parts = [node.text for node in memory.store.atoms_of(memory.scope, ["connector.md"])["connector.md"]]
    whole = sum(map(estimated_tokens, parts)) + estimated_tokens("Frost came early on the ridge")
    assert found.days == (Saved(utc_date(NOW), 1, estimated_tokens(answer.text), 2, whole),)
    assert whole > 400 > 60 >= found.tokens


def test_days_are_counted_apart_and_since_leaves_out_earlier_ones(memory: Memory) -> None:
    for time in (NOW, NOW, NOW + DAY):
        memory.recall("frost", now=time)
    assert [(day.day, day.answers) for day in memory.savings().days] == [(utc_date(NOW), 2), (utc_date(NOW + DAY), 1)]
    assert memory.savings(since=NOW + DAY).answers == 1
    assert memory.savings(since=NOW + 2 * DAY) == Savings()


def test_brief_and_explore_are_counted(memory: Memory) -> None:
    assert memory.brief(now=NOW).text
    assert memory.explore(["connector"], text_matches=["connector"], now=NOW).items
    assert memory.savings().answers == 2


def test_an_answer_that_refuses_has_tokens_and_no_notes(memory: Memory) -> None:
    assert not memory.recall("xylophone", now=NOW).answerable
    found = memory.savings()
    assert (found.answers, found.notes, found.whole) == (1, 0, 0)


def test_reads_that_are_not_recorded_and_those_of_a_person_are_not_counted(memory: Memory) -> None:
    memory.recall("frost", record_access=False, now=NOW)
    read_by_a_person(memory).recall("frost", now=NOW)
    assert memory.savings() == Savings()


def test_each_user_has_counts_of_its_own(memory: Memory) -> None:
    memory.recall("frost", now=NOW)
    other = memory.scoped(Scope(user="eve"))
    assert other.savings() == Savings()
    other.recall("frost", now=NOW)
    assert other.savings().whole == 0
    assert memory.savings().answers == 1


def test_counting_does_not_write_to_the_memory(memory: Memory, tmp_path: Path) -> None:
    memory.store.refresh(None)
    before = memory.store.version(memory.scope)
    with sqlite3.connect(tmp_path / "memory" / "memory.db") as db:
        changed = db.execute("PRAGMA data_version").fetchone()
        memory.session.count_answer("an answer", list(memory.nodes("alone").values()), NOW)
        assert db.execute("PRAGMA data_version").fetchone() == changed
    assert memory.store.version(memory.scope) == before
    assert memory.savings().answers == 1


@pytest.mark.usefixtures("bound")
def test_answers_of_a_memory_that_cannot_be_written_to_are_not_counted(memory: Memory, tmp_path: Path) -> None:
    memory.close()
    folder = tmp_path / "memory"
    folder.chmod(0o500)
    try:
        with Memory(folder, embedder=None) as again:
            assert again.recall("frost", now=NOW).hits
            assert again.savings() == Savings()
    finally:
        folder.chmod(0o700)
    assert not (folder / "savings.db").exists()


def test_a_damaged_file_of_counts_fails_no_answer_and_says_what_to_do(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "memory" / "savings.db").write_bytes(b"no database" * 500)
    assert memory.recall("frost", now=NOW).hits
    with pytest.raises(MemoryError_, match="delete it"):
        memory.savings()


def test_two_processes_count_into_one_file(memory: Memory, tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder=None) as other:
        for one in (memory, other, memory):
            one.recall("frost", now=NOW)
        assert memory.savings() == other.savings()
        assert memory.savings().answers == 3
