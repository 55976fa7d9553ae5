"""Known words are found as whole words in any case, script and composition."""

from __future__ import annotations

import random
import re
import time
import timeit
import unicodedata
from functools import partial
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail.dream import word_matcher
from cuetrail.dream.word_matcher import WordMatcher, fold_text, is_distinctive, join_texts, pad_words
from cuetrail.text.normalise import clean, is_findable, norm_name, terms_of


def said(words: WordMatcher[str], text: str) -> dict[str, int]:
    """What is meant in a text, and how often it is said."""
    return words.count([text])[0]


def found(word: str, text: str) -> bool:
    return said(WordMatcher({norm_name(word): ["x"]}), text) == {"x": 1}


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("Ada", "ADA wrote"),
        ("Ada", "(ada)"),
        ("Ada", "Ada's engine"),
        ("Ada Lovelace", "ada\n   lovelace"),
        ("Ada Lovelace", "Ada-Lovelace, Ada_Lovelace"[:12]),
        ("Straße", "in der STRASSE"),
        ("Ærø", "på ÆRØ i dag"),
        ("Éva", unicodedata.normalize("NFD", "Kérdezd Éva nénit")),
        ("Москва", "в москва, да"),
        ("हिन्दी", "यह हिन्दी है"),
        ("東京", "私は東京に住む"),
        ("node.js", "we use Node.js here"),
        ("node.js", "we use node js here"),
        ("C++", "written in C++."),
        (".NET", "runs on .NET now"),
        ("AT&T", "from at&t."),
        ("İstanbul", "to İSTANBUL"),
        ("snake", "a snake_case word"),
    ],
)
def test_a_word_is_found(word: str, text: str) -> None:
    assert found(word, text)


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("Ada", "Adana, Canada, adas"),
        ("Ada Lovelace", "Ada. Lovelace"),
        ("Ada Lovelace", "ada, lovelace"),
        ("Ærø", "ærøskøbing"),
        ("हिन", "हिन्दी"),
        ("C++", "grade C or better"),
        (".NET", "a fishing net"),
        ("radio", "radioactive"),
        ("1st", "21st"),
    ],
)
def test_a_part_of_a_word_is_not(word: str, text: str) -> None:
    assert not found(word, text)


def test_all_words_are_found_also_inside_longer_ones() -> None:
    words = WordMatcher({"new york times": ["nyt"], "new york": ["ny"], "york": ["y"], "times": ["t"]})
    assert said(words, "The New York Times") == {"nyt": 1, "ny": 1, "y": 1, "t": 1}


def test_a_word_may_mean_several_and_several_words_may_mean_the_same() -> None:
    words = WordMatcher({"ada": ["a", "b"], "countess": ["a"]})
    assert said(words, "Ada, ada and the Countess") == {"a": 2, "b": 2}


def test_an_empty_dictionary_finds_nothing() -> None:
    assert said(WordMatcher[str]({}), "anything") == {}


@given(
    st.lists(st.text("abcß ", min_size=1, max_size=5).map(norm_name).filter(bool), max_size=8),
    st.text("aAbBcCß .,-\n", max_size=40),
)
def test_as_many_as_looking_for_each_word_alone(words: list[str], text: str) -> None:
    plain = " ".join(text.casefold().split())
    wanted = {}
    for word in set(words):
        pattern = r"[\W_]".join(map(re.escape, word.split()))
        times = len(re.findall(rf"(?<![^\W_])(?={pattern}(?![^\W_]))", plain))
        if times:
            wanted[word] = times
    assert said(WordMatcher({word: [word] for word in words}), text) == wanted


SIGNS = "aAbB. ,-+\n\t\0\1\x1c\x1f\x7féß東İ\u0301\xa0"


@given(
    st.lists(st.text("ab. +éß東", min_size=1, max_size=4).map(norm_name).filter(bool), max_size=8),
    st.lists(st.text(SIGNS, max_size=12), max_size=8),
)
def test_many_texts_at_once_say_what_each_of_them_says_alone(words: list[str], texts: list[str]) -> None:
    known = WordMatcher({word: [word] for word in words})
    assert known.matches(texts) == [set(said(known, text)) for text in texts]
    assert known.count(texts) == [said(known, text) for text in texts]


@given(
    st.lists(st.text("ab. +éß東", min_size=1, max_size=6).map(norm_name).filter(bool), max_size=12),
    st.lists(st.text(SIGNS, max_size=25), max_size=4),
)
def test_what_is_looked_up_is_what_the_automaton_finds(words: list[str], texts: list[str]) -> None:
    said = []
    for most in (0, 10**9):
        with patch.object(word_matcher, "LOOKUP_BYTES_PER_WORD", most):
            both = WordMatcher({word: [word, word[:1]] for word in words})
            said.append((both.count(texts), both.matches(texts)))
            assert ("automaton" in vars(both)) == (most == 0 and bool(words))
    assert said[0] == said[1]


@pytest.mark.parametrize("signs", ["aAbB. ,-+\n\t\0\1\x1c\x1f\x7f", SIGNS])
def test_texts_stand_on_a_page_as_each_of_them_is_searched(signs: str) -> None:
    chance = random.Random(4)
    texts = ["".join(chance.choices(signs, k=chance.randint(0, 9))) for _ in range(2_000)]
    one = join_texts(texts)
    assert sorted(one.order) == list(range(len(texts)))
    pieces = dict(zip(one.order, one.data.split(b"\0"), strict=True))
    assert all(
        pieces[n] == pad_words(fold_text(text)) if text.split() else pieces[n].isspace() for n, text in enumerate(texts)
    )


@pytest.mark.parametrize("word", ["", " ", "a", "é", "京", "7", "12:30", "2026-01-19", "the", "notes", "winter", "q4"])
def test_words_that_say_nothing(word: str) -> None:
    assert not is_distinctive(word)


@pytest.mark.parametrize("word", ["ai", "c++", "s3", "ada", "東京", "ærø", "the wire", "may flower"])
def test_words_that_say_something(word: str) -> None:
    assert is_distinctive(word)


def test_a_text_with_thousands_of_names_is_read_in_one_go() -> None:
    names = [f"name{n:x}" for n in range(3_000)]
    words = WordMatcher({name: [name] for name in names})
    few, many = " ".join(names[:300] * 4), " ".join(names * 4)
    assert said(words, many) == dict.fromkeys(names, 4)
    # By the time this thread works: others may be at work as well.
    measured = (
        timeit.repeat(partial(said, words, text), timer=time.thread_time, repeat=4, number=1) for text in (few, many)
    )
    short, long = map(min, measured)
    # Ten times the names: a look at all names for each of them would take a hundred times as long.
    assert long < 40 * short


# --- what an index tells of names


def holds(text: str, name: str) -> bool:
    """Whether the terms of a name stand one behind the other in an index of the text."""
    there, sought = terms_of(clean(text)), terms_of(name)
    return any(there[n : n + len(sought)] == sought for n in range(len(there) - len(sought) + 1))


BORDERS = "1٣ .,-_'\u00ad\u200dⒶ🅰\u0378"
# Letters with more than one small form; letters with marks, and of scripts without case. Nobody puts a mark on ß.
TRICKY = ("aAbsSßẞſİiµμσςΣᾳιКкéﬁ" + BORDERS, "aAbeE\u0301नी्東京ｶкé" + BORDERS)


@given(st.one_of(*(st.text(letters, max_size=12) for letters in TRICKY)), st.data())
def test_an_index_has_every_text_in_which_a_name_is_found(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    name = norm_name(text[start : data.draw(st.integers(start, len(text)))])
    if is_distinctive(name) and is_findable(name) and said(WordMatcher({name: [name]}), text):
        assert holds(text, name)


def test_of_all_letters_ten_old_forms_may_be_missed_in_an_index() -> None:
    missed = set()
    for letter in map(chr, (*range(0xD800), *range(0xE000, 0x20000))):
        small = norm_name(letter)
        if small != letter and letter.isalpha() and is_findable(small) and not holds(f"x{letter}x", f"x{small}x"):
            missed.add(letter)
    assert missed == {"ﬅ", *map(chr, range(0x1C80, 0x1C89))}
