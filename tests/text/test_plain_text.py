"""Markdown as plain text: marks go, words stay, and no text takes long."""

from __future__ import annotations

import time

import pytest

from cuetrail.text.plain_text import plain_text


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        ("Some **bold**, *slanted* and `code`", "Some bold, slanted and code"),
        ("a_b_c and 2 * 3 * 4", "a_b_c and 2 * 3 * 4"),
        ("[[Cold connector#Cure]] and [text|notes.cold]", "Cold connector › Cure and [text|notes.cold]"),
        ("[[the cure|notes.cold.cure]], [[Cold connector|cold]]", "the cure, cold"),
        ("<!-- hidden -->seen %%not%% ![[embed.png]] ![alt](x.png)", "seen"),
        ("> [!warning] Do not\n> tighten", "Do not tighten"),
        ("<https://www.example.org/a/b?c> or (https://x.org).", "example.org/… or (https://x.org)."),
        ("- [ ] ring\n- [x] bring", "• ring • bring"),
        ("```c\nfor (;;) {}\n```", "for (;;) {}"),
        ("Title\n=====\n\n---\n\ntext <br/> more", "Title text more"),
    ],
)
def test_marks_go_and_words_stay(markdown: str, plain: str) -> None:
    assert plain_text(markdown) == plain


@pytest.mark.parametrize(
    "one", ["*", "**", "_", "`", "[", "[[", "![[", "<a", "<!--", "%%", "|", "|-", "==a", "\\", "> ", "#"]
)
def test_no_text_takes_long(one: str) -> None:
    begun = time.process_time()
    plain_text(one * 6_000)
    assert time.process_time() - begun < 2
