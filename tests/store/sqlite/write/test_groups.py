"""Groups of writes on SQLite: one transaction, and searches elsewhere that do not wait for its indexes."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.sqlite.unacknowledged import FILE, Unacknowledged


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "m", embedder="static") as memory:
        yield memory


def engine(memory: Memory) -> SqliteStore:
    assert isinstance(memory.store, SqliteStore)
    return memory.store


def found(memory: Memory, cue: str) -> list[str]:
    return [hit.node.text for hit in memory.recall(cue).hits]


def test_a_group_is_one_transaction(memory: Memory) -> None:
    statements: list[str] = []
    engine(memory).db.writer.set_trace_callback(statements.append)
    with memory.store.bulk("indexed"):
        for n in range(20):
            memory.add(f"Text number {n}.")
    assert [one for one in statements if one.startswith(("BEGIN", "COMMIT"))] == ["BEGIN IMMEDIATE", "COMMIT"]


def test_other_threads_see_nothing_of_a_group_before_its_end_and_all_after_it(memory: Memory) -> None:
    seen: list[int] = []

    def count() -> None:
        seen.append(len(memory.nodes("a", "b")))

    def look() -> None:
        thread = threading.Thread(target=count)
        thread.start()
        thread.join()

    with memory.store.bulk("joined"):
        memory.add("One.", id="a")
        look()
        memory.add("Two.", id="b")
        look()
    look()
    assert seen == [0, 0, 2]


def test_a_search_does_not_wait_for_the_index_of_what_nobody_has_acknowledged(memory: Memory, tmp_path: Path) -> None:
    memory.add("The mast is tall.")
    with Memory(tmp_path / "m", embedder="static") as other:
        assert found(other, "mast") == ["The mast is tall."]
        store = engine(memory)
        with store.text_index.dir.locked(), store.vector_index.dir.locked():
            # As between the commit and the end of a group, when another process holds the locks of the indexes.
            with store.db.group() as db:
                before = db.execute("SELECT max(seq) FROM changes").fetchone()[0]
                memory.add("The mast is short.")
                store.db.unacknowledged.announce(before, db.execute("SELECT max(seq) FROM changes").fetchone()[0])
            assert found(other, "mast") == ["The mast is tall."]
        store.db.unacknowledged.clear()
        assert sorted(found(other, "mast")) == ["The mast is short.", "The mast is tall."]


def test_a_search_sees_what_another_process_wrote_beside_a_group(memory: Memory, tmp_path: Path) -> None:
    memory.add("The mast is tall.")
    with Memory(tmp_path / "m", embedder="static") as other:
        assert len(found(other, "mast")) == 1
        db = engine(memory).db
        with db.reading_connection() as reading:
            before = reading.execute("SELECT max(seq) FROM changes").fetchone()[0]
        memory.add("The mast is short.")
        db.unacknowledged.announce(before, before + 1)
        other.add("The mast is red.")
        assert len(found(other, "mast")) == 3


def test_the_indexes_contain_a_group_when_it_ends(memory: Memory) -> None:
    memory.recall("anything")
    with memory.store.bulk("indexed"):
        node = memory.add("The mast is tall.")
    store = engine(memory)
    (key,) = sqlite3.connect(store.db.path).execute("SELECT key FROM nodes WHERE id = ?", (node.id,)).fetchone()
    # Without bringing anything up: the views of the indexes as they are on disk.
    state = store.text_index.dir.load()
    assert state is not None
    assert key in store.text_index.keys()  # noqa: SIM118  # a method of the index
    assert store.db.unacknowledged.needed(state.seq) == state.seq


@pytest.mark.parametrize("torn", [b"", b"\x01" * 32, b"\xff" * 8])
def test_a_record_that_is_damaged_or_old_is_not_believed(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / FILE
    writing, reading = Unacknowledged(path), Unacknowledged(path)
    assert reading.needed(7) == 7
    writing.announce(5, 7)
    assert [reading.needed(target) for target in (5, 6, 7, 8)] == [5, 5, 5, 8]
    data = path.read_bytes()
    with path.open("r+b") as file:
        file.write(torn or bytes(len(data)))
    assert reading.needed(7) == 7
    for one in (writing, reading):
        one.close()
