"""What people put on a file and its paragraphs survives renames and moves."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.model.ids import source_id
from tests.ingest.tools import DAY, EVERYTHING, FIRST, NOW, OTHER, Vault, atom, atoms, label, lines, state_all, stated


@pytest.mark.parametrize("to", ["b.md", "deep/er/a.md"])
def test_a_renamed_file_passes_on_what_was_stated_of_it_and_of_its_paragraphs(
    vault: Vault, memory: Memory, tmp_path: Path, to: str
) -> None:
    vault.write("f/a.md", f"---\ntags: [red]\n---\n{FIRST}\n\n---\n\n{OTHER}")
    memory.ingest(vault.root, now=NOW)
    top = memory.get(source_id("vault/f/a.md"))
    assert top is not None
    label(memory, top, colour="red")
    label(memory, atom(memory, tmp_path, FIRST), colour="blue")
    state_all(memory, atom(memory, tmp_path, FIRST).id)
    memory.note(top.id, "A good file.")
    memory.link(top.id, atom(memory, tmp_path, OTHER).id, kind="sums_up")
    (vault.root / to).parent.mkdir(parents=True, exist_ok=True)
    (vault.root / "f/a.md").rename(vault.root / to)
    report = memory.ingest(vault.root, now=NOW + DAY)
    assert (report.files, report.removed_files) == (1, 1)
    assert memory.ingest(vault.root).removed_files == 0
    new = memory.get(source_id(f"vault/{to}"))
    assert new is not None
    folder = () if to == "b.md" else ("deep",)
    assert (new.buckets, "mine" in new.tags, new.props["colour"]) == ((*folder, "shelf"), True, "red")
    moved = atom(memory, tmp_path, FIRST)
    assert (moved.buckets, moved.props["colour"], moved.created) == ((*folder, "shelf"), "blue", NOW)
    assert stated(memory, tmp_path, moved.id) == EVERYTHING
    assert [n["target"] for n in lines(memory, tmp_path) if n.get("text") == "A good file."] == [new.id]
    other = memory.neighbours(atom(memory, tmp_path, OTHER).id).neighbours
    assert [step.id for step in other if step.kind == "sums_up"] == [new.id]
    assert memory.get(top.id) is None
    assert memory.doctor() == []


def test_a_renamed_folder_passes_everything_on_over_many_writes_and_an_interruption(
    vault: Vault, memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        vault.write(f"old/n{number}.md", f"Note number {number}.")
    memory.ingest(vault.root)
    for number in range(6):
        memory.fact(atom(memory, tmp_path, f"Note number {number}.").id, "number", str(number))
    (vault.root / "old").rename(vault.root / "new")
    monkeypatch.setattr("cuetrail.ingest.pipeline.NODES_PER_WRITE", 2)

    def interrupt(what: str, done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.ingest(vault.root, progress=interrupt)
    memory.ingest(vault.root)
    for number in range(6):
        moved = atom(memory, tmp_path, f"Note number {number}.")
        assert (moved.source, [fact.value for fact in memory.facts(moved.id)]) == (
            f"vault/new/n{number}.md",
            [str(number)],
        )
    assert memory.stats().facts == 6


def test_of_two_equal_files_each_passes_on_its_own(vault: Vault, memory: Memory) -> None:
    for name in ("x.md", "y.md"):
        vault.write(f"old/{name}", FIRST)
    memory.ingest(vault.root)
    for name in ("x.md", "y.md"):
        memory.fact(source_id(f"vault/old/{name}"), "called", name)
    (vault.root / "old").rename(vault.root / "new")
    memory.ingest(vault.root)
    for name in ("x.md", "y.md"):
        assert [fact.value for fact in memory.facts(source_id(f"vault/new/{name}"))] == [name]


def test_a_file_moved_over_another_brings_what_was_stated_of_it(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", f"{FIRST}\n\n---\n\nCommon.")
    vault.write("b.md", f"{OTHER}\n\n---\n\nCommon.")
    memory.ingest(vault.root)
    common = next(a for a in lines(memory, tmp_path) if a.get("text") == "Common." and a["source"] == "vault/a.md")
    memory.fact(common["id"], "common", "yes")
    state_all(memory, atom(memory, tmp_path, FIRST).id)
    (vault.root / "a.md").rename(vault.root / "b.md")
    memory.ingest(vault.root)
    assert {a["source"] for a in atoms(memory, tmp_path).values()} == {"vault/b.md"}
    assert stated(memory, tmp_path, atom(memory, tmp_path, FIRST).id) == EVERYTHING
    assert [fact.value for fact in memory.facts(atom(memory, tmp_path, "Common.").id)] == ["yes"]


def test_a_folder_taken_in_again_from_further_up_keeps_what_was_stated(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    vault.write("sub/a.md", FIRST)
    memory.ingest(vault.root / "sub")
    state_all(memory, atom(memory, tmp_path, FIRST).id)
    memory.ingest(vault.root)
    assert stated(memory, tmp_path, atom(memory, tmp_path, FIRST).id) == EVERYTHING


def test_a_copy_inherits_nothing(vault: Vault, memory: Memory) -> None:
    vault.write("a.md", FIRST)
    memory.ingest(vault.root)
    memory.fact(source_id("vault/a.md"), "is", "the first")
    shutil.copy(vault.root / "a.md", vault.root / "b.md")
    memory.ingest(vault.root)
    assert len(memory.facts(source_id("vault/a.md"))) == 1
    assert memory.facts(source_id("vault/b.md")) == []
