"""The command `cuetrail dream`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cuetrail import Memory
from cuetrail.cli import main
from cuetrail.dream import run as dreams
from cuetrail.dream.run import repeat
from cuetrail.model import PASS_NAMES
from tests.dream.tools import exported, fill, origins


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder="none") as opened:
        fill(opened)
        yield opened


@pytest.fixture
def place(filled: Memory, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CUETRAIL_MEMORY", filled.address)
    monkeypatch.setenv("CUETRAIL_EMBEDDER", "none")
    return Path(filled.address)


def cuetrail(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["dream", *arguments])
    assert result.exit_code == code, result.output
    return result


def ask(*arguments: str) -> Any:
    return json.loads(cuetrail(*arguments, "--json").stdout)


def test_the_passes_are_listed_with_what_they_did(place: Path) -> None:
    lines = cuetrail().stdout.splitlines()
    assert lines[0].split() == ["pass", "read", "wrote", "removed", "seconds"]
    assert [line.split()[:3] for line in lines[1:2]] == [["temporal", "120", "720"]]
    assert [line.split()[0] for line in lines[1:]] == list(PASS_NAMES[:-1])


def test_the_command_knows_the_passes_there_are() -> None:
    assert (*(one.__name__ for one in dreams.PASSES), dreams.MIRROR) == PASS_NAMES


def test_json_has_the_whole_report(place: Path) -> None:
    found = ask("--only", "temporal", "--only", "episodes")
    assert [one["name"] for one in found["passes"]] == ["temporal", "episodes"]
    assert (found["skipped"], found["dry_run"], found["passes"][0]["wrote"]) == (False, False, 720)


def test_a_dry_run_shows_and_writes_nothing(place: Path, filled: Memory) -> None:
    before = exported(filled)
    shown = cuetrail("--dry-run", "--only", "temporal").stdout
    assert "nothing was changed" in shown
    assert '+ #monday (temporal) on a0 "Persona Example showed brass wheels' in shown
    assert "and 700 more changes" in shown
    assert exported(filled) == before


def test_a_dream_that_was_skipped_says_so(place: Path, filled: Memory) -> None:
    with filled.store.single_dream():
        assert cuetrail().stdout == "skipped: another dream runs in this memory\n"
        assert ask()["skipped"] is True


def test_the_zone_comes_from_the_command_the_environment_or_the_file(
    place: Path, filled: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place / "cuetrail.toml").write_text('zone = "Asia/Tokyo"\n')
    cuetrail("--only", "temporal")
    assert "night" in origins(filled, "a0")  # 14:00 UTC is 23:00 in Tokyo
    monkeypatch.setenv("CUETRAIL_ZONE", "America/New_York")
    cuetrail("--only", "temporal")
    assert "morning" in origins(filled, "a0")
    cuetrail("--only", "temporal", "--zone", "UTC")
    assert "afternoon" in origins(filled, "a0")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--every", "soon"), "no length of time"),
        (("--every", "0m"), "no length of time"),
        (("--zone", "Mars"), "no time zone"),
        (("--only", "nightmare"), "nightmare"),
    ],
)
def test_wrong_use_is_told(place: Path, arguments: tuple[str, ...], said: str) -> None:
    assert said in cuetrail(*arguments, code=2).stderr


class Clock:
    """A time that passes only when somebody waits, and a stop after so many rounds."""

    def __init__(self, rounds: int) -> None:
        self.now, self.rounds, self.waited = 0.0, rounds, list[float]()

    def is_set(self) -> bool:
        return len(self.waited) >= self.rounds

    def wait(self, timeout: float) -> bool:
        self.waited.append(timeout)
        self.now += timeout
        return self.is_set()


def test_dreams_begin_at_even_intervals(filled: Memory) -> None:
    clock = Clock(3)
    begun = []

    def once() -> None:
        begun.append(clock.now)
        filled.dream(only=["temporal"])
        clock.now += 600 if len(begun) == 1 else 5_000

    repeat(once, 3_600, clock, lambda: clock.now)
    assert begun == [0, 3_600, 8_600]
    assert clock.waited == [3_000, 0, 0]


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a POSIX system")
@pytest.mark.parametrize(("sign", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_signals_end_the_loop_cleanly(place: Path, filled: Memory, sign: signal.Signals, code: int) -> None:
    command = [sys.executable, "-m", "cuetrail", "dream", "--every", "1d"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        assert process.stdout is not None
        assert any(line.startswith("episodes") for line in process.stdout), process.stderr and process.stderr.read()
        process.send_signal(sign)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            # Nothing, if it has ended as it should.
            process.kill()
    assert process.returncode == code
    assert "the next dream continues from there" in said
    assert filled.doctor() == []
    assert not filled.dream().skipped
