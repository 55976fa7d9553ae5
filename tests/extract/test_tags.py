"""Tags in prose, by Obsidian's rules."""

from __future__ import annotations

import pytest

from cuetrail.extract import links_and_tags


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#radio", ("radio",)),
        ("a #field/notes, b", ("field/notes",)),
        ("(#one) **#two** #drei-vier #straße #鳥 #🐦", ("one", "two", "drei-vier", "straße", "鳥", "🐦")),
        ("#1984 #y1984 #-- #/", ("y1984",)),
        ("# Heading\n## Other #tagged", ("tagged",)),
        ("C# is a#b and &#39; \\#no", ()),
        ("`#code` and\n~~~\n#include <x>\n~~~\n#yes", ("yes",)),
        ("https://x.org/#top [y](#part) [z](page.md#part) [[#here]] [[note#there]]", ()),
        ("#Radio #radio #RADIO", ("Radio",)),
        ("##no ###nor", ()),
    ],
)
def test_a_tag_is_found_only_where_a_person_meant_one(text: str, expected: tuple[str, ...]) -> None:
    assert links_and_tags.find_tags(text) == expected


@pytest.mark.parametrize("colour", ["#fff", "#EEE", "#43b02a", "#0f0", "#aabbcc00"])
def test_colours_are_no_tags(colour: str) -> None:
    assert links_and_tags.find_tags(f"color {colour} and #face #bed #cafes") == ("face", "bed", "cafes")
