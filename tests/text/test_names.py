"""Proper names by rules."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail.extract import links_and_tags
from cuetrail.text import document_dates, names
from cuetrail.text.prose import prose_only, split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met Ada Lovelace in New York.", ("Ada Lovelace", "New York")),
        ("JACQ uses DuckDB, NV-Embed and an iPhone.", ("JACQ", "DuckDB", "NV-Embed", "iPhone")),
        ("The receiver broke. However, nobody cared. When it rains.", ()),
        ("Receivers break.", ()),
        ("Ada's radio and the Fjord’s edge", ("Fjord",)),
        ("Ask Ada about it", ("Ada",)),
        ("at the University of Oxford, with Ludwig van Beethoven", ("University of Oxford", "Ludwig van Beethoven")),
        ("by J. R. R. Tolkien", ("J. R. R. Tolkien",)),
        ("Émile Zola met Łukasz Ørsted and Владимир Набоков", ("Émile Zola", "Łukasz Ørsted", "Владимир Набоков")),
        ("I'm sure we don't. It's fine on Monday in March.", ()),
        ("Owner: Ada", ("Ada",)),
        ("see `DuckDB` at https://Example.org/Path and #Tag", ()),
        ("- Attach it\n- Listen\n\n1. Wait", ()),
        ("THIS IS ALL VERY LOUD AND SHOUTED", ()),
        ("TODO: check the S3 bucket", ("S3",)),
        ("we saw X and Y", ()),
        ("_It rained all day._ Further north it was dry", ()),
        ("a list\n  12. Further north\n- Eastward", ()),
        ("wrapped in the\nNorth Sea", ("North Sea",)),
        ("we use foo3Bar-Baz and x_Quux", ("Baz",)),
    ],
)
def test_names_are_told_from_ordinary_words(text: str, expected: tuple[str, ...]) -> None:
    assert names.find([text]) == [expected]


def test_a_first_word_is_a_name_if_the_document_says_so_elsewhere() -> None:
    assert names.find(["Ines left.", "We asked Ines."]) == [("Ines",), ("Ines",)]
    assert names.find(["Ines left.", "We asked her."]) == [(), ()]


def test_a_link_is_no_name_but_shows_how_a_name_is_written() -> None:
    assert names.find(["See [[Antenna placement]] and [[Ines Okafor|Ines]].", "Ines left. Antenna too."]) == [
        (),
        ("Ines",),
    ]


def test_an_ordinary_first_word_is_not_part_of_the_name_behind_it() -> None:
    assert names.find(["Carefully Ines Okafor opened it. She did it carefully."]) == [("Ines Okafor",)]


def test_an_initial_belongs_to_the_name_behind_it_and_a_short_name_does_not() -> None:
    assert "J. Smith" in names.find(["We talked to J. Smith today."])[0]
    assert names.find(["we met Bo.Ann there"])[0] == ("Bo", "Ann")


def test_a_piece_has_at_most_twenty_names_each_once() -> None:
    text = "we met " + ", ".join(f"Ann{c}{d} Bo" for c in "abcdefgh" for d in "xyz") + ", Annax Bo"
    [found] = names.find([text])
    assert len(found) == len(set(found)) == 20


@given(st.lists(st.text(max_size=120), max_size=4))
def test_any_texts_give_one_tuple_each(texts: list[str]) -> None:
    found = names.find(texts)
    assert len(found) == len(texts)
    assert all(name.strip() for tuple_ in found for name in tuple_)


@given(st.text(alphabet="aB `~\n[](#):/.é", max_size=200))
def test_masking_keeps_every_offset(text: str) -> None:
    masked = prose_only(text)
    assert len(masked) == len(text)
    assert all(m == t or m == " " for m, t in zip(masked, text, strict=True))


@given(st.text(max_size=300))
def test_sentences_join_to_the_text(text: str) -> None:
    assert "".join(split_sentences(text)) == text


def _noise() -> str:
    chance = random.Random(7)
    return "".join(chance.choice("aA .!?`[]()#-_/\n1'é。>|*~&:@") for _ in range(10**6))


GARBAGE = [
    "!" * 10**6,
    "`" * 10**6,
    "` `` " * 200_000,
    "[[" * 500_000,
    "](" * 500_000,
    "#" * 10**6,
    "Aa of the " * 100_000,
]
GARBAGE += [
    "a-" * 500_000,
    "2024-" * 200_000,
    "http://" * 150_000,
    "March 1" * 150_000,
    "\n \n`" * 200_000,
    " " * 10**6,
]
RULES: list[Callable[[str], object]] = [
    links_and_tags.find_links,
    links_and_tags.find_tags,
    document_dates.find,
    split_sentences,
    lambda text: names.find([text]),
]


@pytest.mark.parametrize("junk", [*GARBAGE, _noise()], ids=lambda junk: repr(junk[:6]))
def test_a_megabyte_of_garbage_is_read_in_linear_time(junk: str) -> None:
    began = time.process_time()
    for rule in RULES:
        rule(junk)
    # Linear work takes about two seconds; quadratic work on a megabyte would take hours.
    assert time.process_time() - began < 20
