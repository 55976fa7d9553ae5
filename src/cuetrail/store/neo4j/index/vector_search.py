"""Vector search: compares every vector if they are few, asks the server's index if they are many.

The index (HNSW) finds nearly all of the nearest, and measures them by 8-bit codes: its results are compared again
exactly. If filters leave too few of its results, all visible vectors are compared one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from cuetrail.model import SearchHit, Where
from cuetrail.store.neo4j.connection import Row, rows
from cuetrail.store.neo4j.ids import RecordId
from cuetrail.store.neo4j.index import vector_spaces
from cuetrail.store.neo4j.reader import Reader
from cuetrail.store.neo4j.reader import node_filter as condition_of
from cuetrail.store.vector_space import NO_VECTORS, VectorSpace, mismatch

Passing = tuple[str, dict[str, Any]]
"""A Cypher condition on the node `n`, and its parameters."""

FEW = 4_000
FIRST, MOST_ASKED = 100, 10_000


def search(
    reader: Reader, vector: bytes, limit: int, where: Where, space: VectorSpace | None = None, named: bool = False
) -> list[SearchHit]:
    """Returns the at most `limit` nodes nearest to a vector by cosine that pass the filters; with `named`, only nodes
    that have a name. If the memory holds no vectors, it returns none.

    Raises EmbedderMismatch if the memory holds vectors of another space than `space`.
    """
    held = vector_spaces.held(reader.tx)
    if held is None or held == NO_VECTORS:
        return []
    if space not in (None, held):
        raise mismatch(held, str(space))
    query = vector_spaces.floats(vector)
    if limit <= 0 or not reader.parts or not any(query):
        return []
    slot = vector_spaces.slot(held)
    count = f"MATCH (n:CueNode) WHERE n.part IN $parts AND n.{slot} IS NOT NULL WITH n LIMIT $most RETURN count(n)"
    many = (
        rows(reader.tx, count, parts=reader.parts, most=FEW + 1)[0][0] > FEW and held.dim <= vector_spaces.MOST_INDEXED
    )
    condition, given = condition_of(where)
    passing = (condition + (" AND n.name IS NOT NULL" if named else ""), given)
    found = _by_index(reader, slot, query, limit, passing) if many else None
    if found is None:
        found = _one_by_one(reader, slot, query, limit, passing)
    names = reader.ids.names(RecordId(*row[:3]) for row in found)
    order = sorted((-row[4], -row[3], names[row[0]]) for row in found)[:limit]
    # The server returns (1 + cosine) / 2.
    return [SearchHit(id_, 2 * -score - 1) for score, _, id_ in order]


def _one_by_one(reader: Reader, slot: str, query: Sequence[float], limit: int, passing: Passing) -> list[Row]:
    """Returns (key, id, partition, time, score) of the `limit` nearest nodes, by comparing all vectors."""
    condition, given = passing
    cypher = (
        f"MATCH (n:CueNode) WHERE n.part IN $parts AND n.{slot} IS NOT NULL{condition}"
        f" WITH n, vector.similarity.cosine(n.{slot}, $query) AS score ORDER BY score DESC, n.at DESC, n.id"
        " LIMIT $limit RETURN n.key, n.id, n.part, n.at, score"
    )
    # A limit may exceed the server's largest integer.
    return rows(reader.tx, cypher, parts=reader.parts, query=query, limit=min(limit, 2**31), **given)


def _by_index(reader: Reader, slot: str, query: Sequence[float], limit: int, passing: Passing) -> list[Row] | None:
    """Returns the same rows as `_one_by_one`, found by the index; None if filters leave too few of its results."""
    condition, given = passing
    cypher = (
        f"CALL db.index.vector.queryNodes('cue_{slot}', $wanted, $query) YIELD node AS n"
        f" WITH n, vector.similarity.cosine(n.{slot}, $query) AS score ORDER BY score DESC"
        f" RETURN n.key, n.id, n.part, n.at, score, n.part IN $parts{condition}"
    )
    return widen_until_enough(partial(rows, reader.tx, cypher, query=query, parts=reader.parts, **given), limit)


def widen_until_enough(read: Callable[..., list[Row]], limit: int) -> list[Row] | None:
    """Returns the rows of an index query that pass its filters, with larger and larger requests until at least `limit`
    pass; None if too few do.

    The last two columns of a row are the score and whether it passes; the latter is removed.
    """
    wanted = max(4 * limit, FIRST)
    while wanted <= MOST_ASKED:
        near = read(wanted=wanted)
        kept = [row[:-1] for row in near if row[-1]]
        # Enough only if the last one read is farther than the last one wanted: the caller orders ties.
        if len(kept) >= limit and near[-1][-2] < kept[limit - 1][-1]:
            return kept
        if len(near) < wanted:
            return None
        wanted *= 4
    return None
