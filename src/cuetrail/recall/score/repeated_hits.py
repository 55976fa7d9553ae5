"""Finds duplicates among the hits of TRAIL: hits that say nothing that a better one does not say."""

from __future__ import annotations

from collections.abc import Iterable

from cuetrail.formulas import DAY
from cuetrail.model import Node
from cuetrail.recall.trail_constants import is_in_note
from cuetrail.text.names import fold_padded

# Texts with fewer words repeat another only if both are equal: their words occur in others by chance.
SHORT = 5


def find_repeated_hits(ranked: Iterable[Node], limit: int) -> dict[str, str]:
    """Returns the ids of nodes that repeat a better-ranked node, each with the id of the better one.

    A node repeats another if all its words occur there; with fewer than SHORT words only if the texts are equal.

    Stops after `limit` nodes that repeat nothing. Nodes with a name, and texts of no file with a title, never count as
    repetitions, because two villages may be described alike; nor do texts of another day outside notes, because things
    happen again.

    >>> texts = "The mast fell in the storm of May.", "in May the mast fell", "The mast fell in June.", "The mast."
    >>> find_repeated_hits([Node(id_, text=text) for id_, text in zip("abcd", texts)], 4)
    {'b': 'a'}
    """
    kept: list[tuple[Node, str, frozenset[str]]] = []
    found: dict[str, str] = {}
    for node in ranked:
        if len(kept) >= limit:
            break
        text = fold_padded(node.text)
        words = frozenset(text.split())
        better = None
        if node.name is None and words and not (node.source is None and "title" in node.props):
            alike = (
                other for other, theirs, all_of in kept if (words <= all_of if len(words) >= SHORT else text == theirs)
            )
            better = next((other for other in alike if is_in_note(node) or abs(other.at - node.at) < DAY), None)
        if better is None:
            kept.append((node, text, words))
        else:
            found[node.id] = better.id
    return found
