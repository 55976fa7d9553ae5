"""Measures of ranked answers: worked examples, properties, and the verb bench."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuetrail import Memory
from cuetrail.errors import InputError
from cuetrail.evaluate import Answer, Interval, Question, all_at, compare, hit_at, measure, paired_interval, recall_at
from cuetrail.recall import recipes

IDS = st.lists(st.sampled_from("abcdefgh"), unique=True)
SHARES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_measures_are_what_they_are_by_hand() -> None:
    ranked, gold = ["x", "a", "y", "b", "c"], ("a", "b", "z")
    by_hand = {"R@1": 0, "R@2": 1 / 3, "R@5": 2 / 3, "All@5": 0, "Hit@1": 0, "Hit@2": 1, "MRR": 0.5}
    assert {name: measure(name, ranked, gold) for name in by_hand} == pytest.approx(by_hand)
    assert measure("All@4", ranked, ("a", "b")) == 1
    assert measure("R@5", [], gold) == measure("MRR", [], gold) == 0


@given(IDS, IDS.filter(bool), st.integers(1, 10))
def test_all_found_is_recalled_is_hit(ranked: list[str], gold: list[str], k: int) -> None:
    assert all_at(ranked, gold, k) <= recall_at(ranked, gold, k) <= hit_at(ranked, gold, k)
    assert recall_at(ranked, gold, k) <= recall_at(ranked, gold, k + 1)


def test_a_comparison_holds_every_row_against_the_first() -> None:
    questions = [Question("one", ("a",)), Question("two", ("b", "c"))]
    given = {
        "good": [Answer(("a",), 0.001), Answer(("b", "c"), 0.003)],
        "poor": [Answer(("x",), 0.002), Answer(("c", "x"), 0.002)],
    }
    found = compare(questions, given, ["R@1", "R@2", "MRR"], "R@2")
    good, poor = found.rows
    assert (good.figures, good.lead) == ({"R@1": 0.75, "R@2": 1.0, "MRR": 1.0}, Interval(0.0, 0.0, 0.0))
    assert poor.figures == {"R@1": 0.25, "R@2": 0.25, "MRR": 0.5}
    assert poor.lead.mean == -0.75
    assert (poor.lead.low, poor.lead.high) == (-1.0, -0.5)
    assert good.p50 == pytest.approx(0.002)


@settings(deadline=None, max_examples=50)
@given(SHARES)
def test_an_interval_holds_its_mean_turns_with_its_sides_and_is_the_same_twice(ours: list[float]) -> None:
    theirs = [value * 0.5 for value in reversed(ours)]
    found, other = paired_interval(ours, theirs, 200), paired_interval(theirs, ours, 200)
    differences = [mine - yours for mine, yours in zip(ours, theirs, strict=True)]
    assert min(differences) - 1e-9 <= found.low <= found.high <= max(differences) + 1e-9
    assert (found.mean, found.low, found.high) == pytest.approx((-other.mean, -other.high, -other.low), abs=1e-9)
    assert found == paired_interval(ours, theirs, 200)


def test_a_constant_lead_is_certain_and_more_questions_narrow_a_doubtful_one() -> None:
    assert paired_interval([0.75] * 5, [0.5] * 5) == Interval(0.25, 0.25, 0.25)
    few, many = (paired_interval([1.0, 0.0] * count, [0.0, 0.5] * count, 2_000) for count in (10, 250))
    assert few.low < few.mean == many.mean < few.high
    assert many.high - many.low < (few.high - few.low) / 3
    # The deviation of a mean of 500 values that are 1 or -.5 is .0335; 95 % lie within 1.96 of it.
    assert many.high - many.mean == pytest.approx(1.96 * 0.75 / 500**0.5, rel=0.1)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = Memory(tmp_path / "m", embedder=None)
    memory.add("The kite flies", id="kite", name="Red kite", tags=["sky"])
    memory.add("A cloud stands still", id="cloud", tags=["sky"])
    return memory


def test_a_recipe_of_ones_own_is_compared_by_name(memory: Memory) -> None:
    with memory:
        shy = replace(recipes.TRAIL, render=lambda _ask, scored: ("", replace(scored, anchors=())))
        found = memory.bench([{"question": "kite", "gold": "kite"}], only=["shy", "trail"], others={"shy": shy})
        assert [(row.name, row.figures["R@5"], row.lead.mean) for row in found.rows] == [
            ("shy", 0.0, 0.0),
            ("trail", 1.0, 1.0),
        ]
        assert memory.bench([Question("kite", ("Red kite",))], only=["trail"]).rows[0].figures["MRR"] == 1.0


def test_what_cannot_be_compared_is_refused(memory: Memory) -> None:
    asked = [{"question": "kite", "gold": ["kite"]}]
    with memory:
        with pytest.raises(InputError, match="there is no recipe 'walk': use some of trail"):
            memory.bench(asked, only=["walk"])
        with pytest.raises(InputError, match="there is no recipe"):
            memory.bench(asked, only=[["trail"]])  # type: ignore[list-item]  # wrong on purpose
        with pytest.raises(InputError, match="there are no questions"):
            memory.bench([])
        with pytest.raises(InputError, match="limit must be at least 1"):
            memory.bench(asked, limit=0)
