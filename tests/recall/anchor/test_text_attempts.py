"""Readings of a cue: it is read more loosely until enough is found."""

from __future__ import annotations

import pytest

from cuetrail.model import TextQuery, Where
from cuetrail.recall.anchor.text_attempts import FULL, NAMES, NOUNS, TYPOS, attempts, first_sufficient
from cuetrail.recall.query import parse_cue


def test_a_cue_is_read_in_four_ways_and_in_none_twice() -> None:
    ways = list(attempts(parse_cue('why did Hanne decide on the "spring count"', Where())))
    assert [name for name, _ in ways] == [FULL, NOUNS, TYPOS]
    assert all(query.phrases == ("spring count",) for _, query in ways)
    assert [query.mend for _, query in ways] == [False, False, True]
    ways = list(attempts(parse_cue("why did Hanne decide on the bird count", Where())))
    assert [(name, query.words) for name, query in ways] == [
        (FULL, "Hanne decide bird count"),
        (NOUNS, "Hanne bird count"),
        (NAMES, "Hanne"),
        (TYPOS, "Hanne decide bird count"),
    ]
    assert [name for name, _ in attempts(parse_cue("count", Where(), fuzzy=True))] == [FULL]


@pytest.mark.parametrize(
    ("wider", "query", "covered"),
    [
        (TextQuery("red kite"), TextQuery("kite"), True),
        (TextQuery("red ki", prefix=True), TextQuery("red"), True),
        (TextQuery("red kite", ("a b",)), TextQuery("red", ("a b",)), True),
        (TextQuery("red kite"), TextQuery("red", ("a b",)), True),
        (TextQuery("red kite", ("a b",)), TextQuery("red"), False),
        (TextQuery("red"), TextQuery("red kite"), False),
        (TextQuery("red kite"), TextQuery("kite", prefix=True), False),
        (TextQuery("red kite"), TextQuery("kite", mend=True), False),
        (TextQuery("red kite", ("a b",)), TextQuery("kite", ("a b",), mend=True), True),
        (TextQuery("red kite", ("a b",)), TextQuery("kite", ("a b",), prefix=True), True),
        (TextQuery("red kite", ("!?",)), TextQuery("kite", ("!?",), mend=True), False),
        (TextQuery("red kite"), TextQuery("kite", fuzzy=True), False),
    ],
)
def test_a_reading_is_searched_for_where_it_can_find_more(wider: TextQuery, query: TextQuery, covered: bool) -> None:
    searched: list[TextQuery] = []

    def search(asked: TextQuery) -> list[str]:
        searched.append(asked)
        return ["one"] * len(searched)

    found, attempt, tried = first_sufficient([("wider", wider), ("query", query)], search, 10)
    assert searched == ([wider] if covered else [wider, query])
    assert [one.found for one in tried] == ([1, None] if covered else [1, 2])
    assert (attempt.name, len(found)) == (("wider", 1) if covered else ("query", 2))


@pytest.mark.parametrize(("counts", "asked"), [([3, 99], ["lost"]), ([0, 99], ["lost", ""])])
def test_filters_alone_are_asked_for_only_where_the_words_beside_them_find_nothing(
    counts: list[int], asked: list[str]
) -> None:
    ways = [("full", TextQuery("lost")), ("nouns", TextQuery(""))]
    found, _, tried = first_sufficient(ways, lambda query: [query.words] * counts[not query.words], 10)
    assert [one.query.words for one in tried] == asked
    assert set(found) == {asked[-1]}


@pytest.mark.parametrize(
    ("counts", "answered", "asked"),
    [
        ([10, 99, 99], 0, 1),
        ([9, 10, 99], 1, 2),
        ([9, 3, 12], 2, 3),
        ([5, 7, 6], 1, 3),
        ([4, 4, 4], 0, 3),
        ([0, 0, 0], 0, 3),
        ([0], 0, 1),
    ],
)
def test_the_first_attempt_that_finds_enough_answers_else_the_first_that_finds_most(
    counts: list[int], answered: int, asked: int
) -> None:
    ways = [(f"way {n}", TextQuery(str(n))) for n in range(len(counts))]
    found, attempt, tried = first_sufficient(ways, lambda query: [query.words] * counts[int(query.words)], 10)
    assert attempt.name == f"way {answered}"
    assert found == [str(answered)] * counts[answered]
    assert [(one.name, one.found) for one in tried] == [(f"way {n}", counts[n]) for n in range(asked)]
