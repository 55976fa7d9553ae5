"""What says nothing that a better hit does not say: room in the answer is for what is new.

>>> from cuetrail import Node
>>> said = "The mast fell in the storm of May.", "in May the mast fell", "The mast fell in June.", "The mast."
>>> repeats([Node(id_, text=text) for id_, text in zip("abcd", said)], 4)
{'b': 'a'}
"""

from __future__ import annotations

from collections.abc import Iterable

from cuetrail.formulas import DAY
from cuetrail.model import Node
from cuetrail.recall.names import spaced
from cuetrail.recall.weights import is_in_note

# The words of a shorter text stand in others by chance: it repeats only what is the same.
SHORT = 5
# What a repetition keeps of its score.
KEPT = 0.5


def repeats(order: Iterable[Node], limit: int) -> dict[str, str]:
    """Who among these, the best first, repeats a better one, and which; as far as `limit` others go.

    Who carries a name is told of for its own sake: two villages may be described in the same words. And what somebody
    told on another day happened again.
    """
    kept: list[tuple[Node, str, frozenset[str]]] = []
    found: dict[str, str] = {}
    for node in order:
        if len(kept) >= limit:
            break
        said = spaced(node.text)
        words = frozenset(said.split())
        better = None
        if node.name is None and words:
            alike = (
                other for other, text, theirs in kept if (words <= theirs if len(words) >= SHORT else said == text)
            )
            better = next((other for other in alike if is_in_note(node) or abs(other.at - node.at) < DAY), None)
        if better is None:
            kept.append((node, said, words))
        else:
            found[node.id] = better.id
    return found
