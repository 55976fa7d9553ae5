"""The third stage: one number per node, with its reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuetrail.formulas import DAY, HOUR, UNKNOWN_DISTANCE, blend, final_score, freshness, gravity, shares
from cuetrail.model import Activation, Hit, Label, Node, WalkHit, WalkSeed, hop_dict
from cuetrail.model.fast_dataclass import maker
from cuetrail.model.lifecycle import SEMANTIC_KINDS
from cuetrail.recall.anchor.hybrid_search import Anchor, Anchored, Ask, echoing
from cuetrail.recall.anchor.seeds import Seeding
from cuetrail.recall.spread.activation import Activated, merge
from cuetrail.recall.spread.tag_walk import Reached, labels_of
from cuetrail.text.analyser import searchable_text
from cuetrail.text.normalise import sanitize_query

_hit = maker(Hit)


@dataclass(frozen=True, slots=True)
class Scored:
    """What the cue found and what was reached from there, each in its own order: two lists that are never mixed."""

    anchors: tuple[Hit, ...]
    walkers: tuple[Hit, ...] = ()


def blended(ask: Ask, anchored: Anchored, _reached: Reached, *, text_share: float, vector_floor: float) -> Scored:
    """Anchors by what text and vectors say of them together, without titles whose source speaks for itself."""
    hits = score_anchors(anchored.anchors, text_share, vector_floor)
    echoes = echoing([hit.node for hit in hits])
    kept = [hit for hit in hits if hit.node.id not in echoes]
    return Scored(tuple(kept[: max(ask.limit or 0, 0)]))


def score_anchors(anchors: Sequence[Anchor], text_share: float, vector_floor: float) -> list[Hit]:
    """Hits, the best first, then newer, then by id. Nodes only a distant vector found are left out."""
    best = max((a.bm25 for a in anchors if a.bm25 is not None), default=0.0)
    cosines = [a.cosine for a in anchors if a.cosine is not None]
    share = text_share if cosines else 1.0
    hits = []
    for anchor in anchors:
        if anchor.bm25 is None and (anchor.cosine or 0.0) < vector_floor:
            continue
        near = cosines if anchor.cosine is not None else []
        total = blend(anchor.bm25 or 0.0, best, anchor.cosine or 0.0, near, share)
        hits.append(Hit(anchor.node, total, _found(anchor)))
    return sorted(hits, key=lambda hit: (-hit.score, -hit.node.at, hit.node.id))


def by_salience(
    ask: Ask, anchored: Anchored, _reached: Reached, *, weights: tuple[float, float, float], vector_floor: float
) -> Scored:
    """Anchors by how much they have to do with the cue, how fresh and how salient they are, with the part scores."""
    best = max((a.bm25 for a in anchored.anchors if a.bm25 is not None), default=0.0)
    hits = []
    for anchor in anchored.anchors:
        by_text = anchor.bm25 / best if anchor.bm25 is not None and best > 0 else 0.0
        semantic = max(by_text, anchor.cosine or 0.0)
        if anchor.bm25 is None and semantic < vector_floor:
            continue
        node = anchor.node
        days = (ask.now - (node.updated if node.kind in SEMANTIC_KINDS else node.at)) / DAY
        parts = {"semantic": semantic, "time": freshness(days), "salience": node.life.salience}
        score = final_score(semantic, days, node.life.salience, weights)
        why = _found(anchor)
        hits.append(Hit(node, score, {**why, "parts": {**why["parts"], **parts}}))
    echoes = echoing([hit.node for hit in hits])
    kept = sorted((hit for hit in hits if hit.node.id not in echoes), key=lambda h: (-h.score, -h.node.at, h.node.id))
    return Scored(tuple(kept[: max(ask.limit or 0, 0)]))


def as_found(ask: Ask, anchored: Anchored, reached: Reached) -> Scored:
    """Anchors and walkers in the order and with the scores they were found with."""
    most, _ = shares(ask.tokens, ask.limit)
    asked = " ".join((anchored.query.words, *anchored.query.phrases)) if anchored.anchors else ""
    words = beginnings(sanitize_query(asked).split())
    anchors = [_hit(a.node, a.bm25 or 0.0, _matched(a, anchored, words)) for a in anchored.anchors[:most]]
    seeds = [(seed, frozenset(seed.labels)) for seed in reached.seeds]
    walkers = [_hit(w.node, w.score, _shared(w, reached, seeds)) for w in reached.walked]
    return Scored(tuple(anchors), tuple(walkers))


def by_energy(ask: Ask, anchored: Anchored, reached: Reached, *, seeding: Seeding) -> Scored:
    """Seeds by the energy they start with, then what it came to, by how much arrived: about half of each."""
    most = sum(shares(ask.tokens, ask.limit))
    seeds = [Hit(a.node, seeding.energy(a), {**_found(a), "role": "anchor"}) for a in anchored.anchors]
    seeds = seeds[: -(-most // 2)]
    ways = {one.id: one for one in merge(reached.activations)}
    walkers = [Hit(w.node, w.score, _flowed(ways[w.node.id], reached.activations)) for w in reached.walked]
    return Scored(tuple(seeds), tuple(walkers[: most - len(seeds)]))


def _flowed(one: Activated, found: Sequence[Activation]) -> dict[str, Any]:
    """Why energy came to a node: from which seeds, by which path of the best of them, and which tags fitted there."""
    best = next(iter(one.paths.values()))
    asked = {tag for activation in found for tag in activation.tags}
    return {
        "role": "walker",
        "anchors": list(one.paths),
        "found_by": ["energy"],
        "parts": {"energy": one.energy},
        "tag_boost": False,
        "tags": sorted(asked & {tag for hop in best.hops for tag in hop.tags}),
        "path": [hop_dict(hop) for hop in best.hops],
    }


def _found(anchor: Anchor) -> dict[str, Any]:
    found_by = [name for name, part in (("text", anchor.bm25), ("vector", anchor.cosine)) if part is not None]
    return {
        "anchors": [anchor.node.id],
        "found_by": found_by,
        "parts": {"bm25": anchor.bm25, "cosine": anchor.cosine},
        "tag_boost": anchor.boosted,
        "path": [],
    }


def _matched(anchor: Anchor, anchored: Anchored, words: Mapping[str, str]) -> dict[str, Any]:
    """Why an anchor is here: the words it has, and what its BM25 was multiplied by."""
    boost = 2.0 if anchor.boosted else 1.0
    bm25 = (anchor.bm25 or 0.0) / boost / anchor.factor
    why = _found(anchor)
    why["role"] = "anchor"
    why["attempt"] = anchored.attempt
    why["terms"] = words_in(anchor.node, words)
    why["parts"] = {"bm25": bm25, "tag_boost": boost, "provenance": anchor.factor}
    why["provenance"] = anchor.node.provenance
    return why


def beginnings(words: Sequence[str]) -> dict[str, str]:
    """Words, each once, and how they begin: without their endings.

    >>> beginnings(["receiver", "ice", "receiver"])
    {'receiver': 'recei', 'ice': 'ice'}
    """
    return {word: word[: max(4, len(word) - 3)] for word in words}


def words_in(node: Node, words: Mapping[str, str]) -> list[str]:
    """Which of these words stand in a node, up to their endings.

    >>> words_in(Node("a", text="Two receivers failed."), beginnings(["receiver", "failing", "frost", "ceiver"]))
    ['receiver', 'failing']
    """
    said = searchable_text(node.name, node.aliases, node.text).lower()
    return [word for word, start in words.items() if start in said and _begins_a_word(start, said)]


def _begins_a_word(start: str, text: str) -> bool:
    at = text.find(start)
    # Other scripts may have no spaces between words.
    while at > 0 and text[at - 1].isalnum() and start.isascii():
        at = text.find(start, at + 1)
    return at >= 0


def _shared(walked: WalkHit, reached: Reached, seeds: Sequence[tuple[WalkSeed, frozenset[Label]]]) -> dict[str, Any]:
    """Why a walker is here: what it shares with which anchors, and how much that tells."""
    node, idfs = walked.node, reached.idfs
    own = [label for label in labels_of(node) if label in idfs]
    near = [(seed, labels) for seed, labels in seeds if not labels.isdisjoint(own)]
    ties = [(seed, [label for label in own if label in labels]) for seed, labels in near]
    parts: dict[str, float] = {"idf": sum(idfs[label] for label in own)}
    path = []
    if ties:
        pulls = {f.id: _pull(node, f, len(shared)) for f, shared in ties} if reached.rank == "gravity" else {}
        strength = [pulls[f.id]["gravity"] if pulls else sum(idfs[label] for label in shared) for f, shared in ties]
        nearest, shared = ties[strength.index(max(strength))]
        parts |= pulls.get(nearest.id, {})
        path = [{"src": nearest.id, "via": [_written(label) for label in shared], "dst": node.id}]
    return {
        "role": "walker",
        "anchors": [seed.id for seed, _ in ties],
        "found_by": ["labels"],
        "shared": [{"what": label.what, "name": label.name, "idf": idfs[label]} for label in own],
        "parts": parts,
        "tag_boost": False,
        "path": path,
    }


def _written(label: Label) -> str:
    return f"{'#' if label.what == 'tag' else '@'}{label.name}"


def _pull(node: Node, seed: WalkSeed, shared: int) -> dict[str, float]:
    """The parts of an anchor's pull on a node."""
    hours = abs(node.at - seed.at) / HOUR
    distance = UNKNOWN_DISTANCE
    if node.simhash is not None and seed.simhash is not None:
        distance = float((node.simhash ^ seed.simhash).bit_count())
    return {"gravity": gravity(shared, hours, distance), "shared": shared, "hours": hours, "distance": distance}
