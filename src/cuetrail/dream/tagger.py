"""Who proposes tags for a text: the rule that is always there, or something that knows better, such as an LLM."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from cuetrail.errors import TaggerError
from cuetrail.text import keyphrases, names
from cuetrail.text.normalise import norm_name

# What the rule notes of an atom; its best that are shared become tags.
CANDIDATES = 6
_TROUBLE = "the tagger failed, so the memory has no new auto-tags; the next dream asks it again"


class AutoTagger(Protocol):
    """Proposes tags for texts, the best first. The same text must always get the same tags.

    `name` says which tagger it is: under another name every atom is tagged anew. A proposal becomes a tag when at least
    `shared` atoms have it; with 1 every proposal does.
    """

    name: str
    shared: int

    def __call__(self, texts: Sequence[str]) -> Sequence[Sequence[str]]: ...


def proposed(tagger: AutoTagger, texts: Sequence[str]) -> list[list[str]]:
    """What the tagger proposes for each text. Raises TaggerError when it fails, or returns something else."""
    if not texts:
        return []
    try:
        found = [list(some) if _is_list(some) else None for some in tagger(texts)]
    except Exception as error:
        # Whatever somebody else's code raises.
        raise TaggerError(f"{_TROUBLE} ({type(error).__name__}: {error})") from error
    tags = [some for some in found if some is not None and all(isinstance(tag, str) for tag in some)]
    if not len(tags) == len(found) == len(texts):
        raise TaggerError(f"{_TROUBLE} (for {len(texts)} texts it has to return as many lists of str)")
    return tags


def _is_list(some: object) -> bool:
    return isinstance(some, Iterable) and not isinstance(some, (str, bytes))


class Rule:
    """Names, then key phrases, from the text alone. What no second atom has joins nothing, so it is no tag."""

    name = "rule 1"
    shared = 2

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        return [_of(text) for text in texts]


def _of(text: str) -> list[str]:
    """At most CANDIDATES, each once whatever its case."""
    found: dict[str, str] = {}
    for phrase in (*names.find([text])[0], *keyphrases.find(text)):
        found.setdefault(norm_name(phrase), phrase)
    return list(found.values())[:CANDIDATES]


RULE = Rule()
