"""How a cue is parsed: wrapping words are removed, and it is read more loosely until enough is found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail.model import Where
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
