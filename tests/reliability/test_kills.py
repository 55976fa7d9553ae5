"""A few kills of each kind of process; `python -m tests.reliability.kills` does a thousand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability.kills import COUNTS, KINDS, run

# Those that no other test kills; `tests/store/sqlite/test_kill.py` kills writers, readers and backups by the hundred.
RARE = ("server", "write", "dream", "migration", "import")


@pytest.mark.parametrize("kind", RARE)
def test_a_process_killed_at_a_random_moment_loses_and_halves_nothing(tmp_path: Path, kind: str) -> None:
    tally = run(kind, 2, tmp_path / kind)
    assert tally.kills == 2
    assert tally.wrong == []


def test_every_kind_is_part_of_the_experiment() -> None:
    assert set(COUNTS) == set(KINDS)
    assert sum(COUNTS.values()) >= 1_000
    assert min(COUNTS[kind] for kind in ("restore", "migration", "import")) >= 100
