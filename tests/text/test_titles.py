"""Which first lines are titles, and of which sentences it is known what they are about."""

from __future__ import annotations

import pytest

from cuetrail.text.titles import subjects_of, title_of, topics_in


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Islam: The Untold Story\nIt is a documentary film by a historian.", "Islam: The Untold Story"),
        ("## Masts ##\n\n- ash", "Masts"),
        ("Masts\n\nAsh.", "Masts"),
        ("Fort Deposit, Alabama\nA town in Lowndes County with a church.", "Fort Deposit, Alabama"),
    ],
)
def test_a_short_line_above_more_text_is_a_title(text: str, title: str) -> None:
    assert title_of(text) == title


@pytest.mark.parametrize(
    "text",
    [
        "Masts", "Masts\n", "", "\n\n", "The mast fell.\nIt was made of ash, said Ines.", "- ash\n- oak and more of it",
        "import os\nprint(os.getcwd()) # and so on", "x = call(1)\nThe value is then printed twice.",
        "Hello Ann\nI hope you are well, and the boat too.", "Shopping:\nmilk, eggs, bread and a lot of tea",
        "The antenna stands on the lee side of\nThe Mast, which hums all night.", "https://a.org\nA page on much.",
        "The antenna hums\nand nobody knows why it does so.", "> Quoted line\nAn answer that is longer than it.",
        "Rosen\nTulpen\nNelken", f"{'Long ' * 30}\nThe text below such a line.", "12\nThe number of the beast, nearly.",
    ],
)  # fmt: skip
def test_other_first_lines_are_no_titles(text: str) -> None:
    assert title_of(text) == ""


def test_a_title_has_at_most_100_characters_and_14_words() -> None:
    longest = " ".join(["Receivers"] * 10) + "s"
    assert (len(longest), title_of(f"{longest}\n\nMore about them.")) == (100, longest)
    assert title_of(f"{longest}s\n\nMore about them.") == ""
    assert title_of(f"# {longest}\n\nMore about them.") == longest
    wordy = " ".join(["Mast"] * 14)
    assert title_of(f"{wordy}\n\nMore about them.") == wordy
    assert title_of(f"{wordy} Mast\n\nMore about them.") == ""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Margaret Mayo (November 19, 1882 – 1951) was an American playwright.", ["Margaret Mayo"]),
        ("The Rhine is a river.", ["The Rhine"]),
        ("The Uffington White Horse is a hill figure.", ["Uffington White Horse"]),
        ('"You and Only You" is a song.', ["You and Only You"]),
        ("Victor Cavendish, 9th Duke of Devonshire (1868 – 1938) was a peer.", ["Victor Cavendish"]),
        ("Werner Mensching( born 1933) was a skater.", ["Werner Mensching"]),
        ("Ines mended the antenna.", []),
        ("Ines Okafor mended the antenna.", ["Ines Okafor"]),
        ("The effective nuclear charge is the net charge.", ["effective nuclear charge"]),
        ("He Comes Up Smiling is a 1918 film.", ["He Comes Up Smiling"]),
        ("Yesterday was a good day.", []),
        ("I think that Ann is a baker.", []),
        ("What is the mast made of?", []),
        ("In 1994 Ed Wood was a film.", []),
        ("", []),
        ("日本は島国です。", []),
    ],
)
def test_a_sentence_is_about_the_name_with_which_it_begins(text: str, names: list[str]) -> None:
    assert subjects_of(text) == names


def test_a_title_that_is_given_comes_first() -> None:
    assert topics_in("Ed Wood is a film.", "Wood (film)") == {"about": ["Wood (film)", "Ed Wood"]}
