"""The order of relationships found by words or by vectors, the same in both engines.

A relationship is an edge that somebody stated, not one that a rule made. It is found by the stemmed words of its type,
of its description and of the notes on it, and by the vectors of its description and of these notes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from cuetrail.model import Edge

K = TypeVar("K")

# If more relationships or notes of a partition have a word, only the newest of them are read.
MOST_READ = 1_000


def nearest(edges: Mapping[K, Edge], cosines: Mapping[K, float], limit: int) -> list[K]:
    """Returns the first `limit` keys of edges: highest cosine first, then newer, then by id."""
    order = sorted(edges, key=lambda key: (-cosines[key], -edges[key].updated, edges[key].id))
    return order[: max(limit, 0)]


def best(sharing: Mapping[K, set[str]], read: Callable[[Sequence[K]], Mapping[K, Edge]], limit: int) -> list[Edge]:
    """Returns the first `limit` edges: most shared words first, then newer, then by id.

    `sharing` maps the engine's own key of each edge to the words it shares with the query. `read` returns the edges
    that pass the query's filters.
    """
    levels: dict[int, list[K]] = defaultdict(list)
    for key, words in sharing.items():
        levels[len(words)].append(key)
    found: list[Edge] = []
    # Edges that share fewer words are read only if there are not enough that share more.
    for level in sorted(levels, reverse=True):
        if len(found) >= limit:
            break
        found += sorted(read(levels[level]).values(), key=lambda edge: (-edge.updated, edge.id))
    return found[: max(limit, 0)]
