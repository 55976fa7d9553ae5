"""Unreadable files are reported one by one, and the others are still ingested."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from cuetrail import Memory
from tests.ingest.tools import Vault, atoms


def test_each_broken_file_is_reported_and_the_others_are_taken(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("broken.pdf", b"%PDF-1.4\nthis is not a pdf at all")
    vault.write("garbage.txt", bytes(range(256)) * 64)
    vault.write("empty.json", "[]")
    vault.write("latin.txt", "Caf\xe9 au lait".encode("latin-1"))
    vault.write("half.json", '{"messages": [{"role": "user", "content": "cut o')
    huge = vault.write("huge.md", "x")
    os.truncate(huge, 2 * 2**30)
    vault.write("good.md", "Good one.")
    report = memory.ingest(vault.root)
    assert {error.path for error in report.errors} == {
        f"vault/{name}" for name in ("broken.pdf", "garbage.txt", "empty.json", "huge.md")
    }
    assert all(error.path in error.error or "PDF" in error.error for error in report.errors)
    assert {"Good one.", "Café au lait"} <= set(atoms(memory, tmp_path))
    assert [e.path for e in memory.ingest(vault.root).errors] == [e.path for e in report.errors]


def test_a_huge_file_is_refused_by_its_size_without_being_read(vault: Vault, memory: Memory) -> None:
    os.truncate(vault.write("huge.txt", "x"), 2 * 2**30)
    tracemalloc.start()
    try:
        report = memory.ingest(vault.root)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "larger than" in report.errors[0].error
    assert peak < 8 * 2**20
    vault.write("small.txt", "More than ten bytes.")
    assert len(memory.ingest(vault.root, max_bytes=10).errors) == 2


def test_a_known_file_that_becomes_unreadable_keeps_its_atoms(vault: Vault, memory: Memory, tmp_path: Path) -> None:
    vault.write("a.txt", "Alpha.")
    memory.ingest(vault.root)
    vault.write("a.txt", bytes(range(256)) * 64)
    report = memory.ingest(vault.root)
    assert [error.path for error in report.errors] == ["vault/a.txt"]
    assert (report.removed, set(atoms(memory, tmp_path))) == (0, {"Alpha."})


@pytest.mark.usefixtures("bound")
def test_a_file_or_folder_without_permission_is_reported_and_keeps_its_atoms(vault: Vault, memory: Memory) -> None:
    vault.write("sub/a.md", "Alpha.")
    file = vault.write("b.md", "Beta.")
    memory.ingest(vault.root)
    vault.write("b.md", "Gamma.")
    file.chmod(0)
    (vault.root / "sub").chmod(0)
    try:
        report = memory.ingest(vault.root)
    finally:
        file.chmod(0o600)
        (vault.root / "sub").chmod(0o700)
    assert {error.path for error in report.errors} == {"vault/sub", "vault/b.md"}
    assert (report.removed, memory.stats().kinds["atom"]) == (0, 2)


@pytest.mark.usefixtures("bound")
def test_a_folder_that_may_be_listed_but_not_entered_keeps_its_atoms(vault: Vault, memory: Memory) -> None:
    vault.write("sub/a.md", "Alpha.")
    memory.ingest(vault.root)
    (vault.root / "sub").chmod(0o400)
    try:
        report = memory.ingest(vault.root)
    finally:
        (vault.root / "sub").chmod(0o700)
    assert [error.path for error in report.errors] == ["vault/sub/a.md"]
    assert (report.removed, memory.stats().kinds["atom"]) == (0, 1)
    assert memory.ingest(vault.root).unchanged_files == 1


@pytest.mark.usefixtures("bound")
def test_what_was_taken_in_alone_stays_when_the_folder_around_it_is_taken_in_and_it_is_closed(
    vault: Vault, memory: Memory, tmp_path: Path
) -> None:
    vault.write("sub/a.md", "Alpha.")
    vault.write("b.md", "Beta.")
    memory.ingest(vault.root / "sub")
    (vault.root / "sub").chmod(0)
    try:
        report = memory.ingest(vault.root)
    finally:
        (vault.root / "sub").chmod(0o700)
    assert ([error.path for error in report.errors], report.removed) == (["vault/sub"], 0)
    memory.ingest(vault.root)
    assert {text: atom["source"] for text, atom in atoms(memory, tmp_path).items()} == {
        "Alpha.": "vault/sub/a.md",
        "Beta.": "vault/b.md",
    }


@pytest.mark.usefixtures("bound")
def test_a_folder_behind_a_closed_door_does_not_keep_another_from_being_taken_in(vault: Vault, memory: Memory) -> None:
    vault.write("closed/inner/a.md", "Alpha.")
    vault.write("open/b.md", "Beta.")
    memory.ingest(vault.root / "closed" / "inner")
    (vault.root / "closed").chmod(0)
    try:
        assert memory.ingest(vault.root / "open").added == 1
    finally:
        (vault.root / "closed").chmod(0o700)
    assert memory.stats().kinds["atom"] == 2


def test_a_file_that_is_a_dangling_link_is_passed_over(vault: Vault, memory: Memory) -> None:
    vault.write("a.md", "Alpha.")
    (vault.root / "b.md").symlink_to(vault.root / "nowhere.md")
    report = memory.ingest(vault.root)
    assert (report.files, report.errors) == (1, ())
