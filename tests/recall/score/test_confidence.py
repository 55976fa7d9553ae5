"""A recall says how sure it is, and refuses what no memory answers; every door alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail import Budget, Memory, recipes
from cuetrail.formulas import Evidence, confidence
from cuetrail.recall.render.text import NEAREST

PLACES = ("harbour", "garden", "workshop", "kitchen", "attic", "cellar", "office", "barn", "roof", "shed")
THINGS = ("lamp", "rope", "kettle", "ladder", "engine", "table", "bucket", "mirror", "clock", "anchor")
shares = st.floats(0, 1)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory of which every place and thing is well known, and one note on a receiver."""
    with Memory(tmp_path_factory.mktemp("memory"), embedder=None) as memory:
        memory.add_many(
            {"text": f"The {thing} number {number} in the {place} was painted and checked again this year."}
            for number, (place, thing) in enumerate((p, t) for p in PLACES for t in THINGS for _ in range(2))
        )
        memory.add("The receiver on the roof falls silent in frost because its connector shrinks.", id="receiver")
        yield memory


@pytest.mark.parametrize(
    "cue",
    [
        "why does the receiver fall silent in frost?",
        "receiver",
        "painted ladder in the barn",
        "year",
        "what is it about the kettle?",
    ],
)
def test_a_question_that_a_memory_answers_is_answered_with_confidence(large: Memory, cue: str) -> None:
    found = large.recall(cue, record_access=False)
    assert found.answerable
    assert found.confidence > 0.5


@pytest.mark.parametrize(
    "cue",
    [
        "how long must sourdough bread with rye stand in the kitchen?",
        "which vaccination does the neighbour's cat need this year?",
        "who won the chess tournament in Reykjavik?",
        "zzqx fnord blargh",
    ],
)
def test_an_absent_topic_is_refused(large: Memory, cue: str) -> None:
    found = large.recall(cue, record_access=False)
    assert not found.answerable
    assert found.confidence < 0.5


def test_a_refusal_says_what_was_looked_for_and_marks_the_nearest_memory(large: Memory) -> None:
    found = large.recall("how long must sourdough bread with rye stand in the kitchen?", record_access=False)
    first, nearest = found.text.split("\n\n", 1)
    assert first.startswith("No memory answers this. Looked for: ")
    assert "sourdough" in first
    assert nearest.startswith(f"{NEAREST}\n> ")
    assert found.hits[0].node.text in nearest


@pytest.mark.parametrize("size", [0, 10, 40, 90, 150, 400])
def test_a_refusal_keeps_to_the_budget(large: Memory, size: int) -> None:
    found = large.recall("how long must sourdough bread stand in the kitchen?", budget=Budget(chars=size))
    assert len(found.text) <= size


def test_a_refused_memory_does_not_count_as_used(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder=None) as memory:
        memory.add_many(
            {"text": f"The kitchen number {number} was painted.", "id": str(number)} for number in range(150)
        )
        found = memory.recall("how long must sourdough bread with rye and seeds stand in the kitchen?")
        assert not found.answerable
        assert all(node is not None and node.life.accesses == 0 for node in (memory.get(h.node.id) for h in found.hits))


def test_a_small_memory_is_not_judged_by_the_words_it_lacks(tmp_path: Path) -> None:
    with Memory(tmp_path, embedder=None) as memory:
        memory.add("We chose DuckDB for JACQ because it needs no server")
        assert memory.recall("what did we decide about JACQ?").answerable


def test_recipes_that_do_not_estimate_it_are_sure_of_what_they_find(large: Memory) -> None:
    found = large.recall("receiver", recipe=recipes.TAG_WALK, record_access=False)
    assert (found.answerable, found.confidence) == (True, 1.0)
    found = large.recall("sourdough", recipe=recipes.TAG_WALK, record_access=False)
    assert (found.answerable, found.confidence) == (False, 0.0)


@given(
    st.floats(-10, 10), st.integers(0, 12), shares, st.none() | st.floats(-1, 1), st.booleans(), st.integers(1, 500),
    st.integers(1, 5),
)  # fmt: skip
def test_more_words_in_the_best_hit_never_lower_the_confidence(
    score: float, matched: int, rest: float, near: float | None, contextual: bool, candidates: int, more: int
) -> None:
    less = Evidence(score, matched, rest, near, contextual, candidates)
    assert 0 <= confidence(less) <= confidence(replace(less, matched=matched + more)) <= 1
