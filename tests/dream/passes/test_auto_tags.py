"""A custom tagger, such as an LLM, instead of the rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from cuetrail import CuetrailError, Memory
from cuetrail.model import PASS_NAMES
from tests.dream.tools import MONDAY, counts, idle, of_origin


class Shouting:
    """Proposes every word in capitals."""

    name = "shouting 1"
    shared = 1

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        self.seen += texts
        return [[word for word in text.split() if word.isupper()] for text in texts]


def test_a_tagger_replaces_the_rule(memory: Memory) -> None:
    memory.add("ALPHA beta Gamma Delta DELTA", id="a", at=MONDAY)
    memory.dream(tagger=Shouting())
    assert of_origin(memory, "a", "auto") == {"alpha", "delta"}


def test_a_tagger_sees_each_text_once(memory: Memory) -> None:
    tagger = Shouting()
    memory.add("ALPHA beta", id="a", at=MONDAY)
    memory.dream(tagger=tagger)
    memory.add("GAMMA delta", id="b", at=MONDAY)
    memory.dream(tagger=tagger)
    assert tagger.seen == ["ALPHA beta", "GAMMA delta"]
    assert idle(memory.dream(tagger=tagger))


def test_another_tagger_tags_everything_anew(memory: Memory) -> None:
    memory.add("ALPHA met Grace Hopper", id="a", at=MONDAY)
    memory.add("BETA met Grace Hopper", id="b", at=MONDAY)
    memory.dream()
    assert of_origin(memory, "a", "auto") == {"grace_hopper"}
    report = memory.dream(tagger=Shouting())
    assert counts(report)["auto_tags"] == (2, 2, 2)
    memory.dream()
    assert of_origin(memory, "a", "auto") == {"grace_hopper"}


def test_a_tagger_may_ask_for_more_sharing(memory: Memory) -> None:
    class Careful(Shouting):
        name = "careful"
        shared = 3

    for n in range(4):
        memory.add(f"ALPHA {'BETA' if n < 2 else 'x'} {n}", id=f"a{n}", at=MONDAY)
        memory.dream(tagger=Careful())
        expected = {"alpha"} if n >= 2 else set()
        assert [of_origin(memory, f"a{m}", "auto") for m in range(n + 1)] == [expected] * (n + 1)
    memory.forget("a0", "a1")
    memory.dream(tagger=Careful())
    assert of_origin(memory, "a2", "auto") == set()


def test_at_most_three_tags_and_none_that_says_nothing(memory: Memory) -> None:
    memory.add("A THE MONDAY 42 ONE ALPHA BETA GAMMA DELTA", id="a", at=MONDAY)
    memory.dream(tagger=Shouting())
    assert of_origin(memory, "a", "auto") == {"alpha", "beta", "gamma"}


@pytest.mark.parametrize("tagger", [7, "rule", lambda texts: texts])
def test_what_is_no_tagger_is_refused(memory: Memory, tagger: object) -> None:
    with pytest.raises(CuetrailError, match="tagger must be"):
        memory.dream(tagger=tagger)  # type: ignore[arg-type]  # that is the test


def failing(texts: Sequence[str]) -> object:
    raise TimeoutError("the model is away")


@pytest.mark.parametrize(
    "answer",
    [
        failing,
        lambda _: None,
        lambda _: 7,
        lambda texts: [7 for _ in texts],
        lambda texts: [[7] for _ in texts],
        lambda texts: ["ALPHA" for _ in texts],
        lambda _: [["ALPHA"]],
        lambda texts: [["ALPHA"] for _ in (*texts, "more")],
        lambda texts: [["ALPHA"] for _ in texts] + [None],
    ],
)
def test_a_tagger_that_fails_costs_its_tags_alone_and_is_asked_again(
    memory: Memory, answer: Callable[[Sequence[str]], object]
) -> None:
    class Failing(Shouting):
        def __call__(self, texts: Sequence[str]) -> list[list[str]]:
            return answer(texts)  # type: ignore[return-value]  # that is the test

    memory.add("ALPHA beta Grace Hopper", id="a", at=MONDAY)
    memory.add("GAMMA delta Grace Hopper", id="b", at=MONDAY)
    report = memory.dream(tagger=Failing())
    (notice,) = report.notices
    assert notice.startswith("the tagger failed, so the memory has no new auto-tags; the next dream asks it again")
    assert of_origin(memory, "a", "auto") == set()
    assert "monday" in of_origin(memory, "a", "temporal")
    assert [one.name for one in report.passes] == list(PASS_NAMES[:-1])
    assert memory.dream(tagger=Shouting()).notices == ()
    assert of_origin(memory, "a", "auto") == {"alpha"}


def test_auto_tags_are_no_names_that_were_forgotten(memory: Memory) -> None:
    memory.add(name="Grace Hopper", kind="entity", id="grace", at=MONDAY)
    memory.forget("grace")
    memory.add("Ask Grace Hopper", id="a", at=MONDAY)
    memory.add("They met Grace Hopper", id="b", at=MONDAY)
    memory.dream()
    assert of_origin(memory, "a", "auto") == set()
