"""Several threads and processes share one memory: writes are found at once, waiting is bounded, closing is clean."""

from __future__ import annotations

import contextlib
import gc
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from cuetrail.errors import Busy, CuetrailError, MemoryError_
from cuetrail.memory import Memory
from cuetrail.store.sqlite.connection import Database
from cuetrail.store.sqlite.index.directory import IndexDir
from tests.store.sqlite.tools import Plan, Truth, held, nest, open_memory, search


def test_what_one_process_writes_another_finds_at_once(tmp_path: Path) -> None:
    with nest(tmp_path / "nest") as nursery, open_memory(tmp_path / "m") as memory:
        other = nursery.hatch("at_command", tmp_path / "m")
        assert other.hear() == "ready"
        for n in range(15):
            memory.add(f"the word is mine{n} here", id=f"mine{n}")
            other.tell(f"find mine{n}")
            assert other.hear() == f"mine{n}"
            other.tell(f"add theirs{n} the word is theirs{n} here")
            assert other.hear() == "added"
            assert search(memory, f"theirs{n}") == [f"theirs{n}"]
        memory.forget("theirs3")
        other.tell("find theirs3")
        assert other.hear() == "nothing"
        other.kill()
        assert memory.doctor() == []


def test_many_processes_may_open_a_fresh_directory_at_the_same_time(tmp_path: Path) -> None:
    with nest(tmp_path / "nest") as nursery:
        for number in range(8):
            place = tmp_path / f"m{number}"
            place.mkdir()
            children = [nursery.hatch("at_command", place) for _ in range(4)]
            assert [child.hear() for child in children] == ["ready"] * 4
            for n, child in enumerate(children):
                child.tell(f"add n{n} the word is word{n} here")
            assert [child.hear() for child in children] == ["added"] * 4
            children[0].tell("find word3")
            assert children[0].hear() == "n3"
            for child in children:
                child.kill()
            with open_memory(place) as memory:
                assert sorted(held(memory).texts) == ["n0", "n1", "n2", "n3"]
                assert memory.doctor() == []
            assert [p.name for p in place.glob(".new-*")] == []


def test_a_lock_that_is_held_too_long_gives_a_clear_error_and_no_change(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        memory.add("the word is ocelot here", id="a")
    with nest(tmp_path / "nest") as nursery:
        child = nursery.hatch("holder", tmp_path / "m")
        assert child.hear() == "held"
        db = Database(tmp_path / "m", busy_seconds=0.05)
        with pytest.raises(Busy, match=r"another process has been writing .* 0.05 s: try again later"), db.writing():
            pytest.fail("the lock is held elsewhere")
        with db.reading() as view:
            assert view.execute("SELECT id FROM nodes").fetchall() == [("a",)]
        index = IndexDir(tmp_path / "m" / "index" / "text", wait_seconds=0.05)
        with pytest.raises(Busy, match=r"indexing in .* 0.05 s: try again later"), index.locked():
            pytest.fail("the lock is held elsewhere")
        child.kill()
        # Both locks went with the process that held them.
        with index.locked(), db.writing():
            pass
        db.close()


def test_a_search_that_has_nothing_to_catch_up_does_not_wait_for_the_index_lock(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory, nest(tmp_path / "nest") as nursery:
        memory.add("the word is ocelot here", id="a")
        assert search(memory, "ocelot") == ["a"]
        child = nursery.hatch("holder", tmp_path / "m")
        assert child.hear() == "held"
        assert search(memory, "ocelot") == ["a"]
        child.kill()


def test_a_recall_does_not_wait_for_a_writer_and_its_accesses_are_counted_later(tmp_path: Path) -> None:
    with open_memory(tmp_path) as writer, open_memory(tmp_path) as reader:
        writer.add("the heron nests in the reeds", id="heron", now=1)
        assert reader.recall("heron", now=2).hits
        with writer.store.db.writing():  # type: ignore[attr-defined]  # the local engine's own
            assert reader.recall("heron", now=3).hits
        assert reader.recall("heron", now=4).hits
        found = reader.get("heron")
    assert found is not None
    assert (found.life.accesses, found.life.last_access) == (3, 4)


def test_a_log_that_a_reader_kept_from_being_emptied_is_emptied_by_the_next_write(tmp_path: Path) -> None:
    log = tmp_path / "m" / "memory.db-wal"
    with open_memory(tmp_path / "m") as memory, open_memory(tmp_path / "m") as other:
        memory.add("the secret is xylophonist", id="secret")
        memory.add("something else", id="else")
        scan = other.store.scan(other.scope)
        next(scan)
        memory.forget("secret")
        assert b"xylophonist" in log.read_bytes()
        del scan
        other.add("the next write", id="next")
        assert b"xylophonist" not in log.read_bytes()
        assert b"xylophonist" not in (tmp_path / "m" / "memory.db").read_bytes()


def test_threads_of_one_process_add_and_recall_together(tmp_path: Path) -> None:
    threads, each = 6, 12
    barrier = threading.Barrier(threads)

    def work(number: int) -> list[list[str]]:
        barrier.wait()
        found = []
        for n in range(each):
            word = f"w{number}x{n}"
            memory.add(f"the word is {word} here", id=word)
            found.append(search(memory, word))
            if n % 4 == 0:
                memory.recall(word)
            if n % 6 == 5:
                memory.forget(f"w{number}x{n - 1}")
        return found

    with open_memory(tmp_path / "m") as memory, ThreadPoolExecutor(threads) as pool:
        results = list(pool.map(work, range(threads)))
        assert results == [[[f"w{t}x{n}"] for n in range(each)] for t in range(threads)]
        assert len(held(memory).texts) == threads * (each - 2)
        assert memory.doctor() == []


def handles() -> list[str]:
    """Every file this process has open, as often as it has."""
    found = []
    for handle in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.append(str(handle.readlink()))
    return found


def mapped() -> set[str]:
    """Every file this process has mapped."""
    return {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/" in line}


needs_proc = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="this system does not list open files")


@needs_proc
def test_closing_lets_go_of_every_file(tmp_path: Path) -> None:
    memory = open_memory(tmp_path / "m")
    memory.add("the word is ocelot here", id="a")
    assert search(memory, "ocelot") == ["a"]
    memory.recall("ocelot")
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda _: search(memory, "ocelot"), range(9))) == [["a"]] * 9
    assert any(name.startswith(str(tmp_path)) for name in mapped())
    memory.close()
    memory.close()
    gc.collect()
    assert [name for name in (*handles(), *mapped()) if name.startswith(str(tmp_path))] == []


@needs_proc
def test_a_thread_that_has_ended_leaves_no_connection_behind(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        memory.add("text", id="a")
        counts = []
        for _ in range(25):
            thread = threading.Thread(target=memory.get, args=("a",))
            thread.start()
            thread.join()
            counts.append(sum(name.startswith(str(tmp_path)) for name in handles()))
        # SQLite keeps a few handles for the next connection, but not one for each that was closed.
        assert counts[-1] <= counts[4]


def until_closed(use: Callable[[], object], started: threading.Barrier) -> CuetrailError:
    """Use a memory again and again; the error that ended it comes back."""
    started.wait()
    while True:
        try:
            use()
        except CuetrailError as error:
            return error


def test_closing_while_threads_read_and_write_ends_them_with_a_clear_error(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory:
        memory.add_many(f"the word is word{n} here" for n in range(200))
    for _ in range(5):
        opened = open_memory(tmp_path / "m")
        uses = (
            partial(scanned, opened),
            partial(search, opened, "word7"),
            partial(opened.add, "the same again", id="again"),
        )
        started = threading.Barrier(len(uses) + 1)
        with ThreadPoolExecutor(len(uses)) as pool:
            ends = [pool.submit(until_closed, use, started) for use in uses]
            started.wait()
            opened.close()
            errors = [end.result() for end in ends]
        assert {type(error) for error in errors} == {MemoryError_}
        assert all("closed: open it again" in str(error) for error in errors)
    with open_memory(tmp_path / "m") as memory:
        assert memory.doctor() == []


def scanned(memory: Memory) -> int:
    return sum(1 for _ in memory.store.scan(memory.scope))


def test_doctor_finds_nothing_wrong_while_others_write(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m") as memory, nest(tmp_path / "nest") as nursery:
        child = nursery.hatch("script", tmp_path / "m", ops=Plan(random.Random(31), "n").draw(Truth(), 60))
        for _ in range(6):
            assert child.hear() == "ok"
            assert memory.doctor() == []
        child.kill()


def test_a_scan_left_half_read_survives_closing(tmp_path: Path) -> None:
    memory = open_memory(tmp_path / "m")
    memory.add_many(f"line {n}" for n in range(50))
    scan = memory.store.scan(memory.scope)
    first = next(scan)
    memory.close()
    assert len([first, *scan]) == 50
    with pytest.raises(MemoryError_, match="closed"):
        memory.stats()
