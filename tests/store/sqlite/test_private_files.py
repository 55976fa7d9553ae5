"""New memories, backups and exports can be read by their owner only; what exists keeps its mode."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail.memory import restore
from tests.store.sqlite.tools import open_memory

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files are a matter of POSIX")


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    old = os.umask(0o022)
    yield
    os.umask(old)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_a_new_memory_its_backup_and_its_export_are_private(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        memory.add("the word is walrus", id="a")
        memory.recall("walrus")
        memory.export(tmp_path / "m.jsonl")
        memory.backup(tmp_path / "m.tar")
        assert mode(tmp_path / "m") == 0o700
        files = [p for p in (tmp_path / "m").iterdir() if p.is_file()]
        assert {p.name for p in files} >= {"memory.db", "memory.db-wal", "memory.db-shm"}
        assert {p.name: oct(mode(p)) for p in files if mode(p) != 0o600} == {}
        assert mode(tmp_path / "m" / "index") == 0o700
    assert mode(tmp_path / "m.jsonl") == mode(tmp_path / "m.tar") == 0o600
    restore(tmp_path / "m.tar", tmp_path / "copy")
    assert (mode(tmp_path / "copy"), mode(tmp_path / "copy" / "memory.db")) == (0o700, 0o600)


def test_a_memory_that_its_owner_shares_stays_shared(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir(0o755)
    with open_memory(tmp_path / "m") as memory:
        memory.add("the word is walrus", id="a")
        memory.backup(tmp_path / "m.tar")
    (tmp_path / "m" / "memory.db").chmod(0o640)
    (tmp_path / "m.tar").chmod(0o644)
    restore(tmp_path / "m.tar", tmp_path / "m", force=True)
    assert (mode(tmp_path / "m"), mode(tmp_path / "m" / "memory.db")) == (0o755, 0o640)
    with open_memory(tmp_path / "m") as memory:
        memory.backup(tmp_path / "m.tar")
    assert mode(tmp_path / "m.tar") == 0o644


def test_a_new_mirror_is_private_and_one_that_its_owner_shares_stays_shared(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        memory.add("the word is walrus", id="a", tags=["sea"])
        for place, wanted in ((tmp_path / "mirror", 0o700), (tmp_path / "shared", 0o755)):
            memory.mirror(place)
            assert mode(place) == 0o700
            place.chmod(wanted)
            # One page is replaced, then every page.
            memory.add("the word is kelp", tags=["sea"])
            memory.mirror(place)
            memory.add("the word is moss", tags=["land"], buckets=["wood"])
            memory.forget("a")
            memory.mirror(place)
            assert mode(place) == wanted
            memory.add("the word is walrus", id="a", tags=["sea"], allow_again=True)
        assert mode(tmp_path / "m" / "mirror.lock") == 0o600
