"""What the steps of one exploration share: its queries, its filters, and how it embeds and weighs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from cuetrail.model import Scope, Where
from cuetrail.store.graph import EdgeFilter
from cuetrail.store.ports import Store
from cuetrail.store.vector_space import QueryVector
from cuetrail.text.normalise import clean

# The lowest cosine that counts as a match, unless the query sets its own.
THRESHOLD = 0.2
# The most queries of one exploration, and the most characters of each.
MOST_QUERIES, MOST_CHARS = 16, 2_000
Weights = tuple[float, float, float]

Expander = Callable[[str], Iterable[str]]
"""Returns further queries on the same topic: the place to plug in a language model."""


@dataclass(frozen=True, slots=True)
class Query:
    """The text of a query, and the lowest similarity at which a node counts as a match."""

    text: str
    threshold: float = THRESHOLD


def trim_query(text: str) -> str:
    """Returns a query without broken characters and outer white space, cut to MOST_CHARS."""
    return clean(text).strip()[:MOST_CHARS]


@dataclass(frozen=True, slots=True)
class ExploreContext:
    """Everything the steps of one exploration share: the store to search, the queries, and the filters.

    `embed` and `embed_texts` return vectors of a query and of short texts; None if the memory has no vectors.
    `text_matches` are texts to compare with names by the measure `fuzzy`. `granularity` says which kind is shown in
    full, `mode` how many candidates are read; `weights` are those of match, freshness and salience.
    """

    store: Store
    scope: Scope
    queries: tuple[Query, ...]
    text_matches: tuple[str, ...]
    now: int
    embed: Callable[[str], QueryVector | None]
    embed_texts: Callable[[Sequence[str]], list[bytes] | None]
    granularity: int = 1
    mode: str = "fast"
    weights: Weights = (0.3, 0.3, 0.4)
    fuzzy: str = "levenshtein"
    ties: EdgeFilter = field(default_factory=EdgeFilter)
    where: Where = field(default_factory=Where)

    def of_kinds(self, *kinds: str) -> Where:
        """Returns the filters, restricted to nodes of these kinds."""
        return replace(self.where, kinds=kinds)
