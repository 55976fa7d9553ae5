"""SIGKILL at random moments of everything that writes: acknowledged writes are there, others whole or not at all.

By hand: `python -m tests.reliability.kills [KIND=COUNT ...]`; without arguments 1,000 and a few, of all kinds.
"""

from __future__ import annotations

import http.client
import json
import random
import shutil
import sqlite3
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from cuetrail.store.sqlite.schema import VERSION
from tests.reliability.failing_files import Outcome
from tests.reliability.scripts import TASKS, Place, held, take_in
from tests.reliability.sweep import Golden, faults_after, prepared, state
from tests.store.sqlite.test_kill import crowd, either, killed_at_random
from tests.store.sqlite.tools import Nest, Plan, Truth, a_moment, nest, open_memory
from tests.store.sqlite.tools import held as truth_held

COUNTS = {
    "writer": 100, "crowd": 300, "write": 100, "rebuild": 50, "dream": 50, "server": 50, "backup": 50, "restore": 100,
    "migration": 100, "import": 100,
}  # fmt: skip
"""How many kills of each kind make the whole experiment."""


@dataclass
class Tally:
    """What was killed, what was wrong afterwards, and how far the killed ones had come."""

    kills: int = 0
    wrong: list[str] = field(default_factory=list)
    ends: Counter[str] = field(default_factory=Counter)


def left_over(directory: Path) -> Iterator[str]:
    """Yields what a killed process left in a memory that was opened since."""
    for path in directory.iterdir():
        if path.name.startswith(".") or path.name.endswith("-journal"):
            yield f"{path.name} is left over"


def _version(directory: Path) -> int:
    """Returns the version of the schema, read from a copy, so that looking changes nothing."""
    with tempfile.TemporaryDirectory() as made:
        copy = Path(shutil.copytree(directory, Path(made) / "m"))
        with closing(sqlite3.connect(copy / "memory.db")) as db:
            return int(db.execute("PRAGMA user_version").fetchone()[0])


def _end(name: str, want: Golden, trial: Path, done: int) -> str:
    """Returns how far a killed task had come, in words."""
    if name == "migration":
        version = _version(trial / "m")
        return "before it" if version == 2 else "after it" if version == VERSION else "amid it"
    if name == "restore":
        return "with the old memory" if state(trial, trial.with_name("look")) == want.states[0] else "with the new one"
    return f"{done} of {len(want.script.steps)} steps acknowledged"


def task(name: str, nursery: Nest, place: Path, kills: int, rng: random.Random) -> Tally:
    """Kills processes that carry out a task of `scripts.TASKS`."""
    want, tally = prepared(TASKS[name], place), Tally()
    trial, longest = place / f"{name}-trial", 0.0
    while tally.kills < kills:
        shutil.copytree(want.folder, trial)
        started = time.monotonic()
        child = nursery.hatch("steps", trial, script=name)
        if not longest:
            # The first one is not killed: it tells how long the task takes.
            assert child.hear_all()[-1] == "done"
            longest = time.monotonic() - started
        else:
            a_moment(rng, longest)
            said = child.kill()
            # One that has ended was not killed. So the moments follow the speed of the machine: a fifth comes too late.
            longest *= 0.7 if said[-1:] == ["done"] else 1.1
            if said[-1:] != ["done"]:
                done = said.count("ok")
                tally.kills += 1
                tally.ends[_end(name, want, trial, done)] += 1
                tally.wrong += [f"{name}, kill {tally.kills}: {what}" for what in _task_faults(name, want, trial, done)]
        shutil.rmtree(trial)
    return tally


def _task_faults(name: str, want: Golden, trial: Path, done: int) -> Iterator[str]:
    if name == "import":
        # The same call again completes an import; what is looked at then must be all of it.
        place = Place(trial)
        yield from (f"before it was completed: {finding}" for finding in place.memory.doctor())
        take_in(place)
        if held(place.memory) != want.states[1]:
            yield "the import was not completed by the same call"
        place.close()
        done = len(want.states) - 1
    outcome = Outcome(done=done, error=None, crash=None, counted=0, fired=True, killed=True)
    yield from faults_after(want, trial, outcome, "kill")
    if (trial / "m").exists():
        yield from left_over(trial / "m")


def writer(nursery: Nest, place: Path, kills: int, rng: random.Random) -> Tally:
    """Kills a process that adds, replaces, links and forgets; the same memory grows on."""
    plan, truth, tally = Plan(rng, "n"), Truth(), Tally()
    while tally.kills < kills:
        ops = plan.draw(truth, 12)
        acknowledged = killed_at_random(nursery.hatch("script", place / "m", ops=ops), rng, 6)
        tally.kills += 1
        tally.ends["with acknowledged writes" if acknowledged else "before the first"] += 1
        truth = _checked(place / "m", tally, {"n": (truth, ops, acknowledged)})["n"]
    return tally


def together(nursery: Nest, place: Path, kills: int, rng: random.Random) -> Tally:
    """Kills two writers and two readers of one memory."""
    plans = {name: Plan(rng, name) for name in ("a", "b")}
    truths, tally = {name: Truth() for name in plans}, Tally()
    while tally.kills < kills:
        scripts = {name: plan.draw(truths[name], 12) for name, plan in plans.items()}
        writers, readers = crowd(nursery, place / "m", scripts)
        counts = {name: killed_at_random(writers[name], rng, 2) for name in rng.sample(sorted(writers), 2)}
        for child in readers:
            child.kill()
        tally.kills += len(writers) + len(readers)
        tally.ends["two writers and two readers"] += 4
        truths = _checked(place / "m", tally, {n: (truths[n], scripts[n], counts[n]) for n in plans})
    return tally


def _checked(
    directory: Path, tally: Tally, states: Mapping[str, tuple[Truth, list[dict[str, object]], int]]
) -> dict[str, Truth]:
    """Returns what the memory holds of each prefix, after noting what is wrong with it."""
    found: dict[str, Truth] = {}
    with open_memory(directory) as memory:
        for prefix, (before, ops, acknowledged) in states.items():
            try:
                found[prefix] = either(truth_held(memory, prefix), before, ops, acknowledged)
            except AssertionError as error:
                tally.wrong.append(f"kill {tally.kills}: {error}")
                found[prefix] = truth_held(memory, prefix)
        tally.wrong += [f"kill {tally.kills}: {finding}" for finding in memory.doctor()]
    tally.wrong += [f"kill {tally.kills}: {what}" for what in left_over(directory)]
    return found


def server(nursery: Nest, place: Path, kills: int, rng: random.Random) -> Tally:
    """Kills an HTTP server while a client adds, one text after the other."""
    tally, known = Tally(), dict[str, str]()
    while tally.kills < kills:
        child = nursery.hatch("server", place / "m")
        url = child.hear()
        assert url is not None
        acknowledged: dict[str, str] = {}
        sent: dict[str, str] = {}
        first = threading.Event()
        client = threading.Thread(target=_post, args=(url, f"k{tally.kills}", sent, acknowledged, first))
        client.start()
        # Some are killed while they open the memory, most while they write.
        if rng.random() < 0.8:
            first.wait(60)
        a_moment(rng, 0.5)
        child.kill()
        client.join()
        tally.kills += 1
        tally.ends["with acknowledged adds" if acknowledged else "before the first add"] += 1
        with open_memory(place / "m") as memory:
            found = truth_held(memory).texts
            new = {id_: text for id_, text in found.items() if id_ not in known}
            if not acknowledged.items() <= new.items() <= sent.items() or len(new) > len(acknowledged) + 1:
                tally.wrong.append(f"server, kill {tally.kills}: {len(acknowledged)} acknowledged, {sorted(new)} there")
            if not known.items() <= found.items():
                tally.wrong.append(f"server, kill {tally.kills}: earlier memories are gone")
            tally.wrong += [f"server, kill {tally.kills}: {finding}" for finding in memory.doctor()]
        tally.wrong += [f"server, kill {tally.kills}: {what}" for what in left_over(place / "m")]
        known = found
    return tally


def _post(url: str, prefix: str, sent: dict[str, str], acknowledged: dict[str, str], first: threading.Event) -> None:
    """Adds until the server is gone."""
    client = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    try:
        for number in range(10_000):
            id_, text = f"{prefix}n{number}", f"text {number} of {prefix}"
            sent[id_] = text
            client.request(
                "POST", "/v1/add", json.dumps({"text": text, "id": id_}), {"Content-Type": "application/json"}
            )
            answer = client.getresponse()
            assert answer.status == 200, answer.read()
            answer.read()
            acknowledged[id_] = text
            first.set()
    except (OSError, http.client.HTTPException):
        pass
    finally:
        client.close()


def backup(nursery: Nest, place: Path, kills: int, rng: random.Random) -> Tally:
    """Kills a process that makes backups over the same file: that file is always a whole one."""
    from cuetrail.memory import restore

    tally = Tally()
    with open_memory(place / "m") as memory:
        memory.add_many(f"line {n} of a memory worth keeping" for n in range(50))
    while tally.kills < kills:
        path = place / f"{tally.kills}.tar"
        child = nursery.hatch("backups", place / "m", path=str(path))
        # Every other one is killed while it replaces an earlier backup.
        saved = [child.hear()] if tally.kills % 2 else []
        a_moment(rng, 0.3)
        saved += child.kill()
        tally.kills += 1
        tally.ends["with a backup" if path.exists() else "before the first backup"] += 1
        if saved and not path.exists():
            tally.wrong.append(f"backup, kill {tally.kills}: an acknowledged backup is gone")
        if path.exists():
            restore(path, place / "copy")
            with open_memory(place / "copy") as copy:
                if copy.stats().nodes != 50 or copy.doctor():
                    tally.wrong.append(f"backup, kill {tally.kills}: it is not whole")
            shutil.rmtree(place / "copy")
    with open_memory(place / "m") as memory:
        memory.backup(place / "last.tar")
    tally.wrong += [f"{path.name} is left over" for path in place.glob(".backup-*")]
    return tally


Kind = Callable[[Nest, Path, int, random.Random], Tally]
KINDS: Mapping[str, Kind] = {
    "writer": writer, "crowd": together, "server": server, "backup": backup,
    **{name: partial(task, name) for name in TASKS},
}  # fmt: skip


def run(kind: str, kills: int, place: Path, seed: int = 1) -> Tally:
    """Kills so many processes of one kind in a new folder."""
    place.mkdir(parents=True)
    with nest(place / "nest") as nursery:
        return KINDS[kind](nursery, place, kills, random.Random(f"{seed} {kind}"))


def main() -> None:
    """Kills processes: `kills [KIND=COUNT ...]`."""
    counts = {kind: int(count) for kind, _, count in (one.partition("=") for one in sys.argv[1:])} or COUNTS
    total, wrong = 0, 0
    for kind, kills in counts.items():
        with tempfile.TemporaryDirectory(prefix="cuetrail-kills-") as made:
            tally = run(kind, kills, Path(made) / kind)
        total, wrong = total + tally.kills, wrong + len(tally.wrong)
        ends = ", ".join(f"{count} {end}" for end, count in sorted(tally.ends.items()))
        sys.stdout.write(f"{kind}: {tally.kills} kills, {len(tally.wrong)} wrong ({ends})\n")
        sys.stdout.writelines(f"  {what}\n" for what in tally.wrong)
        sys.stdout.flush()
    sys.stdout.write(f"{total} kills, {wrong} wrong\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
