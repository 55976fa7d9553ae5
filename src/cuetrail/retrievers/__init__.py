"""A memory as a retriever of other libraries, each an extra: `cuetrail[langchain]`, `cuetrail[llamaindex]`.

May import: memory, model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cuetrail.memory import Memory
from cuetrail.model import Hit


def retrieve(memory: Memory, query: str, options: Mapping[str, Any]) -> list[tuple[Hit, dict[str, Any]]]:
    """The hits of a recall, the best first, each with what there is to know of it as plain data."""
    found = memory.recall(query, **options)
    anchors = {hit.node.id for hit in found.anchors}
    return [(hit, _about(hit, hit.node.id in anchors)) for hit in found.hits]


def _about(hit: Hit, directly: bool) -> dict[str, Any]:
    node = hit.node
    return {
        "id": node.id, "kind": node.kind, "name": node.name, "tags": list(node.tags), "buckets": list(node.buckets),
        "source": node.source, "at": node.at, "score": hit.score, "found": "directly" if directly else "associated",
    }  # fmt: skip


def said(hit: Hit) -> str:
    """The text of a hit; of what has none, its name."""
    return hit.node.text or hit.node.name or ""
