"""Who proposes tags for a text: the rule that is always there, or something that knows better, such as an LLM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from cuetrail.extract import keyphrases, names
from cuetrail.text import norm_name

# What the rule notes of an atom; its best that are shared become tags.
CANDIDATES = 6


class AutoTagger(Protocol):
    """Proposes tags for texts, the best first. The same text must always get the same tags.

    `name` says which tagger it is: under another name every atom is tagged anew. A proposal becomes a tag when at least
    `shared` atoms have it; with 1 every proposal does.
    """

    name: str
    shared: int

    def __call__(self, texts: Sequence[str]) -> Sequence[Sequence[str]]: ...


class Rule:
    """Names, then key phrases, from the text alone. What no second atom has joins nothing, so it is no tag."""

    name = "rule 1"
    shared = 2

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        return [_proposed(text) for text in texts]


def _proposed(text: str) -> list[str]:
    """At most CANDIDATES, each once whatever its case."""
    found: dict[str, str] = {}
    for phrase in (*names.find([text])[0], *keyphrases.find(text)):
        found.setdefault(norm_name(phrase), phrase)
    return list(found.values())[:CANDIDATES]


RULE = Rule()
