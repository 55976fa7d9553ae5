"""A walk from anchors along the tags and buckets they carry, to nodes that no word of the query would have found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np

from cuetrail.model import Label, Walk, Walked, WalkQuery, Where
from cuetrail.store.local.labelindex import LabelIndex
from cuetrail.store.local.labelrows import Ints
from cuetrail.store.local.labelwalk import Candidates, LabelWalk, by_gravity, by_rarity
from cuetrail.store.local.read import Reader
from cuetrail.store.local.textindex import TextIndex
from cuetrail.store.local.textsearch import TextSearch

# A few more than wanted are asked for: some of them match a word of the query and are no walkers.
SPARE = 3
GROWTH = 8
# Where most of what is near matches the query, asking node by node costs more than asking who does not match.
MOST_ASKED = 2_000

Pairs = list[tuple[int, float]]
"""Keys and values."""


def walk(
    reader: Reader, label_index: LabelIndex, text_index: TextIndex, query: WalkQuery, limit: int, where: Where
) -> Walk:
    """The best `limit` nodes that share a label with a foothold, are none, and match no word of `query.unlike`."""
    now = reader.ids.moment()
    parts = None if reader.all else reader.parts
    given = [label for foothold in query.footholds for label in foothold.labels]
    labels = LabelWalk(label_index.view_of(reader.db, *now), reader.db, parts, where, given)
    idfs = labels.idfs()
    if limit <= 0 or not idfs:
        return Walk((), idfs)
    texts = TextSearch(text_index.view_of(*now), text_index.analyser, parts, where)
    pulls = [by_rarity(idfs)] if query.rank == "idf" else [by_gravity(foothold) for foothold in query.footholds]
    # The footholds themselves share most, and some others match a word of the query.
    most = limit + len(query.footholds)
    wanted = most + SPARE
    while wanted <= MOST_ASKED:
        first, whole = _first(labels.best(pulls, wanted), reader, wanted)
        found = _walkers(first, reader, query, limit, partial(texts.holding_any, query.unlike))
        if len(found) >= limit or whole:
            return Walk(found, idfs)
        wanted *= GROWTH

    @cache
    def carriers(label: Label) -> Ints:
        return np.array(texts.carriers(label, query.unlike), np.int64)

    left, _ = _first(labels.best(pulls, most, carriers), reader, most)
    return Walk(_walkers(left, reader, query, limit, lambda _: set()), idfs)


def _first(found: Candidates, reader: Reader, limit: int) -> tuple[Pairs, bool]:
    """The first candidates by value, then newer, then id, and whether there are no more."""
    order = found.base
    if found.others:
        # What changed since the base was made has no place in its order; ids tell.
        values = {**dict(found.base), **found.others}
        shown = reader.shown(list(values))
        rows = sorted((-value, -shown[key][1], shown[key][0], key) for key, value in values.items() if key in shown)
        order = [(key, values[key]) for _, _, _, key in rows]
    return order[:limit], len(order) < limit


def _walkers(
    pairs: Pairs, reader: Reader, query: WalkQuery, limit: int, matching: Callable[[Sequence[int]], set[int]]
) -> tuple[Walked, ...]:
    """The first `limit` of these that are no footholds and do not match. No more are looked at than it takes."""
    # A foothold that comes without its number is told by its id.
    keys, ids = ({getattr(foothold, name) for foothold in query.footholds} for name in ("key", "id"))
    pairs = [pair for pair in pairs if pair[0] not in keys]
    found: list[Walked] = []
    left: Pairs = []
    while (left or pairs) and len(found) < limit:
        if not left:
            some, pairs = pairs[: limit + SPARE], pairs[limit + SPARE :]
            out = matching([key for key, _ in some])
            left = [pair for pair in some if pair[0] not in out]
        some, left = left[: limit - len(found)], left[limit - len(found) :]
        nodes = reader.nodes_by_key([key for key, _ in some])
        found += [Walked(nodes[key], value) for key, value in some if key in nodes and nodes[key].id not in ids]
    return tuple(found)
