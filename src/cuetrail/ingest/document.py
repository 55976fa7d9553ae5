"""What a reader makes of a file: plain data, before it becomes nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Piece:
    """One atom-to-be. `level` > 0 marks a heading of that depth; `speaker` and `at` belong to chat turns."""

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
    """One readable thing: a note, a page, a chat. A file may hold several chats, each a document with its own `path`.

    `at` is the date the content or frontmatter states, None when it states none. `tags` and `buckets` are the
    frontmatter's own. `kind` is note, page, pdf, code, text or chat.
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
