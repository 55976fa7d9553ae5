"""Hostile arguments: every verb gives a result or an error in words, at a bounded cost, and harms no other tenant."""

from __future__ import annotations

import pytest

from tests.reliability.fuzz import DOORS, Run


@pytest.mark.parametrize("door", DOORS)
def test_hostile_arguments_give_a_result_or_an_error_in_words(door: str) -> None:
    run = Run(door, seed=1)
    run.calls(120)
    assert sum(run.done.values()) == 120
    assert sum(run.worked.values()) > 20, "too few calls came past the checks of arguments"
