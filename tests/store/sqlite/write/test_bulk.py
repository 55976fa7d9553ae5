"""Bulk writes: the text index is updated meanwhile, and other processes are not locked out."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail.memory import Memory
from cuetrail.store.sqlite.changelog import head
from cuetrail.write import pipeline
from tests.store.sqlite.tools import engine, search

BATCH = 50


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setattr(pipeline, "NODES_PER_WRITE", BATCH)
    with Memory(tmp_path / "m", embedder=None) as opened:
        yield opened


def texts(count: int) -> list[str]:
    return [f"common word{n}" for n in range(count)]


def applied(memory: Memory) -> int:
    state = engine(memory).text_index.dir.load()
    return state.seq if state else 0


def last_change(memory: Memory) -> int:
    with engine(memory).db.reading() as db:
        return head(db)


def test_after_many_writes_the_index_is_up_to_date_before_anyone_searches(memory: Memory) -> None:
    memory.add_many(texts(5 * BATCH))
    assert applied(memory) == last_change(memory)
    assert not engine(memory).text_index.dir.dirty()
    assert len(search(memory, "common", 1000)) == 5 * BATCH


def test_a_single_transaction_is_left_to_the_search_that_wants_it(memory: Memory) -> None:
    memory.add_many(texts(BATCH))
    assert applied(memory) < last_change(memory)
    assert len(search(memory, "common", 1000)) == BATCH


def test_a_search_between_two_writes_of_the_same_thread_sees_all_before_it(memory: Memory) -> None:
    seen: list[int] = []
    memory.add_many(
        texts(5 * BATCH), progress=lambda _, done, __: seen.append(done - len(search(memory, "common", 1000)))
    )
    assert seen == [0] * 5


def test_another_thread_need_not_wait_for_the_end(memory: Memory) -> None:
    found: list[int] = []
    searcher = threading.Thread(target=lambda: found.append(len(search(memory, "common", 1000))))
    wanted = engine(memory).text_index.dir.path / "wanted"

    def stream() -> Iterator[str]:
        for number, text in enumerate(texts(8 * BATCH)):
            if number == 3 * BATCH:
                searcher.start()
                while searcher.is_alive() and not wanted.exists():
                    searcher.join(0.001)
            if number == 5 * BATCH:
                searcher.join(60)
                assert found, "the search waits for the whole stream"
            yield text

    memory.add_many(stream())
    assert found[0] >= 3 * BATCH
    assert len(search(memory, "common", 1000)) == 8 * BATCH


def test_a_memory_replaced_twice_in_one_stream_is_found_by_its_last_words_only(memory: Memory) -> None:
    noise = texts(2 * BATCH)
    said = [{"id": "a", "text": word} for word in ("alpha", "beta", "gamma")]
    memory.add_many([said[0], *noise, said[1], *noise, said[2]])
    assert [search(memory, word) for word in ("alpha", "beta", "gamma")] == [[], [], ["a"]]


def test_an_error_in_the_stream_leaves_what_was_written_and_lets_others_in(memory: Memory) -> None:
    def stream() -> Iterator[str]:
        yield from texts(3 * BATCH)
        raise OSError("the line went dead")

    with pytest.raises(OSError, match="dead"):
        memory.add_many(stream())
    assert len(search(memory, "common", 1000)) == 3 * BATCH
    with Memory(memory.address, embedder=None) as other:
        other.add("common too")
        assert len(search(other, "common", 1000)) == 3 * BATCH + 1


STREAM = """
import sys
from cuetrail.memory import Memory
from cuetrail.write import pipeline
pipeline.NODES_PER_WRITE = 50
with Memory(sys.argv[1], embedder=None) as m:
    m.add_many((f"common {sys.argv[2]} word{n}" for n in range(100_000)), progress=lambda *_: print("ok", flush=True))
"""


def test_a_stream_that_is_killed_leaves_its_acknowledged_writes_and_a_sound_index(tmp_path: Path) -> None:
    rng = random.Random(4)
    total = 0
    for number in range(10):
        script = [sys.executable, "-c", STREAM, str(tmp_path / "m"), f"round{number}"]
        with subprocess.Popen(script, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            for _ in range(rng.randint(1, 40)):
                child.stdout.readline()
                total += BATCH
            child.kill()
            total += BATCH * child.stdout.read().count("ok")
        with Memory(tmp_path / "m", embedder=None) as memory:
            nodes = memory.stats().nodes
            # One transaction may have been on disk before it could be acknowledged.
            assert nodes in (total, total + BATCH)
            total = nodes
            assert memory.doctor() == []
            assert len(search(memory, "common", 100_000)) == nodes
