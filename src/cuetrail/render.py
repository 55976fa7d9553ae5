"""The last stage: text inside a strict budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cuetrail.anchor import Ask, Measure
from cuetrail.errors import InputError
from cuetrail.formulas import CHARS_PER_TOKEN, estimated_tokens, share
from cuetrail.model import Budget, Hit
from cuetrail.score import Scored

SEPARATOR = "\n\n"
CUT_MARK = " …"
# A hit is cut only where this many characters of room are left; less would say nothing.
SMALLEST_CUT = 200
_SENTENCE_ENDS = (". ", "! ", "? ", ".\n", "!\n", "?\n", "。", "！", "？")


def budget_measure(budget: Budget, count_tokens: Measure | None) -> tuple[int, Measure, int]:
    """The budget's size, how to measure a text by it, and about how many tokens it is.

    Raises InputError unless exactly one size is given.
    """
    if (budget.chars is None) == (budget.tokens is None):
        raise InputError("a budget is either chars or tokens: Budget(chars=8000) or Budget(tokens=2000)")
    size = budget.chars if budget.chars is not None else budget.tokens
    assert size is not None
    if size < 0:
        raise InputError(f"a budget cannot be negative, this one is {size}")
    if budget.chars is not None:
        return size, len, size // CHARS_PER_TOKEN
    return size, count_tokens or estimated_tokens, size


def one_list(ask: Ask, scored: Scored) -> tuple[str, Scored]:
    """The text of the anchors, and those that are in it."""
    text, shown = render(scored.anchors, ask.size, ask.measure)
    return text, Scored(tuple(shown))


def two_lists(ask: Ask, scored: Scored, *, anchor_share: float, spill: bool) -> tuple[str, Scored]:
    """Anchors in their share of the budget, then walkers in the rest of it; and those of both that are in the text.

    With `spill`, one list may use what the other one left.
    """
    size, measure = ask.size, ask.measure
    room = share(size, anchor_share)
    if spill:
        # Walkers that fit into their share all of them leave the rest of it to the anchors.
        alone, _ = _behind("", scored.walkers, size - room, size, measure)
        if alone == SEPARATOR.join(map(line, scored.walkers)):
            room = size - (measure(SEPARATOR + alone) if alone else 0)
    text, anchors = render(scored.anchors, max(room, 0), measure)
    whole, walkers = _behind(text, scored.walkers, size - (measure(text) if spill else room), size, measure)
    return whole, Scored(tuple(anchors), tuple(walkers))


def render(hits: Sequence[Hit], size: int, measure: Measure) -> tuple[str, list[Hit]]:
    """The text, never over `size` by `measure`, and the hits that are in it. The last one may be cut at a sentence."""
    return _fill(hits, lambda text: measure(text) <= size)


def _behind(before: str, hits: Sequence[Hit], room: int, size: int, measure: Measure) -> tuple[str, list[Hit]]:
    """The text with hits behind it that take up at most `room`, and all of it at most `size`."""
    start = SEPARATOR if before else ""
    # Both are measured: a tokenizer may count more for the whole than for its parts.
    text, shown = _fill(hits, lambda text: measure(start + text) <= room and measure(before + start + text) <= size)
    return (before + start + text if shown else before), shown


def _fill(hits: Sequence[Hit], fits: Callable[[str], bool]) -> tuple[str, list[Hit]]:
    """One hit behind the other as long as they fit; of the first that does not, as much as makes sense."""
    text = ""
    shown: list[Hit] = []
    for hit in hits:
        start = text + SEPARATOR if text else ""
        longer: str | None = start + line(hit)
        whole = longer is not None and fits(longer)
        if not whole:
            longer = _cut(start, line(hit), fits)
        if longer is not None:
            text = longer
            shown.append(hit)
        if not whole:
            break
    return text, shown


def line(hit: Hit) -> str:
    """One hit as text: its name if it has one, then what it says, then where it is from."""
    node = hit.node
    said = f"{node.name}: {node.text}" if node.name and node.text else node.text or node.name or node.id
    return f"{said} [{node.source or node.id}]"


def _cut(before: str, last: str, fits: Callable[[str], bool]) -> str | None:
    """As much of `last` as fits behind `before`, ending at a sentence past half of the room; None if too little."""
    low, high = 0, len(last)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(before + last[:middle] + CUT_MARK):
            low = middle
        else:
            high = middle - 1
    if low <= SMALLEST_CUT:
        return None
    end = max(last.rfind(mark, low // 2, low) + len(mark.rstrip()) for mark in _SENTENCE_ENDS)
    cut = before + last[: end if end > low // 2 else low].rstrip() + CUT_MARK
    # Some tokenizers count more tokens for less text; the cut that was measured fits in any case.
    return cut if fits(cut) else before + last[:low] + CUT_MARK
