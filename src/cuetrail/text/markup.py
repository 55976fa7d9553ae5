"""Replaces code and URLs with spaces, so that the rules for links, tags and names see prose. Offsets stay valid."""

from __future__ import annotations

import re

_FENCE = re.compile(r"[ \t>]*+(`{3,}|~{3,})([^\n]*)")
_TICKS = re.compile(r"`+")
_BLANK_LINE = re.compile(r"\n[ \t]*+\n")
# A scheme is short, so the bounded prefix keeps long runs of letters linear.
_URL = re.compile(r"(?<![a-zA-Z0-9+.\-])(?:[a-zA-Z][a-zA-Z0-9+.\-]{1,15}://|mailto:|www\.)[^\s<>\"'`]++")
_DESTINATION = re.compile(r"\]\((?:[^()\n]|\([^()\n]{0,200}\)){0,500}\)")
_NOT_SPACE = re.compile(r"\S")


def open_fence(line: str) -> str | None:
    """Returns the code fence (a run of ` or ~) that the line opens, or None."""
    match = _FENCE.match(line)
    # More backticks after the fence mean inline code such as ```x```.
    if match is None or (match[1][0] == "`" and "`" in match[2]):
        return None
    return match[1]


def closes(line: str, fence: str) -> bool:
    """True if the line closes the code fence."""
    bare = line.strip(" \t>")
    return len(bare) >= len(fence) and bare == fence[0] * len(bare)


def fence_language(line: str) -> str:
    """Returns the language after an opening fence in lower case, or ""."""
    match = _FENCE.match(line)
    words = match[2].replace("{", " ").replace("}", " ").split() if match else []
    return words[0].strip(".,").lower() if words else ""


def without_code(text: str) -> str:
    """Returns the text with fenced and inline code replaced by spaces."""
    if "`" not in text and "~~~" not in text:
        return text
    prose: list[str] = []
    fence: str | None = None
    for line in text.split("\n"):
        if fence is not None:
            prose.append(" " * len(line))
            fence = None if closes(line, fence) else fence
        elif (fence := open_fence(line)) is not None:
            prose.append(" " * len(line))
        else:
            prose.append(line)
    return _without_inline_code("\n".join(prose))


def without_urls(text: str) -> str:
    """Returns the text with URLs and the targets of Markdown links replaced by spaces."""
    if "](" in text:
        text = _DESTINATION.sub(_blank_destination, text)
    return _URL.sub(_blank, text) if "://" in text or "www." in text or "mailto:" in text else text


def prose_only(text: str) -> str:
    """Returns the text with code and URLs replaced by spaces."""
    return without_urls(without_code(text))


def _blank(match: re.Match[str]) -> str:
    return _NOT_SPACE.sub(" ", match[0])


def _blank_destination(match: re.Match[str]) -> str:
    return "]" + " " * (len(match[0]) - 1)


def _without_inline_code(text: str) -> str:
    if "`" not in text:
        return text
    out: list[str] = []
    last = 0
    # Inline code never crosses a blank line, so a stray backtick harms one paragraph only.
    for match in _BLANK_LINE.finditer(text):
        out.append(_blank_spans(text[last : match.start()]))
        out.append(match[0])
        last = match.end()
    out.append(_blank_spans(text[last:]))
    return "".join(out)


def _blank_spans(paragraph: str) -> str:
    runs = [(m.start(), m.end()) for m in _TICKS.finditer(paragraph)]
    following: dict[int, int] = {}
    closing: list[int | None] = [None] * len(runs)
    for i in range(len(runs) - 1, -1, -1):
        width = runs[i][1] - runs[i][0]
        closing[i] = following.get(width)
        following[width] = i
    out: list[str] = []
    last = i = 0
    while i < len(runs):
        close = closing[i]
        if close is None:
            i += 1
            continue
        start, end = runs[i][0], runs[close][1]
        out += [paragraph[last:start], _NOT_SPACE.sub(" ", paragraph[start:end])]
        last, i = end, close + 1
    out.append(paragraph[last:])
    return "".join(out)
