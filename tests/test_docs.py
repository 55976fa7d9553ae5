"""Every example in the documentation runs, and every link leads somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from cuetrail.cli.commands.model import megabytes
from cuetrail.model_files.catalogue import CATALOGUE
from cuetrail.validation.limits import MOST, MOST_ITEMS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")

# People run these again on the memory that the first run left.
TWICE = ("README.md", "quickstart.md")
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def blocks(page: Path, language: str) -> list[str]:
    return [body for kind, body in BLOCK.findall(page.read_text("utf-8")) if kind == language]


@every_page
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for body in blocks(page, "python") * (2 if page.name in TWICE else 1):
        exec(compile(body, str(page), "exec"), {})


def test_the_readme_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cuetrail.cli import main

    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("CUETRAIL_MEMORY", str(tmp_path / "memory"))
    shown = [line for body in blocks(ROOT / "README.md", "console") for line in body.splitlines()]
    commands = [line[2:] for line in shown if line.startswith("$ ")]
    assert commands
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "cuetrail"
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, f"{command}\n{result.output}"


@every_page
def test_links_lead_somewhere(page: Path) -> None:
    broken = [link for link in LINK.findall(page.read_text("utf-8")) if not (page.parent / link).exists()]
    assert not broken


def test_the_page_on_limits_has_every_limit() -> None:
    rows = dict(re.findall(r"\| `(\w+)` \| ([\d,]+) \|", (ROOT / "docs/limits.md").read_text()))
    assert {name: int(most.replace(",", "")) for name, most in rows.items()} == {**MOST, **MOST_ITEMS}


def test_the_page_on_models_has_every_model() -> None:
    rows = re.findall(
        r"^\| `([\w.-]+)` \| (\w+) \| (.+?) \| (.+?) \| (.+?) \|$", (ROOT / "docs/models.md").read_text(), re.M
    )
    known = [(one.name, one.kind, one.good_for, megabytes(one.size), one.licence) for one in CATALOGUE]
    assert rows == known
