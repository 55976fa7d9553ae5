"""How a cue is parsed: wrapping words are removed, and it is read more loosely until enough is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail.model import TextQuery, Where
from cuetrail.recall.anchor.text_attempts import FULL, NAMES, NOUNS, TYPOS, attempts, first_sufficient
from cuetrail.recall.query import LONGEST_CUE, nouns, parse_cue, proper_nouns, unwrap_question


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("what is the latest state of the X", "state X"),
        ("what is the current density of copper", "current density copper"),
        ("current density of copper", "current density copper"),
        ("how do I find files", "find files"),
        ("find", "find"),
        ("Tell me about the find command", "find command"),
        ("so what?", "so what?"),
        ("please", "please"),
        ("I need to find the receiver", "receiver"),
        ("show me everything about bats", "bats"),
        ("why does the receiver go silent in frost?", "receiver go silent frost?"),
        ("look up the plan for May right now", "plan May"),
        ("on call rota", "call rota"),
        ("IT budget", "IT budget"),
        ("what is the IT budget?", "IT budget?"),
        ("Will Smith", "Will Smith"),
        ("why did Will leave", "Will leave"),
        ("will Smith call?", "Smith call?"),
        ("Will Smith call?", "Smith call?"),
        ("WHO report", "WHO report"),
        ("flights US", "flights US"),
        ("find US flights", "find US flights"),
        ("tell us about flights", "flights"),
        ("US GDP", "US GDP"),
        ("WHAT IS IT ABOUT THE KITE", "KITE"),
        ("What Is It About The Kite", "Kite"),
        ("kite AND NOT cloud", "kite cloud"),
        ("I saw a kite", "saw kite"),
    ],
)
def test_a_question_is_unwrapped(asked: str, words: str) -> None:
    assert parse_cue(asked, Where()).query.words == words


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("what is the latest on #radio?", ""),
        ("latest on #radio", ""),
        ("show me #radio please", ""),
        ("what about #radio", ""),
        ("#radio ?", ""),
        ("the @work", ""),
        ("tell me everything about @work", ""),
        ('tell me about "green tea"', ""),
        ("show me rad*", "rad"),
        ("what is the latest state of the #radio antenna?", "state antenna?"),
        ("#radio what about the antenna?", "antenna?"),
        ("WHO #radio", "WHO"),
        ("The Who #radio", "The Who"),
        ("Let It Be @work", "Let It Be"),
        ("#radio Will", "Will"),
        ("Who Is #radio", ""),
        ("#radio AND", ""),
        ("hey, what's new in #radio?", ""),
        ("what happened in #radio", ""),
        ("what happened in Bergen #radio", "happened Bergen"),
        ("list all #radio", ""),
        ("any updates on #radio?", ""),
        ("everything #radio", ""),
        ("right now #radio", ""),
        ("#radio show", "show"),
        ("#radio news", "news"),
        ("#radio on/off", "on/off"),
    ],
)
def test_beside_a_tag_a_bucket_or_a_phrase_nothing_is_left_of_words_that_only_wrap_it(asked: str, words: str) -> None:
    assert parse_cue(asked, Where()).query.words == words


def test_of_a_cue_that_is_too_long_nothing_reads_more_than_its_ends() -> None:
    cue = parse_cue("antenna, " * 100_000 + "#radio", Where())
    assert len(cue.raw) <= LONGEST_CUE
    assert cue.where.tags == ("radio",)
    assert parse_cue("antenna", Where()).raw == "antenna"


def test_a_word_with_a_hyphen_is_no_greeting() -> None:
    for cue in ("hi-fi amplifier", "well-known recipes", "on-call rota", "on/off switch"):
        assert parse_cue(cue, Where()).query.words == cue
    assert parse_cue("Hi - what is the amplifier?", Where()).query.words == "amplifier?"


def test_a_filter_given_beside_the_cue_is_as_good_as_one_written_in_it() -> None:
    assert parse_cue("show me", Where(tags=("radio",))).query.words == ""
    assert parse_cue("show me", Where(kinds=("atom",))).query.words == "show"


@given(st.text())
def test_unwrapping_leaves_something_and_only_what_was_there(text: str) -> None:
    left = unwrap_question(text)
    assert left.strip() in text
    assert bool(left.strip()) == bool(text.strip())


@pytest.mark.parametrize(
    ("asked", "of_nouns", "of_names"),
    [
        ("Why did Hanne quickly decide to take the count on 12 April?", "Hanne count 12 April?", "Hanne 12 April?"),
        ("what happened at Skarholm in 2024-03?", "Skarholm 2024-03?", "Skarholm 2024-03?"),
        ("what do we need on monday", "need monday", "monday"),
        ("really quickly", "", ""),
    ],
)
def test_nouns_names_and_dates_are_told_from_the_rest(asked: str, of_nouns: str, of_names: str) -> None:
    cue = parse_cue(asked, Where())
    assert (nouns(cue), proper_nouns(cue)) == (of_nouns, of_names)


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
