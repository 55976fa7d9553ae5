"""What a relationship is found by: the words of its type, of its description and of the notes on it, and their meaning.

A relationship is an edge that somebody stated; edges that rules make are none. Its words are stems, as the text search
has them. Those that share most of the words asked for come first, then the newer, then by id. Its description has a
vector, and so has every note on it; the nearest of these says how near it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from cuetrail.model import Edge, Node, Note
from cuetrail.store.read import Record
from cuetrail.store.vector_space import Meaning
from cuetrail.text.normalise import terms_of

K = TypeVar("K")

# Of a word that more relationships or notes of a place have, these many are looked at, the newest.
MOST_READ = 1_000


def meaning_of(record: Record) -> tuple[Meaning, str] | None:
    """Of what a vector of this record is one, and its id; None where it says nothing that is searched for by meaning.

    >>> meaning_of(Edge("e", "a", "b", text="old friends")), meaning_of(Edge("e", "a", "b"))
    (('edge', 'e'), None)
    >>> meaning_of(Edge("e", "a", "b", text="by a rule", via="x")), meaning_of(Note("n", "a", "on a node"))
    (None, None)
    """
    if isinstance(record, Node) and (record.text or record.name):
        return "node", record.id
    if isinstance(record, Edge) and record.text and record.via is None:
        return "edge", record.id
    return ("note", record.id) if isinstance(record, Note) and record.on == "edge" and record.text else None


def name_and_text(record: Node | Edge | Note) -> tuple[str | None, str]:
    """Of what a vector of this record is one: where either is another by now, so is its vector."""
    return record.name if isinstance(record, Node) else None, record.text


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


def nearest(edges: Mapping[K, Edge], cosines: Mapping[K, float], limit: int) -> list[K]:
    """The engine's own keys of edges by how near these are, then the newer, then by id."""
    order = sorted(edges, key=lambda key: (-cosines[key], -edges[key].updated, edges[key].id))
    return order[: max(limit, 0)]


def best(sharing: Mapping[K, set[str]], read: Callable[[Sequence[K]], Mapping[K, Edge]], limit: int) -> list[Edge]:
    """The edges that share most of the words, given by the engine's own keys; `read` reads those that pass."""
    levels: dict[int, list[K]] = defaultdict(list)
    for key, words in sharing.items():
        levels[len(words)].append(key)
    found: list[Edge] = []
    # Those that share fewer words are not read where there are enough that share more.
    for level in sorted(levels, reverse=True):
        if len(found) >= limit:
            break
        found += sorted(read(levels[level]).values(), key=lambda edge: (-edge.updated, edge.id))
    return found[: max(limit, 0)]
