"""HTML pages: what a reader of the page would read, in order."""

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
# Their content is one paragraph with a line for each item, as a list in Markdown is.
_GROUPS = frozenset({"ul", "ol", "dl", "table", "blockquote"})
_LINE_MARKS = {"li": "- ", "dd": "  "}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_SPACE = re.compile(r"\s+")
# A paragraph inside a list item would leave the item's mark on a line of its own.
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
    """The page as far as it has been walked: finished parts, and the paragraph being collected."""

    parts: list[Part] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    linked: list[str] = field(default_factory=list)
    groups: int = 0
    verbatim: int = 0

    def flush(self, level: int = 0, verbatim: bool = False) -> None:
        """Makes a part, or several within the limit, of the collected paragraph."""
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
        """Starts a paragraph, or a line of one inside a list or table."""
        if tag == "pre" or tag in _HEADINGS or (tag in _BLOCKS and not self.groups):
            self.flush()
        elif tag in _BLOCKS:
            self.text.append("\n" + _LINE_MARKS.get(tag, ""))
        self.groups += tag in _GROUPS
        self.verbatim += tag == "pre"

    def close(self, tag: str) -> None:
        """Ends what `open` started."""
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
    """One document of kind `page`, without scripts, styles and navigation."""
    # Imported here: the parser takes 20 ms to load, and most folders hold no HTML.
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
    """Visits the nodes in document order. A stack of its own, because pages nest deeper than Python recurses."""
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
