"""A dream that is killed or stopped leaves nothing broken, and the next one continues."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.dream import context
from cuetrail.dream.passes import episodes as episodic
from tests.dream.tools import MONDAY, counts, edges, episodes, exported, fill, idle, mentions, of_origin, origins

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs kill -9")

# A dream in small transactions that says each step and, if asked to, waits for a word before it goes on.
DREAMER = """
import sys
from cuetrail import Memory
from cuetrail.dream import context
context.BATCH = 10
def step(what, done, total):
    print(what, flush=True)
    if "wait" in sys.argv:
        sys.stdin.readline()
with Memory(sys.argv[1], embedder="none") as memory:
    memory.dream(progress=step, now=int(sys.argv[2]))
print("done", flush=True)
"""


@contextmanager
def dreamer(memory: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Another process that dreams."""
    command = [sys.executable, "-c", DREAMER, str(memory), str(MONDAY), *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def kill(process: subprocess.Popen[str]) -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def test_a_dream_in_another_process_makes_this_one_skip_and_leaves_no_lock_when_killed(filled: Memory) -> None:
    with dreamer(Path(filled.address), "wait") as other:
        assert heard(other).startswith("dreaming")
        assert filled.dream().skipped
        assert filled.dream(dry_run=True).skipped
        kill(other)
    assert not filled.dream().skipped


def test_kills_at_random_moments_lose_and_halve_nothing(tmp_path: Path) -> None:
    rng = random.Random(3)
    with Memory(tmp_path / "whole", embedder="none") as memory:
        fill(memory)
        shutil.copytree(tmp_path / "whole", tmp_path / "killed")
        memory.dream(now=MONDAY)
        wanted = exported(memory)
    kills = 0
    for _ in range(30):
        with dreamer(tmp_path / "killed") as other:
            # Far apart: every kill costs the start of a process.
            steps = rng.randint(1, 40)
            if "done" in [heard(other) for _ in range(steps)]:
                break
            kill(other)
            kills += 1
    assert kills >= 5
    with Memory(tmp_path / "killed", embedder="none") as memory:
        assert memory.doctor() == []
        memory.dream(now=MONDAY)
        assert exported(memory) == wanted


@pytest.mark.parametrize("after", [1, 3, 6, 20, 40])
def test_ctrl_c_leaves_nothing_broken(filled: Memory, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "BATCH", 10)
    steps = 0

    def interrupt(*_: object) -> None:
        nonlocal steps
        steps += 1
        if steps == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        filled.dream(progress=interrupt)
    assert filled.doctor() == []
    assert not filled.dream().skipped
    assert idle(filled.dream())
    assert filled.doctor() == []


def test_an_interrupted_pass_goes_on_where_it_stopped(filled: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(context, "BATCH", 10)

    def interrupt(what: str, done: int, total: int) -> None:
        if done == 50:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        filled.dream(only=["temporal"], progress=interrupt)
    assert "2026" in origins(filled, "a49")
    assert origins(filled, "a50").keys() <= {"workshop"}
    assert counts(filled.dream(only=["temporal"]))["temporal"] == (70, 420, 0)


@pytest.mark.parametrize("name", ["infection", "mentions", "cooccurrence"])
@pytest.mark.parametrize("now_called", ["Zora", "Bertha"])
def test_a_name_that_comes_while_a_dream_is_stopped_reaches_every_text(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, name: str, now_called: str
) -> None:
    monkeypatch.setattr(context, "BATCH", 1)
    memory.add_many({"text": "Zora met Yann", "id": f"old {n}", "at": MONDAY} for n in range(3))
    memory.add(name="Yann", kind="person", id="yann", at=MONDAY)
    memory.dream(now=MONDAY)
    memory.add(name="Zora", kind="person", id="zora", at=MONDAY)
    memory.add_many({"text": f"Zora met Quill, {n}", "id": f"new {n}", "at": MONDAY} for n in range(3))

    def interrupt(what: str, done: int, total: int) -> None:
        if what == f"dreaming: {name}" and done >= total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.dream(now=MONDAY, progress=interrupt)
    if now_called != "Zora":
        # Some texts were settled by the name that it no longer has.
        memory.edit("zora", name=now_called)
    memory.dream(now=MONDAY)
    texts = [f"{age} {n}" for age in ("old", "new") for n in range(3)]
    is_named = now_called == "Zora"
    assert all(("zora" in of_origin(memory, text, "infected")) == is_named for text in texts)
    named = {text for text, node in edges(memory, "mentions") if node == "zora"}
    assert named == (set(texts) if is_named else set())
    assert (("yann", "zora") in edges(memory, "co_occurs")) == is_named
    assert idle(memory.dream(now=MONDAY))


def test_a_name_that_comes_back_after_a_dream_was_stopped_is_found_again(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "BATCH", 1)
    memory.add(name="Zora", kind="person", id="zora", at=MONDAY)
    memory.add_many({"text": f"Zora met Quill, {n}", "id": f"text {n}", "at": MONDAY} for n in range(3))
    memory.dream(now=MONDAY)
    wanted = edges(memory, "mentions").keys()
    memory.edit("zora", name="Bertha")
    memory.edit("text 0", text="Zora met Quill again")

    def interrupt(what: str, done: int, total: int) -> None:
        if what == "dreaming: mentions":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.dream(now=MONDAY, progress=interrupt)
    memory.edit("zora", name="Zora")
    memory.dream(now=MONDAY)
    assert edges(memory, "mentions").keys() == wanted
    assert all("zora" in of_origin(memory, f"text {n}", "infected") for n in range(3))


def test_small_transactions_make_the_same_of_a_memory_as_large_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []
    for size in (7, 4_000):
        monkeypatch.setattr(context, "BATCH", size)
        monkeypatch.setattr(episodic, "BATCH", size)
        monkeypatch.setattr(episodic, "PAGE", size)
        with Memory(tmp_path / str(size), embedder="none") as memory:
            fill(memory)
            memory.dream(now=MONDAY)
            tags = {f"a{n}": origins(memory, f"a{n}") for n in range(120)}
            joined = [edges(memory, kind).keys() for kind in ("mentions", "co_occurs", "during")]
            found.append((tags, joined, mentions(memory), episodes(memory)))
    assert found[0] == found[1]


REHEARSER = """
import os, signal, sys
from cuetrail import Memory
with Memory(sys.argv[1], embedder="none") as memory:
    memory.dream(dry_run=True, progress=lambda *_: os.kill(os.getpid(), signal.SIGKILL))
"""


def copies(memory: Path) -> list[Path]:
    return sorted(memory.glob(".rehearsal-*"))


def kill_a_dry_run(memory: Path) -> None:
    """Leave what a dry run leaves that is killed in the middle: a copy of the whole memory."""
    done = subprocess.run([sys.executable, "-c", REHEARSER, str(memory)], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = copies(memory)
    assert b"brass wheels" in (left / "memory.db").read_bytes()


def test_forgetting_reaches_the_copy_of_a_dry_run_that_was_killed(filled: Memory) -> None:
    kill_a_dry_run(Path(filled.address))
    filled.forget("a0")
    assert copies(Path(filled.address)) == []


def test_opening_a_memory_and_the_doctor_sweep_what_a_killed_dry_run_left(filled: Memory) -> None:
    place = Path(filled.address)
    kill_a_dry_run(place)
    assert filled.doctor() == []
    assert copies(place) == []
    kill_a_dry_run(place)
    with Memory(place, embedder="none"):
        assert copies(place) == []


@pytest.mark.usefixtures("bound")
def test_the_doctor_names_a_copy_that_it_cannot_sweep(filled: Memory) -> None:
    place = Path(filled.address)
    kill_a_dry_run(place)
    (left,) = copies(place)
    left.chmod(0o500)
    (finding,) = filled.doctor()
    left.chmod(0o700)
    assert finding.check == "dry run"
    assert str(left) in finding.problem


def test_a_dry_run_at_work_keeps_its_copy_and_takes_it_along(filled: Memory) -> None:
    place = Path(filled.address)
    seen: list[int] = []

    def meanwhile(what: str, done: int, total: int) -> None:
        if not seen:
            with Memory(place, embedder="none") as other:
                other.forget("a0")
                assert other.doctor() == []
            seen.append(len(copies(place)))

    report = filled.dream(dry_run=True, progress=meanwhile)
    assert seen == [1]
    assert report.passes[0].read == 120
    assert copies(place) == []
