"""Relationships by their words: entered and taken out with edges and notes, and looked up."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any

from cuetrail.model import Edge
from cuetrail.store.local import rows
from cuetrail.store.local.db import chunks, marks
from cuetrail.store.local.read import Reader
from cuetrail.store.local.relationwords import EDGES, NOTES, Entry, of_edges, of_notes
from cuetrail.store.relations import MOST_READ, RelationQuery, best, wanted_words


def enter(db: sqlite3.Connection, edges: Sequence[int] = (), notes: Sequence[int] = ()) -> None:
    """Let edges and notes with these keys be found by their words."""
    db.executemany("INSERT OR IGNORE INTO relation_words VALUES (?, ?, ?, ?)", _entries(db, edges, notes))


def take_out(db: sqlite3.Connection, edges: Sequence[int] = (), notes: Sequence[int] = ()) -> None:
    """Let edges and notes that are about to go, or to change, be found no longer."""
    query = "DELETE FROM relation_words WHERE part = ? AND word = ? AND time = ? AND key = ?"
    db.executemany(query, _entries(db, edges, notes))


def _entries(db: sqlite3.Connection, edges: Sequence[int], notes: Sequence[int]) -> list[Entry]:
    found: list[Entry] = []
    for some in chunks(edges):
        found += of_edges(db.execute(f"{EDGES} AND key IN ({marks(len(some))})", some))
    for some in chunks(notes):
        found += of_notes(db.execute(f"{NOTES} AND key IN ({marks(len(some))})", some))
    return found


def related(reader: Reader, query: RelationQuery) -> list[Edge]:
    """The relationships in sight that have most of the words; see `store.relations`."""
    return best(_sharing(reader, query), partial(_edges, reader), query)


def _edges(reader: Reader, keys: Sequence[int]) -> list[Edge]:
    ends = " AND ".join(reader.among(f"{one}.part") for one in "eab")
    found: list[tuple[Any, ...]] = []
    for some in chunks(keys):
        found += reader.db.execute(
            f"{rows.EDGE} WHERE e.key IN ({marks(len(some))}) AND e.via IS NULL AND {ends}", some
        )
    return reader.made_edges(found)


def _sharing(reader: Reader, asked: RelationQuery) -> dict[int, set[str]]:
    """Which of the words each edge has. Notes whose time is over do not count."""
    query = f"SELECT key FROM relation_words WHERE part = ? AND word = ? ORDER BY time LIMIT {MOST_READ}"
    having: dict[int, set[str]] = defaultdict(set)
    for part in reader.parts:
        for word in wanted_words(asked.words):
            for (key,) in reader.db.execute(query, (part, word)):
                having[key].add(word)
    by_edge: dict[int, set[str]] = defaultdict(set)
    noted = _noted(reader.db, list(having))
    for key, said in having.items():
        edge, expires = noted.get(key, (key, None))
        if expires is None or expires > asked.now:
            by_edge[edge] |= said
    return by_edge


def _noted(db: sqlite3.Connection, keys: Sequence[int]) -> dict[int, tuple[int, int | None]]:
    """Of these keys those of notes, with the edge each is on and when its time is over."""
    found: dict[int, tuple[int, int | None]] = {}
    for some in chunks(keys):
        query = f"SELECT key, target, expires FROM notes WHERE key IN ({marks(len(some))}) AND target_on = 'edge'"
        found.update((key, (edge, expires)) for key, edge, expires in db.execute(query, some))
    return found
