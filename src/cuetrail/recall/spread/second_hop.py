"""The second hop: from the best so far, along the names their texts say, to what fits the rest of the cue.

Whoever asks "where was the wife of the inventor of X born?" names X alone. The memory of X says who invented it, so
what else says that name, and of marriage, or of a birth, is what was asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from cuetrail.model import Node, TextQuery
from cuetrail.recall.anchor.hybrid_search import Ask
from cuetrail.recall.names import forms_of, holders, names_in, says, spelt
from cuetrail.recall.relevance import Wording
from cuetrail.recall.spread.trail import FAN, Web

# From so many of the best their names are searched for, and so many memories are looked at for each.
SEARCHED, FOUND = 3, 20


@dataclass(frozen=True, slots=True)
class Second:
    """What the second hop says of a memory.

    `link`: one of the best names it. `hop` and `left`: it shares the rare name `via` with `start`, and fits what the
    cue asks beyond its names, or has the words of the cue that `start` has not. `further`: these and the names of
    `start` find it. Of several starts, `via`, `start` and `energy` are of one.
    """

    link: float = 0.0
    hop: float = 0.0
    left: float = 0.0
    further: float = 0.0
    via: str = ""
    start: str = ""
    energy: float = 0.0

    def with_(self, other: Second) -> Second:
        """The larger of each; whence it came is told of the start that says more, and first of one by a name."""
        told = max(self, other, key=lambda one: (one.energy > 0 and one.via != SEARCH, one.energy))
        return Second(
            max(self.link, other.link),
            max(self.hop, other.hop),
            max(self.left, other.left),
            max(self.further, other.further),
            told.via,
            told.start,
            told.energy,
        )


NONE = Second()
SEARCH = "search"
"""By this a way goes to what a search found that shares no whole name with where it began."""


def search(ask: Ask, web: Web, best: Mapping[str, float], wording: Wording) -> dict[str, dict[str, float]]:
    """What the names that the best say find, together with the words of the cue that these do not say.

    By start and id, from 0 to 1. What is found comes into the web.
    """
    cue = f" {spelt(ask.cue.raw)} "
    where = replace(ask.cue.where, with_text=not ask.cue.where.kinds)
    found: dict[str, dict[str, float]] = {}
    nodes: dict[str, Node] = {}
    for start in list(best)[:SEARCHED]:
        mine = names_in(web.nodes[start].text) - forms_of(web.nodes[start])
        names = [name for name in sorted(mine) if f" {name} " not in cue]
        words = wording.words(wording.missing(start))
        if names and words:
            query = TextQuery(" ".join([*words, *names]))
            hits = ask.store.text(ask.scope, query, FOUND, where, nodes=True)
            top = hits[0].score if hits else 1.0
            found[start] = {hit.id: hit.score / top for hit in hits if hit.id != start}
            nodes |= {hit.id: hit.node for hit in hits if hit.node is not None}
    web.join({id_: node for id_, node in nodes.items() if id_ not in web.nodes})
    return found


def onward(
    web: Web,
    best: Mapping[str, float],
    fits: Mapping[str, float],
    wording: Wording,
    searched: Mapping[str, Mapping[str, float]],
) -> dict[str, Second]:
    """What is reached from the best, by how good these are."""
    found = _linked(web, best)
    shared = {id_: names_in(web.nodes[id_].text) | forms_of(web.nodes[id_]) for id_ in best}
    texts = {id_: web.text(id_) + _own_names(node) for id_, node in web.nodes.items()}
    holding = holders(frozenset[str]().union(*shared.values()), texts)
    for start, strength in best.items():
        missing = wording.missing(start)
        rarest = _rarest(shared[start], holding, len(web.nodes))
        names = searched.get(start, {})
        for id_ in (rarest.keys() | names.keys()) - {start}:
            rare, name = rarest.get(id_, (0.0, ""))
            left = wording.share(wording.has[id_] & missing, missing)
            hop, more = strength * rare * fits.get(id_, 0.0), strength * rare * left
            # Part of a name alone leads nowhere.
            further = strength * names.get(id_, 0.0) if name or left else 0.0
            second = Second(0.0, hop, more, further, name or SEARCH, start, max(hop, more, further))
            old = found.get(id_)
            found[id_] = second if old is None else old.with_(second)
    return found


def _rarest(names: Iterable[str], holding: Mapping[str, list[str]], size: int) -> dict[str, tuple[float, str]]:
    """The rarest of these names that each memory says, and how rare it is among all."""
    found: dict[str, tuple[float, str]] = {}
    for name in sorted(names, key=lambda name: (len(holding[name]), name)):
        rare = math.log((size + 1) / max(len(holding[name]), 1)) / math.log(size + 1)
        for id_ in holding[name]:
            found.setdefault(id_, (rare, name))
    return found


def _linked(web: Web, best: Mapping[str, float]) -> dict[str, Second]:
    """Whom the texts of the best name."""
    carriers: dict[str, list[str]] = {}
    for id_, node in web.nodes.items():
        for form in forms_of(node):
            carriers.setdefault(form, []).append(id_)
    few = {form for form, ids in carriers.items() if len(ids) <= FAN}
    saying = holders(few, {id_: web.text(id_) for id_ in best})
    found: dict[str, Second] = {}
    for form in sorted(few):
        for start in saying[form]:
            if says(web.nodes[start].text, form):
                for id_ in carriers[form]:
                    if id_ != start and found.get(id_, NONE).link < best[start]:
                        found[id_] = Second(best[start], via=form, start=start, energy=best[start])
    return found


def _own_names(node: Node) -> str:
    forms: Iterable[str] = sorted(forms_of(node))
    return "".join(f" {form} " for form in forms)
