"""Results that add nothing to better ones: titles beside passages of the same source, and repeated texts.

>>> from cuetrail import Node
>>> texts = "The mast fell in the storm of May.", "in May the mast fell", "The mast fell in June.", "The mast."
>>> repetitions([Node(id_, text=text) for id_, text in zip("abcd", texts)], 4)
{'b': 'a'}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cuetrail.formulas import DAY
from cuetrail.model import Node
from cuetrail.recall.names import fold_padded
from cuetrail.recall.weights import is_in_note

# Texts with fewer words repeat another only if both are equal: their words occur in others by chance.
SHORT = 5
# Factor for the score of a repetition.
REPETITION = 0.5


def redundant_titles(nodes: Sequence[Node]) -> set[str]:
    """Returns ids of titles and headings whose source has a passage here, and of all but the first title of others."""
    sources = {node.source for node in nodes if not _is_title(node)}
    redundant, titled = set[str](), set[str]()
    for node in nodes:
        if node.source is not None and _is_title(node):
            if node.source in sources or node.source in titled:
                redundant.add(node.id)
            titled.add(node.source)
    return redundant


def _is_title(node: Node) -> bool:
    return bool(node.props.get("level")) or (node.kind == "source" and not node.text)


def repetitions(ranked: Iterable[Node], limit: int) -> dict[str, str]:
    """Returns ids of nodes whose words all occur in a better-ranked node, with the id of that one.

    Stops after `limit` nodes that repeat nothing. Nodes with a name never count as repetitions, because two villages
    may be described alike; nor do texts of another day outside notes, because things happen again.
    """
    kept: list[tuple[Node, str, frozenset[str]]] = []
    found: dict[str, str] = {}
    for node in ranked:
        if len(kept) >= limit:
            break
        text = fold_padded(node.text)
        words = frozenset(text.split())
        better = None
        if node.name is None and words:
            alike = (
                other for other, theirs, all_of in kept if (words <= all_of if len(words) >= SHORT else text == theirs)
            )
            better = next((other for other in alike if is_in_note(node) or abs(other.at - node.at) < DAY), None)
        if better is None:
            kept.append((node, text, words))
        else:
            found[node.id] = better.id
    return found
