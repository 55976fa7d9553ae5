"""The readers of facts by name: the rules, and a language model. A function of the caller's own is one, too."""

from __future__ import annotations

from cuetrail.errors import InputError
from cuetrail.extract.facts_by_rules import FactReader, by_rules


def open_fact_reader(given: FactReader | str | None, api_key: str | None) -> FactReader | None:
    """Returns the function that reads facts from texts, by its name ("rules" or "openai:URL#MODEL"); a function as it
    is; None for None and "none". Raises InputError for an unknown name.
    """
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
    from cuetrail.extract.facts_by_llm import OpenAIReader

    return OpenAIReader(url, model, api_key)
