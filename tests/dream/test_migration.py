"""Dreaming in a memory that an older version without dreams wrote."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from cuetrail import Memory
from cuetrail.store.sqlite.schema import SUMMED
from tests.dream.tools import MONDAY, fill, idle, of_origin


def make_old(place: Path) -> None:
    """Take away what the third version of the schema added, and the checksums of a later one."""
    with closing(sqlite3.connect(place / "memory.db")) as db:
        for table in ("dreams", "ledger", "given_tags"):
            db.execute(f"DROP TABLE {table}")
        for column in ("labels_only", "dreamt"):
            db.execute(f"ALTER TABLE changes DROP COLUMN {column}")
        for table in SUMMED:
            db.execute(f"ALTER TABLE {table} DROP COLUMN check_sum")
        db.execute("PRAGMA user_version = 2")
        db.commit()


def test_an_older_memory_is_brought_up_to_date_and_dreams(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        fill(memory)
        memory.add("In the workshop", id="old", at=MONDAY)
    make_old(tmp_path)
    with Memory(tmp_path, embedder="none") as memory:
        assert memory.doctor() == []
        assert memory.recall("silent relay").hits
        memory.dream()
        assert of_origin(memory, "old", "infected") == {"workshop"}
        assert idle(memory.dream())
        assert memory.doctor() == []
