"""Ingested folders and single files: their short names, and files that are never ingested."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuetrail import CuetrailError, Memory
from tests.ingest.tools import DAY, NOW, Vault, atoms, exported, lines, state


def test_a_renamed_root_folder_keeps_every_id(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.md", "Alpha.")
    vault.write("sub/b.md", "Beta.")
    memory.ingest(vault.root)
    before = exported(memory, tmp_path / "1")
    moved = vault.root.rename(tmp_path / "elsewhere")
    report = memory.ingest(moved)
    assert report.unchanged_files == 2
    assert exported(memory, tmp_path / "2") == before


def test_two_vaults_of_one_name_do_not_mix(memory: Memory, tmp_path: Path) -> None:
    one, two = Vault(tmp_path / "1" / "notes"), Vault(tmp_path / "2" / "notes")
    one.write("a.md", "In the first.")
    two.write("b.md", "In the second.")
    memory.ingest(one.root)
    memory.ingest(two.root)
    assert memory.ingest(one.root).removed == 0
    assert set(atoms(memory, tmp_path)) == {"In the first.", "In the second."}
    assert {a["source"] for a in atoms(memory, tmp_path).values()} == {"notes/a.md", "notes-2/b.md"}


def test_a_vault_whose_drive_is_away_is_not_taken_for_another_of_its_name(memory: Memory, tmp_path: Path) -> None:
    one, two = Vault(tmp_path / "1" / "notes"), Vault(tmp_path / "2" / "notes")
    one.write("a.md", "In the first.")
    two.write("b.md", "In the second.")
    memory.ingest(one.root)
    away = (tmp_path / "1").rename(tmp_path / "away")
    memory.ingest(two.root)
    assert set(atoms(memory, tmp_path)) == {"In the first.", "In the second."}
    with pytest.raises(CuetrailError, match="not there"):
        memory.ingest(one.root / "a.md")
    away.rename(tmp_path / "1")
    assert memory.ingest(one.root).unchanged_files == 1


def test_a_subfolder_and_later_its_parent_hold_everything_once(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("sub/a.md", "Alpha.")
    vault.write("b.md", "Beta.")
    memory.ingest(vault.root / "sub", now=NOW)
    memory.ingest(vault.root, now=NOW + DAY)
    found = atoms(memory, tmp_path)
    assert {a["source"] for a in found.values()} == {"vault/sub/a.md", "vault/b.md"}
    assert found["Alpha."]["created"] == NOW
    assert memory.ingest(vault.root / "sub").unchanged_files == 1
    with Memory(tmp_path / "fresh", embedder="none") as fresh:
        fresh.ingest(vault.root)
        assert state(memory, tmp_path) == state(fresh, tmp_path)


def test_a_single_file_is_followed_and_its_neighbours_are_left_alone(vault: Vault, memory: Memory) -> None:
    vault.write("a.md", "Alpha.")
    vault.write("b.md", "Beta.")
    assert memory.ingest(vault.root / "a.md").added == 1
    assert memory.ingest(vault.root / "a.md").unchanged_files == 1
    (vault.root / "a.md").unlink()
    report = memory.ingest(vault.root / "a.md")
    assert (report.files, report.removed_files, report.removed) == (0, 1, 1)
    assert memory.stats().kinds.get("atom", 0) == 0


def test_a_path_that_never_was_is_an_error(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(CuetrailError, match="there is no file or folder"):
        memory.ingest(tmp_path / "nowhere")


def test_a_bucket_given_to_ingest_is_the_bucket_of_everything_and_a_new_one_replaces_it(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    vault.write("sub/a.md", "---\nbucket: own\n---\nAlpha.")
    memory.ingest(vault.root)
    assert atoms(memory, tmp_path)["Alpha."]["buckets"] == ["own"]
    memory.ingest(vault.root, bucket="Work Stuff")
    assert atoms(memory, tmp_path)["Alpha."]["buckets"] == ["work_stuff"]
    assert memory.ingest(vault.root, bucket="Work Stuff").unchanged_files == 1


def test_the_first_folder_below_the_vault_is_the_bucket(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("Projects/deep/a.md", "Alpha.")
    vault.write("b.md", "Beta.")
    memory.ingest(vault.root)
    found = atoms(memory, tmp_path)
    assert found["Alpha."]["buckets"] == ["projects"]
    assert "buckets" not in found["Beta."]


def test_a_single_file_does_not_give_names_to_the_folders_beside_it(memory: Memory, tmp_path: Path) -> None:
    outer, inner = tmp_path / "outer", Vault(tmp_path / "outer" / "notes")
    inner.write("a.md", "An aardvark digs.")
    (outer / "README.md").write_text("A file beside the folder.")
    memory.ingest(inner.root, now=NOW)
    memory.ingest(outer / "README.md", now=NOW)
    assert memory.ingest(inner.root, now=NOW).unchanged_files == 1
    assert set(atoms(memory, tmp_path)) == {"An aardvark digs.", "A file beside the folder."}
    inner.write("b.md", "A badger sleeps.")
    memory.ingest(outer, now=NOW)
    found = atoms(memory, tmp_path)
    assert set(found) == {"An aardvark digs.", "A file beside the folder.", "A badger sleeps."}
    assert {line["source"] for line in found.values()} == {"outer/notes/a.md", "outer/README.md", "outer/notes/b.md"}
    assert len([line for line in lines(memory, tmp_path) if line.get("text") == "An aardvark digs."]) == 1


def test_a_mistyped_folder_below_a_known_one_is_an_error_and_removes_nothing(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    vault.write("a.md", "An aardvark digs.")
    memory.ingest(vault.root, now=NOW)
    with pytest.raises(CuetrailError, match="there is no file or folder"):
        memory.ingest(vault.root / "typo", now=NOW)
    assert set(atoms(memory, tmp_path)) == {"An aardvark digs."}


def test_a_known_folder_that_is_not_there_removes_nothing_even_after_a_single_file_beside_it(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    vault.write("a.md", "An aardvark digs.")
    (tmp_path / "top.md").write_text("A file beside the folder.")
    memory.ingest(tmp_path / "top.md", now=NOW)
    memory.ingest(vault.root, now=NOW)
    vault.root.rename(tmp_path / "elsewhere")
    with pytest.raises(CuetrailError, match="is its drive connected"):
        memory.ingest(vault.root, now=NOW)
    assert "An aardvark digs." in atoms(memory, tmp_path)
    (tmp_path / "top.md").unlink()
    memory.ingest(tmp_path / "top.md", now=NOW)
    assert set(atoms(memory, tmp_path)) == {"An aardvark digs."}


def test_the_memory_itself_other_memories_and_mirrors_are_never_taken_in(vault: Vault, tmp_path: Path) -> None:
    vault.write("a.md", "Alpha.")
    vault.write(".hidden/b.md", "Hidden.")
    vault.write("brain/.cuetrail-mirror", "")
    vault.write("brain/@x/c.md", "Echo.")
    with Memory(vault.root / "memory", embedder="none") as memory, Memory(vault.root / "other", embedder="none"):
        vault.write("memory/note.md", "Inside the memory.")
        vault.write("other/note.md", "Inside another memory.")
        memory.ingest(vault.root)
        assert set(atoms(memory, tmp_path)) == {"Alpha."}
        with pytest.raises(CuetrailError, match="mirror"):
            memory.ingest(vault.root / "brain")
        with pytest.raises(CuetrailError, match="mirror"):
            memory.ingest(vault.root / "brain" / "@x" / "c.md")
        with pytest.raises(CuetrailError, match="is a memory"):
            memory.ingest(vault.root / "memory")
