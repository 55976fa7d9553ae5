"""The title of a memory as people know it: the note and the heading it stands under, a name, or its first words."""

from __future__ import annotations

from datetime import timedelta
from pathlib import PurePath

from cuetrail.cli.screen.terminal import safe
from cuetrail.model import Node
from cuetrail.model.records import HEADING, TITLE
from cuetrail.text.normalise import snippet
from cuetrail.text.plain_text import plain_text
from cuetrail.text.timestamps import EPOCH

# The most characters of a text that stand for a missing title.
FIRST_WORDS = 70


def title_of(node: Node) -> str:
    """Returns the name of a node, else the title of its note, else the name of its file, else its first words.

    >>> title_of(Node("a", text="x", props={"title": "Radio"})), title_of(Node("b", text="It *hums*."))
    ('Radio', 'It hums.')
    >>> title_of(Node("c", text="x", source="notes/Radio.md"))
    'Radio'
    """
    stated = node.props.get(TITLE)
    title = node.name or (stated if isinstance(stated, str) else "")
    if not title and node.source:
        path = PurePath(node.source)
        title = path.stem if path.suffix in (".md", ".markdown", ".txt") else path.name
    return safe(plain_text(title or snippet(plain_text(node.text[:1000]), FIRST_WORDS)) or node.id)


def heading_of(node: Node) -> str:
    """Returns the headings above a passage, without the title of its note; "" if there are none.

    >>> heading_of(Node("a", text="x", props={"title": "Radio", "heading": "Radio › Faults"}))
    'Faults'
    """
    heading = node.props.get(HEADING)
    parts = [safe(plain_text(part)) for part in heading.split(" › ")] if isinstance(heading, str) else []
    title = title_of(node).casefold()
    return " › ".join(part for part in parts if part and part.casefold() != title)


def is_all_in_title(node: Node) -> bool:
    """True if the title is the whole text, because the node has neither a name nor a note."""
    return bool(node.text) and title_of(node) == safe(plain_text(node.text[: 2 * FIRST_WORDS]))


def day_of(ms: int) -> str:
    """Returns the day of a time in UTC, "" if it is outside the calendar.

    >>> day_of(1_742_860_800_000), day_of(10**17)
    ('25 Mar 2025', '')
    """
    try:
        time = EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return ""
    return f"{time.day} {time:%b %Y}"
