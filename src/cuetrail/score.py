"""The second stage: one number per found node, with its parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cuetrail.anchor import Anchor
from cuetrail.formulas import blend
from cuetrail.model import Hit, Node


def score_anchors(
    anchors: Sequence[Anchor], nodes: Mapping[str, Node], text_share: float, vector_floor: float
) -> list[Hit]:
    """Hits, the best first, then newer, then by id. Nodes only a distant vector found are left out."""
    best = max((a.bm25 for a in anchors if a.bm25 is not None), default=0.0)
    cosines = [a.cosine for a in anchors if a.cosine is not None]
    share = text_share if cosines else 1.0
    hits = []
    for anchor in anchors:
        node = nodes.get(anchor.id)
        if node is None or (anchor.bm25 is None and (anchor.cosine or 0.0) < vector_floor):
            continue
        near = cosines if anchor.cosine is not None else []
        total = blend(anchor.bm25 or 0.0, best, anchor.cosine or 0.0, near, share)
        hits.append(Hit(node, total, _why(anchor)))
    return sorted(hits, key=lambda hit: (-hit.score, -hit.node.at, hit.node.id))


def without_echoes(hits: Sequence[Hit]) -> list[Hit]:
    """The hits but for titles and headings whose source also speaks, and for second titles of one that does not."""
    speaking = {hit.node.source for hit in hits if not _is_title(hit.node)}
    kept, titled = [], set[str | None]()
    for hit in hits:
        if _is_title(hit.node) and hit.node.source is not None:
            if hit.node.source in speaking or hit.node.source in titled:
                continue
            titled.add(hit.node.source)
        kept.append(hit)
    return kept


def _is_title(node: Node) -> bool:
    return bool(node.props.get("level")) or (node.kind == "source" and not node.text)


def _why(anchor: Anchor) -> dict[str, Any]:
    found_by = [name for name, part in (("text", anchor.bm25), ("vector", anchor.cosine)) if part is not None]
    return {
        "anchors": [anchor.id],
        "found_by": found_by,
        "parts": {"bm25": anchor.bm25, "cosine": anchor.cosine},
        "tag_boost": anchor.boosted,
        "path": [],
    }
