"""After any damage to the label index, the next walk gives the right answer without an error."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from cuetrail import Budget, Memory
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.sqlite.changelog import log_runs
from cuetrail.store.sqlite.index import label_index
from cuetrail.store.sqlite.rows import row_sum
from cuetrail.store.sqlite.schema import SUMMED
from tests.store.sqlite.index.test_damage import DAMAGES, Damage

COUNT = 40
ROOMY = Budget(chars=100_000)


@pytest.fixture(autouse=True)
def little_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """A base is written for a few memories already."""
    monkeypatch.setattr(label_index, "FEW", 5)


def opened(place: Path) -> Memory:
    return Memory(place, embedder=None)


def engine(memory: Memory) -> SqliteStore:
    assert isinstance(memory.store, SqliteStore)
    return memory.store


def fill(place: Path) -> None:
    with opened(place) as memory:
        memory.add("kite", id="start", tags=["sky"], now=1)
        memory.add_many(
            [{"text": f"cloud {n}", "id": f"n{n:02}", "tags": ["sky"], "at": n} for n in range(COUNT)], now=1
        )
        walks_right(memory)
        assert engine(memory).label_index.exists()


def walks_right(memory: Memory, missing: frozenset[str] = frozenset()) -> None:
    found = memory.tag_walk("kite", limit=3 * COUNT, budget=ROOMY, record_access=False)
    wanted = [f"n{n:02}" for n in reversed(range(COUNT)) if f"n{n:02}" not in missing]
    assert [hit.node.id for hit in found.walkers] == wanted[: COUNT * 3 * 3 // 10]


def files(place: Path) -> list[Path]:
    return sorted(p for p in (place / "index" / "labels").rglob("*") if p.is_file() and p.name != "lock")


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_any_damaged_file_is_healed_when_the_memory_is_opened(tmp_path: Path, damage: Damage) -> None:
    fill(tmp_path)
    for n in range(len(files(tmp_path))):
        damage(files(tmp_path)[n], random.Random(n))
        with opened(tmp_path) as memory:
            walks_right(memory)
            assert memory.doctor() == []


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_any_damaged_file_is_healed_under_an_open_memory(tmp_path: Path, damage: Damage) -> None:
    fill(tmp_path)
    with opened(tmp_path) as memory:
        walks_right(memory)
        for n in range(len(files(tmp_path))):
            damage(files(tmp_path)[n], random.Random(n))
            walks_right(memory)
            assert memory.doctor() == []


def test_a_deleted_index_and_that_of_another_memory_are_made_anew(tmp_path: Path) -> None:
    fill(tmp_path / "one")
    fill(tmp_path / "other")
    with opened(tmp_path / "other") as other:
        other.add_many([{"text": f"fog {n}", "id": f"f{n}", "tags": ["sky"]} for n in range(9)], now=1)
        other.refresh()
    with opened(tmp_path / "one") as memory:
        walks_right(memory)
        shutil.rmtree(tmp_path / "one" / "index")
        walks_right(memory)
        shutil.rmtree(tmp_path / "one" / "index" / "labels")
        shutil.copytree(tmp_path / "other" / "index" / "labels", tmp_path / "one" / "index" / "labels")
        walks_right(memory)
        assert memory.doctor() == []


def test_two_memories_opened_at_once_see_each_other(tmp_path: Path) -> None:
    fill(tmp_path)
    with opened(tmp_path) as one, opened(tmp_path) as other:
        walks_right(one)
        for n in (3, 7, 11, 20, 21, 22, 23, 24, 25):
            other.quarantine(f"n{n:02}")
            walks_right(one, frozenset(f"n{m:02}" for m in (3, 7, 11, 20, 21, 22, 23, 24, 25) if m <= n))
        one.refresh()
        walks_right(other, frozenset(f"n{m:02}" for m in (3, 7, 11, 20, 21, 22, 23, 24, 25)))
        assert one.doctor() == []


def test_nothing_of_a_forgotten_memory_stays_in_the_index(tmp_path: Path) -> None:
    telling = 0xCDAB89674523
    fill(tmp_path)
    with opened(tmp_path) as memory:
        memory.add("fog", id="fog", tags=["sky"], at=telling, now=1)
        store = engine(memory)
        store.label_index.catch_up(erase=True)
        assert any(telling.to_bytes(8, "little") in path.read_bytes() for path in files(tmp_path))
        memory.forget("fog")
        assert not any(telling.to_bytes(8, "little") in path.read_bytes() for path in files(tmp_path))
        walks_right(memory)


def test_doctor_tells_of_an_index_that_differs_and_mends_it(tmp_path: Path) -> None:
    fill(tmp_path)
    with opened(tmp_path) as memory:
        store = engine(memory)
        # A change that the log does not know of.
        with store.db.writing() as db:
            db.execute("UPDATE changes SET low = 0, high = 0")
            log_runs(db, [(0, 0)])
            db.create_function("row_sum", -1, lambda *row: row_sum(row))
            db.execute(f"UPDATE changes SET check_sum = row_sum({SUMMED['changes']})")
            db.execute("UPDATE labels SET label = label + 100")
            db.execute("UPDATE node_labels SET label = label + 100")
        findings = memory.doctor()
        assert [(finding.check, finding.fix) for finding in findings] == [
            ("label index", "run `cuetrail doctor --repair`")
        ]
        assert [finding.fix for finding in memory.doctor(repair=True)] == ["mended"]
        assert memory.doctor() == []
        walks_right(memory)
