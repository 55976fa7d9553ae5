"""The readers that extract facts from texts: the rules, a language model, or a function of the caller."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cuetrail.errors import InputError
from cuetrail.extract import facts as rules
from cuetrail.extract.facts import Passage, Triple

FactReader = Callable[[Sequence[Passage]], list[list[Triple]]]
"""A function that returns the facts stated in each passage. Raises CuetrailError if it fails."""


def by_rules(passages: Sequence[Passage]) -> list[list[Triple]]:
    """Returns the facts that the rules find in each passage."""
    titles = {passage.title for passage in passages}
    return [
        rules.find(one.text, title=None if one.is_chat else one.title, speaker=one.speaker, known=titles)
        for one in passages
    ]


def open_fact_reader(given: FactReader | str | None, api_key: str | None) -> FactReader | None:
    """Returns the reader that an `extractor` argument names, None for "none". Raises InputError for an unknown name."""
    if given is None or given == "none":
        return None
    if given == "rules":
        return by_rules
    if not isinstance(given, str):
        return given
    kind, _, rest = given.partition(":")
    url, _, model = rest.rpartition("#")
    if kind != "openai":
        raise InputError(f"there is no extractor {given!r}: use rules, none, or openai:URL#MODEL")
    # Imported here, because this import is slow and most commands do not need it.
    from cuetrail.extract.llm import OpenAIReader

    return OpenAIReader(url, model, api_key)
