"""The third stage: one number per node, with its reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cuetrail.anchor import Anchor, Anchored, Ask, echoing
from cuetrail.formulas import HOUR, UNKNOWN_DISTANCE, blend, gravity, shares
from cuetrail.model import Foothold, Hit, Label, Node, Walked
from cuetrail.spread import Reached, labels_of
from cuetrail.text import sanitize_query


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


def as_found(ask: Ask, anchored: Anchored, reached: Reached) -> Scored:
    """Anchors and walkers in the order and with the scores they were found with."""
    most, _ = shares(ask.tokens, ask.limit)
    anchors = (Hit(a.node, a.bm25 or 0.0, _matched(a, anchored)) for a in anchored.anchors[:most])
    return Scored(tuple(anchors), tuple(Hit(w.node, w.score, _shared(w, reached)) for w in reached.walked))


def _found(anchor: Anchor) -> dict[str, Any]:
    found_by = [name for name, part in (("text", anchor.bm25), ("vector", anchor.cosine)) if part is not None]
    return {
        "anchors": [anchor.node.id],
        "found_by": found_by,
        "parts": {"bm25": anchor.bm25, "cosine": anchor.cosine},
        "tag_boost": anchor.boosted,
        "path": [],
    }


def _matched(anchor: Anchor, anchored: Anchored) -> dict[str, Any]:
    """Why an anchor is here: the words it has, and what its BM25 was multiplied by."""
    boost = 2.0 if anchor.boosted else 1.0
    bm25 = (anchor.bm25 or 0.0) / boost / anchor.factor
    return {
        **_found(anchor),
        "role": "anchor",
        "attempt": anchored.attempt,
        "terms": words_in(anchor.node, (anchored.query.words, *anchored.query.phrases)),
        "parts": {"bm25": bm25, "tag_boost": boost, "provenance": anchor.factor},
        "provenance": anchor.node.provenance,
    }


def words_in(node: Node, asked: Sequence[str]) -> list[str]:
    """The words of a query that stand in a node, up to their endings.

    >>> words_in(Node("a", text="Two receivers failed."), ["receiver failing frost"])
    ['receiver', 'failing']
    """
    said = f" {sanitize_query(' '.join((node.name or '', *node.aliases, node.text)))}"
    words = dict.fromkeys(sanitize_query(" ".join(asked)).split())
    return [word for word in words if f" {word[: max(4, len(word) - 3)]}" in said]


def _shared(walked: Walked, reached: Reached) -> dict[str, Any]:
    """Why a walker is here: what it shares with which anchors, and how much that tells."""
    labels = [label for label in labels_of(walked.node) if label in reached.idfs]
    near = [foothold for foothold in reached.footholds if set(labels) & set(foothold.labels)]
    closest = max(near, key=lambda foothold: _closeness(walked.node, foothold, labels, reached), default=None)
    parts: dict[str, Any] = {"idf": sum(reached.idfs[label] for label in labels)}
    if closest is not None and reached.rank == "gravity":
        parts |= _gravity(walked.node, closest, labels)
    via = [
        f"{'#' if label.what == 'tag' else '@'}{label.name}" for label in labels if closest and label in closest.labels
    ]
    return {
        "role": "walker",
        "anchors": [foothold.id for foothold in near],
        "found_by": ["labels"],
        "shared": [{"what": label.what, "name": label.name, "idf": reached.idfs[label]} for label in labels],
        "parts": parts,
        "tag_boost": False,
        "path": [{"src": closest.id, "via": via, "dst": walked.node.id}] if closest else [],
    }


def _closeness(node: Node, foothold: Foothold, labels: Sequence[Label], reached: Reached) -> float:
    if reached.rank == "gravity":
        return float(_gravity(node, foothold, labels)["gravity"])
    return sum(reached.idfs[label] for label in labels if label in foothold.labels)


def _gravity(node: Node, foothold: Foothold, labels: Sequence[Label]) -> dict[str, float]:
    shared = sum(label in foothold.labels for label in labels)
    hours = abs(node.at - foothold.at) / HOUR
    known = node.simhash is not None and foothold.simhash is not None
    distance = float((node.simhash ^ foothold.simhash).bit_count()) if known else UNKNOWN_DISTANCE  # type: ignore[operator]  # known
    return {"gravity": gravity(shared, hours, distance), "shared": shared, "hours": hours, "distance": distance}
