"""The last stage: text inside a strict budget."""

from __future__ import annotations

import operator
import unicodedata
from collections.abc import Callable, Sequence
from typing import SupportsIndex

from cuetrail.errors import CuetrailError, InputError
from cuetrail.formulas import CHARS_PER_TOKEN, estimated_tokens, share
from cuetrail.model import Budget, Hit
from cuetrail.recall.anchor.hybrid_search import Ask, Measure
from cuetrail.recall.score.tag_walk import Scored
from cuetrail.text import sentences

SEPARATOR = "\n\n"
CUT_MARK = " …"
# A hit is cut only where this many characters of room are left; less would say nothing.
SMALLEST_CUT = 200
_JOINER = "\u200d"
# What is read as one character, an emoji or a letter with its accents, is as a rule shorter than this.
_LONGEST_SIGN = 32


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
    return size, _counting(count_tokens) if count_tokens else estimated_tokens, size


def _counting(count_tokens: Measure) -> Measure:
    """The caller's tokenizer; what it does wrong is an InputError."""

    def measure(text: str) -> int:
        try:
            count: object = count_tokens(text)
        except CuetrailError:
            raise
        except Exception as error:
            raise InputError(f"count_tokens raised {type(error).__name__}: {error}; it takes any text") from error
        if not isinstance(count, SupportsIndex) or operator.index(count) < 0:
            raise InputError(f"count_tokens must return a whole number from 0 on, not {count!r:.60}")
        return operator.index(count)

    return measure


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
    text, anchors = render(scored.anchors, room, measure)
    whole, walkers = _behind(text, scored.walkers, size - (measure(text) if spill else room), size, measure)
    if spill and text != SEPARATOR.join(map(line, scored.anchors)):
        # What the walkers left is for anchors that did not fit into their share.
        after = whole[len(text) :] if text else SEPARATOR + whole if whole else ""
        longer, more = _fill(scored.anchors, lambda text: measure(text + after) <= size)
        if len(more) >= len(anchors):
            whole, anchors = (longer + after if more else whole), more
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
        if fits(start + line(hit)):
            text = start + line(hit)
            shown.append(hit)
            continue
        cut = _cut(start, hit, fits)
        return (text, shown) if cut is None else (cut, [*shown, hit])
    return text, shown


def line(hit: Hit) -> str:
    """One hit as text: its name if it has one, then what it says, then where it is from."""
    return _said(hit) + _origin(hit)


def _said(hit: Hit) -> str:
    node = hit.node
    return f"{node.name}: {node.text}" if node.name and node.text else node.text or node.name or node.id


def _origin(hit: Hit) -> str:
    return f" [{hit.node.source or hit.node.id}]"


def _cut(before: str, hit: Hit, fits: Callable[[str], bool]) -> str | None:
    """As much of a hit as fits behind `before`; None where too little room is left.

    Where it is from stays, unless that takes half of the room.
    """
    said, whole = _said(hit), line(hit)
    room = _most(len(whole), lambda size: fits(before + whole[:size]))
    if room <= SMALLEST_CUT:
        return None
    for end in (CUT_MARK + _origin(hit), CUT_MARK):
        most = _most(len(said), lambda size, end=end: fits(before + said[:size] + end))  # type: ignore[misc]  # bound now
        if most > room // 2:
            cut = before + said[: _stop(said, room // 2, most)].rstrip() + end
            # Some tokenizers count more tokens for less text; the cut that was measured fits in any case.
            return cut if fits(cut) else before + said[:most] + end
    return None


def _most(high: int, fits: Callable[[int], bool]) -> int:
    """The largest size up to `high` that fits."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _stop(text: str, half: int, most: int) -> int:
    """Where to cut a text past half of the room: at the last sentence end, else between words, else characters."""
    # The white space behind a sentence tells that it ends.
    ends = (len(text[:end].rstrip()) for end in reversed(sentences.ends(text[: most + 2])))
    end = next((end for end in ends if end <= most), 0)
    if end > half:
        return end
    if most == len(text) or text[most].isspace():
        return most
    between = max(text.rfind(space, half, most) for space in (" ", "\n", "\t"))
    if between > half:
        return between
    near = range(most, max(half, most - _LONGEST_SIGN), -1)
    return next((at for at in near if not _is_joined(text, at)), most)


def _is_joined(text: str, at: int) -> bool:
    """Whether what stands before and behind `at` is read as one character."""
    before, behind = text[at - 1], text[at]
    if before == _JOINER or behind == _JOINER or "🏻" <= behind <= "🏿" or unicodedata.category(behind)[0] == "M":
        return True
    flags = len(text[:at]) - len(text[:at].rstrip("".join(map(chr, range(0x1F1E6, 0x1F200)))))
    return 0x1F1E6 <= ord(behind) <= 0x1F1FF and flags % 2 == 1
