"""The tag walk: from anchors along their tags and buckets to nodes that no word of the query would have found."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from cuetrail.model import Walk, WalkHit, WalkQuery, Where
from cuetrail.model.records import maker
from cuetrail.store.sqlite.index.labels.label_index import LabelIndex
from cuetrail.store.sqlite.index.labels.label_search import Candidates, LabelWalk, by_gravity, by_rarity
from cuetrail.store.sqlite.index.text.text_index import TextIndex
from cuetrail.store.sqlite.index.text.text_search import TextSearch
from cuetrail.store.sqlite.reader import Reader
from cuetrail.text.normalise import Terms, searchable_text, terms_of

# A few more than wanted are requested: some match a word of the query and do not count. For a long query as many as are
# likely needed: counting the documents with its words costs less than a second round.
SPARE, LETTERS, LONG = 3, 32, 1_000
GROWTH = 8
# If most near nodes match the query, testing each costs more than searching for those that do not.
MOST_ASKED = 2_000
# Reading this many nodes is faster than testing them in the index.
FEW = 6

_walked = maker(WalkHit)

Pairs = list[tuple[int, float]]
"""Keys and values."""


def walk(
    reader: Reader, label_index: LabelIndex, text_index: TextIndex, query: WalkQuery, limit: int, where: Where
) -> Walk:
    """Returns the best `limit` nodes that share a label with a seed, are not seeds, and match no word of
    `query.unlike`.
    """
    now = reader.ids.moment()
    parts = None if reader.all else reader.parts
    given = [label for seed in query.seeds for label in seed.labels]
    labels = LabelWalk(label_index.view_of(reader.db, *now), reader.db, parts, where, given)
    idfs = labels.idfs()
    if limit <= 0 or not idfs:
        return Walk((), idfs)
    texts = cache(lambda: TextSearch(text_index.view_of(*now), text_index.analyser, parts, where))
    walkers = _Walkers(reader, query, limit, texts)
    pulls = [by_rarity(idfs)] if query.rank == "idf" else [by_gravity(seed) for seed in query.seeds]
    # The seeds themselves share most, and some other nodes match a word of the query.
    most = limit + len(query.seeds)
    wanted = most + _spare(query, limit, texts)
    while wanted <= MOST_ASKED:
        first, whole = _first(labels.best(pulls, wanted), reader, wanted)
        found = walkers.unlike(first)
        if len(found) >= limit or whole:
            return Walk(found, idfs)
        wanted *= GROWTH

    these = np.array(texts().carriers(idfs, query.unlike), np.int64)
    left, _ = _first(labels.best(pulls, most, these), reader, most)
    return Walk(walkers.first(left), idfs)


def _spare(query: WalkQuery, limit: int, texts: Callable[[], TextSearch]) -> int:
    """Returns how many more than wanted to request: more for a longer query, of which more nodes match."""
    letters = len(query.unlike.words)
    few = SPARE + letters // LETTERS
    if letters < LONG:
        return few
    # If words were independent, this share of documents would have none of them.
    likely = limit * math.exp(min(texts().mean_matches(query.unlike), 10.0))
    return max(few, min(round(likely * 1.5), MOST_ASKED // 2))


def _first(found: Candidates, reader: Reader, limit: int) -> tuple[Pairs, bool]:
    """Returns the first candidates by value, then newer, then id, and whether there are no more."""
    order = found.base
    if found.others:
        # Rows changed since the base was made have no position in its order; ids order them.
        values = {**dict(found.base), **found.others}
        shown = reader.shown(list(values))
        rows = sorted((-value, -shown[key][1], shown[key][0], key) for key, value in values.items() if key in shown)
        order = [(key, values[key]) for _, _, _, key in rows]
    return order[:limit], len(order) < limit


class _Walkers:
    """Selects nodes that are neither seeds nor match the query. It reads no more nodes than needed."""

    def __init__(self, reader: Reader, query: WalkQuery, limit: int, texts: Callable[[], TextSearch]) -> None:
        self._reader, self._limit, self._query = reader, limit, query.unlike
        self._matching = cache(lambda: texts().holding_any(query.unlike))
        # A seed without a key is recognised by its id.
        self._keys = {seed.key for seed in query.seeds}
        self._ids = {seed.id for seed in query.seeds}

    def unlike(self, pairs: Pairs) -> tuple[WalkHit, ...]:
        """Returns the first of these that are not seeds and do not match the query."""
        pairs = [pair for pair in pairs if pair[0] not in self._keys]
        found: list[WalkHit] = []
        query = self._query
        if not (query.fuzzy or query.mend or query.prefix):
            # Usually the first are enough, and reading a few costs less than testing their words in the index.
            words = Terms(terms_of(" ".join((query.words, *query.phrases))))
            some, pairs = pairs[: self._limit], pairs[self._limit :]
            found = self._without(words, some)
            if len(found) < self._limit and len(pairs) <= FEW:
                return (*found, *self._without(words, pairs))[: self._limit]
        if pairs and len(found) < self._limit:
            matching = self._matching()([key for key, _ in pairs])
            return self.first([pair for pair in pairs if pair[0] not in matching], found)
        return tuple(found)

    def _without(self, words: Terms, pairs: Pairs) -> list[WalkHit]:
        """Returns those that are not seeds and contain none of the words."""
        return [
            walked
            for walked in self._read(pairs)
            if not words.any_in(searchable_text(walked.node.name, walked.node.aliases, walked.node.text))
        ]

    def first(self, pairs: Pairs, found: Sequence[WalkHit] = ()) -> tuple[WalkHit, ...]:
        """Returns what was found already, and the first of these that are not seeds."""
        walkers = list(found)
        while pairs and len(walkers) < self._limit:
            missing = self._limit - len(walkers)
            walkers += self._read(pairs[:missing])
            pairs = pairs[missing:]
        return tuple(walkers)

    def _read(self, pairs: Pairs) -> list[WalkHit]:
        nodes = self._reader.nodes_by_key([key for key, _ in pairs])
        read = [_walked(nodes[key], value) for key, value in pairs if key in nodes]
        return [walked for walked in read if walked.node.id not in self._ids]
