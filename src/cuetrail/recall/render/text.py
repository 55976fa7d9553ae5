"""Renders hits as text within a strict budget: in order until it is full, or shared out among all of them.

The text is made for agents, and what a memory says is data. So every line of a memory begins with QUOTE, and an empty
line ends it: no memory can pose as an instruction, a heading or another memory.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import SupportsIndex

from cuetrail.errors import CuetrailError, InputError
from cuetrail.formulas import CHARS_PER_TOKEN, estimated_tokens, share
from cuetrail.model import Budget, Hit
from cuetrail.model.searched_fields import embedded_text
from cuetrail.recall.stage_types import Measure, RecallContext, Scored
from cuetrail.text.normalise import one_line
from cuetrail.text.prose import sentence_ends

SEPARATOR = "\n\n"
QUOTE = "> "
CUT_MARK = " …"
# A hit is cut only if more than this many characters of it fit; fewer would be useless.
SMALLEST_CUT = 200
# The characters of a passage. A longer hit is cut to that at first, so that it leaves room for others.
PASSAGE = 1000
NEAREST = "The nearest memory, which may be about something else:"
# White space and empty quoted lines at the end of a cut.
_EMPTY_END = re.compile(r"\s*(?:\n>[^\S\n]*)*\Z")
_JOINER = "\u200d"
# The code points of one visible character, such as an emoji or a letter with accents, are fewer than this.
_LONGEST_CHARACTER = 32


def budget_measure(budget: Budget, count_tokens: Measure | None) -> tuple[int, Measure, int]:
    """Returns the size of a budget, the function that measures text in its unit, and its size in tokens, estimated.

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
    """Returns the caller's tokenizer, wrapped so that its failures are InputErrors."""

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


def one_list(context: RecallContext, scored: Scored) -> tuple[str, Scored]:
    """Render stage: returns a text of the anchors, with the budget shared out among them (see `share_out`), and the
    hits that are in it. Walkers are not shown.
    """
    text, shown = share_out(scored.anchors, context.size, context.measure)
    return text, Scored(tuple(shown))


def two_lists(context: RecallContext, scored: Scored, *, anchor_share: float, spill: bool) -> tuple[str, Scored]:
    """Render stage: returns a text of the anchors, then the walkers, and the hits that are in it.

    Anchors get the share `anchor_share` of the budget, walkers the rest. With `spill`, one list may use room that the
    other leaves.
    """
    size, measure = context.size, context.measure
    room = share(size, anchor_share)
    text, anchors = render(scored.anchors, room, measure)
    whole, walkers = _append(text, scored.walkers, size - (measure(text) if spill else room), size, measure)
    if spill and text != SEPARATOR.join(map(line, scored.anchors)):
        # Room that the walkers left goes to anchors that exceeded their share.
        after = whole[len(text) :] if text else SEPARATOR + whole if whole else ""
        longer, more = _fill(scored.anchors, lambda text: measure(text + after) <= size)
        if len(more) >= len(anchors):
            whole, anchors = (longer + after if more else whole), more
    return whole, Scored(tuple(anchors), tuple(walkers))


def render(hits: Sequence[Hit], size: int, measure: Measure) -> tuple[str, list[Hit]]:
    """Returns a text of at most `size` and the hits that are in it. The last one may be cut after a sentence."""
    return _fill(hits, lambda text: measure(text) <= size)


def refusal(looked_for: Sequence[str], nearest: Hit, size: int, measure: Measure) -> str:
    """Returns a text of at most `size` which says that no memory answers the cue, what was looked for, and what the
    nearest memory is. What does not fit is left out; "" if nothing fits.
    """
    head = "No memory answers this."
    texts = [head]
    if looked_for:
        texts.append(f"{head} Looked for: {', '.join(looked_for)}.")
    before = f"{texts[-1]}{SEPARATOR}{NEAREST}\n"
    texts.append(before + line(nearest))
    if measure(texts[-1]) > size:
        texts[-1] = _cut(before, nearest, lambda text: measure(text) <= size) or texts[-1]
    return next((text for text in reversed(texts) if measure(text) <= size), "")


def share_out(hits: Sequence[Hit], size: int, measure: Measure) -> tuple[str, list[Hit]]:
    """Returns a text of at most `size` and the hits that are in it. No long hit takes the room of the others.

    First, each hit gets its text up to an allowance, best first. Room that is left goes to hits that were cut, then to
    other passages of the same notes (`more`). The returned hits say whether they were cut and which passages they show.
    """
    blocks = _allotted(hits, size, measure)
    for at, (hit, block) in enumerate(zip(hits, blocks, strict=False)):
        if block != line(hit):
            blocks[at] = _lengthened(hit, blocks, at, lambda text: measure(text) <= size)
    folded: list[list[Hit]] = [[] for _ in blocks]
    cut = [block != line(hit) for hit, block in zip(hits, blocks, strict=False)]
    waiting = sorted(((-one.score, at, n) for at in range(len(blocks)) for n, one in enumerate(hits[at].more)))
    used = measure(SEPARATOR.join(blocks))
    for _, at, n in waiting:
        one = hits[at].more[n]
        longer = [*blocks[:at], blocks[at] + SEPARATOR + line(one), *blocks[at + 1 :]]
        if used + measure(line(one)) <= size and (now := measure(SEPARATOR.join(longer))) <= size:
            blocks, used = longer, now
            folded[at].append(one)
    shown = [replace(hit, more=tuple(more), cut=is_cut) for hit, more, is_cut in zip(hits, folded, cut, strict=False)]
    return SEPARATOR.join(blocks), shown


def _allotted(hits: Sequence[Hit], size: int, measure: Measure) -> list[str]:
    """Returns the texts of the first hits, as many as fit, each at most as long as its allowance."""
    whole = SEPARATOR.join(map(line, hits))
    if measure(whole) <= size:
        return [line(hit) for hit in hits]
    unit = measure(whole) / len(whole)
    allowance = max(size // len(hits), min(size // 2, int(PASSAGE * unit)), int((SMALLEST_CUT + 1) * unit) + 1)
    blocks: list[str] = []
    for hit in hits:
        block: str | None = line(hit)
        if measure(line(hit)) > allowance:
            block = _cut("", hit, lambda text: measure(text) <= allowance)
        before = SEPARATOR.join([*blocks, ""])
        if block is None or measure(before + block) > size:
            last = _cut(before, hit, lambda text: measure(text) <= size)
            return blocks if last is None else [*blocks, last[len(before) :]]
        blocks.append(block)
    return blocks


def _lengthened(hit: Hit, blocks: Sequence[str], at: int, fits: Callable[[str], bool]) -> str:
    """Returns the block at this position with as much more of its hit as fits beside the other blocks."""
    before = SEPARATOR.join([*blocks[:at], ""])
    after = SEPARATOR.join(["", *blocks[at + 1 :]])
    if fits(before + line(hit) + after):
        return line(hit)
    longer = _cut(before, hit, lambda text: fits(text + after))
    return longer[len(before) :] if longer is not None and len(longer) - len(before) > len(blocks[at]) else blocks[at]


def _append(before: str, hits: Sequence[Hit], room: int, size: int, measure: Measure) -> tuple[str, list[Hit]]:
    """Returns `before` followed by the text of hits, and the hits that fit: their text takes at most `room`, the whole
    text at most `size`.
    """
    start = SEPARATOR if before else ""
    # Both are measured, because a tokenizer may count more for the whole than for its parts.
    text, shown = _fill(hits, lambda text: measure(start + text) <= room and measure(before + start + text) <= size)
    return (before + start + text if shown else before), shown


def _fill(hits: Sequence[Hit], fits: Callable[[str], bool]) -> tuple[str, list[Hit]]:
    """Returns the text of as many hits as fit; the first that does not is cut, if enough of it fits."""
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
    """Returns one hit as text: [mark] on its own line if it has one, quoted name and text, and [source]."""
    return _content(hit) + _origin(hit)


def quoted(text: str) -> str:
    """Returns the text with QUOTE before each of its lines, also before empty ones.

    >>> print(quoted("Tea.\\n\\n# Heading"))
    > Tea.
    >
    > # Heading
    """
    return "\n".join(QUOTE + one if one.strip() else QUOTE.strip() for one in text.splitlines())


def _content(hit: Hit) -> str:
    node = hit.node
    text = f"{node.name}: {node.text}" if node.name and node.text else embedded_text(node) if node.text else node.name
    content = quoted(text or node.id)
    return f"[{hit.mark}]\n{content}" if hit.mark else content


def _origin(hit: Hit) -> str:
    return f" [{one_line(hit.node.source or hit.node.id)}]"


def _cut(before: str, hit: Hit, fits: Callable[[str], bool]) -> str | None:
    """Returns `before` with as much of a hit as fits, and a mark of the cut; None if that is SMALLEST_CUT or less.

    The hit's source is added, unless that takes half of the room.
    """
    content, whole = _content(hit), line(hit)
    room = _most(len(whole), lambda size: fits(before + whole[:size]))
    if room <= SMALLEST_CUT:
        return None
    for end in (CUT_MARK + _origin(hit), CUT_MARK):
        most = _most(len(content), lambda size, end=end: fits(before + content[:size] + end))  # type: ignore[misc]  # bound now
        if most > room // 2:
            cut = before + _EMPTY_END.sub("", content[: _cut_position(content, room // 2, most)], 1) + end
            # Some tokenizers count more tokens for less text; the length that was measured fits in any case.
            return cut if fits(cut) else before + content[:most] + end
    return None


def _most(high: int, fits: Callable[[int], bool]) -> int:
    """Returns the largest size up to `high` that fits, by bisection."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _cut_position(text: str, half: int, most: int) -> int:
    """Returns where to cut, from `half` to `most`: after a sentence, else between words, else between characters."""
    # The white space behind a sentence is needed to see that it ends.
    ends = (len(text[:end].rstrip()) for end in reversed(sentence_ends(text[: most + 2])))
    end = next((end for end in ends if end <= most), 0)
    if end > half:
        return end
    if most == len(text) or text[most].isspace():
        return most
    between = max(text.rfind(space, half, most) for space in (" ", "\n", "\t"))
    if between > half:
        return between
    near = range(most, max(half, most - _LONGEST_CHARACTER), -1)
    return next((at for at in near if not _is_joined(text, at)), most)


def _is_joined(text: str, at: int) -> bool:
    """True if the code points before and behind `at` are parts of one visible character."""
    before, behind = text[at - 1], text[at]
    if before == _JOINER or behind == _JOINER or "🏻" <= behind <= "🏿" or unicodedata.category(behind)[0] == "M":
        return True
    flags = len(text[:at]) - len(text[:at].rstrip("".join(map(chr, range(0x1F1E6, 0x1F200)))))
    return 0x1F1E6 <= ord(behind) <= 0x1F1FF and flags % 2 == 1
