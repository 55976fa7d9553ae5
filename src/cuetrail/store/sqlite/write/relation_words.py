"""The table of the words of stated edges and of notes on edges, by which relationships are found."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from cuetrail.store.sqlite.connection import chunks, marks
from cuetrail.store.sqlite.schema import EDGE_WORDS, NOTE_WORDS, WordRow, edge_word_rows, note_word_rows


def enter_words(db: sqlite3.Connection, edges: Sequence[int] = (), notes: Sequence[int] = ()) -> None:
    """Adds the words of edges and notes with these keys to `relation_words`."""
    db.executemany("INSERT OR IGNORE INTO relation_words VALUES (?, ?, ?, ?)", _word_rows(db, edges, notes))


def remove_words(db: sqlite3.Connection, edges: Sequence[int] = (), notes: Sequence[int] = ()) -> None:
    """Removes the words of edges and notes from `relation_words`, before they are deleted or changed."""
    query = "DELETE FROM relation_words WHERE part = ? AND word = ? AND time = ? AND key = ?"
    db.executemany(query, _word_rows(db, edges, notes))


def _word_rows(db: sqlite3.Connection, edges: Sequence[int], notes: Sequence[int]) -> list[WordRow]:
    found: list[WordRow] = []
    for some in chunks(edges):
        found += edge_word_rows(db.execute(f"{EDGE_WORDS} AND key IN ({marks(len(some))})", some))
    for some in chunks(notes):
        found += note_word_rows(db.execute(f"{NOTE_WORDS} AND key IN ({marks(len(some))})", some))
    return found
