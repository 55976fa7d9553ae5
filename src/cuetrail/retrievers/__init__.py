"""Retrievers for LangChain and LlamaIndex. Each needs its extra: `cuetrail[langchain]`, `cuetrail[llamaindex]`.

May import: memory, model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Hit


def retrieve(memory: Memory, query: str, options: Mapping[str, Any]) -> list[tuple[Hit, dict[str, Any]]]:
    """Returns the hits of a recall, best first, each with its metadata."""
    result = memory.recall(query, **options)
    anchors = {hit.node.id for hit in result.anchors}
    return [(hit, _metadata(hit, hit.node.id in anchors)) for hit in result.hits]


def _metadata(hit: Hit, directly: bool) -> dict[str, Any]:
    node = hit.node
    return {
        "id": node.id, "kind": node.kind, "name": node.name, "tags": list(node.tags), "buckets": list(node.buckets),
        "source": node.source, "at": node.at, "score": hit.score, "found": "directly" if directly else "associated",
    }  # fmt: skip


def text_of(hit: Hit) -> str:
    """Returns the text of a hit, or its name if it has no text."""
    return hit.node.text or hit.node.name or ""
