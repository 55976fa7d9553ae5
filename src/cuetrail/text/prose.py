"""Finds the prose in a text, and its sentences, in any script.

Code and URLs are replaced with spaces, so that the rules for links, tags and names see prose; offsets stay valid.

>>> split_sentences("Ask Dr. Ray, e.g. today. Is it 3.5 dB? Yes!")
['Ask Dr. Ray, e.g. today. ', 'Is it 3.5 dB? ', 'Yes!']
>>> split_sentences("雨だった。鳥は来た！")
['雨だった。', '鳥は来た！']
"""

from __future__ import annotations

import re
from itertools import pairwise

from cuetrail.text.word_lists import ABBREVIATIONS

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


def closes_fence(line: str, fence: str) -> bool:
    """True if the line closes the code fence."""
    bare = line.strip(" \t>")
    return len(bare) >= len(fence) and bare == fence[0] * len(bare)


def fence_language(line: str) -> str:
    """Returns the language after an opening fence in lower case, or ""."""
    match = _FENCE.match(line)
    words = match[2].replace("{", " ").replace("}", " ").split() if match else []
    return words[0].strip(".,").lower() if words else ""


def without_code(text: str) -> str:
    """Returns the text with each character of fenced and inline code replaced by a space, so that all offsets stay the
    same.
    """
    if "`" not in text and "~~~" not in text:
        return text
    prose: list[str] = []
    fence: str | None = None
    for line in text.split("\n"):
        if fence is not None:
            prose.append(" " * len(line))
            fence = None if closes_fence(line, fence) else fence
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


# A wikilink shows the part behind the bar. Dendron has the text first and then the dotted name of the note.
_WIKILINK = re.compile(r"!?\[\[(?:([^\[\]|\n]{0,300})\|)?([^\[\]|\n]{1,300})\]\]")
_DOTTED_NAME = re.compile(r"\s*(?:\w+://\S*|[\w-]+(?:\.[\w-]+)+(?:#\S*)?)\s*")
# A file by its name or path.
_FILE = re.compile(
    r"(?<![\w/.-])[\w.~-]{0,100}(?:/[\w.~-]{1,100}){0,20}\.(?:md|html?|txt|py|js|json|ya?ml|toml|sh|css)\b"
)
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+")
_HTML_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,500}>|<!--.{0,2000}?-->", re.DOTALL)


def displayed(text: str) -> str:
    """Returns the prose of a text as a reader sees it: links as their text; no code, addresses, files, embeds or HTML.

    >>> displayed("See [the docs](https://x.org/y), [[why|a.b#c]], [[Ada Lovelace|Ada]] and `code`.").split()
    ['See', '[the', 'docs]', ',', 'why,', 'Ada', 'and', '.']
    """
    if "[[" in text:
        text = _WIKILINK.sub(_shown_of_link, text)
    text = prose_only(text)
    if "@" in text:
        text = _EMAIL.sub(_blank, text)
    if "." in text:
        text = _FILE.sub(_blank, text)
    return _HTML_TAG.sub(_blank, text) if "<" in text else text


def _shown_of_link(match: re.Match[str]) -> str:
    first, last = match[1] or "", match[2]
    if match[0].startswith("!"):
        return " "
    return (first or " ") if _DOTTED_NAME.fullmatch(last) else last


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


# --- sentences

# Spaced scripts need white space after the mark, unspaced ones do not. The lookbehind matches a run of marks only from
# its start, which keeps the time linear for input such as a million dots.
_SPACED = r"(?<![.!?…؟۔։።।॥])[.!?…؟۔։።।॥]++[\"'”’»)\]}*_]*+(?=\s|\Z)"
_UNSPACED = r"[。！？｡．]++[」』”’）》】]*+"
_END = re.compile(f"(?:{_SPACED}|{_UNSPACED})\\s*+")

# These end a sentence unless a number follows: "No. 5", "p. 12".
_BEFORE_NUMBER = frozenset({"no", "p", "art", "para"})
_LOOK_BACK = 24


def sentence_ends(text: str) -> list[int]:
    """Returns the offset after each sentence and its white space, in order, without the end of the text."""
    found = (m for m in _END.finditer(text) if m.end() < len(text))
    return [m.end() for m in found if _is_sentence_end(text, m.start(), m.end())]


def has_sentence_end(text: str) -> bool:
    """True if a sentence ends in the text, or at its end."""
    return any(_is_sentence_end(text, match.start(), match.end()) for match in _END.finditer(text))


def has_sentence_end_between(text: str, start: int, end: int) -> bool:
    """True if a sentence ends after `start` and its trailing white space ends at or before `end`."""
    found = _END.finditer(text, start, end + 1)
    return any(_is_sentence_end(text, match.start(), match.end()) for match in found if match.end() <= end)


def split_sentences(text: str) -> list[str]:
    """Returns the sentences with their trailing white space. Joined, they are the text again."""
    cuts = [0, *sentence_ends(text), len(text)]
    return [text[a:b] for a, b in pairwise(cuts) if a < b]


def _is_sentence_end(text: str, start: int, end: int) -> bool:
    """True if the mark at `start` ends a sentence. Only full stops and ellipses need a closer look."""
    following = text[end : end + 1]
    if text[start] == "…" or text[start : start + 2] == "..":
        return not following.islower()
    if text[start] != "." or text[start + 1 : start + 2] in ("!", "?"):
        return not (following.islower() and text[start + 1 : start + 2] in ('"', "'", "”", "’", "»"))
    before = text[max(0, start - _LOOK_BACK) : start]
    word = before.split()[-1].lstrip("([{\"'“‘«*_-") if before.strip() and not before[-1].isspace() else ""
    if not word:
        return not following.islower()
    if len(word) == 1 and word.isalpha() and word.isupper():
        return False  # an initial: "J. Smith"
    if word.isdigit() and _starts_line(text, start - len(word)):
        return False  # a list number: "1. first"
    bare = word.replace(".", "").casefold()
    if "." in word and len(bare) <= 4 and bare.isalpha() and all(len(part) == 1 for part in word.split(".")):
        return False  # "e.g", "U.S", "a.m"
    if bare in _BEFORE_NUMBER:
        return not following.isdigit()
    return bare not in ABBREVIATIONS


def _starts_line(text: str, at: int) -> bool:
    line_start = text.rfind("\n", max(0, at - _LOOK_BACK), at)
    if line_start < 0 and at > _LOOK_BACK:
        return False
    return not text[line_start + 1 : at].strip(" \t>")
