"""The command line as a separate process: pipes, signals and terminals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pty = pytest.importorskip("pty", reason="terminals need a POSIX system")

CUETRAIL = [sys.executable, "-m", "cuetrail"]
PATIENCE = 60


def environment(memory: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "CUETRAIL_MEMORY": str(memory), "CUETRAIL_EMBEDDER": "none", "TERM": "xterm", **more}


def cuetrail(memory: Path, *arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [*CUETRAIL, *map(str, arguments)]
    options = {"capture_output": True, "text": True, "env": environment(memory), **options}
    return subprocess.run(command, check=False, timeout=PATIENCE, **options)


@contextmanager
def on_a_terminal(memory: Path, *arguments: str | Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The process with stdin and stderr on a terminal, and our end of it."""
    ours, theirs = pty.openpty()
    command = [*CUETRAIL, *map(str, arguments)]
    with subprocess.Popen(
        command, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, env=environment(memory), start_new_session=True
    ) as process:
        os.close(theirs)
        try:
            yield process, ours
        finally:
            process.kill()
            os.close(ours)


def read_until(terminal: int, word: bytes) -> bytes:
    """What the terminal shows up to a word, or up to its end."""
    seen = b""
    while word not in seen:
        try:
            seen += os.read(terminal, 4096)
        except OSError:  # the other end is closed
            break
    return seen


@pytest.fixture
def many_notes(tmp_path: Path) -> Path:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(1000):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\n" + f"Bird {number} was heard at the site. " * 10)
    return folder


def test_results_errors_and_exit_codes_reach_the_shell(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    added = cuetrail(memory, "add", "one", "--id", "A", "--json")
    assert (added.returncode, json.loads(added.stdout)["id"], added.stderr) == (0, "A", "")
    missing = cuetrail(memory, "get", "B")
    assert (missing.returncode, missing.stdout) == (2, "")


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    cuetrail(memory, "add", "-", input="More than a pipe holds. " * 20_000)
    with subprocess.Popen(
        [*CUETRAIL, "export", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(memory)
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert b"cuetrail" in process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""


@pytest.mark.parametrize(
    ("closed", "arguments", "code"),
    [
        (">&-", ["recall", "one"], 0),
        ("2>&-", ["recall", "zebra"], 0),
        ("2>&-", ["get", "B"], 2),
        ("<&-", ["add", "-"], 2),
    ],
)
def test_a_stream_that_was_closed_is_no_crash(tmp_path: Path, closed: str, arguments: list[str], code: int) -> None:
    memory = tmp_path / "memory"
    cuetrail(memory, "add", "one", "--id", "A")
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *CUETRAIL, *arguments]
    done = subprocess.run(shell, env=environment(memory), capture_output=True, text=True, check=False, timeout=PATIENCE)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert cuetrail(memory, "doctor").stdout == "nothing is wrong\n"


@pytest.mark.usefixtures("bound")
def test_a_memory_that_cannot_be_written_to_says_so_and_can_be_read(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    cuetrail(memory, "add", "one")
    memory.chmod(0o555)
    written, counted, found = (cuetrail(memory, *words) for words in (["add", "two"], ["stats"], ["recall", "one"]))
    memory.chmod(0o755)
    assert (written.returncode, "make it writable" in written.stderr) == (3, True)
    assert (counted.returncode, found.returncode, "> one [" in found.stdout) == (0, 0, True)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["stats"], ["export", "-"]])
def test_a_full_disk_is_one_clear_line(tmp_path: Path, arguments: list[str]) -> None:
    memory = tmp_path / "memory"
    cuetrail(memory, "add", "one")
    with Path("/dev/full").open("w") as full:
        done = cuetrail(memory, *arguments, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "the disk is full" in done.stderr


def test_a_terminal_that_knows_only_ascii_gets_escapes(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    cuetrail(memory, "add", "Grüße aus Tromsø", "--id", "A")
    ascii_only = environment(memory, PYTHONIOENCODING="ascii")
    assert "Gr\\xfc" in cuetrail(memory, "get", "A", env=ascii_only).stdout
    found = json.loads(cuetrail(memory, "get", "A", "--json", env=ascii_only).stdout)
    assert found["node"]["text"] == "Grüße aus Tromsø"


def test_interrupting_an_ingest_says_what_is_safe(tmp_path: Path, many_notes: Path) -> None:
    memory = tmp_path / "memory"
    with on_a_terminal(memory, "ingest", many_notes) as (process, terminal):
        assert b"reading" in read_until(terminal, b"reading")
        process.send_signal(signal.SIGINT)
        rest = read_until(terminal, b"run the same command again")
        assert b"everything up to here is stored" in rest
        assert process.wait(PATIENCE) == 130
        assert b"Traceback" not in rest
    again = json.loads(cuetrail(memory, "ingest", many_notes, "--json").stdout)
    assert again["files"] == 1000
    assert again["unchanged_files"] > 0
    assert cuetrail(memory, "doctor").returncode == 0


def test_watch_follows_changes_until_it_is_interrupted(tmp_path: Path, vault: Path) -> None:
    with subprocess.Popen(
        [*CUETRAIL, "ingest", "--watch", str(vault)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(tmp_path / "memory"),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("2 files read")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "everything up to here is stored" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(("answer", "code", "left"), [(b"y\n", 0, 0), (b"n\n", 1, 1)])
def test_forget_asks_on_a_terminal(tmp_path: Path, answer: bytes, code: int, left: int) -> None:
    memory = tmp_path / "memory"
    cuetrail(memory, "add", "a secret about birds", "--id", "A")
    with on_a_terminal(memory, "forget", "A") as (process, terminal):
        assert b"a secret about birds" in read_until(terminal, b"[y/N]")
        os.write(terminal, answer)
        assert process.wait(PATIENCE) == code
    assert json.loads(cuetrail(memory, "stats", "--json").stdout)["nodes"] == left


def test_an_interrupt_while_the_command_is_still_loading_shows_no_traceback(tmp_path: Path) -> None:
    interrupted = (
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'click':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from cuetrail.__main__ import run\n"
        "run()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", interrupted], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert (done.returncode, done.stderr) == (130, "")


def test_forgetting_shows_the_copies_and_their_files_before_it_asks(tmp_path: Path) -> None:
    memory, notes = tmp_path / "memory", tmp_path / "notes"
    notes.mkdir()
    (notes / "diary.md").write_text("# Diary\n\nTurnips are bad for the teeth.")
    (notes / "copy.md").write_text("Turnips are bad for the teeth!\n\n---\n\nAnother paragraph.")
    cuetrail(memory, "ingest", notes)
    with on_a_terminal(memory, "forget", "--source", "notes/diary.md") as (process, terminal):
        shown = read_until(terminal, b"[y/N]")
        assert b"everything from notes/diary.md: 1 passage" in shown
        assert b"1 copy of it elsewhere: notes/copy.md" in shown
        os.write(terminal, b"n\n")
        assert b"nothing was forgotten" in read_until(terminal, b"forgotten\r\n")
        assert process.wait(PATIENCE) != 0
    assert "Turnips" in cuetrail(memory, "recall", "turnips").stdout
