"""Which paragraph an edited one has become: the new one in its place that has half of its words or more."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from cuetrail.model import Node
from cuetrail.text.normalise import analysable

# Twice the words in common over the words of both. Git takes files for renamed from the same share on.
ALIKE = 0.5
# Of a file that was rewritten from end to end each paragraph is compared with those about as far from its start.
_REACH = 50
_WORD = re.compile(r"\w+")

Words = Counter[str]
Place = tuple[str | None, int]


def find(old: Sequence[Node], new: Sequence[Node]) -> dict[str, str]:
    """The successor of each atom that is no longer there and lives on in another, by id.

    `old` and `new` are the nodes of a file before and after, in reading order. A paragraph that was split lives on in
    the part most like it; two that were joined live on in one.
    """
    kept = {node.id for node in old} & {node.id for node in new}
    gone, come = _by_place(old, kept), _by_place(new, kept)
    found = dict(chain.from_iterable(_pairs(gone[place], come[place]) for place in gone.keys() & come.keys()))
    # One that was stated again by hand has lost its place.
    lost = [node for node in old if node.source is None and node.id not in kept]
    free = [node for node in new if node.id not in kept and node.id not in found.values()]
    return found | dict(_pairs(lost, free))


def _by_place(nodes: Sequence[Node], kept: Collection[str]) -> dict[Place, list[Node]]:
    """Atoms that are not kept, by document and by how many kept ones stand before them."""
    found: dict[Place, list[Node]] = defaultdict(list)
    passed = Counter[str | None]()
    for node in nodes:
        if node.id in kept:
            passed[node.source] += 1
        elif node.kind == "atom":
            found[node.source, passed[node.source]].append(node)
    return found


def _pairs(old: Sequence[Node], new: Sequence[Node]) -> Iterator[tuple[str, str]]:
    """Pairs of old and new ids: first the most alike, each once; then those that were joined with one of these."""
    before, after = [_words(node.text) for node in old], [_words(node.text) for node in new]
    alike = sorted(
        (-score, abs(i - j), i, j)
        for i, words in enumerate(before)
        for j in range(max(0, i - _REACH), min(len(after), i + _REACH + 1))
        if (score := _likeness(words, after[j])) >= ALIKE
    )
    # The words of each new one that no old one has claimed: where two were joined, each finds its own.
    free = [Counter(words) for words in after]
    paired, claimed = set[int](), set[int]()
    for joining in (False, True):
        for _, _, i, j in alike:
            has_room = (free[j] & before[i]).total() >= ALIKE * before[i].total() if joining else j not in claimed
            if i not in paired and has_room:
                paired.add(i)
                claimed.add(j)
                free[j] -= before[i]
                yield old[i].id, new[j].id


def _words(text: str) -> Words:
    return Counter(_WORD.findall(analysable(text).lower()))


def _likeness(a: Words, b: Words) -> float:
    few, many = sorted((a.total(), b.total()))
    # Of so different lengths they cannot be alike; most pairs are told apart by this.
    if 2 * few < ALIKE * (few + many) or not few:
        return 0.0
    return 2 * (a & b).total() / (few + many)
