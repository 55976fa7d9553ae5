"""The view `suggest`: titles, names, tags and buckets that continue a text while a person types it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from cuetrail.text.normalise import folded, pieces

if TYPE_CHECKING:
    from cuetrail.memory import Memory

LIMIT, MOST_SUGGESTED, MOST_CHARS = 8, 20, 1_000
"""So many suggestions if the request names no number, the most it may name, and the most characters of its text."""

_CANDIDATES = 400
# Tags of one letter would be suggested for half of all words.
_SHORTEST_TAG = 2


def suggest(memory: Memory, arguments: Mapping[str, Any], _local: bool) -> dict[str, Any]:
    """Returns suggestions, the best first: each with its `kind` ("tag", "bucket", or that of the node), its `text`, and
    the id of the node, or the number of nodes that have the label.
    """
    text, limit = arguments["text"].strip(), arguments.get("limit", LIMIT)
    last = text.split()[-1] if text else ""
    if last.startswith("#"):
        return {"suggestions": _labels(memory, ("tag", "automatic"), last[1:], limit)}
    if last.startswith("@"):
        return {"suggestions": _labels(memory, ("bucket",), last[1:], limit)}
    named = _named(memory, text, limit)
    tags = _labels(memory, ("tag",), text, 3) if len(text) >= _SHORTEST_TAG and " " not in text else []
    return {"suggestions": [*named[: max(1, limit - len(tags))], *tags][:limit]}


def _labels(memory: Memory, kinds: Iterable[Any], prefix: str, limit: int) -> list[dict[str, Any]]:
    """Returns labels that begin with a prefix: those of people first, each once."""
    found: dict[str, dict[str, Any]] = {}
    for kind in kinds:
        for one in memory.labels(kind, prefix=prefix, limit=limit):
            shown = "bucket" if kind == "bucket" else "tag"
            found.setdefault(one.name, {"kind": shown, "text": one.name, "id": None, "nodes": one.nodes})
    return list(found.values())[:limit]


def _named(memory: Memory, text: str, limit: int) -> list[dict[str, Any]]:
    """Returns nodes whose names have all words of the text, the last one as a beginning: first those whose own name
    begins with the text, then those with another name that does, then the rest; of each the shortest first.
    """
    words = _words(text)
    if not words:
        return []
    *whole, begun = words
    candidates = memory.store.named_like(memory.scope, whole, [begun], _CANDIDATES)
    ranked: list[tuple[int, int, str, str]] = []
    kinds: dict[str, str] = {}
    for one in candidates:
        fitting = [spoken for spoken in map(_words, (one.name, *one.aliases)) if _fits(whole, begun, spoken)]
        # A person may know another name of it, but is shown its own.
        if fitting and one.name:
            own, *others = (" ".join(_words(name)).startswith(" ".join(words)) for name in (one.name, *one.aliases))
            ranked.append((0 if own else 1 if any(others) else 2, len(one.name), one.name, one.id))
            kinds[one.id] = one.kind
    best: dict[str, dict[str, Any]] = {}
    for _, _, name, id_ in sorted(ranked):
        best.setdefault(folded(name), {"kind": kinds[id_], "text": name, "id": id_, "nodes": None})
    return list(best.values())[:limit]


def _words(text: str) -> list[str]:
    """Returns the words of a text in order, without accents and case."""
    return [piece[0] for piece in pieces(folded(text))]


def _fits(whole: list[str], begun: str, words: list[str]) -> bool:
    return all(word in words for word in whole) and any(word.startswith(begun) for word in words)
