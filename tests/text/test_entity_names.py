"""Names worth keeping as entities and labels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail.text import entity_names, keyphrases, names
from cuetrail.text.ordinary_words import ORDINARY_NOUNS, VERBS
from cuetrail.text.word_lists import STOP_WORDS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met Ada Lovelace in New York.", ("Ada Lovelace", "New York")),
        ("It runs in VS Code and on macOS.", ("VS Code", "macOS")),
        ("- Buy milk\n- Developed it", ()),
        ("Introduce Grafana Loki", ("Grafana Loki",)),
        ("Set podType, BASH_SOURCE, W1510 and CreateNoteCommand", ()),
        ("Press Enter, then press Escape twice", ()),
        ("It's TODO, WIP, DEPRECATED and TBD in PDT", ()),
        ("We use DuckDB, S3 and an iPhone.", ("DuckDB", "S3", "iPhone")),
        ("a Linux-based and Vim-like thing", ()),
        ("with Harry Lime y Joseph Cotten in it", ("Harry Lime", "Joseph Cotten")),
    ],
)
def test_names_are_ones_a_person_would_keep(text: str, expected: tuple[str, ...]) -> None:
    assert entity_names.find([text]) == [expected]


def test_an_ordinary_noun_is_a_name_if_its_document_never_writes_it_small() -> None:
    texts = ["We wrote it in Rust.", "They like Rust, and more of them use Rust."]
    assert entity_names.find(texts) == [("Rust",), ("Rust",)]
    assert entity_names.find([*texts, "There was rust on it."]) == [(), (), ()]


@given(st.sampled_from(sorted(VERBS | STOP_WORDS)))
def test_no_verb_or_stop_word_at_the_start_of_a_sentence_is_a_name(word: str) -> None:
    assert entity_names.find([f"{word.capitalize()} it there. {word.capitalize()} it."]) == [()]


@given(st.sampled_from(sorted(VERBS)), st.sampled_from(["Grafana Loki", "Acme Zorbotics"]))
def test_a_verb_before_a_name_is_no_part_of_it(verb: str, name: str) -> None:
    assert entity_names.find([f"{verb.capitalize()} {name}"]) == [(name,)]


@given(st.lists(st.text(max_size=120), max_size=4))
def test_any_texts_give_one_tuple_each_of_parts_of_names(texts: list[str]) -> None:
    found = entity_names.find(texts)
    assert len(found) == len(texts) == len(names.find(texts))
    assert all(name.strip() for some in found for name in some)


@given(st.lists(st.sampled_from(sorted(VERBS | {"the", "quickly", "it's"})), max_size=12))
def test_words_that_are_no_nouns_give_no_key_phrase(words: list[str]) -> None:
    assert keyphrases.find(" ".join(words)) == ()


@given(st.sampled_from(sorted(ORDINARY_NOUNS)))
def test_a_lone_ordinary_noun_is_no_key_phrase(noun: str) -> None:
    assert keyphrases.find(f"{noun}. {noun}. {noun}. {noun}.") == ()
