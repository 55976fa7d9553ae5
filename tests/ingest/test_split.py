"""Splitting text into blocks: limits hold, nothing is lost, and an edit has a local effect."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuetrail.ingest import split

TEXTS = st.text(
    alphabet=st.sampled_from(list("aB1 .!?…。\n\t#-=`~*>|()[]{}é\u0301\u200d🐦:'\"")) | st.characters(codec="utf-8"),
    max_size=300,
)
LONG = st.lists(TEXTS, max_size=12).map(lambda parts: "".join(part * 7 for part in parts))


def ink(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize(
    ("cutter", "limit"),
    [(split.prose, split.PROSE), (split.plain, split.BLOB), (split.blob, split.BLOB), (split.code, split.CODE)],
)
@settings(max_examples=150, deadline=None)
@given(text=LONG)
def test_every_cutter_keeps_every_character_within_its_limit(cutter, limit, text):  # type: ignore[no-untyped-def]
    pieces = cutter(text)
    assert ink("".join(pieces)) == ink(text)
    assert all(piece.strip() and len(piece) <= limit for piece in pieces)


@settings(max_examples=300, deadline=None)
@given(text=LONG)
def test_markdown_blocks_keep_every_character_within_their_limits(text: str) -> None:
    blocks = split.markdown(text)
    assert ink("".join(block.text for block in blocks)) == ink(text)
    assert all(block.text.strip() for block in blocks)
    for block in blocks:
        limit = split.CODE if block.kind == "code" or block.text.lstrip().startswith("|") else split.PROSE
        assert block.kind == "rule" or len(block.text) <= limit


@settings(max_examples=100, deadline=None)
@given(text=LONG, limit=st.integers(min_value=1, max_value=90))
def test_any_limit_is_kept(text: str, limit: int) -> None:
    pieces = split.prose(text, limit)
    assert ink("".join(pieces)) == ink(text)
    assert all(0 < len(piece) <= limit for piece in pieces)


def test_a_paragraph_is_one_piece_and_paragraphs_are_never_packed() -> None:
    assert split.prose("One.\nStill one.\n\n\nTwo.\n \t\nThree.") == ["One.\nStill one.", "Two.", "Three."]


def test_editing_one_paragraph_changes_one_piece() -> None:
    before = [f"Paragraph {n} says something. It says more." for n in range(20)]
    after = [*before[:7], before[7] + " And this is new.", *before[8:]]
    a, b = split.prose("\n\n".join(before)), split.prose("\n\n".join(after))
    assert [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y] == [7]


def test_a_long_paragraph_is_cut_at_sentence_ends() -> None:
    text = " ".join(f"Sentence number {n} is about birds and radios." for n in range(60))
    pieces = split.prose(text)
    assert len(pieces) > 2
    assert all(piece.endswith(".") and piece.startswith("Sentence") for piece in pieces)
    assert " ".join(pieces) == text


def test_an_abbreviation_does_not_cut_a_sentence() -> None:
    text = "We asked Dr. Ray and e.g. Prof. Lund, who lives in the U.S. near No. 5, for an opinion. " * 8
    assert all(piece.endswith("opinion.") for piece in split.prose(text, 100))


def test_a_long_sentence_is_cut_at_a_space_and_a_long_word_anywhere() -> None:
    assert all(len(p) <= 800 and not p.startswith("rd") for p in split.prose("word " * 500))
    assert [len(p) for p in split.prose("x" * 1700)] == [800, 800, 100]


def test_a_cut_long_sentence_stays_apart_from_the_next_one() -> None:
    pieces = split.prose("word " * 170 + "end. Next sentence here.")
    assert "end. Next" in pieces[-1]


def test_unspaced_scripts_are_cut_at_their_own_full_stops() -> None:
    pieces = split.prose("鳥は北から南へ飛ぶ。" * 200)
    assert all(piece.endswith("。") for piece in pieces)


def test_a_list_over_the_limit_is_cut_between_items() -> None:
    text = "\n".join(f"- item {n}. It has two sentences" for n in range(60))
    assert all(piece.startswith("- item") for piece in split.prose(text))


def test_a_short_list_or_table_is_one_piece() -> None:
    table = "| who | what |\n|---|---|\n| Ada | radio |"
    assert split.prose("- a\n- b\n\n" + table) == ["- a\n- b", table]


def test_text_without_blank_lines_or_sentences_is_a_blob() -> None:
    assert [len(piece) for piece in split.plain("x" * 4000)] == [1500, 1500, 1000]


def test_code_is_cut_where_a_new_top_level_construct_starts() -> None:
    text = "import a\nimport b\n\n# about f\n@wrap\ndef f():\n    x = 1\n\n    return x\ndef g():\n    pass\n"
    assert split.code(text) == [
        "import a\nimport b",
        "# about f\n@wrap\ndef f():\n    x = 1\n\n    return x",
        "def g():\n    pass",
    ]


def test_a_closing_brace_stays_with_its_function() -> None:
    text = "func a() {\n\tx()\n}\nfunc b() {\n\ty()\n}\n"
    assert split.code(text) == ["func a() {\n\tx()\n}", "func b() {\n\ty()\n}"]


def test_a_name_that_begins_like_a_keyword_starts_a_construct() -> None:
    assert split.code("def f():\n    pass\nendpoint = 1") == ["def f():\n    pass", "endpoint = 1"]


def test_code_pieces_keep_their_indentation() -> None:
    body = "\n".join(f"    line_{n} = {n}" for n in range(300))
    pieces = split.code("def f():\n" + body)
    assert all(len(piece) <= 2000 for piece in pieces)
    assert all(piece.startswith("    line_") for piece in pieces[1:])


def test_headings_of_both_kinds_have_levels() -> None:
    blocks = split.markdown("Top\n===\ntext\n\nSub\n---\n### Deep ###\n####### not\n#tag")
    assert [(b.kind, b.level) for b in blocks] == [
        ("heading", 1),
        ("prose", 0),
        ("heading", 2),
        ("heading", 3),
        ("prose", 0),
    ]
    assert [split.heading_text(b.text) for b in blocks if b.level] == ["Top", "Sub", "Deep"]
    assert split.heading_text("# C#") == "C#"


def test_a_rule_is_not_an_underline_after_a_paragraph_or_a_list() -> None:
    kinds = [b.kind for b in split.markdown("a\nb\n---\n\n- item\n---\n* * *\n")]
    assert kinds == ["prose", "rule", "prose", "rule", "rule"]


def test_fenced_code_stays_together_across_blank_lines_and_headings() -> None:
    text = "before\n```python title\n# not a heading\n\nx = 1\n```\nafter"
    blocks = split.markdown(text)
    assert [(b.kind, b.language) for b in blocks] == [("prose", ""), ("code", "python"), ("prose", "")]


def test_an_unclosed_fence_runs_to_the_end() -> None:
    blocks = split.markdown("~~~\na\n\n# b\n")
    assert [b.kind for b in blocks] == ["code"]


@pytest.mark.parametrize(
    "junk", ["." * 10**6, "a. " * 333_333, "\n" * 10**6, "`" * 10**6, " " * 10**6 + "x", "é\u0301" * 500_000]
)
def test_a_megabyte_of_garbage_is_split_in_linear_time(junk: str) -> None:
    began = time.process_time()
    for cutter in (split.prose, split.plain, split.code, split.blob, split.markdown):
        cutter(junk)
    assert time.process_time() - began < 15
