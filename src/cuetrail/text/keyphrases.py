"""Key phrases of a text by rules, from the text alone.

>>> find("The crimped connector shrinks. Replace a crimped connector, and test every connector again.")
('crimped connector', 'connector', 'connector shrinks')

A text is cut at function words, numbers and punctuation into runs of words, as RAKE does (Rose and others 2010). A
phrase is two neighbours in a run, or what is said twice: a word, or three in a row. What is only said inside a longer
phrase is none. The best is said most often, times its words; of equals, the one that comes first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

from cuetrail.text.markup import prose_only
from cuetrail.text.normalise import is_unspaced
from cuetrail.text.word_lists import COMMON_WORDS, STOP_WORDS

MOST = 8
# A word of fewer letters says little.
SHORTEST_WORD = 3
Phrase = tuple[str, ...]

_WORD = re.compile(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*")

_IGNORED = STOP_WORDS | COMMON_WORDS


def find(text: str) -> tuple[str, ...]:
    """The phrases, the best first, at most 8."""
    runs = _runs(prose_only(text))
    pairs = Counter[Phrase](pair for run in runs for pair in pairwise(run))
    words = Counter(word for run in runs for word in run)
    said = dict(pairs) | {(word,): times for word, times in words.items() if times > 1}
    if len(pairs) < sum(pairs.values()):
        threes = Counter(three for run in runs for three in zip(run, run[1:], run[2:], strict=False))
        said |= {three: times for three, times in threes.items() if times > 1}
    own = _without_parts(said)
    best = sorted(own, key=lambda phrase: -own[phrase] * len(phrase))
    return tuple(" ".join(phrase) for phrase in best[:MOST])


def _without_parts(said: Mapping[Phrase, int]) -> dict[Phrase, int]:
    """Phrases with how often they are said, without those that are only said inside a longer one."""
    inside: dict[Phrase, int] = {}
    for phrase, times in said.items():
        if times > 1 and len(phrase) > 1:
            for part in ((phrase[0],), (phrase[-1],), phrase[:-1], phrase[1:]):
                inside[part] = max(times, inside.get(part, 0))
    return {phrase: times for phrase, times in said.items() if times > inside.get(phrase, 0)}


def _runs(text: str) -> list[list[str]]:
    """Words in a row, with nothing but a space between them."""
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
