"""Parses and renders basic-memory's Markdown notes as items. Works on text, not on files.

    ---
    title: Tea
    permalink: tea
    ---
    ## Observations
    - [method] Pour at 80 degrees #brewing (green tea)

    ## Relations
    - grows_in [[Darjeeling]] (first flush)

Rendering the items of a note and parsing them again gives the same items.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import yaml

from cuetrail.text.normalise import clean
from cuetrail.text.prose import split_sentences

LONG = 800
"""A paragraph with more characters is cut into several items, at sentence ends."""

_BULLET = re.compile(r"^([ \t]*)[-*+][ \t]+(.*)$")
_CATEGORY = re.compile(r"^\[([^\[\]()]+)\][ \t]+(.+)$")
_CLOCK = re.compile(r"\d{1,3}:\d{2}(:\d{2})?([.,]\d{1,3})?([ \t]+-[ \t]+[\d:.,]+)?")
_HEADING = re.compile(r"^#{1,6}[ \t]+\S")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_CONTEXT = re.compile(r"\(([^()]+)\)$")
_LINK = re.compile(r"\[\[([^\[\]]+)\]\]")
_CODE = re.compile(r"(?ms)^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)|`[^`\n]*`")
_ESCAPED = re.compile(r"^([ \t]*)\\(\\*[-*+][ \t])")
_NEEDS_ESCAPE = re.compile(r"^([ \t]*)(\\*[-*+][ \t])")
_QUOTES = ('"', "'")


@dataclass(frozen=True, slots=True)
class Item:
    """A paragraph, an observation or a relation, in the order of the note.

    `text` of an observation is all that follows its category, with tags and context. `under` are the headings before
    the item that have no text of their own; the text of a paragraph includes its headings. `glue` is the white space
    between a piece of a long paragraph and the piece before it.
    """

    kind: Literal["prose", "observation", "relation"]
    text: str = ""
    category: str = ""
    type: str = ""
    target: str = ""
    context: str = ""
    under: tuple[str, ...] = ()
    glue: str | None = None


def parse_note(text: str) -> tuple[dict[str, Any], list[Item], str | None]:
    """Returns (frontmatter, items, problem). Frontmatter values are texts, lists and mappings of texts.

    The problem describes broken frontmatter; the note is then parsed as if it had none.
    """
    text = clean(text)
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return {}, parse_body(text), None
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), None)
    if end is None:
        return {}, parse_body(text), None
    try:
        meta = _frontmatter("\n".join(lines[1:end]))
    except (yaml.YAMLError, ValueError, RecursionError) as e:
        problem = str(e).split("\n")[0] or "nested too deeply"
        return {}, parse_body(text), f"broken frontmatter ({problem}); read as plain text. Correct it and import again."
    return meta, parse_body("\n".join(lines[end + 1 :])), None


def _frontmatter(text: str) -> dict[str, Any]:
    # BaseLoader makes texts, lists and mappings only. Aliases are refused: a few lines could expand to gigabytes.
    if "*" in text and any(isinstance(e, yaml.AliasEvent) for e in yaml.parse(text, Loader=yaml.BaseLoader)):
        raise ValueError("it uses YAML aliases")
    value = yaml.load(text, Loader=yaml.BaseLoader)
    if not isinstance(value, dict):
        if value in (None, ""):
            return {}
        raise ValueError("it is not a list of keys and values")
    return {clean(str(k)): _cleaned(v) for k, v in value.items()}


def _cleaned(value: Any) -> Any:
    if isinstance(value, list):
        return [_cleaned(v) for v in value]
    if isinstance(value, dict):
        return {clean(str(k)): _cleaned(v) for k, v in value.items()}
    return clean(str(value))


def parse_body(body: str) -> list[Item]:
    """Returns the items of a note's body, in order. Blank lines and the indentation of observations are lost.

    Below a heading `Relations` the type of a relation may have several words without quotes.
    """
    lines = [line.rstrip(" \t") for line in body.split("\n")]
    items: list[Item] = []
    heads: list[str] = []
    prose: list[str] = []
    at, section = 0, ""
    while at < len(lines):
        line = lines[at]
        step = _fence_length(lines, at)
        item = None if step else _list_item(line, loose=section == "relations")
        if step:
            prose += lines[at : at + step]
        elif item or not line or _HEADING.match(line):
            items += _paragraph(heads, prose)
            prose = []
            if line and not item:
                heads.append(line)
                section = line.strip("# \t").casefold()
        else:
            prose.append(line)
        if item:
            more = _continuation(lines, at) if item.kind == "observation" else []
            items.append(replace(item, under=tuple(heads), **_observed([item.text, *more], item)))
            heads = []
            step = 1 + len(more)
        at += step or 1
    items += _paragraph(heads, prose) or _paragraph([], ["\n\n".join(heads)] if heads else [])
    return items


def _observed(lines: list[str], item: Item) -> dict[str, Any]:
    """Returns the fields of an observation that depend on all its lines: the text, and the context at its end."""
    if item.kind != "observation":
        return {}
    text = "\n".join(lines)
    context = _CONTEXT.search(text)
    return {"text": text, "context": context[1].strip() if context else ""}


def _paragraph(heads: list[str], lines: list[str]) -> list[Item]:
    """Returns the lines as prose items. The first one begins with the pending headings, and `heads` is cleared."""
    if not any(line.strip() for line in lines):
        return []
    pieces = split_long("\n".join(lines).rstrip("\n"))
    first = "\n\n".join([*heads, pieces[0][1]])
    heads.clear()
    return [Item("prose", first), *(Item("prose", piece, glue=glue) for glue, piece in pieces[1:])]


def split_long(text: str) -> list[tuple[str, str]]:
    """Splits a long text at sentence ends. Returns pairs of (white space before, piece); joined, they are the text."""
    if len(text) <= LONG or "```" in text or "~~~" in text:
        return [("", text)]
    pieces: list[tuple[str, str]] = []
    glue = ""
    for sentence in split_sentences(text):
        words = sentence.rstrip()
        if pieces and len(pieces[-1][1]) + len(glue) + len(words) <= LONG:
            pieces[-1] = (pieces[-1][0], pieces[-1][1] + glue + words)
        else:
            pieces.append((glue, words))
        glue = sentence[len(words) :]
    return pieces


def _fence_length(lines: Sequence[str], at: int) -> int:
    """Returns the number of lines of the code fence that opens here, 0 if none does. Unclosed, it runs to the end."""
    opening = _FENCE.match(lines[at])
    if not opening:
        return 0
    for end in range(at + 1, len(lines)):
        line = lines[end].strip(" \t")
        if line.startswith(opening[1]) and not line.strip(opening[1][0]):
            return end - at + 1
    return len(lines) - at


def _list_item(line: str, loose: bool) -> Item | None:
    """Returns the observation or relation on this line, or None for tasks, clock times and any other line."""
    bullet = _BULLET.match(line)
    if not bullet:
        return None
    content = bullet[2]
    observed = _CATEGORY.match(content)
    if observed and is_category(observed[1]) and observed[2].strip():
        return Item("observation", observed[2], category=observed[1].strip())
    before, _, rest = content.partition("[[")
    target, closed, after = (part.strip() for part in rest.partition("]]"))
    kind = _relation_type(before.strip(), loose)
    if kind and target and closed and (not after or one_group(after)):
        return Item("relation", type=kind, target=target, context=after[1:-1].strip())
    return None


def is_category(text: str) -> bool:
    """True if the text in brackets is a category, not a task mark or a clock time."""
    text = text.strip()
    if not text or _CLOCK.fullmatch(text) or re.search(r"[\[\]()\n]", text):
        return False
    return len(text) > 1 or (text.isalnum() and text not in ("x", "X"))


def _relation_type(before: str, loose: bool) -> str:
    """Returns the relation type before a link: one word, several in quotes, or any if `loose`; "" for prose."""
    if len(before) > 2 and before[0] in _QUOTES and before[-1] == before[0]:
        return before[1:-1].strip()
    return "" if (re.search(r"\s", before) and not loose) or before.startswith("[") else before


def one_group(text: str) -> bool:
    """True if the text is one balanced pair of parentheses that is not empty."""
    depth = 0
    for n, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if depth <= 0:
            return n == len(text) - 1 and n > 0 and bool(text[1:-1].strip())
    return False


def _continuation(lines: Sequence[str], at: int) -> list[str]:
    """Returns the continuation lines of the list item at `at`: indented and blank lines up to the next item."""
    indent = _width(lines[at])
    more: list[str] = []
    for line in map(lines.__getitem__, range(at + 1, len(lines))):
        if line and (line[0] not in " \t" or _BULLET.match(line)):
            break
        more.append(_ESCAPED.sub(r"\1\2", _dedent(line, indent + 2)))
    while more and not more[-1].strip():
        more.pop()
    return more


def _width(line: str) -> int:
    return sum(4 if c == "\t" else 1 for c in line[: len(line) - len(line.lstrip(" \t"))])


def _dedent(line: str, width: int) -> str:
    while width > 0 and line[:1] in (" ", "\t"):
        width -= 4 if line[0] == "\t" else 1
        line = line[1:]
    return line


def hashtags(text: str) -> list[str]:
    """Returns the #tags of a text outside of code; numbers such as #12 do not count."""
    words = (word for word in _CODE.sub(" ", text).split() if word.startswith("#"))
    tags = (tag.rstrip(".,;:!?)]}\"'") for word in words for tag in word.split("#"))
    return [tag for tag in tags if any(c.isalpha() for c in tag)]


def links(text: str) -> list[str]:
    """Returns the targets of the [[links]] of a text outside of code."""
    return [target.strip() for target in _LINK.findall(_CODE.sub(" ", text)) if target.strip()]


class _PlainDumper(yaml.SafeDumper):
    """A YAML dumper that does not quote texts that look like numbers: `count: 5` for the text "5"."""

    yaml_implicit_resolvers = {}  # noqa: RUF012  pyyaml looks it up on the class


def render_note(head: Mapping[str, Any], rest: Mapping[str, Any], items: Iterable[Item]) -> str:
    """Returns the note as Markdown. `head` is quoted where YAML would misread it; `rest` is never quoted."""
    top = yaml.safe_dump(dict(head), allow_unicode=True, sort_keys=False, width=10**9)
    if rest:
        top += yaml.dump(dict(rest), Dumper=_PlainDumper, allow_unicode=True, sort_keys=False, width=10**9)
    body = "".join(_blocks(items))
    return f"---\n{top}---\n" + (f"\n{body}\n" if body else "")


def _blocks(items: Iterable[Item]) -> Iterator[str]:
    before: Item | None = None
    for item in items:
        if before is not None:
            near = item.kind == before.kind != "prose" and not item.under
            yield item.glue if item.glue is not None and before.kind == "prose" else "\n" if near else "\n\n"
        if item.under:
            yield "\n\n".join(item.under) + "\n"
        yield render_item(item)
        before = item


def render_item(item: Item) -> str:
    """Returns the item as Markdown."""
    if item.kind == "prose":
        return item.text
    if item.kind == "relation":
        quoted = re.search(r"\s", item.type) or item.type[:1] in (*_QUOTES, "[")
        kind = f'"{item.type}"' if quoted else item.type
        return f"- {kind} [[{item.target}]]" + (f" ({item.context})" if item.context else "")
    first, *more = item.text.split("\n")
    further = [_NEEDS_ESCAPE.sub(r"\1\\\2", line) for line in more]
    return "\n".join([f"- [{item.category}] {first}", *(f"  {line}" if line else "" for line in further)])
