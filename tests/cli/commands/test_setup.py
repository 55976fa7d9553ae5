"""`cuetrail setup`: the questions, the options that answer them, and that nothing is left half done."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Run
from tests.cli.pseudo_terminal import in_terminal


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with notes, in which Cursor is installed. No hub is reached."""
    home = tmp_path / "home"
    (home / "notes").mkdir(parents=True)
    (home / ".cursor").mkdir()
    (home / "notes" / "Tea.md").write_text("# Tea\n\nThe kettle sings at ninety degrees.\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setenv("CUETRAIL_MODELS", str(home / "models"))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    return home


def test_it_asks_three_questions_and_does_what_was_answered(home: Path, run: Run, memory: Path) -> None:
    typed = [("Where are your notes", "/nope\n"), ("Where are your notes", "\n"), ("Which agent", "\n")]
    screen = in_terminal("setup", typed=[*typed, ("stronger", "\n"), ("Go ahead", "\n")])
    assert screen.code == 0, screen.text
    assert "There is no file or folder /nope." in screen.text
    assert "1 file read: 1 passage added" in screen.text
    assert str(memory) in (home / ".cursor" / "mcp.json").read_text()
    assert "kettle sings" in run("recall", "when does the kettle sing?").stdout


def test_ctrl_c_and_no_change_nothing(home: Path, run: Run, memory: Path) -> None:
    # The new line wakes a prompt that the signal reached just before it began to wait.
    typed = [("Where are your notes", "\n"), ("[cursor]: ", "\x03"), ("^C", "\n")]
    stopped = in_terminal("setup", typed=typed)
    assert (stopped.code, "cuetrail: stopped" in stopped.text) == (130, True)
    refused = in_terminal("setup", "--model", "none", "--agent", "cursor", typed=[("notes?", "\n"), ("ahead", "n\n")])
    assert (refused.code, "nothing was changed" in refused.text) == (1, True)
    assert not memory.exists()
    assert not (home / ".cursor" / "mcp.json").exists()


def test_without_a_terminal_options_answer_or_the_defaults(home: Path, run: Run, ask: Callable[..., Any]) -> None:
    assert "give --agent, --model, or --yes" in run("setup", "--notes", "none", code=2).stderr
    done = ask("setup", "--yes")
    assert (done["agent"], done["model"], done["ingested"]["added"], done["problems"]) == ("cursor", "none", 1, [])
    again = ask("setup", "--notes", home / "notes", "--agent", "codex", "--model", "none")
    assert (again["ingested"]["unchanged_files"], [one["written"] for one in again["files"]]) == (1, [True])
    assert (home / ".codex" / "config.toml").exists()


def test_wrong_answers_are_refused_before_anything_is_changed(home: Path, run: Run, memory: Path) -> None:
    given = ("--agent", "cursor", "--model", "none")
    assert "there is no file or folder /nope" in run("setup", "--notes", "/nope", *given, code=2).stderr
    assert "no model is called 'zzz'" in run("setup", "--notes", "none", *given[:3], "zzz", code=2).stderr
    assert not memory.exists()
    assert not (home / ".cursor" / "mcp.json").exists()


def test_a_step_that_fails_is_named_and_the_others_are_done(home: Path, run: Run) -> None:
    (home / ".cursor" / "mcp.json").write_text("{ broken")
    words = ("setup", "--notes", str(home / "notes"), "--agent", "cursor", "--model", "bge-small-en-v1.5")
    done = run(*words, "--json", code=1)
    problems = json.loads(done.stdout)["problems"]
    assert [problem.split(":")[0] for problem in problems] == ["the model", "the settings of cursor"]
    assert "kettle sings" in run("recall", "kettle").stdout
    assert (home / ".cursor" / "mcp.json").read_text() == "{ broken"
