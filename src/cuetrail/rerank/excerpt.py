"""The part of a text that a cross-encoder reads: its time grows with every word."""

from __future__ import annotations

import re

from cuetrail.text.prose import split_sentences
from cuetrail.text.word_lists import ASKING_WORDS, FUNCTION_WORDS

EXCERPT_WORDS = 30
"""The most words that are read of a text. More of them order the passages of MuSiQue no better."""
MOST_CHARS = 20_000
"""How far a text is searched for the sentences to read."""
TITLE_WORDS = 10
_WORD = re.compile(r"\w{2,}")
_STEM = 5


def excerpt(question: str, text: str, words: int = EXCERPT_WORDS) -> str:
    """Returns the sentences that share most words with the question, at most `words` words, in the order of the text. A
    short first line, its title, is kept. A text without more words is returned as it is.

    >>> text = "Mast\\nIt is ten metres high. It was painted in May. Lightning struck it once."
    >>> excerpt("Was the mast ever struck by lightning?", text, 5)
    'Mast Lightning struck it once.'
    """
    text = text[:MOST_CHARS]
    if len(text.split()) <= words:
        return text
    title, _, rest = text.partition("\n")
    if not rest.strip() or len(title.split()) > min(TITLE_WORDS, words // 2):
        title, rest = "", text
    asked = _stems(question) - _stems(title)
    sentences = split_sentences(rest)
    left = words - len(title.split())
    chosen: dict[int, list[str]] = {}
    # The best first; of equal ones the earlier.
    for at in sorted(range(len(sentences)), key=lambda at: (-len(_stems(sentences[at]) & asked), at)):
        chosen[at] = sentences[at].split()[:left]
        left -= len(chosen[at])
        if left <= 0:
            break
    return " ".join([*title.split(), *(word for at in sorted(chosen) for word in chosen[at])])


def _stems(text: str) -> set[str]:
    """Returns the beginnings of the words that carry meaning."""
    found = (word.casefold() for word in _WORD.findall(text))
    return {word[:_STEM] for word in found if word not in FUNCTION_WORDS and word not in ASKING_WORDS}
