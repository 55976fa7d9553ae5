"""Tells the structure of a Markdown note from its text: comments, embeds, badges, templates and lists of links.

>>> without_comments("Ask Ada. %% or Ines? %%\\n<!-- old -->\\nToday.")
('Ask Ada. \\nToday.', ['%% or Ines? %%', '<!-- old -->'])
>>> without_markup("See [[plan]].\\n![[map]]\\n{{date}}\\n[![ok](https://x.org/b.svg)](https://x.org)")
('See [[plan]].', ['![[map]]', '{{date}}', '[![ok](https://x.org/b.svg)](https://x.org)'])
>>> only_links("- [[a|the plan]]\\n- [home](https://x.org)"), only_links("- [[a]] is a plan")
(True, False)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cuetrail.text.prose import without_code

# Opening and closing marks. `<% %>` is a script of a template; it and `%%` begin at a space or at the start of a line.
_COMMENTS = (("<!--", "-->"), ("%%", "%%"), ("<%", "%>"))
_CUT = "\x00"
_TARGET = r"\((?:[^()\n]|\([^()\n]*\))*\)"
_IMAGE = rf"!\[[^\[\]\n]*\]{_TARGET}"
# What a reader does not read: badges, images, embeds, templates, tags of HTML, hashtags and block ids.
_MARKUP = re.compile(
    rf"\[{_IMAGE}\]{_TARGET}|{_IMAGE}|!\[\[[^\[\]\n]*\]\]|\{{\{{[^{{}}\n]*\}}\}}|\{{%[^%\n]*%\}}|<%[^%\n]*%>"
    r"|</?[a-zA-Z][^<>\n]*>|(?<!\S)#[^\s#]\S*|(?<!\S)\^[\w-]+$"
)
_LINK = re.compile(
    rf"\[\[[^\[\]\n]*\]\]|\[([^\[\]\n]*)\]({_TARGET})|^\s*\[[^\[\]^\n]+\]:\s+\S+.*|<?\b[a-z]{{2,10}}://\S+|\bwww\.\S+"
)
_MARK = re.compile(r"[\s>]*(?:(?:[-*+•]|\d{1,3}[.)])(?:\s+\[[ xX]\])?(?=\s|$))?[\s>]*")
_WORD = re.compile(r"[^\W_]+")
# A web link whose label has at least so many words is kept as text: the label says what the linked page is about.
_TELLING_WORDS = 4


def without_comments(text: str, paired: bool = False) -> tuple[str, list[str]]:
    """Returns the text without comments and template scripts, and a list of those. Code stays as it is.

    With `paired`, as in a vault of Obsidian, two `%%` enclose a comment wherever they stand.
    """
    if "%%" not in text and "<!--" not in text and "<%" not in text:
        return text, []
    spans = sorted(_comment_spans(without_code(text), paired))
    kept: list[str] = []
    comments: list[str] = []
    at = 0
    for start, end in spans:
        if start >= at:
            kept += [text[at:start], _CUT]
            comments.append(text[start:end])
            at = end
    rows = "".join([*kept, text[at:]]).split("\n")
    # A line that held only a comment goes, so that it does not end a paragraph.
    rest = (row.replace(_CUT, "") for row in rows if _CUT not in row or row.replace(_CUT, "").strip())
    return "\n".join(rest), comments


def _comment_spans(text: str, paired: bool) -> Iterator[tuple[int, int]]:
    for opening, closing in _COMMENTS:
        start = text.find(opening)
        while start >= 0:
            end = text.find(closing, start + len(opening))
            if end < 0:
                break
            end += len(closing)
            line = text[text.rfind("\n", 0, start) + 1 : start]
            alone = not line.strip() and not text[end : text.find("\n", end) if "\n" in text[end:] else None].strip()
            inline = opening == "%%" and "\n" not in text[start:end] and (not line or line[-1].isspace())
            if opening == "<!--" or alone or inline or (paired and opening == "%%"):
                yield start, end
            else:
                end = start + len(opening)
            start = text.find(opening, end)


def without_markup(block: str) -> tuple[str, list[str]]:
    """Returns a block of prose without the lines that consist of markup alone (images, embeds, tags), and these lines.

    A table comes back unchanged.
    """
    if block.lstrip().startswith("|"):
        return block, []
    kept: list[str] = []
    dropped: list[str] = []
    for line in block.split("\n"):
        (kept if _reads(line) else dropped).append(line)
    return "\n".join(kept), dropped


def _reads(line: str) -> bool:
    rest, removed = _MARKUP.subn("", line)
    if removed:
        return _WORD.search(rest) is not None
    # An item of a list without words.
    return _MARK.fullmatch(line) is None


def only_links(block: str) -> bool:
    """True if each line consists of links alone. A web link with a label of four words or more counts as text."""
    return all(_only_links(line) for line in block.split("\n"))


def _only_links(line: str) -> bool:
    telling = False

    def cut(match: re.Match[str]) -> str:
        nonlocal telling
        is_web = match[1] is not None and "://" in match[2]
        telling = telling or (is_web and len(_WORD.findall(match[1])) >= _TELLING_WORDS)
        return ""

    rest, links = _LINK.subn(cut, _MARKUP.sub("", line))
    rest = rest[mark.end() :] if (mark := _MARK.match(rest)) else rest
    return links > 0 and not telling and _WORD.search(rest) is None
