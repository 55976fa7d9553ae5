"""Splits text into sentences, in any script.

>>> split("Ask Dr. Ray, e.g. today. Is it 3.5 dB? Yes!")
['Ask Dr. Ray, e.g. today. ', 'Is it 3.5 dB? ', 'Yes!']
>>> split("雨だった。鳥は来た！")
['雨だった。', '鳥は来た！']
"""

from __future__ import annotations

import re
from itertools import pairwise

from cuetrail.text.word_lists import ABBREVIATIONS

# Spaced scripts need white space after the mark, unspaced ones do not. The lookbehind matches a run of marks only from
# its start, which keeps the time linear for input such as a million dots.
_SPACED = r"(?<![.!?…؟۔։።।॥])[.!?…؟۔։።।॥]++[\"'”’»)\]}*_]*+(?=\s|\Z)"
_UNSPACED = r"[。！？｡．]++[」』”’）》】]*+"
_END = re.compile(f"(?:{_SPACED}|{_UNSPACED})\\s*+")

# These end a sentence unless a number follows: "No. 5", "p. 12".
_BEFORE_NUMBER = frozenset({"no", "p", "art", "para"})
_LOOK_BACK = 24


def ends(text: str) -> list[int]:
    """Returns the offset after each sentence and its white space, in order, without the end of the text."""
    found = (m for m in _END.finditer(text) if m.end() < len(text))
    return [m.end() for m in found if _is_end(text, m.start(), m.end())]


def has_end(text: str) -> bool:
    """True if a sentence ends in the text, or at its end."""
    return any(_is_end(text, match.start(), match.end()) for match in _END.finditer(text))


def has_end_between(text: str, start: int, end: int) -> bool:
    """True if a sentence ends after `start` and its trailing white space ends at or before `end`."""
    found = _END.finditer(text, start, end + 1)
    return any(_is_end(text, match.start(), match.end()) for match in found if match.end() <= end)


def split(text: str) -> list[str]:
    """Returns the sentences with their trailing white space. Joined, they are the text again."""
    cuts = [0, *ends(text), len(text)]
    return [text[a:b] for a, b in pairwise(cuts) if a < b]


def _is_end(text: str, start: int, end: int) -> bool:
    """True if the mark at `start` ends a sentence. Only full stops and ellipses need a closer look."""
    following = text[end : end + 1]
    if text[start] == "…" or text[start : start + 2] == "..":
        return not following.islower()
    if text[start] != "." or text[start + 1 : start + 2] in ("!", "?"):
        return not (following.islower() and text[start + 1 : start + 2] in ('"', "'", "”", "’", "»"))
    before = text[max(0, start - _LOOK_BACK) : start]
    word = before.split()[-1].lstrip("([{\"'“‘«*_-") if before.strip() and not before[-1].isspace() else ""
    if not word:
        return not following.islower()
    if len(word) == 1 and word.isalpha() and word.isupper():
        return False  # an initial: "J. Smith"
    if word.isdigit() and _starts_line(text, start - len(word)):
        return False  # a list number: "1. first"
    bare = word.replace(".", "").casefold()
    if "." in word and len(bare) <= 4 and bare.isalpha() and all(len(part) == 1 for part in word.split(".")):
        return False  # "e.g", "U.S", "a.m"
    if bare in _BEFORE_NUMBER:
        return not following.isdigit()
    return bare not in ABBREVIATIONS


def _starts_line(text: str, at: int) -> bool:
    line_start = text.rfind("\n", max(0, at - _LOOK_BACK), at)
    if line_start < 0 and at > _LOOK_BACK:
        return False
    return not text[line_start + 1 : at].strip(" \t>")
