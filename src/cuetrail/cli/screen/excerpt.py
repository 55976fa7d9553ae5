"""The words of a question in a text, and the part of the text where most of them stand together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cuetrail.text.normalise import terms_of
from cuetrail.text.plain_text import plain_text
from cuetrail.text.prose import sentence_ends
from cuetrail.text.word_lists import FUNCTION_WORDS

_WORD = re.compile(r"[^\W_]+")
# A longer text is cut around its best place before its Markdown is removed.
_LONGEST = 6_000
# How much of an excerpt may stand before the first word that is set off.
_BEFORE = 1 / 3

Mark = tuple[int, int]
"""The start and the end of a word in a text."""


@dataclass(frozen=True, slots=True)
class AskedWords:
    """The words of a question without those that only build the sentence, as stems, each with its spelling.

    `prefix` is the beginning of a word that the question ends with ("anten*"), else "".
    """

    spelt: dict[str, str]
    prefix: str = ""

    def stem_in(self, word: str) -> str:
        """Returns the stem by which the question contains a word of a text, "" if it does not."""
        stems = terms_of(word)
        found = next((stem for stem in stems if stem in self.spelt), "")
        if not found and self.prefix and any(stem.startswith(self.prefix) for stem in stems):
            return self.prefix
        return found


def asked_words(looked_for: Iterable[str], prefix: str = "") -> AskedWords:
    """Returns the words to set off, from the words and phrases that were looked for.

    >>> asked_words(["who", "decides", "#radio", "heavy tags"]).spelt
    {'decid': 'decides', 'heavi': 'heavy', 'tag': 'tags'}
    >>> asked_words(["the", "who"]).spelt
    {'the': 'the', 'who': 'who'}
    """
    words = [word for part in looked_for if part[:1] not in "#@" for word in _WORD.findall(part)]
    telling = [word for word in words if word.lower() not in FUNCTION_WORDS]
    return AskedWords({stem: word for word in telling or words for stem in terms_of(word)}, prefix.lower())


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text, the words in it to set off, and whether text was left out before it and behind it."""

    text: str
    marks: tuple[Mark, ...] = ()
    cut_before: bool = False
    cut_behind: bool = False


def excerpt(text: str, words: AskedWords, weights: Mapping[str, float], others: Sequence[str], room: int) -> Excerpt:
    """Returns about `room` characters of a Markdown text, where the words of most weight stand together.

    `weights` has the weight of each stem. If the text has none of the words, names in `others` are set off instead;
    without these it is the beginning.
    """
    raw = text if len(text) <= _LONGEST else _around(text, words, weights)
    plain = plain_text(raw)
    marks = marks_in(plain, words.stem_in)
    if not marks:
        marks = [(at, at + len(one), one) for one in others if one and (at := plain.lower().find(one.lower())) >= 0]
    start = _start(plain, _densest(marks, weights, room), room)
    # A little more than the room, so that the last line can be filled.
    shown = plain[start : start + room + 80]
    kept = tuple((a - start, b - start) for a, b, _ in marks if a >= start and b - start <= len(shown))
    return Excerpt(shown, kept, start > 0 or not text.startswith(raw[:20]), start + len(shown) < len(plain))


def marks_in(text: str, stem_in: Callable[[str], str]) -> list[tuple[int, int, str]]:
    """Returns the start, end and stem of each word of a text for which `stem_in` returns a stem, in order."""
    known: dict[str, str] = {}
    found = []
    for word in _WORD.finditer(text):
        spelling = word[0].lower()
        if spelling not in known:
            known[spelling] = stem_in(word[0])
        if known[spelling]:
            found.append((word.start(), word.end(), known[spelling]))
    return found


def _around(text: str, words: AskedWords, weights: Mapping[str, float]) -> str:
    """Returns the part of a long text around the place where the words of most weight stand together."""
    at = _densest(marks_in(text, words.stem_in), weights, _LONGEST // 4)
    begin = max(at - _LONGEST // 2, 0)
    line = text.rfind("\n", 0, begin) + 1
    return text[line if begin - line < _LONGEST // 4 else begin :][:_LONGEST]


def _densest(marks: Sequence[tuple[int, int, str]], weights: Mapping[str, float], room: int) -> int:
    """Returns the start of the first mark from which words of most weight stand within two thirds of `room` characters;
    0 if there are no marks.

    >>> _densest([(0, 3, "a"), (200, 203, "a"), (210, 213, "b")], {}, 50)
    200
    """
    best, most = 0, (0.0, 0)
    for at, (start, _, _) in enumerate(marks):
        inside = [stem for a, b, stem in marks[at : at + 50] if b - start <= room * (1 - _BEFORE)]
        weight = round(sum(weights.get(stem, 1.0) for stem in set(inside)), 6)
        if (weight, len(inside)) > most:
            best, most = start, (weight, len(inside))
    return best


def _start(text: str, mark: int, room: int) -> int:
    """Returns where an excerpt with this mark begins: at a sentence near before it, else between words."""
    if len(text) <= room or mark <= room * _BEFORE:
        return 0
    # The end of a text fills the room with what stands before.
    least = min(mark - int(room * _BEFORE), max(len(text) - room, 0))
    ends = [end for end in sentence_ends(text[: mark + 1]) if least <= end <= mark]
    if ends:
        return ends[0] + (text[ends[0]] == " ")
    space = text.find(" ", max(min(mark - room // 5, len(text) - room), 0), mark)
    return space + 1 if space >= 0 else mark
