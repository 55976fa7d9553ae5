"""A memory in a folder that cannot be written to can be read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail import Budget, Memory
from cuetrail.errors import MemoryError_
from tests.permissions import bound_by_permissions


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A memory whose folder, and all in it, may only be read; copies go to `tmp_path / "copies"`."""
    (tmp_path / "copies").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "copies"))
    place = tmp_path / "memory"
    with Memory(place, embedder=None) as memory:
        memory.add("The antenna stands on the roof", id="roof", tags=["radio"])
        memory.add(name="Ann", kind="person", id="ann")
        memory.fact("ann", "likes", "tea")
        assert memory.recall("antenna").hits
    places = [place, *place.rglob("*")]
    for one in places:
        one.chmod(0o500 if one.is_dir() else 0o400)
    with bound_by_permissions():
        yield place
    for one in places:
        one.chmod(0o700 if one.is_dir() else 0o600)


def test_every_kind_of_read_works_and_leaves_nothing_behind(folder: Path, tmp_path: Path) -> None:
    before = {one: one.stat().st_mtime_ns for one in folder.rglob("*")}
    with Memory(folder, embedder=None) as memory:
        assert [hit.node.id for hit in memory.recall("antenna").hits] == ["roof"]
        assert memory.recall("#radio").hits
        assert memory.get("roof") is not None
        assert [fact.value for fact in memory.facts("ann")] == ["tea"]
        assert memory.timeline().nodes
        assert memory.brief(budget=Budget(tokens=500)).text
        assert memory.stats().nodes == 2
        assert memory.doctor() == []
        assert memory.export(tmp_path / "all.jsonl") > 2
        memory.backup(tmp_path / "backup.tar")
        (copy,) = (tmp_path / "copies").iterdir()
        assert copy.stat().st_mode & 0o777 == 0o700
    assert list((tmp_path / "copies").iterdir()) == []
    assert {one: one.stat().st_mtime_ns for one in folder.rglob("*")} == before


def test_a_write_is_refused_with_what_to_do(folder: Path) -> None:
    with Memory(folder, embedder=None) as memory:
        writes = (
            lambda: memory.add("new"), lambda: memory.edit("roof", text="x"), lambda: memory.forget("roof"),
            lambda: memory.note("roof", "x"), lambda: memory.dream(), lambda: memory.fact("ann", "likes", "milk"),
            lambda: memory.ingest_text("x"), lambda: memory.link("roof", "ann"),
        )  # fmt: skip
        for write in writes:
            with pytest.raises(MemoryError_, match="cannot be written to: make it writable"):
                write()
        assert memory.get("roof") is not None


def test_what_is_still_in_the_log_is_read_too(tmp_path: Path) -> None:
    place = tmp_path / "memory"
    with Memory(place, embedder=None) as memory:
        memory.add("The antenna stands on the roof", id="roof")
        assert (place / "memory.db-wal").stat().st_size
        place.chmod(0o500)
        try:
            with bound_by_permissions():
                if os.access(place, os.W_OK, effective_ids=True):
                    pytest.skip("the folder can be written to all the same")
                with Memory(place, embedder=None) as reader:
                    assert reader.recall("antenna").hits
        finally:
            place.chmod(0o700)
