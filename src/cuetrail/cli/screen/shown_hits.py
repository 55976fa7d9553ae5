"""Which hits of a recall a list for people shows: no lists of links, no bare headings, and each content once.

An agent gets all hits. Here a hit that says what a better one says is folded under it, with its place; a passage of
links or headings alone is left out, unless it is the best.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuetrail.text.normalise import folded, pieces
from cuetrail.text.plain_text import plain_text

if TYPE_CHECKING:
    from cuetrail.model import Hit

# Two texts say the same if they share this part of the runs of so many words of the shorter one.
RUN, SAME = 5, 0.8
# A line is one of links if it has a link and at most so many other words; a text, if this part of its lines is.
OTHER_WORDS, LINK_LINES = 2, 2 / 3
_LINK = re.compile(r"!?\[\[[^\]\n]*\]\]|!?\[[^\]\n]*\]\([^)\n]*\)|<?https?://\S+")
_HEADING = re.compile(r"\s{0,3}#{1,6}(\s|$)")
_LABEL = re.compile(r"\^[\w-]+\s*$|^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s)?")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|%%.*?(?:%%|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Shown:
    """A hit that is shown; `repeats` are worse ones that say the same. `related`: it does not match the cue itself."""

    hit: Hit
    repeats: tuple[Hit, ...] = ()
    related: bool = False


def shown_hits(anchors: Sequence[Hit], walkers: Sequence[Hit]) -> list[Shown]:
    """Returns the hits to show, in order: first those that match the cue, then those that they lead to."""
    runs: list[frozenset[tuple[str, ...]]] = []
    found: list[Shown] = []
    for rank, hit in enumerate((*anchors, *walkers)):
        if rank and not says_something(hit.node.text or hit.node.name or ""):
            continue
        own = word_runs(hit.node.text)
        same = next((at for at, other in enumerate(runs) if says_the_same(own, other)), None)
        if same is None:
            runs.append(own)
            found.append(Shown(hit, related=rank >= len(anchors)))
        else:
            better = found[same]
            found[same] = Shown(better.hit, (*better.repeats, hit), better.related)
    return found


def says_something(text: str) -> bool:
    """True unless a text is headings, comments, and lines of links and no more.

    >>> says_something("Frost shrinks it, see [[Cold]]."), says_something("# Links\\n\\n- [[A]]\\n- see [[B]]")
    (True, False)
    >>> says_something("## A heading"), says_something("<!-- todo -->"), says_something("[site](https://a.example)")
    (False, False, False)
    """
    lines = [line for line in _COMMENT.sub("", text).splitlines() if line.strip() and not _HEADING.match(line)]
    linked = sum(map(_is_link_line, lines))
    return bool(lines) and linked < LINK_LINES * len(lines)


def _is_link_line(line: str) -> bool:
    others, links = _LINK.subn(" ", _LABEL.sub("", line))
    return links > 0 and sum(1 for _ in pieces(others)) <= OTHER_WORDS


def word_runs(text: str) -> frozenset[tuple[str, ...]]:
    """Returns each run of RUN words of a text; all its words as one run if it has fewer."""
    words = [piece[0] for piece in pieces(folded(plain_text(text)))]
    return frozenset(_runs(words)) if words else frozenset()


def _runs(words: Sequence[str]) -> Iterable[tuple[str, ...]]:
    return (tuple(words[at : at + RUN]) for at in range(max(1, len(words) - RUN + 1)))


def says_the_same(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    """True if nearly all of the shorter text stands in the longer one.

    >>> longer = word_runs("In May the mast fell in the storm, and Ann mended it.")
    >>> [says_the_same(word_runs(text), longer) for text in ("the mast fell in the storm", "the mast fell")]
    [True, False]
    """
    least = min(len(one), len(other))
    return least > 0 and len(one & other) >= SAME * least
