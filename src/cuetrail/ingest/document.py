"""Documents, which readers make and `build_nodes` turns into nodes. A document consists of pieces, one for each atom.

A reader splits a file into parts; `passages.compose` joins them into the pieces of a document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from cuetrail.errors import ReadError
from cuetrail.text.normalise import norm_name


class LeftOut(ReadError):
    """A file that is no memory, such as a drawing or a template. `what` names such files in the plural."""

    def __init__(self, source: str, what: str) -> None:
        super().__init__(f"{source} was left out: it is one of the {what}. Nothing needs to be done.")
        self.what = what


@dataclass(frozen=True, slots=True)
class Piece:
    """The text of one future atom: a passage that can be read alone. `speaker` is set in a chat.

    `heading` is the path of headings above the text, from the outermost on. `section_tags` are those of `tags` that are
    written in the headings and link lists of its section, not in its text. `aliases` are names of blocks in it, by
    which other texts refer to them.
    """

    text: str
    heading: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    section_tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    at: int | None = None
    speaker: str | None = None
    props: Mapping[str, Any] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A note, a page or a chat. A file may hold several chats; each is a document with its own `path`.

    `at` is the date that the content or frontmatter states, or None. `tags` and `buckets` come from the frontmatter and
    belong to all passages. `own_tags` and `own_links`, from headings and link lists without a passage near them or from
    the frontmatter, belong to the document alone.
    `known_as` are headings by which it is found, though they are not its name.
    `kind` is note, page, pdf, code, text or chat. `read` counts what was read, such as messages, `left_out` what
    was not, such as comments.
    """

    path: str
    title: str
    kind: str
    pieces: tuple[Piece, ...] = ()
    aliases: tuple[str, ...] = ()
    known_as: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    own_tags: tuple[str, ...] = ()
    own_links: tuple[str, ...] = ()
    at: int | None = None
    props: Mapping[str, Any] = field(default_factory=dict)
    read: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    """A block of a file before it is joined with its neighbours: a paragraph, a list, a table, code.

    `level` > 0 is the depth of a heading, whose words are in the property `heading`. A part with `structure` is no text
    to read, such as a list of links: only its links and tags count. If `prose` is False, links, tags, names and dates
    are not searched for. A part that is `apart` begins a passage. `joint` is the text between a part and the one before
    it. In a chat, a passage begins with the `question` that it answers, if any, and then the name of its `speaker`.
    `aliases` are names by which other texts refer to this block.
    """

    text: str
    level: int = 0
    prose: bool = True
    structure: bool = False
    apart: bool = False
    joint: str = "\n\n"
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    at: int | None = None
    speaker: str | None = None
    question: str = ""
    props: Mapping[str, Any] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()

    def spoken(self) -> str:
        """Returns the text with the name of its speaker before it, and before that the question that it answers."""
        text = f"{self.speaker}: {self.text}" if self.speaker else self.text
        return f"{self.question}\n{text}" if self.question else text


def stem(source: str) -> str:
    """Returns the file name of a source without its suffix."""
    return PurePath(source.replace("\\", "/")).stem or source


def aliases(source: str, title: str, given: Sequence[str] = ()) -> tuple[str, ...]:
    """Returns the given aliases and the file's stem, without repeats and without the title."""
    unique: dict[str, str] = {}
    for alias in (*given, stem(source)):
        if norm_name(alias) and norm_name(alias) != norm_name(title):
            unique.setdefault(norm_name(alias), alias.strip())
    return tuple(unique.values())
