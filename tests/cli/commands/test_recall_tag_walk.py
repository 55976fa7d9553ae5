"""Tag walk and quarantine as commands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
Ask = Callable[..., Any]


@pytest.fixture
def sky(run: Run) -> None:
    run("add", "The kite flies", "--id", "kite", "--tag", "sky", "--bucket", "field")
    run("add", "A cloud stands still", "--id", "cloud", "--tag", "sky", "--bucket", "field")
    run("add", "A stone", "--id", "stone", "--tag", "ground")


def walk(run: Run, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("recall", *arguments, "--recipe", "tag-walk", "--json").stdout)
    return found


def test_a_tag_walk_shows_what_the_words_find_and_what_belongs_with_it(run: Run, sky: None) -> None:
    assert (
        run("recall", "kite", "--recipe", "tag-walk").stdout
        == "> The kite flies [kite]\n\n> A cloud stands still [cloud]\n"
    )
    found = walk(run, "kite")
    assert (found["anchors"], found["walkers"], found["attempt"]) == (["kite"], ["cloud"], "full")
    assert walk(run, "kite", "--limit", "1")["walkers"] == []


def test_explain_draws_what_is_shared_and_with_whom(run: Run, sky: None) -> None:
    lines = run("recall", "kite", "--recipe", "tag-walk", "--explain").stdout
    assert "has “kite”" in lines
    assert "Related to these" in lines
    assert "└─ words → The kite flies\n       └─ shares #sky and @field with → A cloud stands still" in lines
    assert "found by shared tags and buckets" in lines
    numbers = run("recall", "kite", "--recipe", "tag-walk", "--verbose").stdout
    assert re.search(r"2\.000  factor for trust \(provenance\)", numbers)
    assert re.search(r"0\.\d\d  rarity of #sky", numbers)


def test_the_options_of_a_walk_reach_it(run: Run, sky: None) -> None:
    walker = walk(run, "kite", "--rank", "gravity")["hits"][1]
    assert walker["why"]["parts"]["shared"] == 2
    anchor = walk(run, "kite", "--mode", "internal")["hits"][0]
    assert anchor["why"]["parts"]["provenance"] == 3
    assert len(walk(run, "kite", "--budget-chars", "55")["hits"]) == 1
    assert len(walk(run, "kite", "--budget-chars", "55", "--spill")["hits"]) == 2
    assert walk(run, "kite", "--tag", "ground")["hits"] == []


@pytest.mark.parametrize("option", [["--mode", "all"], ["--rank", "idf"], ["--spill"]])
def test_the_options_of_a_walk_go_with_no_other_recipe(run: Run, sky: None, option: list[str]) -> None:
    assert f"{option[0]} goes with --recipe tag-walk" in run("recall", "kite", *option, code=2).stderr


def test_a_cue_that_had_to_be_read_otherwise_is_told(run: Run, sky: None) -> None:
    result = run("recall", "clowd", "--recipe", "tag-walk")
    assert "A cloud stands still" in result.stdout
    assert "few results; the cue was searched with typos forgiven" in result.stderr


def test_quarantine_sets_aside_and_lets_back(run: Run, ask: Ask, sky: None) -> None:
    assert "set aside 1 memory" in run("quarantine", "cloud").stdout
    assert walk(run, "kite")["walkers"] == []
    assert walk(run, "kite", "--quarantined")["walkers"] == ["cloud"]
    assert ask("get", "cloud")["node"]["provenance"] == "quarantine"
    assert ask("quarantine", "--undo", "cloud") == {"moved": ["cloud"], "undo": True}
    assert walk(run, "kite")["walkers"] == ["cloud"]
    assert "let back 0 memories" in run("quarantine", "--undo", "cloud").stdout


def test_quarantine_wants_to_know_what(run: Run, sky: None) -> None:
    assert "name what to set aside" in run("quarantine", code=2).stderr
    assert "there is no node" in run("quarantine", "nobody", code=2).stderr
