"""Retrievers for LangChain and LlamaIndex. Each needs its extra: `cuetrail[langchain]`, `cuetrail[llamaindex]`.

May import: memory, model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Hit, Recollection

FACTS = "facts"
"""The id and kind of the retrieved text that has the current facts."""


class Retrieved(NamedTuple):
    """One retrieved text, its score, and its metadata."""

    id: str
    text: str
    score: float
    metadata: dict[str, Any]


def retrieve(memory: Memory, query: str, options: Mapping[str, Any]) -> list[Retrieved]:
    """Returns the texts of a recall, best first, at most `options["limit"]`; [] if nothing answers the query. Current
    facts that fit the query come first, joined in one text with a line for each.
    """
    result = memory.recall(query, **options)
    if not result.answerable:
        return []
    anchors = {hit.node.id for hit in result.anchors}
    hits = [
        Retrieved(hit.node.id, _text(hit), hit.score, _metadata(hit, hit.node.id in anchors)) for hit in result.hits
    ]
    return [*_facts(result), *hits][: options.get("limit")]


def _facts(result: Recollection) -> list[Retrieved]:
    """Returns [one text with the current facts of a recollection, a line for each]; [] if there are none."""
    if not result.facts:
        return []
    metadata = {
        "id": FACTS, "kind": FACTS, "name": None, "tags": [], "automatic_tags": [], "buckets": [],
        "source": ", ".join(dict.fromkeys(one.source for one in result.facts if one.source is not None)) or None,
        "at": max(one.since for one in result.facts), "score": 1.0, "found": FACTS, "mark": "",
        "facts": [one.fact.id for one in result.facts],
    }  # fmt: skip
    return [Retrieved(FACTS, "\n".join(one.line for one in result.facts), 1.0, metadata)]


def _metadata(hit: Hit, directly: bool) -> dict[str, Any]:
    node = hit.node
    return {
        "id": node.id, "kind": node.kind, "name": node.name, "tags": list(node.own_tags),
        "automatic_tags": list(node.automatic_tags), "buckets": list(node.buckets),
        "source": node.source, "at": node.at, "score": hit.score, "found": "directly" if directly else "associated",
        "mark": hit.mark,
    }  # fmt: skip


def _text(hit: Hit) -> str:
    """Returns the text of a hit, or its name if it has no text. If it states an outdated fact, its mark comes first."""
    text = hit.node.text or hit.node.name or ""
    return f"[{hit.mark}] {text}" if hit.mark else text
