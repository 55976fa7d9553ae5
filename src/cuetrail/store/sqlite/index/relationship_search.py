"""Search for relationships by their words, which are stored with edges and notes, and by their vectors."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from cuetrail.model import Edge, Scope
from cuetrail.store.search import RelationQuery
from cuetrail.store.shared.relationship_ranking import MOST_READ, best, nearest
from cuetrail.store.sqlite import rows
from cuetrail.store.sqlite.connection import Database, chunks, marks
from cuetrail.store.sqlite.index.vector_search import VectorView
from cuetrail.store.sqlite.index.vector_search import nearest as nearest_rows
from cuetrail.store.sqlite.reader import Index, Reader, node_filter
from cuetrail.store.vector_space import VectorSpace
from cuetrail.text.normalise import unique_terms


def by_words(reader: Reader, query: RelationQuery) -> list[Edge]:
    """Returns visible relationships that share words with the query: most shared words first, then newer, then id."""
    return best(_sharing(reader, query), partial(_passing, reader, query), query.limit)


def by_vector(
    db: Database, scope: Scope, index: Index[VectorView], near_to: bytes, query: RelationQuery, space: VectorSpace
) -> list[Edge]:
    """Returns the visible relationships nearest to the vector `near_to`, by their descriptions and their notes."""
    if query.limit <= 0:
        return []
    with db.reading_connection() as look:
        reader = Reader(look, scope, db.path)
        view = reader.current_view(index)
    vector = np.frombuffer(near_to, dtype="<f2").astype(np.float32)
    # One more than wanted shows whether the last one ties with the next.
    wanted = query.limit + 1
    while True:
        near = nearest_rows(db, view, vector, wanted, None if reader.all else reader.parts, space)
        with db.reading() as look:
            # A new view: the index may have rows of partitions made since the first one.
            reader = Reader(look, scope, db.path)
            cosines = _cosines(look, near, query.now)
            edges = _passing(reader, query, list(cosines))
        found = nearest(edges, cosines, query.limit)
        # Enough only if the last one read is farther than the last one wanted; otherwise more may tie.
        if len(near) < wanted or (len(found) == query.limit and near[-1][1] < cosines[found[-1]]):
            return [edges[key] for key in found]
        wanted *= 4


def _cosines(db: sqlite3.Connection, near: Sequence[tuple[int, float]], now: int) -> dict[int, float]:
    """Returns the cosine of each edge: the highest of its description and its unexpired notes. `near` has (key of an
    edge or note, cosine), the nearest first.
    """
    noted = _noted(db, [key for key, _ in near])
    found: dict[int, float] = {}
    for key, cosine in near:
        edge, expires = noted.get(key, (key, None))
        if expires is None or expires > now:
            found.setdefault(edge, cosine)
    return found


def _passing(reader: Reader, query: RelationQuery, keys: Sequence[int]) -> dict[int, Edge]:
    """Returns the edges with these keys that are visible relationships and pass all filters, by key."""
    tests, values = node_filter(query.where, "n.key")
    ends = " AND ".join([*tests, reader.among("n.part")])
    tests = [f"EXISTS (SELECT 1 FROM nodes n WHERE n.key = e.{end} AND {ends})" for end in ("src", "dst")]
    where = " AND ".join(["e.via IS NULL", reader.among("e.part"), *tests])
    found: list[tuple[Any, ...]] = []
    for some in chunks(keys):
        select = f"{rows.EDGE} WHERE e.key IN ({marks(len(some))}) AND {where}"
        found += reader.db.execute(select, (*some, *values, *values))
    kept = [row for row in found if query.ties.passes(rows.to_edge(row))]
    return dict(zip((row[0] for row in kept), reader.made_edges(kept), strict=True))


def _sharing(reader: Reader, asked: RelationQuery) -> dict[int, set[str]]:
    """Returns, by edge key, the query words in its type, its description and its unexpired notes."""
    query = f"SELECT key FROM relation_words WHERE part = ? AND word = ? ORDER BY time LIMIT {MOST_READ}"
    having: dict[int, set[str]] = defaultdict(set)
    for part in reader.parts:
        for word in unique_terms(" ".join(asked.words)):
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
    """Returns, by key, the edge and the expiry of each note among these keys; keys of edges are absent."""
    found: dict[int, tuple[int, int | None]] = {}
    for some in chunks(keys):
        query = f"SELECT key, target, expires FROM notes WHERE key IN ({marks(len(some))}) AND target_on = 'edge'"
        found.update((key, (edge, expires)) for key, edge, expires in db.execute(query, some))
    return found
