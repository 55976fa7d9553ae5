"""Limits how deeply the elements of an HTML page nest, without losing text.

An HTML parser searches all open elements at many tags, so a megabyte of `<div>` would take hours.
"""

from __future__ import annotations

import re
from collections import Counter

# Browsers stop at 512.
DEEPEST = 1000

_TAG = re.compile(r"<!--.*?(?:-->|\Z)|<(/?)([a-zA-Z][^\s/>]*)", re.DOTALL)
_LEFT_OPEN = """
    area base br col embed frame hr img input keygen link meta param source track wbr
    html head body p li dt dd option optgroup tr td th thead tbody tfoot colgroup caption rb rp rt rtc
"""
# Empty elements, and elements that the parser closes by itself: they do not nest.
_FLAT = frozenset(_LEFT_OPEN.split())
# Tags in these are text.
_RAW = frozenset({"script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp"})


def shallow(text: str) -> str:
    """Returns the page with line breaks in place of tags that nest deeper than DEEPEST.

    >>> shallow("<div>" * 1000 + "<div class=x>deep</div> end").removeprefix("<div>" * 1000)
    '<br class=x>deep</br> end'
    """
    if text.count("<") <= DEEPEST:
        return text
    outline = _Outline()
    parts: list[str] = []
    last = end = 0
    for match in _TAG.finditer(text):
        # The end of the tag. Searched once for several tags: a page may have many that never end.
        end = end if end >= match.end() else text.find(">", match.end())
        if end < 0:
            break
        if match[2] and outline.is_too_deep(match[2].lower(), bool(match[1]), text[end - 1] == "/"):
            parts += [text[last : match.start(2)], "br"]
            last = match.end()
    return "".join([*parts, text[last:]])


class _Outline:
    """The open elements at a position of a page, approximately as a parser sees them."""

    def __init__(self) -> None:
        self._open: list[str] = []
        self._counts: Counter[str] = Counter()
        self._cut: Counter[str] = Counter()
        self._raw = ""

    def is_too_deep(self, name: str, closing: bool, alone: bool) -> bool:
        """Records a tag. Returns True if it nests too deeply. `alone` is True if it ends in a slash."""
        if self._raw or name in _RAW:
            self._raw = "" if closing and name == (self._raw or name) else self._raw or name
            return False
        if name in _FLAT or (alone and (self._counts["svg"] or self._counts["math"])):
            return False
        if closing:
            return self._close(name)
        if len(self._open) >= DEEPEST:
            self._cut[name] += 1
            return True
        self._open.append(name)
        self._counts[name] += 1
        return False

    def _close(self, name: str) -> bool:
        if self._cut[name]:
            self._cut[name] -= 1
            return True
        # Closing an element also closes the elements left open in it.
        while self._counts[name]:
            inner = self._open.pop()
            self._counts[inner] -= 1
            if inner == name:
                break
        return False
