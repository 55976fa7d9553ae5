"""Documents, which readers make and `build` turns into nodes. A document consists of pieces, one for each future atom.

A reader splits a text into parts; `make_pieces` finds the tags, links, names and dates of each part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from cuetrail.extract.inline import find_links, find_tags
from cuetrail.text import document_dates, kept_names
from cuetrail.text.normalise import norm_name
from cuetrail.text.prose import prose_only


@dataclass(frozen=True, slots=True)
class Piece:
    """The text of one future atom. `level` > 0 is the depth of a heading; `speaker` and `at` are for chats."""

    text: str
    level: int = 0
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    at: int | None = None
    speaker: str | None = None
    props: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Document:
    """A note, a page or a chat. A file may hold several chats; each is a document with its own `path`.

    `at` is the date that the content or frontmatter states, or None. `tags` and `buckets` come from the frontmatter.
    `kind` is note, page, pdf, code, text or chat.
    """

    path: str
    title: str
    kind: str
    pieces: tuple[Piece, ...]
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    at: int | None = None
    props: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece before its tags, links, names and dates are found. If `prose` is False, they are not searched for."""

    text: str
    level: int = 0
    prose: bool = True
    links: tuple[str, ...] = ()
    at: int | None = None
    speaker: str | None = None
    props: Mapping[str, Any] = field(default_factory=dict)


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


def make_pieces(parts: Sequence[Part]) -> tuple[Piece, ...]:
    """Returns the pieces of one document. Names are found with the whole document, everything else piece by piece."""
    found = kept_names.find([part.text if part.prose else "" for part in parts])
    return tuple(_piece(part, part_names) for part, part_names in zip(parts, found, strict=True))


def _piece(part: Part, found: tuple[str, ...]) -> Piece:
    linked, at = part.links, part.at
    tagged = find_tags(part.text) if part.prose else ()
    if part.prose:
        linked = tuple(dict.fromkeys((*part.links, *find_links(part.text))))
        if at is None and document_dates.first(part.text) is not None:
            # Dates in code and addresses do not count. Masking those is slow, so it is only done if there is a date.
            at = document_dates.first(prose_only(part.text))
    if linked and found:
        # A link to a name replaces the name.
        known = {norm_name(link) for link in linked}
        found = tuple(name for name in found if norm_name(name) not in known)
    return Piece(part.text, part.level, tagged, linked, found, at, part.speaker, part.props)
