"""Finds the old passage that a new one continues, when a file was edited or renamed.

A passage continues an old one if it has at least half of its lines, or of its words. Words are only compared between
the same unchanged neighbours. Earlier versions stored each paragraph and each heading as a node of its own: a paragraph
continues in the passage that contains it, a heading in the first passage below it, or in its document.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from cuetrail.ingest.build_nodes import HEADING_JOINT
from cuetrail.model import Node
from cuetrail.text.normalise import analysable

# Least share of the lines of an old passage in the new one, and least Dice coefficient of their words: twice the shared
# words over the words of both. Git uses 50 % for renames.
MIN_SIMILARITY = 0.5
# In a file that was rewritten completely, each passage is only compared with those near its position.
_WINDOW = 50
_WORD = re.compile(r"\w+")

Words = Counter[str]
# A document, and the number of unchanged nodes before a gap in it.
Gap = tuple[str | None, int]


def continued_passages(old: Sequence[Node], new: Sequence[Node]) -> dict[str, str]:
    """Returns, by the id of each old atom that was edited, the id of the new atom that replaces it.

    `old` and `new` are the nodes of a file before and after, in reading order. A passage that was split continues in
    the most similar part; two that were joined both continue in the joined one.
    """
    unchanged = {node.id for node in old} & {node.id for node in new}
    gone = [node for node in old if node.id not in unchanged]
    contained = containing_passages(gone, [node for node in new if node.id not in unchanged])
    contained = passages_below_headings(gone, new) | contained
    removed, added = _by_gap(old, unchanged), _by_gap(new, unchanged)
    similar = (_pairs(removed[gap], added[gap], contained) for gap in removed.keys() & added.keys())
    found = contained | dict(chain.from_iterable(similar))
    # A node that a user added again by its id no longer has a position in the file.
    unplaced = [node for node in old if node.source is None and node.id not in unchanged]
    free = [node for node in new if node.id not in unchanged and node.id not in found.values()]
    return found | dict(_pairs(unplaced, free, found))


def containing_passages(old: Sequence[Node], new: Sequence[Node]) -> dict[str, str]:
    """Maps the ids of old atoms to the new atom that has most of their lines, if it has at least half of them."""
    where: dict[str, list[int]] = defaultdict(list)
    for number, node in enumerate(new):
        for line in dict.fromkeys(_lines(node.text)) if node.kind == "atom" else ():
            where[line].append(number)
    found: dict[str, str] = {}
    for place, node in enumerate(old):
        lines = _lines(node.text) if node.kind == "atom" else []
        shares = Counter[int]()
        for line in lines:
            for number in where.get(line, ())[:_WINDOW]:
                shares[number] += len(line)
        expected = place * len(new) / len(old)
        best = max(shares, key=lambda n: (shares[n], new[n].source == node.source, -abs(n - expected)), default=None)
        if best is not None and shares[best] >= MIN_SIMILARITY * sum(map(len, lines)):
            found[node.id] = new[best].id
    return found


def _lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.split("\n") if line.strip()]


def passages_below_headings(old: Sequence[Node], new: Sequence[Node]) -> dict[str, str]:
    """Maps the ids of old nodes that are headings to the first new passage that has the heading above it or as a line;
    else to the document.
    """
    # Only headings that an earlier version stored as nodes have their own words as `heading`.
    words = {node.id: _spelling(node.text) for node in old if node.props.get("level")}
    headings = [node for node in old if words.get(node.id) == _spelling(str(node.props.get("heading", "")))]
    if not headings:
        return {}
    below: dict[str, str] = {}
    for node in new:
        inside = (line for line in node.text.split("\n") if line.endswith(":"))
        for heading in (*str(node.props.get("heading", "")).split(HEADING_JOINT), *inside):
            below.setdefault(_spelling(heading), node.id)
    top = next(node.id for node in new if node.kind == "source")
    return {node.id: below.get(words[node.id], top) for node in headings}


def _spelling(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


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


def _pairs(old: Sequence[Node], new: Sequence[Node], contained: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields pairs of old and new ids: first the most similar, each once; then old ones that were joined with these.

    `contained` are pairs that were found before.
    """
    before, after = [_words(node.text) for node in old], [_words(node.text) for node in new]
    places = {node.id: place for place, node in enumerate(new)}
    # The words of each new passage that no old one has matched yet: joined passages each match their own words.
    free = [Counter(words) for words in after]
    paired, claimed = set[int](), set[int]()
    for i, node in enumerate(old):
        if node.id in contained:
            paired.add(i)
            if (j := places.get(contained[node.id])) is not None:
                claimed.add(j)
                free[j] -= before[i]
    # An earlier version may have stored many more nodes.
    scale = len(after) / max(1, len(before))
    similar = sorted(
        (-score, abs(place - j), i, j)
        for i, words in enumerate(before)
        if i not in paired
        for place in (round(i * scale),)
        for j in range(max(0, place - _WINDOW), min(len(after), place + _WINDOW + 1))
        if (score := _similarity(words, after[j])) >= MIN_SIMILARITY
    )
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
