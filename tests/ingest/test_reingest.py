"""Re-ingest: what is kept, changed and removed as files are edited, renamed and deleted."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from cuetrail import Memory
from cuetrail.model import Node
from tests.ingest.tools import DAY, LONG, NOW, Vault, atoms, changed_keys, changes, exported

# --- nothing changed


def test_a_second_ingest_changes_nothing(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", "# Alpha\n\nFirst with [[b]].\n\n---\n\nSecond about Ada Lovelace. #tag")
    vault.write("sub/b.md", f"{LONG}\n\n---\n\nWe met Ada Lovelace again.")
    memory.ingest(vault.root, now=NOW)
    before, log = exported(memory, tmp_path / "1"), changes(memory)
    report = memory.ingest(vault.root, now=NOW + DAY)
    assert (report.files, report.unchanged_files) == (2, 2)
    assert (report.added, report.removed, report.edges, report.removed_files) == (0, 0, 0, 0)
    assert exported(memory, tmp_path / "2") == before
    assert changes(memory) == log


def test_files_that_were_only_touched_change_no_memory(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", "One.\n\n---\n\nTwo.")
    vault.write("b.md", "Three.")
    memory.ingest(vault.root, now=NOW)
    before, log = atoms(memory, tmp_path), changes(memory)
    vault.touch("a.md")
    vault.touch("b.md")
    assert memory.ingest(vault.root, now=NOW + DAY).unchanged_files == 2
    assert atoms(memory, tmp_path) == before
    assert changes(memory) == log


def test_a_file_is_opened_once_when_it_changed_and_never_when_it_did_not(vault: Vault, memory: Memory) -> None:
    """What is hashed is then what is taken in, also while somebody writes to the file."""
    name = str(vault.write("a.md", "One.\n\n---\n\nTwo."))
    opened: list[str] = []
    watching = [True]
    # A hook cannot be taken away again, only told to stop.
    sys.addaudithook(lambda event, args: opened.append(str(args[0])) if watching and event == "open" else None)
    try:
        memory.ingest(vault.root)
        assert opened.count(name) == 1
        vault.write("a.md", "One.\n\n---\n\nThree.")
        opened.clear()
        memory.ingest(vault.root)
        assert opened.count(name) == 1
        for changed, times in ((lambda: None, 0), (lambda: vault.touch("a.md"), 1), (lambda: None, 0)):
            changed()
            opened.clear()
            memory.ingest(vault.root)
            assert opened.count(name) == times
    finally:
        watching.clear()


# --- edits


def test_editing_one_paragraph_changes_exactly_one_atom(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", "First stays.\n\n---\n\nSecond goes.\n\n---\n\nThird stays.")
    memory.ingest(vault.root, now=NOW)
    memory.recall("first", now=NOW + 5)
    before, log = atoms(memory, tmp_path), changes(memory)
    vault.write("a.md", "First stays.\n\n---\n\nSecond came.\n\n---\n\nThird stays.")
    report = memory.ingest(vault.root, now=NOW + DAY)
    after = atoms(memory, tmp_path)
    assert (report.added, report.removed, report.kept) == (1, 1, 2)
    assert after["First stays."] == before["First stays."]
    assert after["First stays."]["life"]["accesses"] == 1
    assert after["Third stays."] == before["Third stays."]
    assert "Second goes." not in after
    # The old atom and the new one; nothing else is indexed anew.
    assert len(changed_keys(memory, log)) == 2


def test_inserting_a_paragraph_keeps_the_ids_of_the_others(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", "First.\n\n---\n\nThird.")
    memory.ingest(vault.root, now=NOW)
    before = atoms(memory, tmp_path)
    vault.write("a.md", "First.\n\n---\n\nSecond.\n\n---\n\nThird.")
    report = memory.ingest(vault.root, now=NOW + DAY)
    after = atoms(memory, tmp_path)
    assert (report.added, report.removed, report.kept) == (1, 0, 2)
    assert {t: after[t]["id"] for t in before} == {t: before[t]["id"] for t in before}
    assert after["Third."]["created"] == NOW
    assert [after[t]["seq"] for t in ("Second.", "Third.")] == [1, 2]


def test_deleting_a_paragraph_removes_one_atom(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", "First.\n\n---\n\nSecond.\n\n---\n\nThird.")
    memory.ingest(vault.root)
    vault.write("a.md", "First.\n\n---\n\nThird.")
    report = memory.ingest(vault.root)
    assert (report.added, report.removed, report.kept) == (0, 1, 2)
    assert set(atoms(memory, tmp_path)) == {"First.", "Third."}


def test_the_same_paragraph_twice_is_two_atoms_and_losing_one_leaves_one(vault: Vault, memory: Memory) -> None:
    vault.write("a.md", "Again.\n\n---\n\nAgain.")
    assert memory.ingest(vault.root).added == 2
    vault.write("a.md", "Again.")
    report = memory.ingest(vault.root)
    assert (report.removed, memory.stats().kinds["atom"]) == (1, 1)


def test_a_date_only_the_file_time_told_does_not_move_when_the_file_is_edited(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    vault.write("a.md", "First.\n\n---\n\nOn 2024-03-01 it rained.")
    memory.ingest(vault.root)
    before = atoms(memory, tmp_path)
    vault.write("a.md", "First.\n\n---\n\nOn 2024-03-01 it rained.\n\n---\n\nThird.")
    memory.ingest(vault.root)
    after = atoms(memory, tmp_path)
    assert after["First."]["at"] == before["First."]["at"]
    assert after["Third."]["at"] > after["First."]["at"]
    assert after["On 2024-03-01 it rained."]["at"] == 1_709_251_200_000


def test_a_name_that_only_the_edited_paragraph_explained_is_no_longer_linked(vault: Vault, memory: Memory) -> None:
    """Whether a word at the start of a sentence is a name is judged over the whole file."""
    vault.write("a.md", "We asked Lovelace about it.\n\n---\n\nLovelace agreed at once.")
    memory.ingest(vault.root)
    assert memory.get("Lovelace") is not None
    vault.write("a.md", "We asked somebody about it.\n\n---\n\nLovelace agreed at once.")
    memory.ingest(vault.root)
    assert memory.get("Lovelace") is None


# --- files that go and come


def test_a_deleted_file_takes_its_atoms_and_its_source_along_and_its_links_wait(vault: Vault, memory: Memory) -> None:
    vault.write("a.md", "See [[b]] for more.")
    vault.write("b.md", "# Beta\n\nThe rest.")
    memory.ingest(vault.root)
    beta = memory.get("b")
    assert beta is not None
    assert beta.kind == "source"
    linked = memory.neighbours(beta.id)
    assert [step.kind for step in linked.neighbours if not step.outgoing].count("links") == 1
    (vault.root / "b.md").unlink()
    report = memory.ingest(vault.root)
    assert (report.removed_files, report.removed) == (1, 1)
    assert memory.get("b") is None
    vault.write("b.md", "# Beta\n\nThe rest.")
    memory.ingest(vault.root)
    again = memory.neighbours(beta.id)
    assert [step.kind for step in again.neighbours if not step.outgoing].count("links") == 1


def test_a_renamed_subfolder_keeps_birth_and_use_of_its_atoms(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("old/a.md", "Alpha text.\n\n---\n\nAlpha text.\n\n---\n\nMore.")
    memory.ingest(vault.root, now=NOW)
    memory.recall("more", now=NOW + 5)
    before = atoms(memory, tmp_path)["More."]
    (vault.root / "old").rename(vault.root / "new")
    memory.ingest(vault.root, now=NOW + DAY)
    after = atoms(memory, tmp_path)["More."]
    assert after["source"] == "vault/new/a.md"
    assert (after["created"], after["life"], after["at"]) == (before["created"], before["life"], before["at"])


def test_a_node_of_a_file_is_what_get_gives_back(vault: Vault, memory: Memory) -> None:
    vault.write("Projects/a.md", "---\ntitle: The Plan\naliases: [plan b]\ntags: [red]\n---\nAlpha. #Blue")
    memory.ingest(vault.root, now=NOW)
    node = memory.get("plan B")
    assert isinstance(node, Node)
    assert (node.kind, node.name, node.source, node.buckets) == (
        "source",
        "The Plan",
        "vault/Projects/a.md",
        ("projects",),
    )
    assert node.tags == ("red", "project:vault", "doc")


def test_a_file_from_the_far_future_is_taken_in_like_any_other(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "note.md"
    file.write_text("A note of its own.\n")
    os.utime(file, (13_000_000_000, 13_000_000_000))
    assert memory.ingest(file).added > 0
    assert memory.ingest(file).unchanged_files == 1
