"""The output of a reader: documents made of pieces, before they become nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
