"""Readers never see half a mirror, also if an update is killed, stopped or runs out of disk space."""

from __future__ import annotations

import os
import random
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.mirror import atomic_publish
from tests.mirror.tools import opened, pages, shown, tree

ROOT = Path(__file__).parents[2]
ROUNDS = 20
BUNDLES = 8
ATOMS = 3


def write_round(memory: Memory, number: int) -> None:
    """All atoms of all bundles, which lie in as many folders, say the number of this round."""
    memory.add_many(
        {
            "id": f"{bundle}-{atom}",
            "text": f"round {number} of {'many ' * 200}words",
            "buckets": [f"b{bundle % 3}"],
            "tags": [f"t{bundle}"],
            "source": f"{bundle}.md",
        }
        for bundle in range(BUNDLES)
        for atom in range(ATOMS)
    )


READER = """
import os, re, sys
place, wanted, atoms = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
print("reading", flush=True)
loops = 0
while not os.path.exists(place + "/../stop"):
    files = [f"{above}/{name}" for above, _, names in os.walk(place) for name in names if name.endswith(".md")]
    if len(files) != wanted:
        print(f"{len(files)} bundles instead of {wanted}", flush=True)
    for file in files:
        try:
            text = open(file, encoding="utf-8").read()
        except OSError as error:
            print(f"missing: {error}", flush=True)
            continue
        rounds = re.findall(r"^round (\\d+) of (?:many ){200}words$", text, re.MULTILINE)
        if len(rounds) != atoms or len(set(rounds)) != 1 or not text.endswith("words\\n"):
            print(f"half written: {file} {rounds}", flush=True)
    loops += 1
print(f"done {loops}", flush=True)
"""


@contextmanager
def another_process_reading(brain: Path) -> Iterator[list[str]]:
    """A real second process that looks at every bundle over and over; in the end the list has its complaints."""
    command = [sys.executable, "-c", READER, str(brain), str(BUNDLES), str(ATOMS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "reading\n"
        said: list[str] = []
        try:
            yield said
        finally:
            (brain.parent / "stop").touch()
            said += reader.stdout.read().splitlines()


@contextmanager
def a_thread_reading(brain: Path) -> Iterator[list[str]]:
    """The same in a thread of this process, which gets its turns in other places."""
    said: list[str] = []
    stop = threading.Event()

    def read() -> None:
        loops = 0
        while not stop.is_set():
            found = pages(brain)
            if len(found) != BUNDLES:
                said.append(f"{len(found)} bundles")
            said.extend(f"half written: {path}" for path, data in found.items() if data.count(b"\nround ") != ATOMS)
            loops += 1
        said.append(f"done {loops}")

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield said
    finally:
        stop.set()
        reader.join()


@pytest.mark.parametrize("reading", [another_process_reading, a_thread_reading])
@pytest.mark.parametrize("hidden", [False, True], ids=["exchanged", "one by one"])
def test_a_reader_never_sees_a_missing_or_half_written_bundle(tmp_path: Path, reading: object, hidden: bool) -> None:
    assert callable(reading)
    brain = tmp_path / "brain"
    with opened(tmp_path / "memory") as memory:
        write_round(memory, 0)
        memory.mirror(brain)
        if hidden:
            (brain / ".git").mkdir()
        with reading(brain) as said:
            for number in range(1, ROUNDS + 1):
                write_round(memory, number)
                assert memory.mirror(brain).written == BUNDLES
    *complaints, last = said
    assert complaints == []
    assert int(last.removeprefix("done ")) > 0


SLOW_READER = """
import os, sys, time
place = sys.argv[1]
print("reading", flush=True)
opened = 0
while not os.path.exists(place + "/../stop"):
    for above, _, names, folder in os.fwalk(place):
        # Longer than any reader is given who is not waited for.
        time.sleep(0.02)
        for name in names:
            if name.endswith(".md"):
                try:
                    os.close(os.open(name, os.O_RDONLY, dir_fd=folder))
                    opened += 1
                except OSError as error:
                    print(f"missing: {error}", flush=True)
print(f"done {opened}", flush=True)
"""


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only Linux tells who has a folder open")
def test_a_reader_that_has_a_folder_open_finds_all_that_it_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic_publish, "GRACE_SECONDS", 0.005)
    brain = tmp_path / "brain"
    with opened(tmp_path / "memory") as memory:
        write_round(memory, 0)
        memory.mirror(brain)
        command = [sys.executable, "-c", SLOW_READER, str(brain)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "reading\n"
            try:
                for number in range(1, ROUNDS + 1):
                    write_round(memory, number)
                    assert memory.mirror(brain).written == BUNDLES
            finally:
                (tmp_path / "stop").touch()
            *complaints, last = reader.stdout.read().splitlines()
    assert complaints == []
    assert int(last.removeprefix("done ")) > 0


def test_a_folder_that_stays_open_holds_a_sync_up_for_a_while_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(atomic_publish, "PATIENCE_SECONDS", 0.2)
    with opened(tmp_path / "memory") as memory:
        write_round(memory, 0)
        memory.mirror(tmp_path / "brain")
        folder = os.open(tmp_path / "brain", os.O_RDONLY)
        write_round(memory, 1)
        assert memory.mirror(tmp_path / "brain").written == BUNDLES
        os.close(folder)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["brain", "memory"]


WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.mirror.tools import opened
from tests.mirror.test_atomic_publish import write_round
place = Path(sys.argv[2])
with opened(place / "memory") as memory:
    for number in range(int(sys.argv[3]), 1000):
        write_round(memory, number)
        print("writing", flush=True)
        memory.mirror(place / "brain")
"""


def test_killed_at_any_moment_the_mirror_is_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    rng = random.Random(7)
    with opened(tmp_path / "memory") as memory:
        write_round(memory, 0)
        memory.mirror(tmp_path / "brain")
    for start in range(1, 9):
        command = [sys.executable, "-c", WRITER, str(ROOT), str(tmp_path), str(100 * start)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            for _ in range(rng.randint(1, 4)):
                assert writer.stdout.readline() == "writing\n"
            select.select([], [], [], rng.random() * 0.1)
            os.kill(writer.pid, signal.SIGKILL)
        found = pages(tmp_path / "brain")
        assert len(found) == BUNDLES
        rounds = {
            line.split()[1] for page in found.values() for line in page.split(b"\n") if line.startswith(b"round ")
        }
        assert len(rounds) == 1, f"half of one mirror and half of another: {rounds}"
        assert all(page.count(b"\nround ") == ATOMS for page in found.values())
    with opened(tmp_path / "memory") as memory:
        memory.mirror(tmp_path / "brain")
        memory.mirror(tmp_path / "anew", follow=False)
    assert pages(tmp_path / "brain") == pages(tmp_path / "anew")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["anew", "brain", "memory"], "leftovers are swept"


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.mirror.tools import opened
place = Path(sys.argv[2])
with opened(place / "memory") as memory:
    stop = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
    memory.mirror(place / "brain", follow="once" not in sys.argv, progress=stop)
"""


def kill_a_sync(place: Path, *arguments: str) -> None:
    """Leave what a sync leaves that is killed right before it would publish."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(ROOT), str(place), *arguments], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = (p for p in place.iterdir() if p.name not in ("brain", "memory"))
    assert left.name.startswith(".cuetrail-mirror-")
    assert pages(left / "new")


@pytest.mark.parametrize("arguments", [[], ["once"]], ids=["kept", "once"])
def test_forgetting_reaches_what_a_first_sync_left_that_was_killed(tmp_path: Path, arguments: list[str]) -> None:
    with opened(tmp_path / "memory") as memory:
        write_round(memory, 0)
        kill_a_sync(tmp_path, *arguments)
        memory.forget("0-0")
        assert [p.name for p in tmp_path.iterdir()] == ["memory"]
        assert memory.mirrors() == []


def test_forgetting_waits_for_a_first_sync_and_reaches_it(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory, opened(tmp_path / "memory") as other:
        write_round(memory, 0)
        forgetting = threading.Thread(target=other.forget, args=("0-0",))

        def forget_meanwhile(*_: object) -> None:
            if forgetting.ident is None:
                forgetting.start()
                while other.get("0-0") is not None:
                    select.select([], [], [], 0.01)

        memory.mirror(tmp_path / "brain", progress=forget_meanwhile)
        forgetting.join()
        assert "0-0" not in [id_ for there in shown(tmp_path / "brain").values() for id_ in there]
        assert memory.mirrors() == [str(tmp_path / "brain")]


def test_a_first_sync_that_is_stopped_leaves_nothing_to_follow(tmp_path: Path) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with opened(tmp_path / "memory") as memory:
        write_round(memory, 0)
        with pytest.raises(KeyboardInterrupt):
            memory.mirror(tmp_path / "brain", progress=stop)
        assert memory.store.settings.beginning_with("mirror:") == {}
        assert memory.ingest_text("more", source="s").notices == ()


def test_what_a_killed_sync_left_is_swept_by_the_next(tmp_path: Path) -> None:
    brain = tmp_path / "brain"
    with opened(tmp_path / "memory") as memory:
        write_round(memory, 0)
        memory.mirror(brain)
        before = tree(brain)
        write_round(memory, 1)
        kill_a_sync(tmp_path)
        assert tree(brain) == before
        assert memory.mirror(brain).written == BUNDLES
        assert sorted(p.name for p in tmp_path.iterdir()) == ["brain", "memory"]


def test_leftovers_are_swept_also_when_there_is_nothing_to_write(tmp_path: Path) -> None:
    brain = tmp_path / "brain"
    with opened(tmp_path / "memory") as memory:
        write_round(memory, 0)
        memory.mirror(brain)
        page = next(brain.rglob("*.md"))
        good, looks = page.read_bytes(), page.stat()
        page.write_text("scribbles")
        kill_a_sync(tmp_path)
        page.write_bytes(good)
        os.utime(page, ns=(looks.st_atime_ns, looks.st_mtime_ns))
        assert memory.mirror(brain).written == 0
        assert sorted(p.name for p in tmp_path.iterdir()) == ["brain", "memory"]


FULL = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from cuetrail.errors import MirrorError
from tests.mirror.tools import opened
place = Path(sys.argv[2])
with opened(place / "memory") as memory:
    # As if the disk were full after so many bytes of a file.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        memory.mirror(place / "brain")
    except MirrorError as error:
        print(error)
"""


def test_without_room_the_old_mirror_stays_whole(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        write_round(memory, 0)
        memory.mirror(tmp_path / "brain")
        write_round(memory, 1)
    before = tree(tmp_path / "brain")
    command = [sys.executable, "-c", FULL, str(ROOT), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "could not be brought in step" in done.stdout, done.stderr
    assert tree(tmp_path / "brain") == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["brain", "memory"]


def test_two_processes_and_two_threads_at_once_make_one_mirror(tmp_path: Path) -> None:
    with opened(tmp_path / "memory") as memory:
        write_round(memory, 0)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\nfrom tests.mirror.tools import opened\nfrom pathlib import Path\n"
    )
    code += (
        "with opened(Path(sys.argv[2]) / 'memory') as m:\n  for _ in range(3): m.mirror(Path(sys.argv[2]) / 'brain')\n"
    )
    command = [sys.executable, "-c", code, str(ROOT), str(tmp_path)]
    with subprocess.Popen(command) as one, subprocess.Popen(command) as other, opened(tmp_path / "memory") as memory:
        threads = [threading.Thread(target=memory.mirror, args=(tmp_path / "brain",)) for _ in range(2)]
        for number in range(1, 4):
            write_round(memory, number)
            memory.mirror(tmp_path / "brain")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (one.wait(), other.wait()) == (0, 0)
        assert memory.mirror(tmp_path / "brain").written == 0
    assert [len(there) for there in shown(tmp_path / "brain").values()] == [ATOMS] * BUNDLES
    assert all(b"round 3 of" in page for page in pages(tmp_path / "brain").values())
