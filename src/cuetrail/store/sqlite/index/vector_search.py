"""Vector search: quantises vectors to 8-bit codes, scans all of them, and rescores the nearest from `memory.db`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import simsimd
from numpy.typing import NDArray

from cuetrail.model import Scope, SearchHit, TextQuery, Where
from cuetrail.store.sqlite.connection import Database, chunks, damaged, marks
from cuetrail.store.sqlite.index import text_search
from cuetrail.store.sqlite.reader import CheckedFiles, Index, Reader, held_space
from cuetrail.store.sqlite.rows import verified_vectors
from cuetrail.store.vector_space import VectorSpace, mismatch

# If filters on labels leave at most so many nodes, all are compared; otherwise the nearest of all are filtered.
FEW = 2_000


def search(
    db: Database, scope: Scope, index: Index[VectorView], labels: Index[text_search.TextView] | None,
    query: NDArray[np.float32], limit: int, where: Where, space: VectorSpace,
) -> list[SearchHit]:  # fmt: skip
    """Returns the nearest nodes by cosine, then newer, then by id. `labels` is the text index, which answers filters on
    tags and buckets; None if nodes are filtered one by one.

    Raises EmbedderMismatch if the memory does not hold vectors of this space.
    """
    if limit <= 0:
        return []
    with db.reading_connection() as look:
        reader = Reader(look, scope, db.path)
        few = _labelled(reader, labels, where)
        if few is None:
            view = reader.current_view(index)
    if few is not None:
        # If the memory's vectors are of another model, neither its index nor its vectors are searched.
        near = compared(db, query, few, space)
        with db.reading() as look:
            return _shown(Reader(look, scope, db.path), near, limit, where)
    wanted = limit
    while True:
        parts = None if reader.all else reader.parts
        near = nearest(db, view, query, wanted, parts, space, where.kinds, where.with_text)
        with db.reading() as look:
            # A new view: the index may have rows of partitions made since the first one.
            reader = Reader(look, scope, db.path)
            kept = _shown(reader, near, limit, where)
        # Enough only if the last one read is farther than the last one wanted; otherwise more may tie.
        if len(near) <= wanted or (len(kept) == limit and near[-1][1] < kept[-1].score):
            return kept
        wanted *= 4


def _labelled(reader: Reader, labels: Index[text_search.TextView] | None, where: Where) -> list[int] | None:
    """Returns the keys of all nodes that pass filters on tags and buckets, if they are at most FEW; otherwise None."""
    if labels is None or not (where.tags or where.buckets):
        return None
    found = text_search.search(reader, labels, TextQuery(""), FEW + 1, where, (1.0, 1.0), nodes=False)
    return [one.key for one in found if one.key is not None] if len(found) <= FEW else None


def _shown(reader: Reader, near: Sequence[tuple[int, float]], limit: int, where: Where) -> list[SearchHit]:
    """Returns the nearest visible nodes that pass the filters, at most `limit`; `near` has (key, cosine). Reads nodes
    in chunks and stops when there are enough, since many may be equally near.
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


# More values than these are looked up instead of compared one by one.
FEW_VALUES = 8
OVERFETCH = 4
# If fewer than one row in so many can match, only those are compared.
SPARSE = 6
# The best of each group of so many rows give the threshold for the rest.
GROUP = 64
Runs = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Block:
    """A table of vectors as 8-bit codes, by key; mapped from a file, or about to be written to one."""

    keys: NDArray[np.int64]
    parts: NDArray[np.int32]
    kinds: NDArray[np.int32]
    scales: NDArray[np.float32]
    codes: NDArray[np.int8]

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """Returns the columns of the block in the order in which its file has them."""
        return self.keys, self.parts, self.kinds, self.scales, self.codes

    def holds(self, runs: Runs) -> bool:
        """True if the block has a row whose key lies in one of the ranges."""
        return any(rows.start < rows.stop for rows in map(self._rows, runs))

    def without(self, runs: Runs) -> Block:
        """Returns a block of the rows whose keys lie in none of the ranges."""
        kept = np.ones(len(self.keys), np.bool_)
        for rows in map(self._rows, runs):
            kept[rows] = False
        return Block(*(column[kept] for column in self.columns))

    def _rows(self, run: tuple[int, int]) -> slice:
        """Returns the slice of rows whose keys lie in a range."""
        low, high = run
        return slice(int(np.searchsorted(self.keys, low)), int(np.searchsorted(self.keys, high, "right")))


@dataclass(frozen=True, slots=True)
class VectorView:
    """The index after one change: its memory-mapped blocks and the model of their vectors. NO_VECTORS has no blocks."""

    epoch: str
    seq: int
    files: CheckedFiles | None
    space: VectorSpace
    blocks: tuple[Block, ...]


def nearest(
    db: Database, view: VectorView, query: NDArray[np.float32], limit: int, parts: Sequence[int] | None,
    space: VectorSpace, kinds: Sequence[str] = (), with_text: bool = False,
) -> list[tuple[int, float]]:  # fmt: skip
    """Returns (key, cosine) of the nearest rows in the given partitions (None: all), nearest first: the first `limit`,
    all that tie with the last of these, and the next one if there is one, which shows that no more tie.

    `kinds` restricts the rows to nodes of these kinds; a few of another kind with the same code may be among them.
    `with_text` leaves out nodes with a name but no text.

    Raises EmbedderMismatch if the query's space is not, or is no longer, the one the memory holds.
    """
    if view.space != space or query.shape[0] != space.dim:
        raise mismatch(view.space, str(space))
    if not view.blocks:
        return []
    code = quantised(query[None, :])
    wanted = limit * OVERFETCH + 32
    codes = [kind_code(kind, bare) for kind in kinds for bare in (False, True)]
    best = [_nearest(block, code, wanted, _mask(block, parts, codes, with_text)) for block in view.blocks]
    scores, keys = (np.concatenate(column) for column in zip(*best, strict=True))
    near = compared(db, query, keys[_best(scores, wanted)].tolist(), space)
    end = min(limit, len(near))
    while end < len(near) and near[end][1] == near[limit - 1][1]:
        end += 1
    return near[: end + 1]


def compared(
    db: Database, query: NDArray[np.float32], keys: Sequence[int], space: VectorSpace
) -> list[tuple[int, float]]:
    """Returns (key, cosine) of these rows, nearest first; rows without a vector are absent.

    Raises EmbedderMismatch if the query's space is not, or is no longer, the one the memory holds.
    """
    found: list[tuple[int, bytes]] = []
    with db.reading() as look:
        # Another process may have changed over since the blocks were scanned.
        held = held_space(look)
        if held != space:
            raise mismatch(held, str(space))
        for some in chunks(keys):
            select = f"SELECT key, vector, check_sum FROM vectors WHERE key IN ({marks(len(some))})"
            found += verified_vectors(look.execute(select, some))
    vectors = unpack_vectors(db.path, [blob for _, blob in found], len(query))
    cosines = _cosines(vectors.astype(np.float64), query.astype(np.float64)).tolist()
    return sorted(zip((key for key, _ in found), cosines, strict=True), key=lambda pair: (-pair[1], pair[0]))


def _nearest(
    block: Block, code: NDArray[np.int8], wanted: int, rows_mask: NDArray[np.bool_] | None
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Returns scores and keys of the nearest rows of a block, unsorted. A score is the cosine of the quantised vectors
    times the length of the query, which does not change the order.

    `rows_mask` says which rows count; None: all.
    """
    rows = None if rows_mask is None else np.flatnonzero(rows_mask)
    if rows is None or len(rows) * SPARSE >= len(block.keys):
        scores = _products(code, block.codes) * block.scales
        if rows is not None:
            scores = scores[rows]
    else:
        scores = _products(code, block.codes.take(rows, axis=0)) * block.scales[rows]
    near = _best(scores, wanted)
    return scores[near], block.keys[near if rows is None else rows[near]]


def _mask(block: Block, parts: Sequence[int] | None, kinds: Sequence[int], with_text: bool) -> NDArray[np.bool_] | None:
    """Returns a mask of the rows in the partitions, of the kinds, and with text if that is required; None: all rows."""
    masks = [_among(block.parts, parts)] if parts is not None else []
    masks += [_among(block.kinds, kinds)] if kinds else []
    masks += [block.kinds >= 0] if with_text else []
    both: NDArray[np.bool_] | None = None
    for mask in masks:
        if not mask.all():
            both = mask if both is None else both & mask
    return both


def _among(column: NDArray[np.int32], values: Sequence[int]) -> NDArray[np.bool_]:
    """Returns a mask that is true where the column has one of the values."""
    if len(values) > FEW_VALUES:
        return np.isin(column, np.asarray(values, dtype=np.int32))
    among = np.zeros(len(column), np.bool_)
    for value in values:
        among |= column == value
    return among


def _best(scores: NDArray[np.float32], wanted: int) -> NDArray[np.intp]:
    """Returns the positions of the `wanted` highest scores, unsorted.

    The highest score of each group is computed first: a score below the `wanted`-th of these cannot be among the
    highest of all, which leaves few to compare.
    """
    if len(scores) <= wanted:
        return np.arange(len(scores))
    groups = len(scores) // GROUP
    if groups <= wanted:
        return np.argpartition(scores, len(scores) - wanted)[len(scores) - wanted :]
    heads = scores[: groups * GROUP].reshape(GROUP, groups).max(axis=0)
    near = np.flatnonzero(scores >= np.partition(heads, groups - wanted)[groups - wanted])
    return near[np.argpartition(scores[near], len(near) - wanted)[len(near) - wanted :]]


def _products(code: NDArray[np.int8], codes: NDArray[np.int8]) -> NDArray[np.float32]:
    if not len(codes):
        return np.empty(0, np.float32)
    measured = simsimd.cdist(code, codes, metric="dot", out_dtype="float32")
    products: NDArray[np.float32] = np.asarray(measured, dtype=np.float32).reshape(-1)
    return products


def unpack_vectors(path: Path, blobs: Sequence[bytes], dim: int) -> NDArray[np.float16]:
    """Returns stored vectors as a matrix. Raises CorruptMemory if one does not have `dim` numbers."""
    wrong = next((blob for blob in blobs if len(blob) != 2 * dim), None)
    if wrong is not None:
        raise damaged(path, f"a vector has {len(wrong)} bytes instead of {2 * dim}")
    vectors: NDArray[np.float16] = np.frombuffer(b"".join(blobs), dtype="<f2").reshape(len(blobs), dim)
    return vectors


def _cosines(vectors: NDArray[np.float64], query: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the cosine of each stored vector to the query. Neither need have length 1."""
    # Not a matrix product: its sums depend on the position of a row, and equal vectors must get equal scores.
    lengths = np.sqrt((vectors * vectors).sum(axis=1) * (query * query).sum())
    cosines: NDArray[np.float64] = (vectors * query).sum(axis=1) / np.where(lengths == 0, 1, lengths)
    return cosines


@cache
def kind_code(kind: str, bare: bool = False) -> int:
    """Returns a 32-bit number for a kind of nodes, negative for nodes with a name but no text (`bare`).

    Two kinds may have the same number.
    """
    code = crc32(kind.encode("utf-8", "surrogatepass")) >> 1
    return ~code if bare else code


def quantised(vectors: NDArray[np.float32]) -> NDArray[np.int8]:
    """Converts unit vectors to 8-bit codes. Each is scaled by its largest component, so that small ones are not
    lost.
    """
    peak = np.abs(vectors).max(axis=1, keepdims=True)
    peak[peak == 0] = 1
    codes: NDArray[np.int8] = np.rint(vectors / peak * 127).astype(np.int8)
    return codes
