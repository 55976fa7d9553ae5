"""Titles, summaries and keywords of storylines, of macros (summaries of storylines) and of sources.

A summary consists of sentences from the texts. A `Teller`, such as a language model, can replace `extract`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, tzinfo

from cuetrail.text import keyphrases
from cuetrail.text.normalise import norm_name, sanitize_query, snippet
from cuetrail.text.prose import split_sentences

Teller = Callable[[str, Sequence[str]], str]
"""A function that takes a subject ("" for a source) and texts, oldest first, and returns a summary."""

MOST_CHARS = 600
MOST_SENTENCES = 5
# Sentences of a long text beyond this are ignored.
MOST_READ = 1_000
KEYWORDS = 5
# The number of texts a summary is made of, spread evenly from the first to the last.
SAMPLE = 12


def extract(subject: str, texts: Sequence[str]) -> str:
    """Returns a summary: at most MOST_SENTENCES sentences of the texts, in order, whose words occur in most sentences.

    If any sentence names the subject, only such sentences count.

    >>> extract("Ada", ["It rains. Ada built a mill.", "The mill of Ada turns."])
    'Ada built a mill. The mill of Ada turns.'
    """
    candidates = [" ".join(one.split()) for text in texts for one in split_sentences(text)]
    candidates = list(dict.fromkeys(one for one in candidates if one))[:MOST_READ]
    if norm_name(subject):
        named = [one for one in candidates if f" {sanitize_query(subject)} " in f" {sanitize_query(one)} "]
        candidates = named or candidates
    weight = Counter(word for one in candidates for word in set(sanitize_query(one).split()) if len(word) > 3)
    value = {one: sum(weight[word] - 1 for word in set(sanitize_query(one).split())) for one in candidates}
    # Sorting is stable: equal sentences stay in order.
    best = set(sorted(candidates, key=lambda one: -value[one])[:MOST_SENTENCES])
    chosen, room = [], MOST_CHARS
    for one in candidates:
        if one in best and len(one) <= room:
            chosen.append(one)
            room -= len(one) + 1
    return " ".join(chosen) or (snippet(candidates[0], MOST_CHARS) if candidates else "")


def keywords(texts: Sequence[str]) -> tuple[str, ...]:
    """Returns the key phrases that occur in most of the texts, at most KEYWORDS."""
    found = Counter(phrase for text in texts for phrase in keyphrases.find(text))
    return tuple(sorted(found, key=lambda phrase: (-found[phrase], phrase)))[:KEYWORDS]


def sample(items: Sequence[int]) -> list[int]:
    """Returns at most SAMPLE items, spread evenly, with the first and the last.

    >>> sample(range(100))
    [0, 9, 18, 27, 36, 45, 54, 63, 72, 81, 90, 99]
    """
    if len(items) <= SAMPLE:
        return list(items)
    return [items[n * (len(items) - 1) // (SAMPLE - 1)] for n in range(SAMPLE)]


def title_of(subject: str, start: int, end: int, zone: tzinfo = UTC) -> str:
    """Returns a title: the subject, and the months of the start and the end, given in milliseconds.

    >>> title_of("Ada", 0, 40 * 86_400_000), title_of("Ada", 0, 0)
    ('Ada, January 1970 to February 1970', 'Ada, January 1970')
    """
    months = [datetime.fromtimestamp(time / 1000, zone).strftime("%B %Y") for time in (start, end)]
    return f"{subject}, {' to '.join(dict.fromkeys(months))}"
