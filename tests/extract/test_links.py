"""Links between notes, as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuetrail.extract import links_and_tags


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[Ada]]", ("Ada",)),
        ("[[Ada|the countess]]", ("Ada",)),
        ("[[Ada#Work]] and [[Ada^block]]", ("Ada",)),
        ("![[plan]]", ("plan",)),
        ("![[photo.png]] [[paper.pdf]]", ("paper",)),
        ("[[people/Ada.md]]", ("Ada",)),
        (r"| [[Ada\|A]] |", ("Ada",)),
        ("[[v1.2 plan]]", ("v1.2 plan",)),
        ("[[#here]] [[]] [[ ]]", ()),
        ("[x](other.md)", ("other",)),
        ("[x](<my note.md>) [y](a%20b.md#part 'title')", ("my note", "a b")),
        ("[x](../notes/radio_(old).md)", ("radio_(old)",)),
        ("[x](https://example.org/a.md) [y](mailto:a@b.c) [z](#top)", ()),
        ("![x](shot.jpg)", ()),
        ("`[[code]]` and\n```\n[[fenced]]\n```\n[[real]]", ("real",)),
        ("[[b]] [a](a.md) [[B]]", ("b", "a")),
    ],
)
def test_a_link_gives_the_name_of_its_target(text: str, expected: tuple[str, ...]) -> None:
    assert links_and_tags.find_links(text) == expected


@given(st.text(alphabet="[]()|#!`a/.\\\n <>%é", max_size=200))
def test_any_text_gives_names_without_brackets_or_lines(text: str) -> None:
    for name in links_and_tags.find_links(text):
        assert name == name.strip() != ""
        assert "[[" not in name
        assert "\n" not in name
