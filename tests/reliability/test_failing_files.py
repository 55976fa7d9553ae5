"""The n-th file operation fails or is the last one: nothing acknowledged is lost, nothing is half there.

The suite samples the operations; `python -m tests.reliability.sweep` tries every one.
"""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.errors import MemoryError_
from tests.reliability.failing_files import Worker
from tests.reliability.scripts import SCRIPTS
from tests.reliability.sweep import FAULTS, fail_at, faults_after, golden, twice

# Operations tried of each script and fault: this many, spread over all of them.
SAMPLES = 2


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_a_failure_at_any_file_operation_loses_and_halves_nothing(worker: Worker, tmp_path: Path, name: str) -> None:
    want = golden(worker, SCRIPTS[name], tmp_path)
    for number, fault in enumerate(FAULTS):
        for sample in range(SAMPLES):
            n = 1 + (want.operations * (sample * len(FAULTS) + number)) // (SAMPLES * len(FAULTS))
            outcome = fail_at(worker, want, tmp_path, n, fault)
            wrong = list(faults_after(want, tmp_path / "trial", outcome, fault[0]))
            assert not wrong, f"{name}, {fault} at {n}: {wrong}"


@pytest.mark.parametrize("name", ["restore", "migrate", "rebuild"])
def test_a_second_failure_while_a_killed_memory_recovers_loses_nothing(
    worker: Worker, tmp_path: Path, name: str
) -> None:
    want = golden(worker, SCRIPTS[name], tmp_path)
    for number, fault in enumerate(FAULTS):
        n = 1 + want.operations * number // len(FAULTS)
        wrong = twice(worker, want, tmp_path, n, (1 + 5 * number, fault))
        assert not wrong, f"{name}, killed at {n}, then {fault}: {wrong}"


def test_a_new_memory_whose_log_cannot_be_written_back_is_not_put_in_its_place(worker: Worker, tmp_path: Path) -> None:
    """SQLite writes the log back when the last connection closes, and says nothing if that fails."""
    want = golden(worker, SCRIPTS["write"], tmp_path)
    for n in range(270, 340, 7):
        outcome = fail_at(worker, want, tmp_path, n, ("once", errno.EIO))
        assert not list(faults_after(want, tmp_path / "trial", outcome, "once")), n


def test_a_dream_interrupted_at_a_summary_makes_it_the_next_time(tmp_path: Path) -> None:
    def interrupted(name: str, texts: Sequence[str]) -> str:
        raise KeyboardInterrupt

    with Memory(tmp_path, embedder="none") as memory:
        memory.ingest_text("# Log\n\nThe receiver fell silent in the frost.", source="log.md")
        with pytest.raises(KeyboardInterrupt):
            memory.dream(teller=interrupted)
        memory.dream()
        (source,) = memory.timeline(kinds=["source"]).nodes
        assert "summary" in source.props


def test_an_index_that_cannot_be_locked_is_an_error_that_says_so(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder="none") as memory:
        memory.add("the receiver fell silent")
        (tmp_path / "index" / "text" / "lock").mkdir(parents=True)
        with pytest.raises(MemoryError_, match="cannot be written"):
            memory.recall("receiver")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_an_export_to_a_full_disk_is_an_error_that_says_so(tmp_path: Path) -> None:
    with (
        Memory(tmp_path, embedder="none") as memory,
        pytest.raises(MemoryError_, match=r"the export cannot be written .* make room"),
    ):
        memory.export("/dev/full")
