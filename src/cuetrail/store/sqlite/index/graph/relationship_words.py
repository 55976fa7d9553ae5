"""What the table `relation_words` holds: the words of relationships and of the notes on them.

A row has the key of an edge or of a note, which are never the same, and its time with a minus: the newest come first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

from cuetrail.store.shared.relationships import edge_words, note_words

Entry = tuple[int, str, int, int]
"""Place, word, time with a minus, and key."""

EDGES = "SELECT key, part, type, text, updated FROM edges WHERE via IS NULL"
NOTES = "SELECT key, part, text, created FROM notes WHERE target_on = 'edge'"


def of_edges(found: Iterable[tuple[int, int, str | None, str, int]]) -> Iterator[Entry]:
    """The words of rows of EDGES."""
    for key, part, type_, text, updated in found:
        yield from ((part, word, -updated, key) for word in edge_words(type_, text))


def of_notes(found: Iterable[tuple[int, int, str, int]]) -> Iterator[Entry]:
    """The words of rows of NOTES."""
    for key, part, text, created in found:
        yield from ((part, word, -created, key) for word in note_words(text))


def true_words(db: sqlite3.Connection) -> Iterator[Entry]:
    """The table as edges and notes have it."""
    yield from of_edges(db.execute(EDGES))
    yield from of_notes(db.execute(NOTES))
