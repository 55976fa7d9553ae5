"""Forgetting is one transaction: if it fails at any point, the memory is unchanged."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cuetrail import Memory

NOW = 1_700_000_000_000
TEXT = "The quick brown fox jumps over the lazy dog while seven wizards quietly boil their evening tea"


def filled(place: Path, vault: Path) -> Memory:
    """A memory in which others hang on the note Beta: by links, as a near duplicate, and by a name they share."""
    vault.mkdir()
    (vault / "Beta.md").write_text(f"---\ntags: [lent]\n---\n{TEXT}.\n\n---\n\nWe met Quillonia Zweistein.")
    (vault / "note.md").write_text(
        "First [[Beta]] then.\n\n---\n\nThen [[Beta]] again.\n\n---\n\nWe met Quillonia Zweistein too."
    )
    (vault / "near.md").write_text(f"---\ntags: [open]\n---\n{TEXT.replace('dog while', 'dog, while')}.")
    memory = Memory(place)
    memory.ingest(vault, now=NOW)
    return memory


def everything(memory: Memory, file: Path) -> list[str]:
    memory.export(file, vectors=True)
    return file.read_text("utf-8").splitlines()[1:]


@pytest.mark.parametrize(
    "moment",
    ["INSERT ON tombstones", "DELETE ON nodes", "DELETE ON edges", "INSERT ON edges", "INSERT ON changes"],
)
def test_a_forgetting_that_fails_anywhere_leaves_everything_as_it_was(tmp_path: Path, moment: str) -> None:
    with filled(tmp_path / "memory", tmp_path / "vault") as memory:
        before = everything(memory, tmp_path / "before.jsonl")
        assert sum('"wikilink"' in line for line in before) == 2
        with closing(sqlite3.connect(tmp_path / "memory" / "memory.db")) as db:
            db.execute(f"CREATE TRIGGER power_cut BEFORE {moment} BEGIN SELECT RAISE(ABORT, 'power cut'); END")
        with pytest.raises(Exception, match="power cut"):
            memory.forget(source="vault/Beta.md", now=NOW)
        assert everything(memory, tmp_path / "after.jsonl") == before
        with closing(sqlite3.connect(tmp_path / "memory" / "memory.db")) as db:
            db.execute("DROP TRIGGER power_cut")
        assert memory.forget(source="vault/Beta.md", now=NOW)
        assert memory.doctor() == []
