"""Damage by one flipped bit or byte is named or harmless, wherever it is; a row of any table is checked.

The suite tries a few places; `python -m tests.reliability.flipped_bytes` tries many.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from cuetrail.errors import CorruptMemory
from cuetrail.memory import Memory
from cuetrail.store.sqlite.schema import SUMMED
from tests.reliability.flipped_bytes import NOW, OTHER, answers, experiment, make
from tests.store.sqlite.tools import Pebbles

FILES = 12


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory with something in every table; copied, never changed."""
    place = tmp_path_factory.mktemp("flipped") / "m"
    make(place)
    return place


@pytest.fixture(scope="module")
def truth(sound: Path) -> list[str]:
    """What the sound memory answers."""
    return reads(sound)


def change(place: Path, statement: str) -> int:
    """Changes rows behind the back of cuetrail, as a flipped bit does; returns how many."""
    with closing(sqlite3.connect(place / "memory.db")) as db, db:
        return db.execute(statement).rowcount


def test_a_flipped_byte_anywhere_is_noticed_or_changes_no_answer(tmp_path: Path) -> None:
    counts, wrong = experiment(tmp_path, FILES, seed=5)
    assert wrong == []
    assert counts["noticed"] > 0


# A change of one column of each table, which no index has.
CHANGES = {
    "edges": "UPDATE edges SET weight = weight + 0.125 WHERE weight IS NOT NULL",
    "facts": "UPDATE facts SET provenance = 'x'",
    "notes": "UPDATE notes SET text = 'x'",
    "life": "UPDATE life SET accesses = accesses + 1",
    "sources": "UPDATE sources SET size = 7",
    "links": "UPDATE links SET display = 'x'",
    "tombstones": "UPDATE tombstones SET hash = hash || 'x'",
    "history": "UPDATE history SET text = 'x'",
    "meta": "UPDATE meta SET value = 'x' WHERE name = 'vector_space'",
    "changes": "UPDATE changes SET low = low + 1",
    "vectors": "UPDATE vectors SET vector = zeroblob(16)",
}


@pytest.mark.parametrize("table", CHANGES)
def test_a_changed_row_of_any_table_is_noticed_and_doctor_names_it(sound: Path, tmp_path: Path, table: str) -> None:
    shutil.copytree(sound, tmp_path / "m")
    assert change(tmp_path / "m", CHANGES[table]) > 0
    with pytest.raises(CorruptMemory, match=rf"of {table} is not what was written.*restore"):
        reads(tmp_path / "m")


def reads(place: Path) -> list[str]:
    with Memory(place, embedder=Pebbles()) as memory:
        return answers(memory)


def test_every_table_with_checksums_is_tried() -> None:
    # No memory of these tests ingests folders or changes its model.
    assert set(CHANGES) == set(SUMMED) - {"roots", "next_vectors"}


READS: dict[str, Callable[[Memory], object]] = {
    CHANGES["edges"]: lambda memory: memory.traverse("n10", now=NOW),
    CHANGES["facts"]: lambda memory: memory.facts("Odd Lie", as_of=NOW),
    CHANGES["notes"]: lambda memory: memory.store.notes(memory.scope, ["n1"], "node", NOW, 9),
    CHANGES["life"]: lambda memory: memory.timeline(limit=200),
    CHANGES["history"]: lambda memory: memory.history("n3"),
    CHANGES["vectors"]: lambda memory: memory.store.vectors(memory.scope, ["n1"]),
}


@pytest.mark.parametrize("damage", READS)
def test_a_row_that_changes_on_disk_while_the_memory_is_open_is_noticed_when_it_is_read(
    sound: Path, tmp_path: Path, damage: str
) -> None:
    shutil.copytree(sound, tmp_path / "m")
    with Memory(tmp_path / "m", embedder=Pebbles()) as memory:
        change(tmp_path / "m", damage)
        with pytest.raises(CorruptMemory, match=r"changed on disk.*restore"):
            READS[damage](memory)


def test_doctor_names_rows_whose_values_have_become_of_another_type(sound: Path, tmp_path: Path) -> None:
    shutil.copytree(sound, tmp_path / "m")
    with Memory(tmp_path / "m", embedder=Pebbles()) as memory:
        change(tmp_path / "m", "UPDATE vectors SET vector = 'x'")
        change(tmp_path / "m", "UPDATE meta SET value = 'x' WHERE name = 'next_key'")
        found = memory.doctor()
    assert {finding.fix for finding in found} == {"put back a backup with `cuetrail restore`"}
    assert {finding.problem.split(" of ")[1].split()[0] for finding in found} == {"meta", "vectors", "keys"}


def test_a_damaged_row_of_one_user_does_not_keep_another_from_reading(sound: Path, tmp_path: Path) -> None:
    shutil.copytree(sound, tmp_path / "m")
    change(tmp_path / "m", CHANGES["facts"])
    with Memory(tmp_path / "m", embedder=Pebbles()) as memory:
        with pytest.raises(CorruptMemory, match="restore"):
            memory.get("n1")
        with pytest.raises(CorruptMemory, match="restore"):
            memory.add("nothing is written beside damage")
        assert [hit.node.id for hit in memory.scoped(OTHER).recall("Skarholm").hits] == ["bobs"]


# A column of each computed table.
COLUMNS = {
    "names": "norm", "name_words": "word", "node_labels": "key", "given_tags": "name", "adjacency": "edge",
    "adjacency_tags": "edge", "degrees": "node", "relation_words": "word",
}  # fmt: skip


@pytest.mark.parametrize("table", COLUMNS)
def test_a_computed_table_that_lost_a_row_answers_nothing_until_it_is_mended(
    sound: Path, truth: list[str], tmp_path: Path, table: str
) -> None:
    shutil.copytree(sound, tmp_path / "m")
    change(tmp_path / "m", f"DELETE FROM {table} WHERE {COLUMNS[table]} = (SELECT max({COLUMNS[table]}) FROM {table})")
    with pytest.raises(CorruptMemory, match=r"differs?.*doctor --repair.*restore"):
        reads(tmp_path / "m")
    with Memory(tmp_path / "m", embedder=Pebbles()) as memory:
        assert {finding.fix for finding in memory.doctor(repair=True)} == {"mended"}
        assert answers(memory) == truth


def test_a_changed_description_of_a_table_is_noticed(sound: Path, tmp_path: Path) -> None:
    shutil.copytree(sound, tmp_path / "m")
    change(tmp_path / "m", "DROP INDEX life_core")
    with pytest.raises(CorruptMemory, match="description of its tables"):
        reads(tmp_path / "m")


def test_an_older_memory_gets_its_checksums_when_it_is_opened(sound: Path, truth: list[str], tmp_path: Path) -> None:
    shutil.copytree(sound, tmp_path / "m")
    with closing(sqlite3.connect(tmp_path / "m" / "memory.db")) as db, db:
        for table in SUMMED:
            db.execute(f"ALTER TABLE {table} DROP COLUMN check_sum")
        db.execute("PRAGMA user_version = 16")
    assert reads(tmp_path / "m") == truth
    with Memory(tmp_path / "m", embedder=Pebbles()) as memory:
        assert memory.doctor() == []
    change(tmp_path / "m", CHANGES["edges"])
    with pytest.raises(CorruptMemory, match="restore"):
        reads(tmp_path / "m")
