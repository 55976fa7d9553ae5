"""The last stage: text inside a strict budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cuetrail.errors import InputError
from cuetrail.formulas import estimated_tokens
from cuetrail.model import Budget, Hit

SEPARATOR = "\n\n"
CUT_MARK = " …"
# A hit is cut only where this many characters of room are left; less would say nothing.
SMALLEST_CUT = 200
_SENTENCE_ENDS = (". ", "! ", "? ", ".\n", "!\n", "?\n", "。", "！", "？")

Measure = Callable[[str], int]


def budget_measure(budget: Budget, count_tokens: Measure | None) -> tuple[int, Measure]:
    """The budget's size and how to measure a text by it. Raises InputError unless exactly one size is given."""
    if (budget.chars is None) == (budget.tokens is None):
        raise InputError("a budget is either chars or tokens: Budget(chars=8000) or Budget(tokens=2000)")
    size = budget.chars if budget.chars is not None else budget.tokens
    assert size is not None
    if size < 0:
        raise InputError(f"a budget cannot be negative, this one is {size}")
    return size, len if budget.chars is not None else count_tokens or estimated_tokens


def render(hits: Sequence[Hit], size: int, measure: Measure) -> tuple[str, list[Hit]]:
    """The text, never over `size` by `measure`, and the hits that are in it. The last one may be cut at a sentence."""
    text = ""
    shown: list[Hit] = []
    for hit in hits:
        longer = text + (SEPARATOR if text else "") + line(hit)
        if measure(longer) <= size:
            text = longer
            shown.append(hit)
            continue
        cut = _cut(text + (SEPARATOR if text else ""), line(hit), size, measure)
        if cut is not None:
            text = cut
            shown.append(hit)
        break
    return text, shown


def line(hit: Hit) -> str:
    """One hit as text: its name if it has one, then what it says, then where it is from."""
    node = hit.node
    said = f"{node.name}: {node.text}" if node.name and node.text else node.text or node.name or node.id
    return f"{said} [{node.source or node.id}]"


def _cut(before: str, last: str, size: int, measure: Measure) -> str | None:
    """As much of `last` as fits behind `before`, ending at a sentence past half of the room; None if too little."""
    low, high = 0, len(last)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(before + last[:middle] + CUT_MARK) <= size:
            low = middle
        else:
            high = middle - 1
    if low <= SMALLEST_CUT:
        return None
    end = max(last.rfind(mark, low // 2, low) + len(mark.rstrip()) for mark in _SENTENCE_ENDS)
    cut = before + last[: end if end > low // 2 else low].rstrip() + CUT_MARK
    # Some tokenizers count more tokens for less text; the cut that was measured fits in any case.
    return cut if measure(cut) <= size else before + last[:low] + CUT_MARK
