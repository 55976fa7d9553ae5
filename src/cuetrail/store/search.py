"""The search port: nodes by words, vectors, names and shared labels, and relationships by words and vectors."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from cuetrail.model import Edge, Scope, SearchHit, TextQuery, Walk, WalkQuery, Where
from cuetrail.store.graph import EdgeFilter
from cuetrail.store.vector_space import VectorSpace

Factors = tuple[float, float]
"""Two factors that scores are multiplied with: for memories with the provenance `internal`, and for all others."""


class NameMatch(NamedTuple):
    """A node whose names contain some of the words that were searched for; `shared` is their number."""

    id: str
    kind: str
    name: str
    aliases: tuple[str, ...]
    shared: int
    owner: str = "me"


@dataclass(frozen=True, slots=True)
class RelationQuery:
    """Asks for relationships that pass `ties` and whose two ends pass `where`.

    The answer has at most `limit` that share one of the words, then for each vector the `limit` nearest. Vectors are
    of the model `space` (None: the one the memory holds). Notes that have expired at `now` do not count.
    """

    words: tuple[str, ...]
    limit: int
    now: int
    ties: EdgeFilter = field(default_factory=EdgeFilter)
    where: Where = field(default_factory=Where)
    vectors: tuple[bytes, ...] = ()
    space: VectorSpace | None = None


class Searches(Protocol):
    """Searches of what one scope sees. Orders are total: score descending, then newer, then id."""

    def text(
        self, scope: Scope, /, query: TextQuery, limit: int, where: Where, factors: Factors = (1.0, 1.0),
        nodes: bool = False,
    ) -> list[SearchHit]:  # fmt: skip
        """Returns the best nodes by BM25. With `nodes`, each hit contains the node itself, not only its id."""

    def vector(
        self, scope: Scope, /, vector: bytes, limit: int, where: Where, space: VectorSpace | None = None,
        named: bool = False,
    ) -> list[SearchHit]:  # fmt: skip
        """Returns the nodes nearest to a vector by cosine; with `named`, only nodes that have a name.

        Raises EmbedderMismatch if the memory does not hold vectors of this space.
        """

    def named_like(
        self, scope: Scope, /, words: Collection[str], beginnings: Collection[str], limit: int
    ) -> list[NameMatch]:
        """Returns nodes whose names have one of these words, or a word with one of these beginnings: most shared words
        first, then by id.
        """

    def relationships(self, scope: Scope, /, query: RelationQuery) -> list[Edge]:
        """Returns the relationships that share most words with the query, then those nearest to each of its vectors.

        Raises EmbedderMismatch if the memory does not hold vectors of the query's space.
        """

    def walk(self, scope: Scope, /, query: WalkQuery, limit: int, where: Where) -> Walk:
        """Returns the best nodes with text that share a tag or bucket with a seed and contain no word of the query."""
