"""Markdown as plain text on one line, for people: the words stay, the marks go."""

from __future__ import annotations

import re

from cuetrail.text.normalise import one_line

_COMMENT = re.compile(r"<!--.{0,5000}?-->|%%.{0,5000}?%%", re.DOTALL)
_HTML = re.compile(r"</?[a-zA-Z][^<>\n]{0,500}>")
_EMBED = re.compile(r"!\[\[[^\[\]\n]{0,500}\]\]|!\[[^\[\]\n]{0,500}\]\([^()\n]{0,1000}\)")
_WIKILINK = re.compile(r"\[\[([^\[\]\n]{1,500})\]\]")
_LINK = re.compile(r"\[([^\[\]\n]{1,500})\](?:\([^()\n]{0,1000}\)|\[[^\[\]\n]{0,200}\])")
_AUTOLINK = re.compile(r"<(https?://[^\s<>]{1,2000})>")
_URL = re.compile(r"\bhttps?://(?:www\.)?([^\s/<>()\[\]|]{1,100})/[^\s<>()\[\]|]{1,2000}")
_FENCE = re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE)
_RULE = re.compile(
    r"^[ \t]*(?:\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?|[*_]{3,}|={2,})[ \t]*$", re.MULTILINE
)
_QUOTE = re.compile(r"^(?:[ \t]*>)+[ \t]?", re.MULTILINE)
_CALLOUT = re.compile(r"^[ \t]*\[![\w-]{1,40}\][+-]?[ \t]*", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_TASK = re.compile(r"^([ \t]*)[-*+][ \t]+\[[ xX]\][ \t]+", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*[-*+][ \t]+", re.MULTILINE)
_ROW = re.compile(r"^[ \t]*\|(.*)\|[ \t]*$", re.MULTILINE)
_STRONG = re.compile(r"(\*\*|__|~~|==)(?=\S)(.{1,1000}?)(?<=\S)\1", re.DOTALL)
_EMPHASIS = re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]{1,500}?)(?<=[^\s*])\*(?![\w*])")
_UNDERSCORE = re.compile(r"(?<!\w)_(?=[^\s_])([^_\n]{1,500}?)(?<=[^\s_])_(?!\w)")
_CODE = re.compile(r"(`{1,3})(?!`)([^`\n]{1,500})(?<!`)\1(?!`)")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|>~])")


def plain_text(text: str) -> str:
    """Returns the words of a Markdown text on one line: links as their text, addresses by their host,
    no comments, embeds, HTML and marks.

    >>> plain_text("## Why\\n- see **[the docs](https://x.org)** and [[Ada Lovelace|Ada]]\\n- `ls -l`, *now*")
    'Why: • see the docs and Ada • ls -l, now'
    >>> plain_text("| part | spare |\\n|---|---|\\n| radio stick | 4 |\\n\\nsnake_case * 2")
    'part · spare radio stick · 4 snake_case * 2'
    """
    text = _AUTOLINK.sub(r"\1", text)
    for pattern in (_COMMENT, _EMBED, _HTML, _FENCE, _RULE, _QUOTE, _CALLOUT):
        text = pattern.sub("", text)
    text = _WIKILINK.sub(_shown, text)
    text = _LINK.sub(r"\1", text)
    text = _URL.sub(r"\1/…", text)
    text = _HEADING.sub(lambda found: found[1] + ("" if found[1].endswith((":", "?", ".", "!")) else ":"), text)
    text = _TASK.sub(r"\1• ", text)
    text = _BULLET.sub("• ", text)
    text = _ROW.sub(lambda found: " · ".join(cell.strip() for cell in found[1].split("|")), text)
    text = _CODE.sub(r"\2", text)
    for pattern, kept in ((_STRONG, r"\2"), (_EMPHASIS, r"\1"), (_UNDERSCORE, r"\1"), (_ESCAPE, r"\1")):
        text = pattern.sub(kept, text)
    return one_line(text)


def _shown(link: re.Match[str]) -> str:
    """Returns the words that a reader sees of a wikilink: "text" for both [[note|text]] and [[text|note.name]], and
    "note › part" for [[note#part]].
    """
    first, bar, last = link[1].partition("|")
    # Most write [[note|text]]; dendron writes [[text|note.name]].
    return (first if "." in last and " " not in last else last) if bar else first.replace("#", " › ")
