"""The command `bench`: recipes compared on the user's own questions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from cuetrail.cli.commands.bench import RECIPES
from cuetrail.recall.recipes import BY_NAME

Run = Callable[..., Result]
Ask = Callable[..., Any]


@pytest.fixture
def sky(run: Run) -> None:
    run("add", "The kite flies", "--id", "kite", "--name", "Red kite", "--tag", "sky", "--bucket", "field")
    run("add", "A cloud stands still", "--id", "cloud", "--tag", "sky", "--bucket", "field")
    run("add", "A stone", "--id", "stone", "--tag", "ground")


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    file = tmp_path / "questions.jsonl"
    asked = [{"question": "kite", "gold": ["Red kite", "cloud"]}, {"question": "stone", "gold": "stone"}]
    file.write_text("\n\n".join(map(json.dumps, asked)), "utf-8")
    return file


def test_every_recipe_has_a_row_with_its_figures(ask: Ask, sky: None, questions: Path) -> None:
    found = ask("bench", questions)
    assert (found["questions"], found["by"], found["against"]) == (2, "R@5", "trail")
    rows = {row["recipe"]: row for row in found["rows"]}
    assert list(rows) == list(BY_NAME) == list(RECIPES)
    # Words find the kite and the stone; only tags lead to the cloud, and energy goes along edges.
    assert (rows["trail"]["R@5"], rows["trail"]["All@10"], rows["trail"]["MRR"]) == (1.0, 1.0, 1.0)
    assert (rows["tag-walk"]["R@5"], rows["tag-walk"]["All@10"]) == (1.0, 1.0)
    assert rows["energy"]["lead"]["mean"] == -0.25
    assert rows["trail"]["p95_ms"] >= rows["trail"]["p50_ms"] > 0


def test_people_get_a_table(run: Run, sky: None, questions: Path) -> None:
    lines = run("bench", questions, "--recipe", "energy", "--recipe", "tag-walk", "--limit", "4").stdout.splitlines()
    assert lines[0].split()[:6] == ["recipe", "R@1", "R@4", "All@4", "MRR", "R@4"]
    assert "against energy" in lines[0]
    assert lines[1].split()[:3] == ["energy", "75.0", "75.0"]
    assert lines[2].split()[:3] == ["tag-walk", "75.0", "100.0"]
    assert "+25.0 (+0.0 to +50.0)" in lines[2]
    assert lines[-1] == "2 questions, no language model"


def test_asking_is_not_counted_as_a_use(run: Run, ask: Ask, sky: None, questions: Path) -> None:
    before = ask("get", "kite")
    run("bench", questions)
    assert ask("get", "kite") == before


def test_a_file_counts_as_found_with_anything_from_it(run: Run, ask: Ask, vault: Path, tmp_path: Path) -> None:
    run("ingest", vault)
    file = tmp_path / "questions.jsonl"
    file.write_text(json.dumps({"question": "minus five degrees", "gold": ["Connector"]}), "utf-8")
    (row,) = ask("bench", file, "--recipe", "trail")["rows"]
    assert row["R@1"] == 1.0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no questions"),
        ("{", "line 1: this is no JSON"),
        ('{"question": "a", "gold": ["kite"]}\n[]', "line 2: a question must be a mapping"),
        ('{"gold": ["kite"]}', "question must be a text that is not empty"),
        ('{"question": "a", "gold": []}', "gold must be a list of ids or names"),
        ('{"question": "a", "gold": [5]}', "gold must be a list of ids or names"),
        ('{"question": "a", "gold": ["nobody"]}', "nobody"),
    ],
)
def test_what_is_no_question_is_told_with_its_place(run: Run, sky: None, tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(text, "utf-8")
    assert told in run("bench", file, code=2).stderr


def test_a_file_that_is_not_there_is_told(run: Run, sky: None, tmp_path: Path) -> None:
    assert "name a file of questions" in run("bench", tmp_path / "none.jsonl", code=2).stderr
    assert "name a file of questions" in run("bench", tmp_path, code=2).stderr
