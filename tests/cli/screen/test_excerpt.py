"""Excerpts: the words of the question are in them, and set off."""

from __future__ import annotations

import time

from cuetrail.cli.screen.excerpt import asked_words, excerpt

FILLER = "Nothing of note happened on that day. "


def test_an_excerpt_begins_at_the_sentence_before_the_words() -> None:
    found = excerpt(f"{FILLER * 20}The kettle sings. {FILLER * 20}", asked_words(["kettles", "sing"]), {}, [], 150)
    assert found.text.startswith("Nothing of note happened on that day. The kettle sings.") or found.text.startswith(
        "The kettle sings."
    )
    assert [found.text[start:end] for start, end in found.marks] == ["kettle", "sings"]
    assert (found.cut_before, found.cut_behind) == (True, True)


def test_rare_words_and_the_end_of_a_text_fill_the_room() -> None:
    text = f"The tea, the tea. {FILLER * 20}The samovar."
    found = excerpt(text, asked_words(["tea", "samovar"]), {"tea": 0.1, "samovar": 1.0}, [], 150)
    assert found.text.endswith("The samovar.")
    assert len(found.text) > 100


def test_names_are_set_off_where_no_word_is() -> None:
    found = excerpt("She lives in Bergen now.", asked_words(["kettle"]), {}, ["Bergen"], 150)
    assert [found.text[start:end] for start, end in found.marks] == ["Bergen"]


def test_a_very_long_text_is_quick_and_its_place_is_found() -> None:
    begun = time.process_time()
    found = excerpt(f"{FILLER * 3_000}The kettle sings. {FILLER * 3_000}", asked_words(["kettle"]), {}, [], 150)
    assert "kettle sings" in found.text
    assert time.process_time() - begun < 5
