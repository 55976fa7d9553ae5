"""kill -9 at random moments: acknowledged writes are there, others are there whole or not at all."""

from __future__ import annotations

import random
from pathlib import Path

from cuetrail.memory import restore
from tests.store.sqlite.tools import (
    Child,
    Nest,
    Op,
    Plan,
    Truth,
    a_moment,
    assert_search_equals_scan,
    engine,
    held,
    nest,
    open_memory,
)

ROUNDS = 100


def test_every_write_waits_for_the_disk(tmp_path: Path) -> None:
    """A power cut cannot be had in a test; what SQLite promises of one hangs on these two, alone and in bulk."""
    with open_memory(tmp_path / "m") as memory, engine(memory).db.writing() as db:
        assert db.execute("PRAGMA synchronous").fetchone() == (2,), "FULL"
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with open_memory(tmp_path / "m") as memory, memory.store.bulk(), engine(memory).db.writing() as db:
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)


def killed_at_random(child: Child, rng: random.Random, most: int) -> int:
    """Hear up to `most` acknowledgements, let a moment pass, kill; how many operations were acknowledged."""
    count = 0
    for _ in range(rng.randint(0, most)):
        if child.hear() != "ok":
            break
        count += 1
    a_moment(rng, 0.05)
    return count + child.kill().count("ok")


def either(found: Truth, before: Truth, ops: list[Op], acknowledged: int) -> Truth:
    """What was found must be the state after the acknowledged operations, or after the one that was under way too."""
    for op in ops[:acknowledged]:
        before = before.after(op)
    after = before.after(ops[acknowledged]) if acknowledged < len(ops) else before
    assert found in (before, after)
    return found


def test_a_hundred_kills_of_a_writing_and_indexing_process_lose_and_halve_nothing(tmp_path: Path) -> None:
    rng = random.Random(1)
    plan, truth = Plan(rng, "n"), Truth()
    with nest(tmp_path / "nest") as nursery:
        for number in range(1, ROUNDS + 1):
            ops = plan.draw(truth, 12)
            acknowledged = killed_at_random(nursery.hatch("script", tmp_path / "m", ops=ops), rng, 6)
            with open_memory(tmp_path / "m") as memory:
                truth = either(held(memory), truth, ops, acknowledged)
                if number % 10 == 0:
                    assert memory.doctor() == []
                    assert_search_equals_scan(memory, truth)
    assert len(truth.texts) > 100
    assert truth.edges


def crowd(nursery: Nest, place: Path, scripts: dict[str, list[Op]]) -> tuple[dict[str, Child], list[Child]]:
    """Two writers and two readers of one memory."""
    writers = {name: nursery.hatch("script", place, ops=ops) for name, ops in scripts.items()}
    return writers, [nursery.hatch("reader", place) for _ in range(2)]


def test_a_hundred_kills_of_two_writers_and_two_readers_together_leave_a_whole_memory(tmp_path: Path) -> None:
    rng = random.Random(2)
    place = tmp_path / "m"
    plans = {name: Plan(rng, name) for name in ("a", "b")}
    truths = {name: Truth() for name in plans}
    readings = 0
    with nest(tmp_path / "nest") as nursery:
        for number in range(1, ROUNDS + 1):
            scripts = {name: plan.draw(truths[name], 12) for name, plan in plans.items()}
            writers, readers = crowd(nursery, place, scripts)
            # Every other time nobody waits for the readers: some are killed while they open the memory, most while they
            # read it.
            if number % 2 == 0:
                readings += sum(child.hear() is not None for child in readers)
            counts = {name: killed_at_random(writers[name], rng, 2) for name in rng.sample(sorted(writers), 2)}
            readings += sum(len(child.kill()) for child in readers)
            with open_memory(place) as memory:
                for name in plans:
                    truths[name] = either(held(memory, name), truths[name], scripts[name], counts[name])
                if number % 10 == 0:
                    assert memory.doctor() == []
                    texts = truths["a"].texts | truths["b"].texts
                    assert_search_equals_scan(memory, Truth(texts, truths["a"].edges | truths["b"].edges))
    assert readings > ROUNDS
    assert min(len(truth.texts) for truth in truths.values()) > 50


def test_a_backup_killed_at_any_moment_leaves_no_half_file_under_its_name(tmp_path: Path) -> None:
    rng = random.Random(3)
    with open_memory(tmp_path / "m") as memory:
        memory.add_many(f"line {n} of a memory worth keeping" for n in range(500))
    with nest(tmp_path / "nest") as nursery:
        for number in range(15):
            path = tmp_path / f"{number}.tar"
            child = nursery.hatch("backups", tmp_path / "m", path=str(path))
            a_moment(rng, 0.1)
            saved = child.kill()
            assert path.exists() or not saved
            if path.exists():
                restore(path, tmp_path / f"copy{number}")
                with open_memory(tmp_path / f"copy{number}") as copy:
                    assert copy.stats().nodes == 500
