"""By which words a relationship is found: those of its type, of its description and of the notes on it.

A relationship is an edge that somebody stated; edges that rules make are none. Its words are stems, as the text search
has them. Those that share most of the words asked for come first, then the newer, then by id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from cuetrail.model import Edge
from cuetrail.store.steps import Ties
from cuetrail.store.words import terms_of

K = TypeVar("K")

# Of a word that more relationships or notes of a place have, these many are looked at, the newest.
MOST_READ = 1_000


@dataclass(frozen=True, slots=True)
class RelationQuery:
    """Relationships that pass `ties` and have one of these words; at most `limit`.

    Notes whose time is over at `now` do not count.
    """

    words: tuple[str, ...]
    limit: int
    now: int
    ties: Ties = field(default_factory=Ties)


def edge_words(type_: str | None, text: str) -> list[str]:
    """The words of a relationship without its notes, each once.

    >>> edge_words("old friend", "Friends since school")
    ['friend', 'old', 'school', 'sinc']
    """
    return sorted(set(terms_of(f"{type_ or ''}\n{text}")))


def note_words(text: str) -> list[str]:
    """The words of a note, each once."""
    return sorted(set(terms_of(text)))


def wanted_words(words: Iterable[str]) -> list[str]:
    """The words asked for as relationships have them, each once."""
    return sorted(set(terms_of(" ".join(words))))


def best(sharing: Mapping[K, set[str]], read: Callable[[Sequence[K]], list[Edge]], query: RelationQuery) -> list[Edge]:
    """The edges that share most of the words, given by the engine's own keys, which `read` reads."""
    levels: dict[int, list[K]] = defaultdict(list)
    for key, words in sharing.items():
        levels[len(words)].append(key)
    found: list[Edge] = []
    # Those that share fewer words are not read where there are enough that share more.
    for level in sorted(levels, reverse=True):
        if len(found) >= query.limit:
            break
        edges = [edge for edge in read(levels[level]) if query.ties.passes(edge)]
        found += sorted(edges, key=lambda edge: (-edge.updated, edge.id))
    return found[: max(query.limit, 0)]
