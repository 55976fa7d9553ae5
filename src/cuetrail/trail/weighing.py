"""One score of many signals, each between 0 and 1 and told in the why of a hit.

    blend    what words and meaning say together       link   the text of one of the best names it
    walk     the energy that came to it                hop    it shares a rare name with one of the best, and fits
    rest     it fits what the cue asks beyond names    named  the cue names it
    near     its neighbours in a file or conversation  place  the best of where it came from
    spoken   the cue names who said it                 when   it is of the time the cue names

The score is their mean by weights. `bench.quality.choose` finds the weights on the development questions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from cuetrail.anchor import Anchor, Anchored, Ask, Embedded, echoing
from cuetrail.errors import EmbedderError
from cuetrail.model import Hit, Hop, Node, hop_dict
from cuetrail.score import Scored
from cuetrail.spread import Reached
from cuetrail.trail.finding import Finds, softened
from cuetrail.trail.following import Second, Way, Web, flow, in_row, onward, weave
from cuetrail.trail.naming import spelt

# The signals that lead to a memory, where words and meaning alone did not.
REACHED = ("named", "walk", "link", "hop")


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts, against the others."""

    blend: float = 3.0
    walk: float = 3.0
    hop: float = 3.6
    rest: float = 0.3
    link: float = 1.3
    named: float = 2.2
    near: float = 1.8
    place: float = 4.6
    spoken: float = 1.0


@dataclass(frozen=True, slots=True)
class Trail:
    """The constants of the recipe. The vectors of `strong_models` say more than words, those of others less."""

    weights: Weights = Weights()
    texts: int = 100
    vectors: int = 50
    starts: int = 5
    best: int = 5
    strong: int = 20
    named_share: float = 0.5
    text_share: float = 0.7
    text_share_if_strong: float = 0.35
    strong_models: tuple[str, ...] = ("onnx:", "fastembed:", "openai:")
    vector_floor: float = 0.35

    def share(self, meant: Embedded | None) -> float:
        """How much words count against meaning."""
        if meant is None:
            return 1.0
        return self.text_share_if_strong if meant.space.model.startswith(self.strong_models) else self.text_share


@dataclass(frozen=True, slots=True)
class Followed(Reached):
    """All memories that may answer, with what is known of each: the signals, and by which way it was come to."""

    nodes: Mapping[str, Node] = field(default_factory=dict)
    parts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    ways: Mapping[str, Way] = field(default_factory=dict)
    seconds: Mapping[str, Second] = field(default_factory=dict)


def follow(ask: Ask, finds: Anchored, *, how: Trail) -> Followed:
    """Follow the trails from what was found, and gather every signal."""
    assert isinstance(finds, Finds), "these trails begin at what `find` finds"
    ask = softened(ask)
    share = how.share(finds.meant)
    # What only a distant vector found leads nowhere.
    first = _blended([one for one in finds.anchors if not _is_far(one, how)], share)
    order = sorted(first, key=lambda id_: (-first[id_], id_))
    named = {id_: value for id_, value in finds.named().items() if id_ in finds.nodes}
    chosen = sorted(named, key=lambda id_: (-named[id_], id_))[: how.starts]
    starts = list(dict.fromkeys([*order[: how.starts], *chosen]))
    web = Web(dict(finds.nodes)) if finds.literal else weave(ask, finds, starts, order[: how.strong])
    blend, fits = _compared(ask, finds, web, share)
    energies = _energies({id_: blend[id_] for id_ in order[: how.starts]}, named, how.named_share)
    flowed = {} if finds.literal else flow(web, energies)
    most = max((energy for energy, _ in flowed.values()), default=1.0)
    walk = {id_: math.sqrt(energy / most) for id_, (energy, _) in flowed.items()}
    together = {id_: blend[id_] + walk.get(id_, 0.0) + named.get(id_, 0.0) for id_ in web.nodes}
    best = sorted(together, key=lambda id_: (-together[id_], id_))[: how.best]
    top = together[best[0]] if best else 1.0
    seconds = {} if finds.literal else onward(web, {id_: together[id_] / (top or 1.0) for id_ in best}, fits)
    rows = in_row(web.nodes, blend)
    said = f" {spelt(ask.cue.raw)} "
    parts = {
        id_: {
            "blend": blend[id_],
            "walk": walk.get(id_, 0.0),
            "hop": seconds[id_].hop if id_ in seconds else 0.0,
            "rest": fits.get(id_, 0.0),
            "link": seconds[id_].link if id_ in seconds else 0.0,
            "named": named.get(id_, 0.0),
            "near": rows.get(id_, (0.0, 0.0))[0],
            "place": rows.get(id_, (0.0, 0.0))[1],
            "spoken": _spoken(node, said),
        }
        for id_, node in web.nodes.items()
    }
    ways = {id_: way for id_, (_, way) in flowed.items()}
    return Followed(nodes=web.nodes, parts=parts, ways=ways, seconds=seconds)


def _asked_beyond(ask: Ask, rest: str) -> Embedded | None:
    """What the cue asks beyond its names, as a vector."""
    try:
        return ask.embed(rest) if ask.embed is not None and rest else None
    except EmbedderError:
        return None


def _blended(anchors: Sequence[Anchor], share: float) -> dict[str, float]:
    """Anchors by words and meaning together."""
    best = max((a.bm25 for a in anchors if a.bm25 is not None), default=0.0) or 1.0
    near = _scaled({a.node.id: a.cosine for a in anchors if a.cosine is not None})
    return {a.node.id: share * (a.bm25 or 0.0) / best + (1 - share) * near.get(a.node.id, 0.0) for a in anchors}


def _scaled(values: Mapping[str, float]) -> dict[str, float]:
    """Values between the least and the largest of them, as 0 to 1."""
    low, high = min(values.values(), default=0.0), max(values.values(), default=0.0)
    return {id_: (value - low) / (high - low) if high > low else 1.0 for id_, value in values.items()}


def _compared(ask: Ask, finds: Finds, web: Web, share: float) -> tuple[dict[str, float], dict[str, float]]:
    """How well every memory of the web fits the cue, and what the cue asks beyond its names."""
    best = max((a.bm25 for a in finds.anchors if a.bm25 is not None), default=0.0) or 1.0
    words = {a.node.id: (a.bm25 or 0.0) / best for a in finds.anchors}
    near, beyond = dict[str, float](), dict[str, float]()
    if finds.meant is not None:
        near, beyond = _cosines(ask, list(web.nodes), finds.meant, _asked_beyond(ask, finds.rest))
    blend = {id_: share * words.get(id_, 0.0) + (1 - share) * near.get(id_, 0.0) for id_ in web.nodes}
    fits = {id_: share * finds.fits.get(id_, 0.0) + (1 - share) * beyond.get(id_, 0.0) for id_ in web.nodes}
    return blend, fits


def _cosines(
    ask: Ask, ids: Sequence[str], meant: Embedded, asked: Embedded | None
) -> tuple[dict[str, float], dict[str, float]]:
    """How near the memories are to the cue and to the rest of it, each list scaled to its range."""
    import numpy as np

    # In one order: how a product is rounded depends on the place of its row.
    held = dict(sorted(ask.store.vectors(ask.scope, ids, meant.space).items()))
    if not held:
        return {}, {}
    matrix = np.frombuffer(b"".join(held.values()), "<f2").reshape(len(held), -1).astype(np.float32)
    both = [np.frombuffer(one.vector, "<f2").astype(np.float32) for one in (meant, asked) if one is not None]
    near = [_scaled(dict(zip(held, (matrix @ one).tolist(), strict=True))) for one in both]
    return near[0], near[1] if asked is not None else {}


def _energies(anchors: Mapping[str, float], named: Mapping[str, float], share: float) -> dict[str, float]:
    """What each start begins with: so much in all for the memories the cue names, the rest for the anchors."""
    energies: dict[str, float] = {}
    share *= max(named.values(), default=0.0)
    for part, values in ((1 - share, anchors), (share, named)):
        total = sum(values.values())
        for id_, value in values.items() if total > 0 else ():
            energies[id_] = energies.get(id_, 0.0) + part * value / total
    return energies


def _spoken(node: Node, asked: str) -> float:
    """Whether the cue names who said this."""
    speaker = node.props.get("speaker")
    if not isinstance(speaker, str) or not speaker.strip():
        return 0.0
    return float(any(f" {part} " in asked for part in (spelt(speaker), spelt(speaker).split(" ")[0])))


def weigh(ask: Ask, finds: Anchored, reached: Reached, *, how: Trail) -> Scored:
    """Every memory that may answer, the best first, then newer, then by id; without titles whose source speaks."""
    assert isinstance(reached, Followed), "only trails that were followed can be weighed"
    weights = asdict(how.weights)
    total = sum(weights.values())
    anchors = {anchor.node.id: anchor for anchor in finds.anchors}
    hits = []
    for id_, parts in reached.parts.items():
        anchor = anchors.get(id_)
        if anchor is None and not reached.nodes[id_].text:
            # It was on the way, but says nothing.
            continue
        if anchor is not None and _is_far(anchor, how) and not any(parts[name] for name in REACHED):
            continue
        score = sum(weights[name] * value for name, value in parts.items()) / total
        hits.append(Hit(reached.nodes[id_], score, _why(id_, anchor, parts, reached)))
    hits.sort(key=lambda hit: (-hit.score, -hit.node.at, hit.node.id))
    echoes = echoing([hit.node for hit in hits])
    kept = [hit for hit in hits if hit.node.id not in echoes]
    return Scored(tuple(kept[: max(ask.limit or 0, 0)]))


def _is_far(anchor: Anchor, how: Trail) -> bool:
    """Whether nothing but a distant vector found it."""
    return anchor.bm25 is None and (anchor.cosine or 0.0) < how.vector_floor


def _why(id_: str, anchor: Anchor | None, parts: Mapping[str, float], reached: Followed) -> dict[str, Any]:
    found_by = [
        name
        for name, part in (("text", anchor.bm25 if anchor else None), ("vector", anchor.cosine if anchor else None))
        if part is not None
    ]
    way, second = reached.ways.get(id_), reached.seconds.get(id_)
    walked = way is not None and way.start != id_
    found_by += [name for name in REACHED if parts[name] > 0 and (name != "walk" or walked)]
    path = []
    if way is not None and walked:
        path = [hop_dict(Hop(way.start, id_, way.energy, "", way.via, None, (), True))]
    elif second is not None:
        path = [hop_dict(Hop(second.start, id_, max(second.hop, second.link), "", second.via, None, (), True))]
    return {
        "anchors": [id_] if anchor is not None else sorted({step["src"] for step in path}),
        "found_by": found_by,
        "parts": {
            "bm25": anchor.bm25 if anchor else None,
            "cosine": anchor.cosine if anchor else None,
            **{name: value for name, value in parts.items() if value},
        },
        "tag_boost": anchor.boosted if anchor else False,
        "path": path,
    }
