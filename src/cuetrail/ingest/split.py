"""Splits text into blocks: paragraphs, lists, tables, code, headings. Only white space is lost.

`passages` joins neighbouring blocks; here only those over a limit are cut.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cuetrail.text.prose import (
    closes_fence,
    fence_language,
    has_sentence_end,
    open_fence,
    sentence_ends,
    split_sentences,
)

# The largest block in characters: of prose, of text without structure, of code and tables.
PROSE = 800
BLOB = 1500
CODE = 2000

# First characters of lines that may not be prose: a heading, a fence, a rule, an underline, a quoted fence.
_STRUCTURE = frozenset("#`~-*_=>")
_LIST_MARKS = ("- ", "* ", "+ ", "|", "> ", "- [")
_LIST_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s")
_COMMENT = re.compile(r"\s*(?:#(?!!)|//|/\*|\*|--|;|%|<!--|\Z)")
# Lines at column 0 that continue the construct above them.
_CLOSER = re.compile(r"[})\]{]|\*/|(?:end|else|elif|except|finally|catch|fi|done|esac|then|do)\b(?!\s*=)")


@dataclass(frozen=True, slots=True)
class MarkdownBlock:
    """One block of a Markdown text. `level` is the depth of a heading, `language` that of a code fence.

    `joint` is the text between this block and the one before it: a blank line, or less if both are parts of one
    paragraph that was over the limit.
    Code over the limit `is_cut`; each part but the first `continues` the one before.
    """

    kind: Literal["prose", "heading", "code", "rule"]
    text: str
    level: int = 0
    language: str = ""
    joint: str = "\n\n"
    is_cut: bool = False
    continues: bool = False


def paragraphs(text: str) -> list[str]:
    """Splits text at blank lines. Paragraphs are stripped at both ends and may have any length."""
    found: list[str] = []
    run: list[str] = []
    for line in text.split("\n"):
        if line.strip():
            run.append(line)
        elif run:
            found.append("\n".join(run).strip())
            run = []
    if run:
        found.append("\n".join(run).strip())
    return found


def prose(text: str, limit: int = PROSE) -> list[str]:
    """Returns one piece per paragraph. Longer paragraphs are cut at sentence ends, lists and tables at line ends."""
    return [piece for paragraph in paragraphs(text) for piece in _fit_paragraph(paragraph, limit)]


def plain(text: str) -> list[str]:
    """Splits plain text: by paragraphs and sentences, or by length if it has neither blank lines nor sentence ends."""
    parts = paragraphs(text)
    if len(parts) == 1 and len(parts[0]) > PROSE and not has_sentence_end(parts[0]):
        return blob(parts[0])
    return [piece for paragraph in parts for piece in _fit_paragraph(paragraph, PROSE)]


def blob(text: str, limit: int = BLOB) -> list[str]:
    """Splits text without structure: at line ends, else at spaces, else anywhere."""
    return _pack(text.split("\n"), limit, "\n")


def code(text: str, limit: int = CODE) -> list[str]:
    """Returns one piece per top-level construct of source code. Longer ones are cut at line ends."""
    return [piece for construct in constructs(text) for piece in lines(construct, limit)]


def constructs(text: str) -> list[str]:
    """Splits source code into top-level constructs of any length. Each starts with lines at column 0.

    Neighbouring lines at column 0 stay together: imports are one construct, a comment stays with its function.
    """
    found: list[list[str]] = []
    joinable = False
    for line in text.split("\n"):
        starts = bool(line) and not line[0].isspace()
        closes = starts and _CLOSER.match(line) is not None
        if starts and not closes and not joinable:
            found.append([])
        if not found:
            found.append([])
        found[-1].append(line)
        joinable = starts and not closes
    parts = ("\n".join(run).strip("\n").rstrip() for run in found)
    return [part for part in parts if part.strip()]


def lines(text: str, limit: int) -> list[str]:
    """Splits text at line ends into pieces within the limit. Keeps the indentation."""
    if len(text) <= limit:
        return [text] if text.strip() else []
    return _pack(text.split("\n"), limit, "\n", indented=True)


def markdown(text: str) -> list[MarkdownBlock]:
    """Splits Markdown into blocks within their limits: headings, paragraphs, fenced code and rules."""
    blocks: list[MarkdownBlock] = []
    run: list[str] = []
    fence: str | None = None
    for line in text.split("\n"):
        if fence is not None:
            run.append(line)
            if closes_fence(line, fence):
                blocks += _code(run)
                run, fence = [], None
        elif (bare := line.lstrip()) and bare[0] not in _STRUCTURE:
            run.append(line)
        elif len(run) == 1 and _can_be_heading(run[0]) and (level := _underline_level(line)):
            blocks += _heading(run.pop() + "\n" + line, level)
        # A fence inside a quote is part of the quote, which stays one block.
        elif not bare.startswith(">") and (fence := open_fence(line)) is not None:
            blocks += _prose(run)
            run = [line]
        elif bare and not _heading_level(line) and not _is_rule(line):
            run.append(line)
        else:
            blocks += _prose(run)
            run = []
            if level := _heading_level(line):
                blocks += _heading(line, level)
            elif line.strip():
                blocks.append(MarkdownBlock("rule", line.strip()))
    # An unclosed fence runs to the end.
    return blocks + (_prose(run) if fence is None else _code(run))


def heading_text(heading: str) -> str:
    """Returns the text of a heading block, without `#` marks or underline."""
    line = heading.split("\n", 1)[0].strip()
    if not _heading_level(line):
        return line
    words = line.lstrip("#").strip()
    bare = words.rstrip("#")
    # Closing marks follow a space: "# C#" has the text C#, "# C #" has the text C.
    return bare.rstrip() if not bare or bare[-1].isspace() else words


def is_list(text: str) -> bool:
    """True if the text begins with an item of a list."""
    return _LIST_ITEM.match(text) is not None


def is_comment(code: str) -> bool:
    """True if each line of the code is a comment, in one of the usual languages."""
    return all(_COMMENT.match(line) for line in code.split("\n"))


def _prose(run: list[str]) -> list[MarkdownBlock]:
    """Returns one paragraph, cut where it is too long. A table may be longer; the first line keeps its indentation."""
    if not run:
        return []
    if all(line.lstrip().startswith("|") for line in run):
        pieces, joint = lines("\n".join(run), CODE), "\n"
    else:
        pieces = _fit_paragraph("\n".join(run).strip("\n").rstrip(), PROSE)
        joint = "\n" if is_list(pieces[0]) else " "
    first, *rest = pieces
    return [MarkdownBlock("prose", first), *(MarkdownBlock("prose", piece, joint=joint) for piece in rest)]


def _code(run: list[str]) -> list[MarkdownBlock]:
    language = fence_language(run[0])
    first, *rest = lines("\n".join(run).rstrip(), CODE)
    more = [MarkdownBlock("code", piece, 0, language, "\n", is_cut=True, continues=True) for piece in rest]
    return [MarkdownBlock("code", first, language=language, is_cut=bool(rest)), *more]


def _heading(text: str, level: int) -> list[MarkdownBlock]:
    """Returns a heading block; text beyond the limit follows as prose."""
    first, *rest = prose(text)
    return [MarkdownBlock("heading", first, level), *(MarkdownBlock("prose", piece) for piece in rest)]


def _heading_level(line: str) -> int:
    bare = line.lstrip(" ")
    if len(line) - len(bare) > 3 or not bare.startswith("#"):
        return 0
    level = len(bare) - len(bare.lstrip("#"))
    return level if level <= 6 and (len(bare) == level or bare[level] in " \t") else 0


def _underline_level(line: str) -> int:
    bare = line.strip()
    if len(bare) < 2 or len(line) - len(line.lstrip(" ")) > 3:
        return 0
    return 1 if bare == "=" * len(bare) else 2 if bare == "-" * len(bare) else 0


def _can_be_heading(line: str) -> bool:
    return not line.startswith(("    ", "\t", ">", "|")) and not line.lstrip().startswith(_LIST_MARKS)


def _is_rule(line: str) -> bool:
    bare = line.replace(" ", "").replace("\t", "")
    return len(bare) >= 3 and bare[0] in "-*_" and bare == bare[0] * len(bare)


def _fit_paragraph(paragraph: str, limit: int) -> list[str]:
    if len(paragraph) <= limit:
        return [paragraph]
    rows = paragraph.split("\n")
    marked = sum(row.lstrip().startswith(_LIST_MARKS) or row.lstrip()[:1].isdigit() for row in rows)
    if len(rows) > 1 and marked * 2 >= len(rows):
        return _pack(rows, limit, "\n", by_sentence=True)
    return _pack(split_sentences(paragraph), limit, "")


def _pack(parts: Iterable[str], limit: int, joint: str, indented: bool = False, by_sentence: bool = False) -> list[str]:
    """Joins neighbouring parts into pieces up to the limit, with `joint` between them. A part over the limit is cut:
    with `by_sentence` at sentence ends. With `indented`, pieces keep the spaces at their beginning.
    """
    pieces: list[str] = []
    current = ""
    for part in parts:
        joined = current + joint + part if current.strip() else part
        if len(joined.rstrip()) <= limit:
            current = joined
            continue
        pieces.append(current)
        *full, current = _cut(part, limit, by_sentence)
        pieces += full
    pieces.append(current)
    trimmed = (piece.strip("\n").rstrip() if indented else piece.strip() for piece in pieces)
    return [piece for piece in trimmed if piece.strip()]


def _cut(text: str, limit: int, by_sentence: bool) -> list[str]:
    """Cuts text into parts of at most `limit` characters: at sentence ends (`by_sentence`), at a space, or anywhere."""
    if len(text.rstrip()) <= limit:
        return [text]
    if by_sentence and sentence_ends(text):
        return _pack(split_sentences(text), limit, "") or [""]
    parts: list[str] = []
    start = 0
    end = len(text.rstrip())
    while end - start > limit:
        space = text.rfind(" ", start + limit // 2, start + limit + 1)
        cut = space if space > start else _before_marks(text, start + limit, start)
        parts.append(text[start:cut])
        start = cut
        while start < end and text[start].isspace():
            start += 1
    # White space after the last part separates it from the next one.
    parts.append(text[start:])
    return parts


def _before_marks(text: str, cut: int, start: int) -> int:
    """Moves a cut back by a few characters, so that accents and joined emoji stay with their letter."""
    for back in range(cut, max(start + 1, cut - 16), -1):
        if not (unicodedata.combining(text[back]) or text[back] in "\u200d\ufe0f" or text[back - 1] == "\u200d"):
            return back
    return cut
