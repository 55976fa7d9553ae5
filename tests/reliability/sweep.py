"""Sweeps over the operations of a script: a failure at the first, the second, and so on, until it passes untouched.

By hand, over every operation: `python -m tests.reliability.sweep`.
"""

from __future__ import annotations

import errno
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tests.reliability.failing_files import MODES, Outcome, Worker, build
from tests.reliability.scripts import SCRIPTS, Held, Place, Script, held, opened
from tests.store.sqlite.tools import search

FAULTS = (
    ("once", errno.EIO), ("once", errno.ENOSPC), ("ever", errno.EIO), ("ever", errno.ENOSPC), ("short", errno.ENOSPC),
    ("kill", 0), ("torn", 0),
)  # fmt: skip
"""Modes of failure, and the error that the system gives."""


@dataclass(frozen=True)
class Golden:
    """A script's prepared folder, its states before and after each step, and the number of its file operations."""

    script: Script
    folder: Path
    states: tuple[Held, ...]
    operations: int


def golden(worker: Worker, script: Script, place: Path) -> Golden:
    """Runs the script without failures, and counts its file operations."""
    want = prepared(script, place)
    trial = place / f"{script.name}-trial"
    shutil.copytree(want.folder, trial)
    outcome = worker.run(script.name, trial)
    assert outcome.done == len(script.steps), outcome
    shutil.rmtree(trial)
    return replace(want, operations=outcome.counted)


def prepared(script: Script, place: Path) -> Golden:
    """Prepares the folder of a script and runs its steps once in a copy of it."""
    folder = place / f"{script.name}-prepared"
    folder.mkdir(parents=True)
    script.prepare(Place(folder))
    trial = place / f"{script.name}-trial"
    shutil.copytree(folder, trial)
    states, here = [state(folder, place / "look")], Place(trial)
    for step in script.steps:
        step(here)
        states.append(state(trial, place / "look"))
    here.close()
    shutil.rmtree(trial)
    return Golden(script, folder, tuple(states), 0)


def state(folder: Path, look: Path) -> Held:
    """What the memory in a folder holds, seen through a copy, so that looking changes nothing."""
    if not (folder / "m" / "memory.db").exists():
        return frozenset()
    shutil.copytree(folder / "m", look)
    with opened(look) as memory:
        found = held(memory)
    shutil.rmtree(look)
    return found


def fail_at(worker: Worker, want: Golden, place: Path, n: int, fault: tuple[str, int]) -> Outcome:
    """Runs the script with one failure in a fresh folder."""
    trial = place / "trial"
    shutil.rmtree(trial, ignore_errors=True)
    shutil.copytree(want.folder, trial)
    return worker.run(want.script.name, trial, fault[0], n, fault[1])


def faults_after(want: Golden, trial: Path, outcome: Outcome, mode: str) -> Iterator[str]:
    """Yields what is wrong with the memory after a run: something lost, half written, not found, or an error."""
    if outcome.crash:
        yield f"an error that is not cuetrail's, or an error after the failure was over: {outcome.crash}"
        return
    if mode == "once" and outcome.done != len(want.script.steps):
        yield f"step {outcome.done} did not succeed when it was tried again: {outcome.error}"
    if not (trial / "m").exists():
        if want.states[outcome.done]:
            yield "the memory is gone"
        return
    with opened(trial / "m") as memory:
        found = held(memory)
        if found not in want.states[outcome.done : outcome.done + 2] and not _gradual(want, outcome, found):
            before = want.states[outcome.done]
            yield f"after {outcome.done} steps: lost {sorted(before - found)}, new {sorted(found - before)}"
        if findings := memory.doctor():
            yield f"doctor: {findings}"
        yield from (f"{word} is not found" for word in sorted(memory_words(found)) if not search(memory, word))
        memory.add("the memory takes a new text", id="afterwards")
        if search(memory, "takes a new text")[:1] != ["afterwards"]:
            yield "a new text is not found"


def _gradual(want: Golden, outcome: Outcome, found: Held) -> bool:
    """True if the step that failed may stop between its transactions, and no text was lost."""
    steps = want.script.steps
    if outcome.done == len(steps) or steps[outcome.done].__name__ not in want.script.gradual:
        return False
    return memory_words(want.states[outcome.done]) <= memory_words(found) <= memory_words(want.states[outcome.done + 1])


def memory_words(state: Held) -> frozenset[str]:
    """The words that each text has alone."""
    words = (w.strip(".,'\"") for record in state if " Node(" in record for w in record.split())
    return frozenset(w for w in words if w.startswith("quartz"))


def twice(worker: Worker, want: Golden, place: Path, n: int, again: tuple[int, tuple[str, int]]) -> list[str]:
    """A kill at operation n, then a failure while the memory recovers; returns what is wrong after both."""
    first = fail_at(worker, want, place, n, ("kill", 0))
    (m, (mode, code)) = again
    second = worker.run("recover", place / "trial", mode, m, code)
    wrong = list(faults_after(want, place / "trial", first, "kill"))
    return wrong + ([f"while it recovered: {second.crash}"] if second.crash else [])


def sweep(worker: Worker, place: Path, name: str, modes: list[str], stride: int) -> str:
    """Tries every `stride`-th operation of a script in these modes; writes what is wrong to standard error."""
    want, runs, wrong = golden(worker, SCRIPTS[name], place), 0, 0
    for fault in (fault for fault in FAULTS if fault[0] in modes):
        for n in range(1, want.operations + 1, stride):
            outcome = fail_at(worker, want, place, n, fault)
            found = list(faults_after(want, place / "trial", outcome, fault[0]))
            runs, wrong = runs + 1, wrong + bool(found)
            sys.stderr.writelines(f"{name} {fault} at {n}: {what}\n" for what in found)
        for m in range(1, 40, 13):
            for n in range(1, want.operations + 1, 20 * stride):
                found = twice(worker, want, place, n, (m, fault))
                runs, wrong = runs + 1, wrong + bool(found)
                sys.stderr.writelines(f"{name} killed at {n}, then {fault} at {m}: {what}\n" for what in found)
    return f"{name}: {want.operations} operations, {runs} runs, {wrong} wrong\n"


def main() -> None:
    """Sweeps over every STRIDE-th operation: `sweep [STRIDE] [SCRIPT or MODE ...]`."""
    stride = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    names = [name for name in sys.argv[2:] if name in SCRIPTS] or list(SCRIPTS)
    modes = [name for name in sys.argv[2:] if name in MODES] or list(MODES)
    with tempfile.TemporaryDirectory(prefix="cuetrail-sweep-") as made:
        place = Path(made)
        with Worker(build(place), place / "log") as worker:
            for name in names:
                sys.stdout.write(sweep(worker, place, name, modes, stride))
                sys.stdout.flush()


if __name__ == "__main__":
    main()
