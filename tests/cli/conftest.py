"""Fixtures: the command line, run in this process on the test's own memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cuetrail.cli import main

Run = Callable[..., Result]


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.fixture
def run(memory: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a verb as a user does; without vectors, unless the test names an embedder."""
    monkeypatch.setenv("CUETRAIL_MEMORY", str(memory))
    monkeypatch.setenv("CUETRAIL_EMBEDDER", "none")

    def run(*arguments: str | Path, input: str | bytes | None = None, code: int = 0) -> Result:
        result = CliRunner().invoke(main, [str(a) for a in arguments], input=input)
        assert result.exit_code == code, f"exit code {result.exit_code}\n{result.output}\n{result.exception!r}"
        return result

    return run


@pytest.fixture
def ask(run: Run) -> Callable[..., Any]:
    """Runs a verb with --json and gives back the one document it prints."""

    def ask(*arguments: str | Path, **options: Any) -> Any:
        return json.loads(run(*arguments, "--json", **options).stdout)

    return ask


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """Two notes that are joined by a link."""
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Receiver.md").write_text("# Receiver\n\nThe receiver falls silent in frost, see [[Connector]]. #fault\n")
    (folder / "Connector.md").write_text("# Connector\n\nBelow minus five degrees the connector shrinks. #hardware\n")
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "home"
    place.mkdir()
    monkeypatch.setenv("HOME", str(place))
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    return place
