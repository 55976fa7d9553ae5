"""Where sentences end: not after abbreviations, initials and list numbers."""

from __future__ import annotations

import pytest

from cuetrail.text.prose import split_sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He joined the U.S. Navy. She did not.", ["He joined the U.S. Navy. ", "She did not."]),
        ("It opens at 9 a.m. Bring keys. Thanks.", ["It opens at 9 a.m. Bring keys. ", "Thanks."]),
        ("Read the notes of J. Smith. Then ask.", ["Read the notes of J. Smith. ", "Then ask."]),
        ("He lives in Rome. She does not.", ["He lives in Rome. ", "She does not."]),
        ("See cuetrail.io. Then ask.", ["See cuetrail.io. ", "Then ask."]),
    ],
)
def test_a_dot_inside_a_name_or_an_abbreviation_ends_no_sentence(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected
