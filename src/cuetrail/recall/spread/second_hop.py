"""The second hop: from the best candidates, through the names in their texts, to nodes that match the rest of the cue.

"Where was the wife of the inventor of X born?" names X alone. The text about X names the inventor, so the answer is in
texts that contain that name and words such as "wife" or "born".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from cuetrail.model import Node, TextQuery
from cuetrail.recall.names import fold, fold_padded, mentions, proper_names, texts_with, variants_of
from cuetrail.recall.relevance import TermCoverage
from cuetrail.recall.stages import RecallContext

Nodes = Mapping[str, Node]
# A name that more nodes carry is not followed to any of them.
FAN = 5
# How many of the best candidates get a follow-up search, and how many results of each are read.
SEARCHES, RESULTS = 3, 20
SEARCH = "search"
"""The `via` of a node that a follow-up search found without a shared whole name."""


@dataclass(frozen=True, slots=True)
class SecondHop:
    """The signals of the second hop for one node, and where they come from.

    `link`: a best candidate names the node. `hop` and `left`: it shares the rare name `via` with the candidate `start`,
    and matches the residual query, or has query terms that `start` lacks. `further`: the follow-up search from `start`
    found it. `via`, `start` and `energy` describe the strongest of several starts.
    """

    link: float = 0.0
    hop: float = 0.0
    left: float = 0.0
    further: float = 0.0
    via: str = ""
    start: str = ""
    energy: float = 0.0

    def merge(self, other: SecondHop) -> SecondHop:
        """Returns the larger value of each signal, with the stronger origin; an origin by name wins over a search."""
        origin = max(self, other, key=lambda one: (one.energy > 0 and one.via != SEARCH, one.energy))
        return SecondHop(
            max(self.link, other.link),
            max(self.hop, other.hop),
            max(self.left, other.left),
            max(self.further, other.further),
            origin.via,
            origin.start,
            origin.energy,
        )


NONE = SecondHop()


def follow_up_search(
    context: RecallContext, candidates: Nodes, best: Mapping[str, float], coverage: TermCoverage
) -> tuple[dict[str, dict[str, float]], dict[str, Node]]:
    """Searches for the names in each of the best candidates together with the query words it lacks.

    Returns scores from 0 to 1, by candidate and found id, and the nodes that were no candidates yet.
    """
    cue = f" {fold(context.cue.raw)} "
    where = replace(context.cue.where, with_text=not context.cue.where.kinds)
    found: dict[str, dict[str, float]] = {}
    nodes: dict[str, Node] = {}
    for start in list(best)[:SEARCHES]:
        own = candidates[start]
        names = [name for name in sorted(proper_names(own.text) - variants_of(own)) if f" {name} " not in cue]
        words = coverage.words_of(coverage.missing(start))
        if names and words:
            query = TextQuery(" ".join([*words, *names]))
            hits = context.store.text(context.scope, query, RESULTS, where, nodes=True)
            top = hits[0].score if hits else 1.0
            found[start] = {hit.id: hit.score / top for hit in hits if hit.id != start}
            nodes |= {hit.id: hit.node for hit in hits if hit.node is not None}
    return found, {id_: node for id_, node in nodes.items() if id_ not in candidates}


def second_hops(
    candidates: Nodes,
    best: Mapping[str, float],
    residual: Mapping[str, float],
    coverage: TermCoverage,
    searched: Mapping[str, Mapping[str, float]],
) -> dict[str, SecondHop]:
    """Returns the second hop of every node reached from the best candidates, whose own scores scale the signals."""
    found = _linked(candidates, best)
    names_of = {id_: proper_names(candidates[id_].text) | variants_of(candidates[id_]) for id_ in best}
    texts = {id_: fold_padded(node.text) + _own_names(node) for id_, node in candidates.items()}
    containing = texts_with(frozenset[str]().union(*names_of.values()), texts)
    for start, strength in best.items():
        missing = coverage.missing(start)
        rarest = _rarest_names(names_of[start], containing, len(candidates))
        results = searched.get(start, {})
        for id_ in (rarest.keys() | results.keys()) - {start}:
            rarity, name = rarest.get(id_, (0.0, ""))
            share = coverage.share(coverage.terms[id_] & missing, missing)
            hop, left = strength * rarity * residual.get(id_, 0.0), strength * rarity * share
            # A result that matched only part of a name, and no missing term, does not count.
            further = strength * results.get(id_, 0.0) if name or share else 0.0
            second = SecondHop(0.0, hop, left, further, name or SEARCH, start, max(hop, left, further))
            old = found.get(id_)
            found[id_] = second if old is None else old.merge(second)
    return found


def _rarest_names(names: Iterable[str], containing: Mapping[str, list[str]], size: int) -> dict[str, tuple[float, str]]:
    """Returns, for each node that contains any of these names, the rarest of them and how rare it is, from 0 to 1."""
    found: dict[str, tuple[float, str]] = {}
    for name in sorted(names, key=lambda name: (len(containing[name]), name)):
        rarity = math.log((size + 1) / max(len(containing[name]), 1)) / math.log(size + 1)
        for id_ in containing[name]:
            found.setdefault(id_, (rarity, name))
    return found


def _linked(candidates: Nodes, best: Mapping[str, float]) -> dict[str, SecondHop]:
    """Returns the nodes whose name occurs in the text of a best candidate."""
    carriers: dict[str, list[str]] = {}
    for id_, node in candidates.items():
        for name in variants_of(node):
            carriers.setdefault(name, []).append(id_)
    rare = {name for name, ids in carriers.items() if len(ids) <= FAN}
    containing = texts_with(rare, {id_: fold_padded(candidates[id_].text) for id_ in best})
    found: dict[str, SecondHop] = {}
    for name in sorted(rare):
        for start in containing[name]:
            if mentions(candidates[start].text, name):
                for id_ in carriers[name]:
                    if id_ != start and found.get(id_, NONE).link < best[start]:
                        found[id_] = SecondHop(best[start], via=name, start=start, energy=best[start])
    return found


def _own_names(node: Node) -> str:
    return "".join(f" {name} " for name in sorted(variants_of(node)))
