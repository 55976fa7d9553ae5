"""Matches edited paragraphs: a new paragraph continues an old one if it has at least half of its words.

Only paragraphs between the same unchanged neighbours are compared.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from cuetrail.model import Node
from cuetrail.text.normalise import analysable

# Least Dice coefficient of two paragraphs: twice the shared words over the words of both. Git uses 50 % for renames.
MIN_SIMILARITY = 0.5
# In a file that was rewritten completely, each paragraph is only compared with those near its position.
_WINDOW = 50
_WORD = re.compile(r"\w+")

Words = Counter[str]
# A document, and the number of unchanged nodes before a gap in it.
Gap = tuple[str | None, int]


def find(old: Sequence[Node], new: Sequence[Node]) -> dict[str, str]:
    """Returns the successor of each removed atom that was edited, by id.

    `old` and `new` are the nodes of a file before and after, in reading order. A paragraph that was split continues in
    the most similar part; two that were joined both continue in the joined one.
    """
    unchanged = {node.id for node in old} & {node.id for node in new}
    removed, added = _by_gap(old, unchanged), _by_gap(new, unchanged)
    found = dict(chain.from_iterable(_pairs(removed[gap], added[gap]) for gap in removed.keys() & added.keys()))
    # A node that a user added again by its id no longer has a position in the file.
    unplaced = [node for node in old if node.source is None and node.id not in unchanged]
    free = [node for node in new if node.id not in unchanged and node.id not in found.values()]
    return found | dict(_pairs(unplaced, free))


def _by_gap(nodes: Sequence[Node], unchanged: Collection[str]) -> dict[Gap, list[Node]]:
    """Groups the changed atoms by document and by the number of unchanged nodes before them."""
    found: dict[Gap, list[Node]] = defaultdict(list)
    before = Counter[str | None]()
    for node in nodes:
        if node.id in unchanged:
            before[node.source] += 1
        elif node.kind == "atom":
            found[node.source, before[node.source]].append(node)
    return found


def _pairs(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[str, str]]:
    """Yields pairs of old and new ids: first the most similar, each once; then old ones that were joined with these."""
    before, after = [_words(node.text) for node in old], [_words(node.text) for node in new]
    similar = sorted(
        (-score, abs(i - j), i, j)
        for i, words in enumerate(before)
        for j in range(max(0, i - _WINDOW), min(len(after), i + _WINDOW + 1))
        if (score := _similarity(words, after[j])) >= MIN_SIMILARITY
    )
    # The words of each new paragraph that no old one has matched yet: joined paragraphs each match their own words.
    free = [Counter(words) for words in after]
    paired, claimed = set[int](), set[int]()
    for joining in (False, True):
        for _, _, i, j in similar:
            has_room = (
                (free[j] & before[i]).total() >= MIN_SIMILARITY * before[i].total() if joining else j not in claimed
            )
            if i not in paired and has_room:
                paired.add(i)
                claimed.add(j)
                free[j] -= before[i]
                yield old[i].id, new[j].id


def _words(text: str) -> Words:
    return Counter(_WORD.findall(analysable(text).lower()))


def _similarity(a: Words, b: Words) -> float:
    few, many = sorted((a.total(), b.total()))
    # The lengths alone rule out most pairs.
    if 2 * few < MIN_SIMILARITY * (few + many) or not few:
        return 0.0
    return 2 * (a & b).total() / (few + many)
