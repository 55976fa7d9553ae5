"""The entries that dreams write to the change log, and dreams whose log entries are missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cuetrail import CuetrailError, Memory
from cuetrail.dream.passes import mentions, tag_propagation
from cuetrail.store.sqlite import SqliteStore, engine
from cuetrail.validation.limits import TIMES
from tests.dream.tools import MINUTE, MONDAY, counts, idle, origins


class Counting:
    """An embedder that counts the texts it is given."""

    model, dim = "counting", 4

    def __init__(self) -> None:
        self.texts = 0

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += len(texts)
        return np.array([[1, len(text) % 7, 1, 1] for text in texts], np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.array([1, len(text) % 7, 1, 1], np.float32)


def test_tags_change_neither_vectors_nor_their_index(tmp_path: Path) -> None:
    embedder = Counting()
    with Memory(tmp_path, embedder=embedder) as memory:
        memory.add_many(
            {"text": f"thing number {n}", "id": f"a{n}", "at": MONDAY + n * 60 * MINUTE} for n in range(200)
        )
        memory.refresh()
        blocks = {p: p.stat().st_mtime_ns for p in (tmp_path / "index" / "vectors").glob("*/*")}
        made = embedder.texts
        memory.dream()
        assert "monday" in origins(memory, "a0")
        assert memory.recall("thing number 7", record_access=False).hits
        assert embedder.texts == made
        assert {p: p.stat().st_mtime_ns for p in (tmp_path / "index" / "vectors").glob("*/*")} == blocks
        assert memory.doctor() == []


def test_new_tags_are_found_by_the_next_search(memory: Memory) -> None:
    memory.add("anything at all", id="a", at=MONDAY)
    assert memory.recall("anything", tags=["monday"]).hits == ()
    memory.dream()
    assert [hit.node.id for hit in memory.recall("anything", tags=["monday"]).hits] == ["a"]


def test_a_log_that_was_cut_means_to_look_at_everything(memory: Memory) -> None:
    for n in range(5):
        memory.add(f"thing number {n}", id=f"a{n}", at=MONDAY)
    memory.dream()
    memory.add("one more", id="new", at=MONDAY)
    store = memory.store
    assert isinstance(store, SqliteStore)
    with store.db.writing() as db:
        db.execute("DELETE FROM changes")
    assert {read for read, _, _ in counts(memory.dream(only=["temporal"])).values()} == {6}
    assert "monday" in origins(memory, "new")
    assert idle(memory.dream(only=["temporal"]))


def test_the_log_is_kept_for_the_next_dream(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "KEEP_CHANGES", 3)
    memory.add("first", id="first", at=MONDAY)
    memory.dream()
    for n in range(10):
        memory.add(f"thing number {n}", id=f"a{n}", at=MONDAY)
    memory.refresh()
    assert counts(memory.dream(only=["temporal"]))["temporal"] == (10, 60, 0)


def test_a_pass_that_does_not_exist_is_refused(memory: Memory) -> None:
    with pytest.raises(CuetrailError, match="there is no pass 'nightmare': choose of temporal, auto_tags"):
        memory.dream(only=["nightmare"])


@pytest.mark.parametrize("zone", ["Mars", "", "../etc/passwd", "Europe"])
def test_a_zone_that_does_not_exist_is_refused(memory: Memory, zone: str) -> None:
    with pytest.raises(CuetrailError, match="no time zone"):
        memory.dream(zone=zone)


@pytest.mark.parametrize("at", [*TIMES, -1, 0])
def test_the_first_and_the_last_time_of_the_calendar_are_no_trouble(memory: Memory, at: int) -> None:
    for n in range(3):
        memory.add(f"thing number {n}", id=f"a{n}", at=at)
    memory.dream()
    assert idle(memory.dream())


def test_after_a_dream_every_pass_counts_what_dreams_changed_as_seen(filled: Memory) -> None:
    filled.dream()
    for module in (tag_propagation, mentions):
        assert filled.store.dream_pass(filled.scope, module.NAME).state(module.VERSION) == "idle"


def test_a_log_that_was_thrown_away_is_no_change(filled: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "KEEP_CHANGES", 0)
    filled.dream()
    filled.refresh()
    assert isinstance(filled.store, SqliteStore)
    with filled.store.db.reading() as db:
        assert db.execute("SELECT count(*) FROM changes").fetchone() == (0,)
    for module in (tag_propagation, mentions):
        assert filled.store.dream_pass(filled.scope, module.NAME).state(module.VERSION) == "idle"
    filled.add("One more", at=MONDAY)
    for module in (tag_propagation, mentions):
        assert filled.store.dream_pass(filled.scope, module.NAME).state(module.VERSION) != "idle"
