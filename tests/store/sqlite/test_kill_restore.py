"""A restore that is killed at any step leaves the old memory or the new one, and no left-overs after the next open."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail.errors import CorruptMemory
from tests.store.sqlite.tools import Nest, held, nest, open_memory


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nest]:
    with nest(tmp_path / "nest") as opened:
        yield opened


def made(place: Path, word: str) -> Path:
    """A memory of one line; returns a backup of it."""
    with open_memory(place) as memory:
        memory.add(f"the word is {word} here", id=word)
        memory.backup(place.with_suffix(".tar"))
    return place.with_suffix(".tar")


def words(directory: Path) -> list[str]:
    """The ids in a memory that is sound and has no left-overs."""
    with open_memory(directory) as memory:
        assert memory.doctor() == []
        found = list(held(memory).texts)
    assert [p.name for p in directory.iterdir() if p.name.startswith(".") or p.name.endswith("-journal")] == []
    return found


def killed_at_each_step(nursery: Nest, sound: Path, backup: Path, place: Path) -> Iterator[Path]:
    """Copies of a memory in which a restore was killed before its first, second, ... step."""
    for step in itertools.count(1):
        directory = place / str(step)
        shutil.copytree(sound, directory)
        child = nursery.hatch("restorer", directory, backup=str(backup), step=step)
        if child.hear_all() == ["restored"]:
            assert step > 10
            return
        yield directory


def test_a_restore_killed_at_any_step_leaves_the_old_memory_or_the_new_one(tmp_path: Path, nursery: Nest) -> None:
    backup = made(tmp_path / "new", "ocelot")
    made(tmp_path / "old", "walrus")
    found = [words(place) for place in killed_at_each_step(nursery, tmp_path / "old", backup, tmp_path / "killed")]
    assert found == sorted(found, reverse=True)
    assert {tuple(one) for one in found} == {("walrus",), ("ocelot",)}


def test_a_second_kill_while_the_next_open_finishes_a_restore_loses_nothing(tmp_path: Path, nursery: Nest) -> None:
    backup = made(tmp_path / "new", "ocelot")
    made(tmp_path / "old", "walrus")
    finished = 0
    killed = list(killed_at_each_step(nursery, tmp_path / "old", backup, tmp_path / "killed"))
    # A few of the steps at which the restore is decided but not finished: each is followed by a kill at every step.
    for place in [place for place in killed if (place / ".restore-ready").exists()][::5]:
        for step in itertools.count(1):
            again = tmp_path / "again" / f"{place.name}-{step}"
            shutil.copytree(place, again)
            if nursery.hatch("opener", again, step=step).hear_all() == ["opened"]:
                break
            assert words(again) == ["ocelot"]
            finished += 1
    assert finished > 4


def test_a_memory_of_which_only_the_log_is_left_is_never_taken_for_a_new_one(tmp_path: Path, nursery: Nest) -> None:
    backup = made(tmp_path / "new", "ocelot")
    made(tmp_path / "old", "walrus")
    child = nursery.hatch("at_command", tmp_path / "old")
    assert child.hear() == "ready"
    for n in range(3):
        child.tell(f"add late{n} the word is late{n}")
        assert child.hear() == "added"
    child.kill()
    (tmp_path / "old" / "memory.db").unlink()
    outcomes = []
    for place in killed_at_each_step(nursery, tmp_path / "old", backup, tmp_path / "killed"):
        try:
            outcomes.append(words(place))
        except CorruptMemory:
            outcomes.append(["damaged"])
    assert outcomes == sorted(outcomes)
    assert {tuple(one) for one in outcomes} == {("damaged",), ("ocelot",)}


def test_a_change_that_a_restore_left_half_done_is_undone(tmp_path: Path, nursery: Nest) -> None:
    made(tmp_path / "old", "walrus")
    path = tmp_path / "old" / "memory.db"
    # Leaves a hot journal, as a process does that is killed while it takes the memory out of its log mode.
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode = DELETE").fetchall()
        db.execute("PRAGMA cache_size = 1")
        db.execute("PRAGMA cache_spill = 1")
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE nodes SET text = 'half'")
        db.executemany("INSERT INTO meta VALUES (?, ?, 0)", [(f"x{n}", "y" * 3000) for n in range(200)])
        shutil.copytree(tmp_path / "old", tmp_path / "killed")
        db.rollback()
    db.close()
    assert (tmp_path / "killed" / "memory.db-journal").stat().st_size
    assert words(tmp_path / "killed") == ["walrus"]


@pytest.mark.parametrize("left", [b"", bytes(512)], ids=["empty", "blank"])
def test_a_journal_of_a_process_that_was_killed_before_it_wrote_is_deleted(tmp_path: Path, left: bytes) -> None:
    made(tmp_path / "old", "walrus")
    (tmp_path / "old" / "memory.db-journal").write_bytes(left)
    assert words(tmp_path / "old") == ["walrus"]


def test_what_a_process_left_that_was_killed_while_it_made_the_memory_is_deleted_by_the_next_open(
    tmp_path: Path,
) -> None:
    """Another process made the memory meanwhile, so nobody makes it again."""
    made(tmp_path / "old", "walrus")
    (tmp_path / "old" / ".new-dead").mkdir()
    (tmp_path / "old" / ".new-dead" / "memory.db").write_bytes(b"half a memory")
    assert words(tmp_path / "old") == ["walrus"]


def test_what_a_killed_backup_left_is_deleted_by_the_next_one(tmp_path: Path) -> None:
    (tmp_path / ".backup-dead").mkdir()
    (tmp_path / ".backup-dead" / "memory.db").write_bytes(b"half a copy")
    made(tmp_path / "old", "walrus")
    assert not (tmp_path / ".backup-dead").exists()
