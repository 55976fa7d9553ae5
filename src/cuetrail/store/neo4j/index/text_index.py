"""The statistics for text scores: the server's index counts replaced and removed texts until it merges its files.

In a small memory scores are therefore computed here, from existing texts alone. In a larger one the index is rebuilt
when one in twenty of the texts it counts is gone, under a second name, while the old one answers. The SQLite engine
does the same.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from cuetrail.store.neo4j.changelog import head
from cuetrail.store.neo4j.connection import Connection, Tx, rows
from cuetrail.store.neo4j.schema import TEXT_INDEXES, text_index

FEW = 1_000
DEAD_SHARE = 0.05
FIELDS = ("body", "title", "heading")
K1, B = 1.2, 0.75
# The index stores lengths up to this exactly, and of longer ones the four highest bits of what exceeds FREE.
EXACT, FREE, KEPT_BITS = 40, 24, 4
SECONDS = 3_600

_STATE = """MATCH (n:CueNode) WITH count(n) AS living OPTIONAL MATCH (m:CueMeta {name: 'log'})
RETURN coalesce(m.text, $first), coalesce(m.dead, 0), living"""
_LEFT = "SHOW INDEXES YIELD name, state WHERE name = $new AND state <> 'POPULATING' RETURN name"
_SWITCH = """MERGE (m:CueMeta {name: 'log'}) SET m.held = true
WITH m WHERE coalesce(m.text, $first) = $old SET m.text = $new, m.dead = coalesce(m.dead, 0) - $dead RETURN 1"""


class IndexOutdated(Exception):
    """Raised by a search if so much was deleted that the text index has to be rebuilt first."""


class IndexState(NamedTuple):
    """The name of the text index in use, an upper bound of the deleted texts it counts, and the number of nodes."""

    name: str
    dead: int
    living: int

    def is_small(self) -> bool:
        """True if the memory is so small that scores are computed from its texts, not by the server's index."""
        return self.living <= FEW

    def is_outdated(self) -> bool:
        """True if so many texts are deleted that scores would be wrong; then the index must be rebuilt."""
        return not self.is_small() and self.dead > DEAD_SHARE * self.living


def index_state(tx: Tx) -> IndexState:
    """Returns which text index is in use, how many deleted texts it counts, and the number of nodes."""
    return IndexState(*rows(tx, _STATE, first=TEXT_INDEXES[0])[0])


def rebuild(connection: Connection) -> None:
    """Builds the text index anew under its other name, lets searches use it, and deletes the old one, which answers
    until then.

    Two processes that do this at once build the same index.
    """
    was = connection.reading(index_state)
    new = next(name for name in TEXT_INDEXES if name != was.name)
    # A complete one that exists was left by a process that died, and is out of date.
    left = connection.reading(lambda tx: rows(tx, _LEFT, new=new))
    clear = [f"DROP INDEX {new} IF EXISTS"] if left else []
    connection.schema([*clear, text_index(new), f"CALL db.awaitIndexes({SECONDS})"])
    given = {"first": TEXT_INDEXES[0], "old": was.name, "new": new, "dead": was.dead}
    if connection.writing(lambda tx: rows(tx, _SWITCH, **given)):
        connection.schema([f"DROP INDEX {was.name} IF EXISTS"])


class Corpus(NamedTuple):
    """One field (body, title or heading) of everyone's nodes: the terms of each node by key, the number of nodes with
    each term, and the mean length.
    """

    counts: Mapping[int, Counter[str]]
    holders: Counter[str]
    length: float

    def score(self, key: int, terms: Iterable[str]) -> float:
        """Returns BM25 of one node for these terms, without the constant k1 + 1; 0 if the node was just removed."""
        counts = self.counts.get(key)
        if counts is None:
            return 0.0
        norm = K1 * (1 - B + B * _rounded(counts.total()) / self.length)
        return sum(self._rarity(term) * counts[term] / (counts[term] + norm) for term in terms if counts[term])

    def _rarity(self, term: str) -> float:
        holders = self.holders[term]
        return math.log(1 + (len(self.counts) - holders + 0.5) / (holders + 0.5))


class CorpusCache:
    """A cache of the corpora of all fields, which is used until something is written."""

    def __init__(self) -> None:
        self._cached: tuple[tuple[int, int], dict[str, Corpus]] | None = None

    def read(self, tx: Tx) -> dict[str, Corpus]:
        """Returns the terms of all present texts by field, from the cache if nothing was written since."""
        now, cached = head(tx), self._cached
        if cached is not None and cached[0] == now:
            return cached[1]
        found = rows(tx, f"MATCH (n:CueNode) RETURN n.key, {', '.join(f'n.{field}' for field in FIELDS)}")
        corpora = {field: _corpus_of([(row[0], row[at]) for row in found]) for at, field in enumerate(FIELDS, 1)}
        self._cached = (now, corpora)
        return corpora


def _corpus_of(found: Sequence[Sequence[object]]) -> Corpus:
    counts = {int(str(key)): Counter(str(body or "").split()) for key, body in found}
    holders = Counter(term for one in counts.values() for term in one)
    total = sum(one.total() for one in counts.values())
    return Corpus(counts, holders, max(total / max(len(counts), 1), 1e-9))


def _rounded(length: int) -> int:
    """Returns a length with the precision to which the index stores it, in one byte.

    >>> [_rounded(length) for length in (0, 39, 40, 41, 57, 1000)]
    [0, 39, 40, 40, 56, 984]
    """
    if length <= EXACT:
        return length
    above = length - FREE
    lost = above.bit_length() - KEPT_BITS
    return FREE + (above >> lost << lost)
