"""Finds the key phrases of a text by rules, without other texts to compare with.

>>> find("The relay connector shrinks. Replace a relay connector, and test the kaolin: kaolin is kaolin.")
('relay connector', 'kaolin')

Words that are surely no nouns, numbers and punctuation split a text into runs of words, as in RAKE (Rose and others
2010). Two or three neighbouring words of a run are a phrase if they occur at least twice, a single rare word if it
occurs three times. In a short text a run of two words behind a determiner ("the relay panel") is one too. A phrase that
occurs only inside a longer phrase is dropped. The score is the number of occurrences times the number of words; equal
scores keep the order of the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from cuetrail.text.entity_names import word_kind
from cuetrail.text.normalise import is_unspaced
from cuetrail.text.prose import prose_only
from cuetrail.text.word_lists import COMMON_WORDS, STOP_WORDS, VAGUE_NOUNS

MOST = 8
# Shorter words are ignored.
SHORTEST_WORD = 3
# In a longer text a phrase must occur more than once.
SHORT = 200
# A single word must be longer, and occur this often.
SHORTEST_ALONE, FEWEST_ALONE = 5, 3
Phrase = tuple[str, ...]

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")

_DETERMINERS = frozenset({"a", "an", "the", "this", "that", "these", "our", "my", "your", "its", "their", "his", "her"})
_IGNORED = STOP_WORDS | COMMON_WORDS | VAGUE_NOUNS


def find(text: str) -> tuple[str, ...]:
    """Returns at most 8 key phrases, the best first."""
    runs = _runs(prose_only(text))
    pairs = Counter[Phrase](pair for run in runs for pair in pairwise(run.words))
    words = Counter(
        word for run in runs for word in run.words if len(word) >= SHORTEST_ALONE and word_kind(word) == "name"
    )
    determined = (run.words for run in runs if run.determined and len(text) <= SHORT)
    alone = {tuple(words) for words in determined if word_kind(words[-1]) == "noun"}
    counts = {pair: times for pair, times in pairs.items() if times > 1 or pair in alone}
    counts |= {(word,): times for word, times in words.items() if times >= FEWEST_ALONE}
    if len(pairs) < sum(pairs.values()):
        threes = Counter(three for run in runs for three in zip(run.words, run.words[1:], run.words[2:], strict=False))
        counts |= {three: times for three, times in threes.items() if times > 1}
    own = _without_parts(counts)
    best = sorted(own, key=lambda phrase: -own[phrase] * len(phrase))
    return tuple(" ".join(phrase) for phrase in best[:MOST])


def _without_parts(counts: Mapping[Phrase, int]) -> dict[Phrase, int]:
    """Returns the phrases and their counts, without those that occur only inside a longer phrase."""
    inside: dict[Phrase, int] = {}
    for phrase, times in counts.items():
        if times > 1 and len(phrase) > 1:
            for part in ((phrase[0],), (phrase[-1],), phrase[:-1], phrase[1:]):
                inside[part] = max(times, inside.get(part, 0))
    return {phrase: times for phrase, times in counts.items() if times > inside.get(phrase, 0)}


class _Run(NamedTuple):
    """Adjacent words, lower-cased. `determined`: a determiner such as "the" precedes them, so the last is a noun."""

    words: list[str]
    determined: bool


def _runs(text: str) -> list[_Run]:
    """Returns runs of words that may be nouns. Punctuation, gaps and all other words end a run."""
    runs: list[_Run] = []
    run: _Run | None = None
    before, end = "", 0
    for match in _WORD.finditer(text):
        word = match[0].casefold()
        if text[end : match.start()] not in (" ", "\n"):
            run, before = None, ""
        if len(word) < SHORTEST_WORD or not _may_be_noun(word):
            run = None
        elif run is None:
            run = _Run([word], before in _DETERMINERS)
            runs.append(run)
        else:
            run.words.append(word)
        before, end = word, match.end()
    return runs


def _may_be_noun(word: str) -> bool:
    """True if the word may be part of a key phrase: it is a noun, or a rare word in a spaced script."""
    return (
        word not in _IGNORED
        and "'" not in word
        and "’" not in word
        and word_kind(word) != "other"
        and not is_unspaced(word)
    )
