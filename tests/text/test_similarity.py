"""Measures of similarity against values worked out by hand."""

from __future__ import annotations

import pytest

from cuetrail.text.similarity import jaro_winkler


def test_a_common_beginning_counts_for_four_letters_at_most() -> None:
    # Six of eight letters match in order: Jaro is (6/8 + 6/8 + 1) / 3 = 5/6. Four letters add 0.4 of what is missing.
    assert jaro_winkler("abcdefgh", "abcdefxy") == pytest.approx(0.9)
