"""The fields by which a node is searched: its titles, its headings, and the text that its vector is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cuetrail.model.records import ALIASES, HEADING, TITLE, Node


def searched_title(name: str | None, aliases: Iterable[str], props: Mapping[str, Any]) -> str:
    """Returns the names under which a text search finds a node, one per line: name, aliases, and titles of its note.

    >>> searched_title("Ada", ["Countess"], {}), searched_title(None, [], {"title": "Radio", "aliases": ["Wireless"]})
    ('Ada\\nCountess', 'Radio\\nWireless')
    """
    if not props:
        # Most nodes of a chat have neither.
        return "\n".join((name, *aliases)) if name else "\n".join(aliases)
    titles = (name or "", *aliases, _words(props.get(TITLE)), *_listed_words(props.get(ALIASES)))
    return "\n".join(dict.fromkeys(filter(None, titles)))


def searched_heading(props: Mapping[str, Any]) -> str:
    """Returns the headings above a passage, "" if there are none."""
    return _words(props.get(HEADING))


def embedded_text(node: Node) -> str:
    """Returns the text that a node's vector is made of: "title › heading: text", without what is missing.

    A text that begins with its title does not repeat it. A node with a name has that in front, on a line of its own.

    >>> embedded_text(Node("a", text="It hums.", props={"title": "Radio", "heading": "Faults › Noise"}))
    'Radio › Faults › Noise: It hums.'
    >>> embedded_text(Node("a", text="Radio masts hum.", props={"title": "Radio"})), embedded_text(Node("b", name="B"))
    ('Radio masts hum.', 'B\\n')
    """
    text = node.text or _words(node.props.get("summary"))
    if node.name:
        return f"{node.name}\n{text}"
    title, heading = _words(node.props.get(TITLE)), searched_heading(node.props)
    if _begins_with(text, title) or _begins_with(heading, title):
        title = ""
    above = " › ".join(filter(None, (title, heading)))
    return f"{above}: {text}" if above else text


def _begins_with(text: str, words: str) -> bool:
    return text[: len(words)].casefold() == words.casefold() and not text[len(words) : len(words) + 1].isalnum()


def _words(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _listed_words(value: object) -> list[str]:
    return [_words(one) for one in value] if isinstance(value, list | tuple) else [_words(value)]
