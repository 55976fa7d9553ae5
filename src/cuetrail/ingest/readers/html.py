"""Reads HTML pages: their visible text, in order."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cuetrail.extract import links
from cuetrail.ingest import chunk
from cuetrail.ingest.document import Document
from cuetrail.ingest.readers.html_nesting import shallow
from cuetrail.ingest.readers.pieces import Part, aliases, make_pieces, stem
from cuetrail.text import dates
from cuetrail.text.normalise import clean

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

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


@dataclass(slots=True)
class _Page:
    """The state of the walk: finished parts, and the text and links of the current paragraph."""

    parts: list[Part] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    linked: list[str] = field(default_factory=list)
    groups: int = 0
    verbatim: int = 0

    def flush(self, level: int = 0, verbatim: bool = False) -> None:
        """Ends the current paragraph: adds it as one part, or as several within the limit."""
        raw = "".join(self.text)
        if verbatim:
            self.parts += [Part(piece, prose=False) for piece in chunk.lines(raw.strip("\n").rstrip(), chunk.CODE)]
        else:
            lines = (_SPACE.sub(" ", line).strip(" |") for line in _LONE_MARK.sub("\n- ", raw).split("\n"))
            pieces = chunk.prose("\n".join(line for line in lines if line and line != "-"))
            for i, piece in enumerate(pieces):
                props = {"heading": piece} if level and i == 0 else {}
                linked = tuple(dict.fromkeys(self.linked)) if i == 0 else ()
                self.parts.append(Part(piece, level=level if i == 0 else 0, links=linked, props=props))
        self.text.clear()
        self.linked.clear()

    def open(self, tag: str) -> None:
        """Handles an opening tag: starts a paragraph, or a line inside a list or table."""
        if tag == "pre" or tag in _HEADINGS or (tag in _BLOCKS and not self.groups):
            self.flush()
        elif tag in _BLOCKS:
            self.text.append("\n" + _LINE_MARKS.get(tag, ""))
        self.groups += tag in _GROUPS
        self.verbatim += tag == "pre"

    def close(self, tag: str) -> None:
        """Handles a closing tag."""
        self.groups -= tag in _GROUPS
        self.verbatim -= tag == "pre"
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
    title = _title(tree) or heading or stem(source)
    return Document(
        path=source,
        title=title,
        kind="page",
        pieces=make_pieces(page.parts),
        aliases=aliases(source, title),
        at=_date(tree, source),
    )


def _walk(root: LexborNode, page: _Page) -> None:
    """Visits the nodes in document order. Not recursive, because pages may nest deeper than Python's limit."""
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
        elif tag == "br":
            page.text.append("\n")
        elif tag[:1].isalpha() and tag not in _DROPPED:
            if tag == "a" and (name := links.target(node.attributes.get("href") or "")):
                page.linked.append(name)
            page.open(tag)
            stack.append((node, True))
            children = list(node.iter(include_text=True))
            stack += [(child, False) for child in reversed(children)]


def _title(tree: LexborHTMLParser) -> str:
    node = tree.css_first("head title")
    return _SPACE.sub(" ", clean(node.text())).strip() if node is not None else ""


def _date(tree: LexborHTMLParser, source: str) -> int | None:
    for selector in _DATES:
        node = tree.css_first(selector)
        at = dates.parse(node.attributes.get("content")) if node is not None else None
        if at is not None:
            return at
    return dates.from_name(stem(source))
