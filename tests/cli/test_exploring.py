"""The command line of exploring: traverse."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def people(run: Run) -> Run:
    for name in ("Ada", "Charles", "Mary"):
        run("add", "--name", name, "--id", name, "--kind", "person")
    run("link", "Ada", "Charles", "--weight", "0.9")
    run("link", "Charles", "Mary", "--weight", "0.5")
    return run


def test_traverse_prints_what_is_near(people: Run) -> None:
    lines = people("traverse", "Ada", "--hops", "2").stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [["1", "Charles"], ["2", "Mary"]]


def test_traverse_by_rank_as_json(people: Run) -> None:
    found = json.loads(people("traverse", "Ada", "--rank", "--json").stdout)
    assert {one["node"]["id"] for one in found["arrivals"]} == {"Ada", "Charles", "Mary"}
    assert sum(one["score"] for one in found["arrivals"]) == pytest.approx(1)


def test_a_start_that_is_not_there_is_told(people: Run) -> None:
    done = people("traverse", "Nobody", code=2)
    assert "there is no node with the id or name 'Nobody'" in done.stderr
