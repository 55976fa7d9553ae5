"""One score of many signals, each between 0 and 1 and told in the why of a hit.

    blend    what words and meaning say together       link     the text of one of the best names it
    cover    how much of the cue it says               hop      it shares a rare name with one of the best, and fits
    named    the cue names it                          left     so it does, and says what of the cue that one does not
    walk     the energy that came to it                further  names of one of the best, and those words, find it
    near     its neighbours in a file or conversation  place    the best of where it came from
    spoken   the cue names who said it                 whole    how much of the cue is said where it came from
    when     it is of a time the cue names             ahead    it was said after the cue, and counts less for that

The score is their mean by the weights of `weights.py`, which `bench.quality.choose` finds on development questions. A
signal that does not count among memories of a kind is not told of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cuetrail.errors import EmbedderError
from cuetrail.formulas import DAY, fused
from cuetrail.model import Hit, Hop, Node, hop_dict
from cuetrail.recall.anchor.hybrid_search import Anchor, Anchored, Ask, echoing
from cuetrail.recall.anchor.trail import Finds, softened
from cuetrail.recall.dedupe import KEPT, repeats
from cuetrail.recall.names import spaced, spelt
from cuetrail.recall.relevance import Wording, worded
from cuetrail.recall.score.source_context import in_row, through_titles
from cuetrail.recall.score.tag_walk import Scored
from cuetrail.recall.spread.second_hop import Second, onward, search
from cuetrail.recall.spread.tag_walk import Reached
from cuetrail.recall.spread.trail import Way, Web, flow, weave
from cuetrail.recall.weights import Fusion, Trail, Weights, is_bare, kinds_of
from cuetrail.store.vector_space import QueryVector

# The signals of the second hop, all that lead to a memory from others, and also that the cue names it.
SECOND = ("link", "hop", "left", "further")
LED = ("walk", *SECOND)
REACHED = ("named", *LED)
TITLE = "title"
"""By this a way goes from a title to what stands under it."""
Signals = Mapping[str, Mapping[str, float]]
"""The values of each signal by memory; one that is not there is 0."""


@dataclass(frozen=True, slots=True)
class Followed(Reached):
    """All memories that may answer, with what is known of each: the signals, and by which way it was come to.

    `found` are those that the cue found itself.
    """

    nodes: Mapping[str, Node] = field(default_factory=dict)
    signals: Signals = field(default_factory=dict)
    ways: Mapping[str, Way] = field(default_factory=dict)
    seconds: Mapping[str, Second] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    found: frozenset[str] = frozenset()
    weights: Weights = field(default_factory=Weights)

    def parts(self, id_: str) -> dict[str, float]:
        """What each signal says of a memory, where it says anything."""
        return {name: values[id_] for name, values in self.signals.items() if values.get(id_)}


def follow(ask: Ask, finds: Anchored, *, how: Trail) -> Followed:
    """Follow the trails from what was found, and gather every signal."""
    assert isinstance(finds, Finds), "these trails begin at what `find` finds"
    ask = softened(ask)
    weights = how.weights(kinds_of(finds.nodes.values()), finds.meant)
    fit = _Fit(ask, finds, weights.words, how.fusion)
    if finds.literal:
        web = Web(dict(sorted(finds.nodes.items())))
        signals = _of_themselves(ask, finds, web, fit.of(web)[0], _wording(ask, web))
        return Followed(nodes=web.nodes, signals=_counted(signals, weights), weights=weights)
    named = {id_: value for id_, value in finds.named().items() if id_ in finds.nodes}
    first = _blended([one for one in finds.anchors if not how.is_far(one)], weights.words, how.fusion)
    order = sorted(first, key=lambda id_: (-first[id_], id_))
    chosen = sorted(named, key=lambda id_: (-named[id_], id_))[: how.starts]
    starts = list(dict.fromkeys([*order[: how.starts], *chosen]))
    web = weave(ask, finds, starts, order[: how.strong], how.along)
    blend, _ = fit.of(web)
    flowed = flow(web, _energies({id_: blend[id_] for id_ in order[: how.starts]}, named, how.named_share))
    most = max((energy for energy, _ in flowed.values()), default=1.0)
    walk = {id_: math.sqrt(energy / most) for id_, (energy, _) in flowed.items()}
    # What only a distant vector found leads nowhere, nor does what says nothing.
    far = {one.node.id for one in finds.anchors if how.is_far(one)} - walk.keys() - named.keys()
    far |= {id_ for id_, node in web.nodes.items() if is_bare(node)}
    together = {id_: blend[id_] + walk.get(id_, 0.0) + named.get(id_, 0.0) for id_ in web.nodes if id_ not in far}
    best = sorted(together, key=lambda id_: (-together[id_], id_))[: how.best]
    strength = {id_: together[id_] / (together[best[0]] or 1.0) for id_ in best}
    searched = search(ask, web, strength, _wording(ask, web, best))
    wording = _wording(ask, web)
    blend, rest = fit.of(web)
    signals = _of_themselves(ask, finds, web, blend, wording)
    seconds = onward(web, strength, rest, wording, searched)
    signals |= {"walk": walk, "named": named}
    for name in SECOND:
        signals[name] = {id_: getattr(second, name) for id_, second in seconds.items()}
    signals = _counted(signals, weights)
    titles = through_titles(web.nodes, blend, signals, REACHED)
    ways = {id_: way for id_, (_, way) in flowed.items()}
    return Followed(
        nodes=web.nodes, signals=signals, ways=ways, seconds=seconds, titles=titles,
        found=frozenset(first) | named.keys(), weights=weights,
    )  # fmt: skip


def _counted(signals: dict[str, dict[str, float]], weights: Weights) -> dict[str, dict[str, float]]:
    """The signals that count."""
    counting = weights.signals()
    return {name: values for name, values in signals.items() if name in counting}


def _wording(ask: Ask, web: Web, ids: Sequence[str] | None = None) -> Wording:
    """Which words of the cue memories have, in their names too."""
    texts = {
        id_: web.text(id_) + spaced(name) if (name := web.nodes[id_].name) else web.text(id_)
        for id_ in (web.nodes if ids is None else ids)
    }
    return worded(ask.cue.query.words, texts)


def _of_themselves(
    ask: Ask, finds: Finds, web: Web, blend: dict[str, float], wording: Wording
) -> dict[str, dict[str, float]]:
    """The signals that need no trail: what a memory says, when it was, by whom, and what stands around it."""
    said = f" {spelt(ask.cue.raw)} "
    near, place, whole = in_row(web.nodes, blend, wording)
    when = {id_: max(span.nearness(node.at) for span in finds.times) for id_, node in web.nodes.items() if finds.times}
    return {
        "blend": blend, "near": near, "place": place, "whole": whole, "when": when,
        "cover": {id_: wording.share(wording.has[id_]) for id_ in web.nodes},
        "spoken": {id_: 1.0 for id_, node in web.nodes.items() if _is_spoken(node, said)},
        "ahead": {id_: 1.0 for id_, node in web.nodes.items() if _is_ahead(node, ask.now)},
    }  # fmt: skip


def _blended(anchors: Sequence[Anchor], share: float, fusion: Fusion) -> dict[str, float]:
    """Anchors by words and meaning together."""
    words = _to_best({a.node.id: a.bm25 for a in anchors if a.bm25 is not None}, fusion)
    near = _to_range({a.node.id: a.cosine for a in anchors if a.cosine is not None}, fusion)
    return {a.node.id: share * words.get(a.node.id, 0.0) + (1 - share) * near.get(a.node.id, 0.0) for a in anchors}


def _to_best(values: Mapping[str, float], fusion: Fusion) -> dict[str, float]:
    """Values as parts of the largest of them; or by their ranks."""
    if fusion == "ranks":
        return _by_rank(values)
    best = max(values.values(), default=0.0) or 1.0
    return {id_: value / best for id_, value in values.items()}


def _to_range(values: Mapping[str, float], fusion: Fusion) -> dict[str, float]:
    """Values between the least and the largest of them, as 0 to 1; or by their ranks."""
    if fusion == "ranks":
        return _by_rank(values)
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    return {id_: (value - low) / (high - low) if high > low else 1.0 for id_, value in values.items()}


def _by_rank(values: Mapping[str, float]) -> dict[str, float]:
    """1 for the first, as reciprocal rank fusion has it; of equals, by id."""
    order = sorted(values, key=lambda id_: (-values[id_], id_))
    return {id_: fused([rank], 1) for rank, id_ in enumerate(order, 1)}


class _Fit:
    """How well memories fit the cue, and what it asks beyond its names. Each vector is read once."""

    def __init__(self, ask: Ask, finds: Finds, share: float, fusion: Fusion) -> None:
        self.ask, self.finds, self.share, self.fusion = ask, finds, share, fusion
        self.words = _to_best({a.node.id: a.bm25 for a in finds.anchors if a.bm25 is not None}, fusion)
        self.fits = _to_best(finds.fits, fusion)
        self.known: set[str] = set()
        self.near: dict[str, float] = {}
        self.beyond: dict[str, float] = {}
        self.asked = _asked_beyond(ask, finds.rest) if finds.meant is not None else None

    def of(self, web: Web) -> tuple[dict[str, float], dict[str, float]]:
        """By words and meaning together: the whole cue, and what is beyond its names."""
        self._learn([id_ for id_ in web.nodes if id_ not in self.known])
        near, beyond = _to_range(self.near, self.fusion), _to_range(self.beyond, self.fusion)
        words, fits, share = self.words, self.fits, self.share
        blend = {id_: share * words.get(id_, 0.0) + (1 - share) * near.get(id_, 0.0) for id_ in web.nodes}
        return blend, {id_: share * fits.get(id_, 0.0) + (1 - share) * beyond.get(id_, 0.0) for id_ in web.nodes}

    def _learn(self, ids: Sequence[str]) -> None:
        import numpy as np

        self.known.update(ids)
        meant = self.finds.meant
        held = self.ask.store.vectors(self.ask.scope, ids, meant.space) if meant is not None and ids else {}
        if not held or meant is None:
            return
        matrix = np.frombuffer(b"".join(held.values()), "<f2").reshape(len(held), -1).astype(np.float64)
        for values, one in ((self.near, meant), (self.beyond, self.asked)):
            if one is not None:
                # How a product is rounded depends on the place of its row; nine digits do not.
                products = (matrix @ np.frombuffer(one.vector, "<f2").astype(np.float64)).round(9)
                values.update(zip(held, products.tolist(), strict=True))


def _asked_beyond(ask: Ask, rest: str) -> QueryVector | None:
    """What the cue asks beyond its names, as a vector."""
    try:
        return ask.embed(rest) if ask.embed is not None and rest else None
    except EmbedderError:
        return None


def _energies(anchors: Mapping[str, float], named: Mapping[str, float], share: float) -> dict[str, float]:
    """What each start begins with: so much in all for the memories the cue names, the rest for the anchors."""
    energies: dict[str, float] = {}
    share *= max(named.values(), default=0.0)
    for part, values in ((1 - share, anchors), (share, named)):
        total = sum(values.values())
        for id_, value in values.items() if total > 0 else ():
            energies[id_] = energies.get(id_, 0.0) + part * value / total
    return energies


def _is_spoken(node: Node, asked: str) -> bool:
    """Whether the cue names who said this."""
    speaker = node.props.get("speaker")
    if not isinstance(speaker, str) or not speaker.strip():
        return False
    return any(f" {part} " in asked for part in (spelt(speaker), spelt(speaker).split(" ")[0]))


def _is_ahead(node: Node, now: int) -> bool:
    """Whether it stands where things are said one after the other, and later than now; of a day the hour is often
    not known. What stands alone may be a plan."""
    return node.source is not None and node.at > now + DAY


def weigh(ask: Ask, finds: Anchored, reached: Reached, *, how: Trail) -> Scored:
    """The best of what may answer, then newer, then by id; without titles whose source speaks.

    What repeats a better one counts less, so that others have room.
    """
    assert isinstance(finds, Finds), "these trails begin at what `find` finds"
    assert isinstance(reached, Followed), "only trails that were followed can be weighed"
    scores = scored(reached)
    anchors = {anchor.node.id: anchor for anchor in finds.anchors}
    led = _led(finds, reached, anchors, how)
    # A name that says nothing is no answer, but the title of a note is one: the note says something.
    nodes = [node for id_, node in reached.nodes.items() if id_ in led and (id_ in anchors or not is_bare(node))]
    nodes = _ordered(nodes, scores)
    echoes = echoing(nodes)
    nodes = [node for node in nodes if node.id not in echoes]
    limit = max(ask.limit or 0, 0)
    twice = repeats(nodes, limit)
    if twice:
        scores |= {id_: KEPT * scores[id_] for id_ in twice}
        nodes = _ordered(nodes, scores)
    return Scored(
        tuple(Hit(one, scores[one.id], _why(one.id, anchors.get(one.id), reached, twice)) for one in nodes[:limit])
    )


def _ordered(nodes: Iterable[Node], scores: Mapping[str, float]) -> list[Node]:
    return sorted(nodes, key=lambda node: (-scores[node.id], -node.at, node.id))


def _led(finds: Finds, reached: Followed, anchors: Mapping[str, Anchor], how: Trail) -> set[str]:
    """Whatever more than a distant vector leads to; and where there is any, who stands next to one that was found."""
    led = {id_ for name in REACHED for id_, value in reached.signals.get(name, {}).items() if value}
    led |= {id_ for id_, anchor in anchors.items() if not how.is_far(anchor)}
    led |= finds.fits.keys() | finds.then
    beside = reached.signals.get("near", {}) if led else {}
    return led | {id_ for id_, value in beside.items() if value and id_ not in anchors}


def scored(reached: Followed) -> dict[str, float]:
    """The mean of all signals by weights."""
    total = reached.weights.total()
    scores = dict.fromkeys(reached.nodes, 0.0)
    for name, weight in reached.weights.signals().items():
        for id_, value in reached.signals.get(name, {}).items():
            scores[id_] += weight * value / total
    return {id_: max(score, 0.0) for id_, score in scores.items()}


def _why(id_: str, anchor: Anchor | None, reached: Followed, twice: Mapping[str, str]) -> dict[str, Any]:
    found_by = [
        name
        for name, part in (("text", anchor.bm25 if anchor else None), ("vector", anchor.cosine if anchor else None))
        if part is not None
    ]
    parts = reached.parts(id_)
    path = _path(id_, reached)
    walked = bool(path) and any(_is_walked(hop["dst"], reached) for hop in path)
    found_by += [name for name in REACHED if name in parts and (name != "walk" or walked)]
    found_by += ["when"] if parts.get("when", 0.0) == 1.0 else []
    return {
        "anchors": [id_] if anchor is not None else [step["src"] for step in path[:1]],
        "found_by": found_by,
        # All that was found is in one list; what was come to has no word of the cue, and what led there weighs more.
        "direct": "text" in found_by or parts.get("blend", 0.0) >= max(parts.get(name, 0.0) for name in LED),
        "parts": {"bm25": anchor.bm25 if anchor else None, "cosine": anchor.cosine if anchor else None, **parts},
        "tag_boost": anchor.boosted if anchor else False,
        "path": path,
        **({"repeats": twice[id_]} if id_ in twice else {}),
    }


def _is_walked(id_: str, reached: Followed) -> bool:
    """Whether energy came to it from elsewhere."""
    way = reached.ways.get(id_)
    return way is not None and way.start != id_


def _path(id_: str, reached: Followed) -> list[dict[str, Any]]:
    """The way to a memory: from where energy came, or from one of the best; else through the title it stands under."""
    way, second = reached.ways.get(id_), reached.seconds.get(id_)
    if way is not None and way.start != id_:
        return [_hop(way.start, id_, way.energy, way.via)]
    if second is not None and second.energy and any(reached.signals.get(name, {}).get(id_) for name in SECOND):
        return [*_way_to(second.start, id_, reached), _hop(second.start, id_, second.energy, second.via)]
    title = reached.titles.get(id_)
    led = _path(title, reached) if title is not None else []
    # What leads to its own title did not come from there.
    if title is None or not led or id_ in {hop["src"] for hop in led}:
        return []
    return [*led, _hop(title, id_, led[-1]["energy"], TITLE)]


def _way_to(start: str, end: str, reached: Followed) -> list[dict[str, Any]]:
    """How one of the best was come to, where the cue did not find it itself and the way does not begin at its end."""
    way = reached.ways.get(start)
    if way is None or way.start in (start, end) or start in reached.found:
        return []
    return [_hop(way.start, start, way.energy, way.via)]


def _hop(start: str, end: str, energy: float, via: str) -> dict[str, Any]:
    return hop_dict(Hop(start, end, energy, "", via, None, (), True))
