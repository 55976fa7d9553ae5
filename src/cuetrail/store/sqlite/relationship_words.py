"""The content of the table `relation_words`: the words of relationships and of the notes on them.

A row has the key of an edge or of a note, which never coincide, and its negative time: the newest come first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

from cuetrail.text.normalise import unique_terms

Entry = tuple[int, str, int, int]
"""Partition, word, negative time, and key."""

EDGES = "SELECT key, part, type, text, updated FROM edges WHERE via IS NULL"
NOTES = "SELECT key, part, text, created FROM notes WHERE target_on = 'edge'"


def of_edges(found: Iterable[tuple[int, int, str | None, str, int]]) -> Iterator[Entry]:
    """Yields the entries of rows of EDGES."""
    for key, part, type_, text, updated in found:
        yield from ((part, word, -updated, key) for word in unique_terms(type_ or "", text))


def of_notes(found: Iterable[tuple[int, int, str, int]]) -> Iterator[Entry]:
    """Yields the entries of rows of NOTES."""
    for key, part, text, created in found:
        yield from ((part, word, -created, key) for word in unique_terms(text))


def true_words(db: sqlite3.Connection) -> Iterator[Entry]:
    """Yields the whole table, computed from edges and notes."""
    yield from of_edges(db.execute(EDGES))
    yield from of_notes(db.execute(NOTES))
