"""Reads HTML pages: their visible text, in order."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cuetrail.extract.links_and_tags import link_target_name
from cuetrail.ingest import split
from cuetrail.ingest.document import Document, Part, aliases, stem
from cuetrail.ingest.passages import compose
from cuetrail.text import document_dates
from cuetrail.text.normalise import clean

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode
from collections import Counter

_UNREAD = "script style nav template noscript iframe svg canvas object button select textarea head"
_DROPPED = frozenset(_UNREAD.split())
_PARAGRAPHS = """
    p div section article main header footer aside figure figcaption address details summary form fieldset
    hr body dl dt dd ul ol li table tr blockquote pre h1 h2 h3 h4 h5 h6 caption
"""
_BLOCKS = frozenset(_PARAGRAPHS.split())
# Their content becomes one paragraph with a line per item, like a Markdown list.
_GROUPS = frozenset({"ul", "ol", "dl", "table", "blockquote"})
_LINE_MARKS = {"li": "- ", "dd": "  "}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SPACE = re.compile(r"\s+")
# A list mark alone on its line, because the item contains a paragraph.
_LONE_MARK = re.compile(r"\n- [ \t\n]*+(?<=\n)(?!- )")
_DATES = (
    "meta[property='article:published_time']",
    "meta[name='date']",
    "meta[name='dc.date']",
    "meta[name='DC.date']",
    "meta[itemprop='datePublished']",
    "meta[name='pubdate']",
    "meta[property='og:updated_time']",
)
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


@dataclass(slots=True)
class _Page:
    """The state of the walk: finished parts, and the text and links of the current paragraph.

    `linking` counts the characters of the text that are inside links. `links`, `groups` and `verbatim` count the open
    elements of these sorts. `apart` is True after a horizontal line.
    """

    parts: list[Part] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    linked: list[str] = field(default_factory=list)
    linking: int = 0
    links: int = 0
    groups: int = 0
    verbatim: int = 0
    apart: bool = False

    def flush(self, level: int = 0, verbatim: bool = False) -> None:
        """Ends the current paragraph: adds it as one part, or as several within the limit."""
        raw = "".join(self.text)
        if verbatim:
            code = split.lines(raw.strip("\n").rstrip(), split.CODE)
            self.parts += [
                Part(_fenced(piece), prose=False, apart=self.apart and not i) for i, piece in enumerate(code)
            ]
        else:
            lines = (_SPACE.sub(" ", line).strip(" |") for line in _LONE_MARK.sub("\n- ", raw).split("\n"))
            text = "\n".join(line for line in lines if line and line != "-")
            structure = not level and self._is_link_list(text)
            for i, piece in enumerate(split.prose(text)):
                props = {"heading": piece} if level and i == 0 else {}
                linked = tuple(dict.fromkeys(self.linked)) if i == 0 else ()
                part = Part(piece, level if i == 0 else 0, structure=structure, apart=self.apart and not i)
                self.parts.append(replace(part, links=linked, props=props))
        self.apart = self.apart and not raw.strip()
        self.text.clear()
        self.linked.clear()
        self.linking = 0

    def _is_link_list(self, text: str) -> bool:
        """True if each word is part of a link, as in a menu. False after a text that ends in a colon: it introduces a
        list that belongs to the page.
        """
        before = self.parts[-1] if self.parts else None
        introduced = before is not None and not before.level and before.text.endswith(":")
        letters = sum(char.isalnum() for char in text)
        return 0 < letters <= self.linking and not introduced

    def open(self, tag: str) -> None:
        """Handles an opening tag: starts a paragraph, or a line inside a list or table."""
        if tag == "pre" or tag in _HEADINGS or (tag in _BLOCKS and not self.groups):
            self.flush()
        elif tag in _BLOCKS:
            self.text.append("\n" + _LINE_MARKS.get(tag, ""))
        self.groups += tag in _GROUPS
        self.verbatim += tag == "pre"
        self.links += tag == "a"
        self.apart = self.apart or tag == "hr"

    def close(self, tag: str) -> None:
        """Handles a closing tag: ends a paragraph, heading or code block, or separates two cells of a table."""
        self.groups -= tag in _GROUPS
        self.verbatim -= tag == "pre"
        self.links -= tag == "a"
        if tag == "pre":
            self.flush(verbatim=True)
        elif tag in _HEADINGS:
            self.flush(level=_HEADINGS[tag])
        elif tag in _BLOCKS and not self.groups:
            self.flush()
        elif tag in ("td", "th"):
            self.text.append(" | ")


def read(text: str, source: str) -> Document:
    """Returns one document of kind `page`, without scripts, styles and navigation."""
    # Imported here: it takes 20 ms, and most folders have no HTML.
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(shallow(text))
    page = _Page()
    if tree.body is not None:
        _walk(tree.body, page)
    page.flush()
    heading = next((part.text for part in page.parts if part.level == 1), "")
    head = tree.css_first("head title")
    title = (_SPACE.sub(" ", clean(head.text())).strip() if head is not None else "") or heading or stem(source)
    document = Document(source, title, "page", aliases=aliases(source, title), at=_date(tree, source))
    return compose(document, page.parts)


def _fenced(code: str) -> str:
    """Returns code between fences, as in Markdown, so that it can be told from prose in a passage."""
    return code if "```" in code else f"```\n{code}\n```"


def _walk(root: LexborNode, page: _Page) -> None:
    """Adds the text below `root` to `page` in document order. Not recursive, as pages may be nested too deeply."""
    stack: list[tuple[LexborNode, bool]] = [(root, False)]
    while stack:
        node, seen = stack.pop()
        tag = node.tag or ""
        if seen:
            page.close(tag)
            continue
        if tag == "-text":
            words = clean(node.text_content or "")
            page.text.append(words if page.verbatim else _SPACE.sub(" ", words))
            page.linking += sum(char.isalnum() for char in words) if page.links else 0
        elif tag == "br":
            page.text.append("\n")
        elif tag[:1].isalpha() and tag not in _DROPPED:
            if tag == "a" and (name := link_target_name(node.attributes.get("href") or "")):
                page.linked.append(name)
            page.open(tag)
            stack.append((node, True))
            children = list(node.iter(include_text=True))
            stack += [(child, False) for child in reversed(children)]


def _date(tree: LexborHTMLParser, source: str) -> int | None:
    for selector in _DATES:
        node = tree.css_first(selector)
        at = document_dates.parse(node.attributes.get("content")) if node is not None else None
        if at is not None:
            return at
    return document_dates.from_name(stem(source))


# --- nesting


def shallow(text: str) -> str:
    """Returns the page with line breaks in place of tags that nest deeper than DEEPEST. No text is lost.

    An HTML parser searches all open elements at many tags, so a megabyte of `<div>` would take hours.

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
    """Records the open elements of a page while its tags are read, about as a parser does, to limit their depth."""

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
