"""Render of a narrative: one section per entity, as many lines as the budget allows."""

from __future__ import annotations

from collections.abc import Sequence

from cuetrail.model import Hit, Node
from cuetrail.recall.score.facts import display_name
from cuetrail.recall.stages import RecallContext, Scored

USER = "user"
_Lines = Sequence[tuple[int, str, float]]


def in_sections(context: RecallContext, scored: Scored) -> tuple[str, Scored]:
    """Returns the text, with the lines of highest score that fit the budget, and the hits that have a line in it."""
    hits = [*scored.anchors, *scored.walkers]
    lines = [(at, line["text"], line["score"]) for at, hit in enumerate(hits) for line in hit.why["lines"]]
    kept = set(range(len(lines)))
    if context.measure(_text(hits, lines, kept)) > context.size:
        kept, room = set(), context.size
        for number in sorted(range(len(lines)), key=lambda n: (-lines[n][2], n)):
            # Measuring a line alone is cheap and rules out most of those that do not fit.
            if context.measure(lines[number][1]) > room:
                continue
            size = context.measure(_text(hits, lines, kept | {number}))
            if size <= context.size:
                kept.add(number)
                room = context.size - size
    shown = _with_kept_lines(hits, kept)
    anchors = {hit.node.id for hit in scored.anchors}
    return _text(hits, lines, kept), Scored(
        tuple(hit for hit in shown if hit.node.id in anchors),
        tuple(hit for hit in shown if hit.node.id not in anchors),
    )


def _text(hits: Sequence[Hit], lines: _Lines, kept: set[int]) -> str:
    sections: dict[int, list[str]] = {}
    for number, (at, text, _) in enumerate(lines):
        if number in kept:
            sections.setdefault(at, [header(hits[at].node)]).append(text)
    return "\n\n".join("\n".join(section) for section in sections.values())


def header(node: Node) -> str:
    """Returns the heading of an entity's section."""
    name = display_name(node)
    return "### 👤 USER CONTEXT" if name.casefold() == USER else f"### 💡 CONTEXT: {name}"


def _with_kept_lines(hits: Sequence[Hit], kept: set[int]) -> list[Hit]:
    """Returns the hits with only the kept lines, without hits that have none. Lines are numbered over all hits."""
    shown = []
    first = 0
    for hit in hits:
        lines = [line for n, line in enumerate(hit.why["lines"], first) if n in kept]
        first += len(hit.why["lines"])
        if lines:
            shown.append(Hit(hit.node, hit.score, {**hit.why, "lines": lines}))
    return shown
