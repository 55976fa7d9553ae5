"""Taggers, which propose tags for texts: the built-in rule, or one that the caller provides, such as an LLM."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from cuetrail.errors import TaggerError
from cuetrail.text import keyphrases, names
from cuetrail.text.normalise import norm_name

# Candidates the rule keeps per atom. The best that other atoms share become tags.
CANDIDATES = 6
_TROUBLE = "the tagger failed, so the memory has no new auto-tags; the next dream asks it again"


class AutoTagger(Protocol):
    """Proposes tags for texts, best first. The same text must always get the same tags.

    A new `name` makes the next dream tag every atom again. A proposal becomes a tag if at least `shared` atoms have it.
    """

    name: str
    shared: int

    def __call__(self, texts: Sequence[str]) -> Sequence[Sequence[str]]: ...


def propose_tags(tagger: AutoTagger, texts: Sequence[str]) -> list[list[str]]:
    """Returns the proposals for each text. Raises TaggerError if the tagger fails or returns no lists of text."""
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


class Rule:
    """Proposes names, then key phrases of the text. A proposal needs a second atom to become a tag."""

    name = "rule 1"
    shared = 2

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        return [_proposals(text) for text in texts]


def _proposals(text: str) -> list[str]:
    """Returns at most CANDIDATES names and key phrases, without repeats."""
    found: dict[str, str] = {}
    for phrase in (*names.find([text])[0], *keyphrases.find(text)):
        found.setdefault(norm_name(phrase), phrase)
    return list(found.values())[:CANDIDATES]


RULE = Rule()
