"""Vector search for callers: the nearest nodes that pass the filters, ordered by cosine, time and id."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cuetrail.model import Scope, SearchHit, TextQuery, Where
from cuetrail.store.sqlite.connection import Database, chunks
from cuetrail.store.sqlite.index.text import results
from cuetrail.store.sqlite.index.text.text_index import TextIndex
from cuetrail.store.sqlite.index.vector.vector_index import VectorIndex
from cuetrail.store.sqlite.reader import Reader
from cuetrail.store.vector_space import VectorSpace

# If filters on labels leave at most so many nodes, all are compared; otherwise the nearest of all are filtered.
FEW = 2_000


def search(
    db: Database,
    scope: Scope,
    index: VectorIndex,
    labels: TextIndex | None,
    query: NDArray[np.float32],
    limit: int,
    where: Where,
    space: VectorSpace,
) -> list[SearchHit]:
    """Returns the nearest by cosine, then newer, then by id. `labels` is the index that answers filters on tags and
    buckets.
    """
    if limit <= 0:
        return []
    with db.looking() as look:
        reader = Reader(look, scope, db.path)
        few = _labelled(reader, labels, where)
    if few is not None:
        # If the memory's vectors are of another model, neither its index nor its vectors are searched.
        near = index.compared(query, few, space)
        with db.reading() as look:
            return _shown(Reader(look, scope, db.path), near, limit, where)
    wanted = limit
    while True:
        near = index.search(query, wanted, None if reader.all else reader.parts, space, where.kinds, where.with_text)
        with db.reading() as look:
            # A new view: the index may have rows of partitions made since the first one.
            reader = Reader(look, scope, db.path)
            kept = _shown(reader, near, limit, where)
        # Enough only if the last one read is farther than the last one wanted; otherwise more may tie.
        if len(near) <= wanted or (len(kept) == limit and near[-1][1] < kept[-1].score):
            return kept
        wanted *= 4


def _labelled(reader: Reader, labels: TextIndex | None, where: Where) -> list[int] | None:
    """Returns the keys of all nodes that filters on tags and buckets leave, if they are few; otherwise None."""
    if labels is None or not (where.tags or where.buckets):
        return None
    found = results.search(reader, labels, TextQuery(""), FEW + 1, where, (1.0, 1.0), nodes=False)
    return [one.key for one in found if one.key is not None] if len(found) <= FEW else None


def _shown(reader: Reader, near: Sequence[tuple[int, float]], limit: int, where: Where) -> list[SearchHit]:
    """Returns the nearest nodes that pass the filters, up to `limit`. Reads nodes in chunks and stops when there are
    enough, since many may be equally near.
    """
    shown = reader.shown([key for key, _ in near])
    order = sorted((-cosine, -shown[key][1], shown[key][0], key) for key, cosine in near if key in shown)
    kept: list[SearchHit] = []
    for some in chunks(order, limit):
        nodes = reader.nodes_by_key([key for *_, key in some])
        kept += [
            SearchHit(id_, -far, node=nodes[key])
            for far, _, id_, key in some
            if key in nodes and where.finds(nodes[key])
        ]
        if len(kept) >= limit:
            break
    return kept[:limit]
