"""Finds the key phrases of a text by rules, without other texts to compare with.

>>> find("The crimped connector shrinks. Replace a crimped connector, and test every connector again.")
('crimped connector', 'connector', 'connector shrinks')

Function words, numbers and punctuation split a text into runs of words, as in RAKE (Rose and others 2010). Two
neighbouring words of a run are a phrase. A single word, or three words in a row, are one if they occur at least twice.
A phrase that occurs only inside a longer phrase is dropped. The score is the number of occurrences times the number of
words; equal scores keep the order of the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

from cuetrail.text.normalise import is_unspaced
from cuetrail.text.prose import prose_only
from cuetrail.text.word_lists import COMMON_WORDS, STOP_WORDS

MOST = 8
# Shorter words are ignored.
SHORTEST_WORD = 3
Phrase = tuple[str, ...]

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")

_IGNORED = STOP_WORDS | COMMON_WORDS


def find(text: str) -> tuple[str, ...]:
    """Returns at most 8 key phrases, the best first."""
    runs = _runs(prose_only(text))
    pairs = Counter[Phrase](pair for run in runs for pair in pairwise(run))
    words = Counter(word for run in runs for word in run)
    counts = dict(pairs) | {(word,): times for word, times in words.items() if times > 1}
    if len(pairs) < sum(pairs.values()):
        threes = Counter(three for run in runs for three in zip(run, run[1:], run[2:], strict=False))
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


def _runs(text: str) -> list[list[str]]:
    """Returns runs of adjacent words, lower-cased. Punctuation, gaps and short or common words end a run."""
    runs: list[list[str]] = []
    run: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        word = match[0].casefold()
        if run and text[end : match.start()] not in (" ", "\n"):
            runs.append(run)
            run = []
        end = match.end()
        if len(word) >= SHORTEST_WORD and word not in _IGNORED and not is_unspaced(word):
            run.append(word)
        elif run:
            runs.append(run)
            run = []
    return [*runs, run] if run else runs
