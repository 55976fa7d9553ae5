"""The taggers that propose automatic tags for a text: the built-in rule, or one of the caller's own.

The caller's tagger may be a language model.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from cuetrail.errors import TaggerError
from cuetrail.text import entity_names, keyphrases
from cuetrail.text.normalise import norm_name
from cuetrail.text.prose import displayed, without_code

# Candidates the rule keeps per atom. The best that other atoms share become tags.
CANDIDATES = 6
# A text of at most SHORT characters is about each name in it, a longer one about those in its first OPENING characters.
SHORT, OPENING = 200, 120
# A text with more names is a list of them. It is about those that it repeats.
MOST_IN_TEXT = 15
_TROUBLE = "the tagger failed, so the memory has no new auto-tags; the next dream asks it again"


class AutoTagger(Protocol):
    """Protocol of a function that returns proposed tags for each text, best first; always the same for the same text.

    A new `name` makes the next dream tag every atom again. A proposal becomes a tag if at least `shared` atoms have it.
    """

    name: str
    shared: int

    def __call__(self, texts: Sequence[str]) -> Sequence[Sequence[str]]: ...


def propose_tags(tagger: AutoTagger, texts: Sequence[str]) -> list[list[str]]:
    """Returns the tags that the tagger proposes for each text. Raises TaggerError if it fails or returns no lists."""
    if not texts:
        return []
    try:
        found = [list(some) if _is_list(some) else None for some in tagger(texts)]
    except Exception as error:
        # A caller's tagger may raise anything.
        raise TaggerError(f"{_TROUBLE} ({type(error).__name__}: {error})") from error
    tags = [some for some in found if some is not None and all(isinstance(tag, str) for tag in some)]
    if not len(tags) == len(found) == len(texts):
        raise TaggerError(f"{_TROUBLE} (for {len(texts)} texts it has to return as many lists of str)")
    return tags


def _is_list(some: object) -> bool:
    return isinstance(some, Iterable) and not isinstance(some, (str, bytes))


class RuleTagger:
    """The built-in tagger: proposes the names in a text, then its key phrases. Two atoms must share a proposal."""

    name = "rule 3"
    shared = 2

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        return [_proposals(text) for text in texts]


def _proposals(text: str) -> list[str]:
    """Returns at most CANDIDATES phrases of a text: the names it is about, most frequent first, then key phrases."""
    code = _code_in(text)
    text = displayed(text)
    found: dict[str, str] = {}
    names = entity_names.find([text], code)[0]
    is_list = len(names) > MOST_IN_TEXT
    named = [name for name in names if (text.count(name) > 1 if is_list else is_about(text, name))]
    for phrase in (*sorted(named, key=lambda name: -text.count(name)), *keyphrases.find(text)):
        found.setdefault(norm_name(phrase), phrase)
    return list(found.values())[:CANDIDATES]


def _code_in(text: str) -> list[str]:
    """Returns the code of a text, with spaces for the rest; nothing if it has none."""
    if "`" not in text:
        return []
    return ["".join(a if a != b else " " for a, b in zip(text, without_code(text), strict=True))]


def is_about(text: str, name: str) -> bool:
    """True if a text that contains a name is about it and does not only mention it: the name occurs twice or near the
    start, or the text is short. The caller has checked that the text contains it, in the same spelling.
    """
    return len(text) <= SHORT or text.find(name) < OPENING or text.count(name) > 1


RULE = RuleTagger()
