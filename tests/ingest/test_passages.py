"""Passages: what is joined, what is not, and how far an edit reaches."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuetrail.ingest import passages
from cuetrail.ingest.document import Document, Part
from cuetrail.ingest.readers.read_file import read_string

WORDS = ["harbour", "winter", "island", "gull", "cliff", "lantern", "rope", "anchor", "tide", "crew", "spring", "north"]
WORDS += ["ledger", "storm", "keel", "mast"]


def sentences(seed: int, length: int) -> str:
    chance = random.Random(seed)
    text = ""
    while len(text) < length:
        text += f"{' '.join(chance.sample(WORDS, 6)).capitalize()}. "
    return text.strip()


def note(text: str, name: str = "note.md") -> Document:
    [document] = read_string(text, name)
    return document


def texts(text: str, name: str = "note.md") -> list[str]:
    return [piece.text for piece in note(text, name).pieces]


# --- what is joined


def test_neighbours_under_one_heading_are_joined_and_headings_part_them() -> None:
    first, second = sentences(1, 450), sentences(2, 450)
    document = note(f"# Title\n\nOne.\n\n{first}\n\n## Sub\n\n{second}\n\nTwo.")
    assert [(piece.heading, piece.text) for piece in document.pieces] == [
        ((), f"One.\n\n{first}"),
        (("Sub",), f"{second}\n\nTwo."),
    ]


def test_a_long_section_is_cut_into_passages_of_about_800_characters() -> None:
    found = texts("\n\n".join(sentences(n, 150) for n in range(60)))
    assert all(700 <= len(text) <= 1100 for text in found[:-1])
    assert "\n\n".join(found) == "\n\n".join(sentences(n, 150) for n in range(60))


@pytest.mark.parametrize(
    "bound",
    [
        "This is needed:\n\n- a rope\n- a lamp",
        "Take what is on the list\n\n- a rope\n- a lamp",
        "Then run it\n\n```sh\nmake all\n```",
        "The figures are these:\n\n| who | what |\n|---|---|\n| Ada | radio |",
    ],
    ids=["a list and its sentence", "a list and its paragraph", "code and its paragraph", "a table and its sentence"],
)
def test_what_belongs_together_stays_together(bound: str) -> None:
    for before in range(0, 1200, 60):
        found = texts(f"{sentences(1, before)}\n\n{bound}\n\n{sentences(3, 900)}\n\n{sentences(4, 900)}")
        assert any(bound in text for text in found)


def test_a_table_is_whole_though_it_is_longer_than_prose() -> None:
    table = "| name | place |\n|---|---|\n" + "\n".join(f"| {n} | {WORDS[n % 16]} by the sea |" for n in range(60))
    assert 1200 < len(table) < 2000
    assert table in texts(f"Before.\n\n{table}\n\nAfter.")[0]


def test_a_few_words_are_never_left_alone_beside_a_text() -> None:
    for size in range(700, 1700, 50):
        for text in (f"{sentences(1, size)}\n\nSee there.", f"See there.\n\n{sentences(1, size)}"):
            assert all(len(one.split()) > 4 for one in texts(text)), size


def test_short_sections_beside_each_other_are_joined_behind_their_headings() -> None:
    [piece] = note("# Ada\n\n## Contact\n\n### Phone\n\n12345\n\n### Mail\n\nada@x.org\n").pieces
    assert (piece.heading, piece.text) == (("Contact",), "Phone:\n12345\n\nMail:\nada@x.org")


def test_entries_of_a_log_stay_apart_with_their_own_dates() -> None:
    pieces = note("2024-03-01 It rained.\n\nAll day.\n\n2024-03-02 It was dry.\n").pieces
    assert [piece.text for piece in pieces] == ["2024-03-01 It rained.\n\nAll day.", "2024-03-02 It was dry."]
    assert pieces[1].at == 1_709_337_600_000
    days = note("## 2024-03-01\n\nRain, rain and again rain.\n\n## 2024-03-02\n\nDry, dry and again dry.\n").pieces
    assert [piece.at for piece in days] == [1_709_251_200_000, 1_709_337_600_000]


def test_a_rule_begins_a_passage() -> None:
    assert texts("One.\n\n---\n\nTwo.\n\nThree.") == ["One.", "Two.\n\nThree."]


# --- structure


def test_the_path_of_headings_leaves_out_the_title_of_the_note() -> None:
    text = sentences(1, 450)
    document = note(f"# The **plan**\n\n## Part [[one|1]]\n\n### Deep\n\n{text}\n\n# Other\n\n{text}")
    assert (document.title, [piece.heading for piece in document.pieces]) == (
        "The plan",
        [("Part 1", "Deep"), ("Other",)],
    )


def test_links_and_tags_of_headings_and_link_lists_belong_to_their_section() -> None:
    document = note(
        f"## About [[Ada]] #person\n\n{sentences(1, 450)}\n\n"
        "- [[Babbage]]\n- [[Byron]]\n\n![[map.png]]\n![[Engine#Plan]]"
    )
    [piece] = document.pieces
    assert piece.text == sentences(1, 450)
    assert set(piece.links) == {"Ada", "Babbage", "Byron", "Engine"}
    assert (piece.tags, piece.section_tags) == (("person",), ("person",))


def test_links_and_tags_without_a_passage_near_belong_to_the_note() -> None:
    document = note("---\nup: '[[Home]]'\n---\nA text of some words.\n\n## Related #see\n\n- [[Babbage]]\n")
    [piece] = document.pieces
    assert (piece.links, piece.tags) == ((), ())
    assert (document.own_links, document.own_tags) == (("Home", "Babbage"), ("see",))


def test_a_list_of_links_that_a_sentence_introduces_is_text() -> None:
    assert texts("These helped me:\n\n- [[Babbage]]\n- [[Byron]]") == ["These helped me:\n\n- [[Babbage]]\n- [[Byron]]"]


@pytest.mark.parametrize(
    ("text", "passage"),
    [
        ("# Plan\n\n## First\n\n## Second\n", "First\nSecond"),
        ("# Plan\n\n- [[Babbage]]\n- [[Byron]]\n", "- [[Babbage]]\n- [[Byron]]"),
        ("[Homepage](https://x.org)\n", "[Homepage](https://x.org)"),
    ],
)
def test_a_note_of_headings_or_links_alone_has_one_passage(text: str, passage: str) -> None:
    assert texts(text) == [passage]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Only a title\n",
        "%% a comment\n\nof two paragraphs %%",
        "<!-- hidden -->\n",
        "{{date}}\n\n<% tp.file.title %>\n",
        "[![build](https://x.org/b.svg)](https://x.org)\n\n![](photo.png)\n",
        "---\n\n***\n",
        "<div align=center>\n<br>\n</div>\n",
    ],
)
def test_what_says_nothing_has_no_passage(text: str) -> None:
    assert texts(text) == []


def test_comments_are_cut_out_of_a_text_but_not_out_of_code() -> None:
    assert texts("It rains. %% or not %%\n<!-- a\n\nb -->\nIt snows.\n\n```html\n<!-- kept -->\n```\n") == [
        "It rains. \nIt snows.\n\n```html\n<!-- kept -->\n```"
    ]


def test_an_embed_is_a_link_of_the_passage_and_no_line_of_it() -> None:
    [piece] = note("The plan is below.\n![[Plan#Costs]]\nIt was made in May.").pieces
    assert (piece.text, piece.links) == ("The plan is below.\nIt was made in May.", ("Plan",))


# --- other formats


def test_menus_of_a_page_are_structure_and_its_sections_have_headings() -> None:
    page = note(
        f"<title>T</title><ul><li><a href='a.html'>Home</a></li><li><a href='b.html'>More</a></li></ul>"
        f"<h1>T</h1><h2>Birds</h2><p>{sentences(1, 450)}</p><p>Two <a href='c.html'>words</a>.</p>",
        "p.html",
    )
    [piece] = page.pieces
    assert (piece.heading, piece.text) == (("Birds",), f"{sentences(1, 450)}\n\nTwo words.")
    assert (piece.links, page.own_links) == (("c",), ("a", "b"))


def test_small_constructs_of_code_are_joined_and_a_comment_stays_with_its_function() -> None:
    small = [f"def f{n}():\n    return {n}" for n in range(3)]
    assert texts("\n\n\n".join(small), "a.py") == ["\n\n".join(small)]
    large = "def g():\n" + "\n".join(f"    x{n} = {n}" for n in range(120))
    found = texts(f"{large}\n\n# On h: it does nothing.\n\n{large.replace('g()', 'h()')}", "a.py")
    assert any(text.startswith("# On h: it does nothing.\n\ndef h") for text in found)


def test_a_short_question_of_a_chat_stands_before_its_answer() -> None:
    turns = [
        {"role": "Ann", "content": "Where is the key?", "ts": 1_700_000_000},
        {"role": "Bob", "content": "Under the mat.", "ts": 1_700_000_060},
        {"role": "Ann", "content": "I thank you. Is it yours?"},
        {"role": "Bob", "content": "Yes."},
    ]
    pieces = note(json.dumps(turns), "chat.json").pieces
    assert [(piece.text, piece.speaker, piece.at) for piece in pieces] == [
        ("Ann: Where is the key?\nBob: Under the mat.", "Bob", 1_700_000_060_000),
        ("Ann: I thank you. Is it yours?", "Ann", None),
        ("Bob: Yes.", "Bob", None),
    ]


# --- edits


def test_an_edit_in_a_long_text_changes_few_passages() -> None:
    changed = []
    for place in range(0, 200, 10):
        before = [sentences(n, 60 + 13 * n % 300) for n in range(200)]
        after = [*before[:place], sentences(999 + place, 250), *before[place:]]
        old, new = texts("\n\n".join(before)), texts("\n\n".join(after))
        changed.append(len(set(new) - set(old)))
    assert len(old) >= 50
    # A window that runs over the text would change half of the passages, about 25.
    assert sum(changed) / len(changed) < 8
    assert sorted(changed)[len(changed) // 2] <= 5


def test_an_edit_never_reaches_another_section() -> None:
    parts = [f"## Part {n}\n\n{sentences(n, 500)}\n\n{sentences(n + 50, 700)}" for n in range(5)]
    edited = [*parts[:2], parts[2].replace("Part 2\n\n", "Part 2\n\nA new sentence stands here now.\n\n"), *parts[3:]]
    old, new = note("\n\n".join(parts)), note("\n\n".join(edited))
    assert {piece.heading for piece in new.pieces if piece not in old.pieces} == {("Part 2",)}


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.builds(
            Part,
            st.text(min_size=1, max_size=700).filter(str.strip),
            prose=st.booleans(),
            apart=st.booleans(),
        ),
        max_size=30,
    )
)
def test_every_part_is_in_one_passage_in_order(parts: list[Part]) -> None:
    assert [part for some in passages.join(parts) for part in some] == parts
