"""What storylines, macros and sources are called and what is told of them: sentences taken from their texts.

A language model may tell it instead: a `Teller` takes the place of `extract`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo

from cuetrail.text import keyphrases, sentences
from cuetrail.text.normalise import norm_name, sanitize_query, snippet

Teller = Callable[[str, Sequence[str]], str]
"""From a subject, empty for a source, and texts, the oldest first, to what to tell of them."""

MOST_CHARS = 600
MOST_SENTENCES = 5
# A book is told by its beginning.
MOST_READ = 1_000
KEYWORDS = 5
# So many texts are looked at, spread evenly from the first to the last.
SAMPLE = 12


def extract(subject: str, texts: Sequence[str]) -> str:
    """The sentences that say most of what the texts share, or of the subject, in their order.

    >>> extract("Ada", ["It rains. Ada built a mill.", "The mill of Ada turns."])
    'Ada built a mill. The mill of Ada turns.'
    """
    said = [" ".join(one.split()) for text in texts for one in sentences.split(text)]
    said = list(dict.fromkeys(one for one in said if one))[:MOST_READ]
    if norm_name(subject):
        named = [one for one in said if f" {sanitize_query(subject)} " in f" {sanitize_query(one)} "]
        said = named or said
    weight = Counter(word for one in said for word in set(sanitize_query(one).split()) if len(word) > 3)
    value = {one: sum(weight[word] - 1 for word in set(sanitize_query(one).split())) for one in said}
    # Sorting keeps the order of equals.
    best = set(sorted(said, key=lambda one: -value[one])[:MOST_SENTENCES])
    told, room = [], MOST_CHARS
    for one in said:
        if one in best and len(one) <= room:
            told.append(one)
            room -= len(one) + 1
    return " ".join(told) or (snippet(said[0], MOST_CHARS) if said else "")


def keywords(texts: Sequence[str]) -> tuple[str, ...]:
    """The phrases that come up most."""
    found = Counter(phrase for text in texts for phrase in keyphrases.find(text))
    return tuple(sorted(found, key=lambda phrase: (-found[phrase], phrase)))[:KEYWORDS]


def sampled(items: Sequence[int]) -> list[int]:
    """At most SAMPLE of them, spread evenly, the first and the last among them.

    >>> sampled(range(100))
    [0, 9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 99]
    """
    if len(items) <= SAMPLE:
        return list(items)
    return [items[n * (len(items) - 1) // (SAMPLE - 1)] for n in range(SAMPLE)]


def called(subject: str, start: int, end: int, zone: tzinfo = UTC) -> str:
    """A name: the subject and its time.

    >>> called("Ada", 0, 40 * 86_400_000), called("Ada", 0, 0)
    ('Ada, January 1970 to February 1970', 'Ada, January 1970')
    """
    months = [datetime.fromtimestamp(time / 1000, zone).strftime("%B %Y") for time in (start, end)]
    return f"{subject}, {' to '.join(dict.fromkeys(months))}"
