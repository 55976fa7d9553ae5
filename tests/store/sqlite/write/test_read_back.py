"""A write is read back; a difference raises an error and is never a silent loss."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from cuetrail import CuetrailError, Memory
from cuetrail.errors import GhostWrite

# What a faulty disk or a foreign program might make of a row, done by the database itself.
ALTERED = "UPDATE nodes SET text = 'something else' WHERE key = NEW.key;"
LOST = "DELETE FROM nodes WHERE key = NEW.key;"


@pytest.mark.parametrize("fault", [ALTERED, LOST], ids=["altered", "lost"])
def test_a_write_that_does_not_read_back_is_an_error_and_changes_nothing(tmp_path: Path, fault: str) -> None:
    (tmp_path / "note.md").write_text("A note of its own.\n")
    with Memory(tmp_path / "memory", embedder="none") as memory:
        memory.add("was there before", id="old")
        with contextlib.closing(sqlite3.connect(tmp_path / "memory" / "memory.db")) as db:
            db.execute(f"CREATE TRIGGER ghost AFTER INSERT ON nodes WHEN NEW.text <> '' BEGIN {fault} END")
            db.commit()
            with pytest.raises(GhostWrite, match="could not be read back; nothing was changed"):
                memory.add("must not vanish", id="new")
            with pytest.raises(CuetrailError):
                memory.ingest(tmp_path / "note.md")
            db.execute("DROP TRIGGER ghost")
            db.commit()
        assert (memory.get("new"), memory.stats().nodes) == (None, 1)
        assert memory.add("must not vanish", id="new").text == "must not vanish"
        assert memory.ingest(tmp_path / "note.md").added > 0
