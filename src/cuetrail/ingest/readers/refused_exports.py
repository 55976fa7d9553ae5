"""Exports that cuetrail knows and does not read here: each is refused with a hint, and never stored as one text."""

from __future__ import annotations

from typing import Any

from cuetrail.errors import ReadError

_SQLITE = b"SQLite format 3\x00"
_IMPORT = "take it in with `cuetrail import`"
_MARKDOWN = "export it as Markdown from there, and take that folder in"

# The name of a product, keys of its JSON of which all must be there, and a hint. The first row that matches counts.
_PRODUCTS: tuple[tuple[str, frozenset[str], str], ...] = (
    ("CozoDB", frozenset({"headers", "rows"}), _IMPORT),
    ("mem0", frozenset({"memory", "user_id"}), _IMPORT),
    ("mem0", frozenset({"memory", "created_at", "metadata"}), _IMPORT),
    ("the MCP memory server", frozenset({"entityType", "observations"}), _IMPORT),
    ("the MCP memory server", frozenset({"from", "to", "relationType"}), _IMPORT),
    ("cuetrail", frozenset({"cuetrail"}), _IMPORT),
    ("Google Keep", frozenset({"textContent", "userEditedTimestampUsec"}), "save the notes as text or Markdown files"),
    ("Google Keep", frozenset({"listContent", "userEditedTimestampUsec"}), "save the notes as text or Markdown files"),
    ("Google Takeout", frozenset({"header", "titleUrl", "time"}), "save what you need as text"),
    ("Google Takeout", frozenset({"header", "title", "time", "products"}), "save what you need as text"),
    ("Day One", frozenset({"entries", "metadata"}), _MARKDOWN),
    ("Standard Notes", frozenset({"items", "version"}), "export it as decrypted text files, and take that folder in"),
    ("Simplenote", frozenset({"activeNotes", "trashedNotes"}), "take in the .txt files of the same export"),
    ("Facebook or Instagram", frozenset({"participants", "thread_path"}), "save the chat as text, `Name: message`"),
    ("Tana", frozenset({"docs", "editors"}), _MARKDOWN),
    ("Tana", frozenset({"formatVersion", "docs"}), _MARKDOWN),
    ("RemNote", frozenset({"userId", "docs"}), _MARKDOWN),
    ("Anytype", frozenset({"sbType", "snapshot"}), _MARKDOWN),
    ("Letta", frozenset({"agents", "blocks"}), "save the texts of the blocks as files"),
    ("Letta", frozenset({"core_memory", "agent_type"}), "save the texts of the blocks as files"),
    ("Graphiti or Zep", frozenset({"episodes", "entity_edges"}), "write its facts as lines of docs/format.md"),
    ("Raindrop", frozenset({"raindrops"}), "export it as HTML, and take that file in"),
    ("Bitwarden", frozenset({"encrypted", "items"}), "it holds passwords: leave it out"),
)  # fmt: skip
_LOOKED_AT = 20


def product_of(value: Any) -> tuple[str, str] | None:
    """Returns the name of the product whose export a JSON value is, and what to do with it; None for others."""
    items = value if isinstance(value, list) else [value, *(value.values() if isinstance(value, dict) else ())]
    for item in items[:_LOOKED_AT]:
        if isinstance(item, dict):
            for product, keys, hint in _PRODUCTS:
                if keys <= item.keys():
                    return product, hint
    return None


def refuse(value: Any, source: str) -> None:
    """Raises ReadError for JSON that is the export of a known product."""
    if (found := product_of(value)) is not None:
        raise ReadError(f"{source} looks like an export of {found[0]}, which is not read as a text: {found[1]}.")


def refuse_database(data: bytes, source: str) -> None:
    """Raises ReadError for a database of SQLite."""
    if data.startswith(_SQLITE):
        raise ReadError(
            f"{source} is a database of SQLite, which is not read: export its content from the app that wrote it, as "
            "Markdown, JSON or text."
        )
