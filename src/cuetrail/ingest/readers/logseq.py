"""Reads pages and journals of Logseq: Markdown in which every paragraph is a block of an outline.

alias:: Ada Lovelace, Countess
tags:: [[people]]

- Met [[Charles Babbage]] about ((65f0a1b2-...))
  id:: 65f0aaaa-...
    - a block below it
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

from cuetrail.extract.links_and_tags import find_links
from cuetrail.files import read_at_most
from cuetrail.ingest.document import Document, LeftOut, aliases, stem
from cuetrail.ingest.passages import compose
from cuetrail.ingest.readers import outline
from cuetrail.ingest.readers.app_folders import Place
from cuetrail.ingest.readers.outline import DEEPEST, Block
from cuetrail.text import document_dates
from cuetrail.text.normalise import clean

_BULLET = re.compile(r"^([ \t]*)[-*](?:[ \t]+(.*)|)$")
_PROPERTY = re.compile(r"^[ \t]*([\w./?-]{1,60})::(?:[ \t]+(.*))?$")
_DRAWER = re.compile(r"^\s*:(?:LOGBOOK|PROPERTIES|CLOCK):\s*$", re.IGNORECASE)
_DRAWER_END = re.compile(r"^\s*:END:\s*$", re.IGNORECASE)
_HEADING = re.compile(r"^(#{1,6})\s+\S")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_ID_LINE = re.compile(r"^\s*id::\s*([0-9a-f-]{36})\s*$", re.MULTILINE)
_JOURNAL = re.compile(r"\d{4}[_-]\d{2}[_-]\d{2}")
# Properties that steer the program and say nothing.
_SETTINGS = frozenset({
    "id", "collapsed", "public", "icon", "filters", "heading", "background-color", "exclude-from-graph-view",
    "template-including-parent", "query-table", "query-properties", "query-sort-by", "query-sort-desc",
    "logseq.order-list-type", "ls-type", "hl-page", "hl-color", "hl-type", "hl-stamp", "file-path",
    "card-last-interval",
    "card-repeats", "card-ease-factor", "card-next-schedule", "card-last-reviewed", "card-last-score",
})  # fmt: skip
_MOST_FILES, _MOST_BYTES = 20_000, 4_000_000
_ORDINALS = {1: "st", 2: "nd", 3: "rd"}


@dataclass(slots=True)
class _Open:
    """A block while its lines are read."""

    indent: int
    lines: list[str] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    below: list[_Open] = field(default_factory=list)


def read(text: str, source: str, place: Place) -> Document:
    """Returns a page as one document. Raises LeftOut for Logseq's own backups and settings."""
    if place.is_own_of_logseq():
        raise LeftOut(source, "backups and settings of Logseq")
    top = _outline(text)
    page = dict(top.properties)
    if len(top.below) and not any(top.below[0].lines) and not top.below[0].below:
        # The properties of a page may stand in its first block.
        page |= top.below.pop(0).properties
    day = _journal_day(source)
    file_title = _title_of(stem(source)) if day is None else _day_names(day)[0]
    title = clean(page.get("title", "")).strip() or file_title
    given = [*_words(page.get("alias", "")), *_words(page.get("aliases", "")), *_day_names(day)]
    missed, left_out = Counter[str](), Counter[str]()
    own = tuple(_block(one, 0, left_out) for one in (_Open(0, top.lines), *top.below) if one.lines or one.below)
    known = _known_blocks(place, place.home) if place.home is not None and "((" in text else _ids_in(text)
    at = day if day is not None else document_dates.first(page.get("date", "") or page.get("created", ""))
    document = Document(
        path=source, title=title, kind="note",
        aliases=aliases(source, title, [*given, *([title.rsplit("/", 1)[-1]] if "/" in title else [])]),
        tags=_words(page.get("tags", "")), at=at,
        buckets=(title.split("/", 1)[0],) if "/" in title.strip("/") else (),
        own_links=tuple(dict.fromkeys([*_above(title), *find_links("\n".join(page.values()))])),
        props=_kept(page), read={"pages": 1, "blocks": _count(top)},
    )  # fmt: skip
    parts = outline.parts(own, known, lambda id_: missed.update([id_]))
    if missed:
        left_out["references to unknown blocks"] += missed.total()
    return compose(_with(document, left_out), parts)


def _with(document: Document, left_out: Mapping[str, int]) -> Document:
    return replace(document, left_out=dict(left_out)) if left_out else document


def _outline(text: str) -> _Open:
    """Returns the blocks of a page below a root, which has the properties and lines that stand above them."""
    root = _Open(-1)
    stack = [root]
    fence, drawer = "", False
    for line in text.split("\n"):
        bullet = None if fence else _BULLET.match(line)
        if bullet:
            indent = _width(bullet[1])
            while (len(stack) > 1 and stack[-1].indent >= indent) or len(stack) > DEEPEST:
                stack.pop()
            block = _Open(indent)
            stack[-1].below.append(block)
            stack.append(block)
            line, drawer = bullet[2] or "", False
        elif len(stack) > 1:
            line = _dedent(line, stack[-1].indent + 2)
        if mark := _FENCE.match(line):
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1][:3]
        drawer = (drawer or _DRAWER.match(line) is not None) and not fence
        if drawer:
            drawer = _DRAWER_END.match(line) is None
        elif not fence and (found := _PROPERTY.match(line)):
            stack[-1].properties[found[1].lower()] = (found[2] or "").strip()
        else:
            stack[-1].lines.append(line)
    return root


def _width(indent: str) -> int:
    return sum(2 if char == "\t" else 1 for char in indent)


def _dedent(line: str, width: int) -> str:
    while width > 0 and line[:1] in (" ", "\t"):
        width -= 2 if line[0] == "\t" else 1
        line = line[1:]
    return line


def _block(given: _Open, depth: int, left_out: Counter[str]) -> Block:
    text = "\n".join(given.lines).strip("\n").rstrip()
    heading = _HEADING.match(text)
    kept = [f"{name}: {value}" for name, value in given.properties.items() if name not in _SETTINGS and value
            and name not in ("tags", "alias", "template")]  # fmt: skip
    if "template" in given.properties:
        left_out["templates"] += 1
        return Block("")
    below = tuple(_block(one, depth + 1, left_out) for one in given.below)
    return Block(
        "\n".join([text, *kept]).strip("\n"), below, given.properties.get("id", ""), len(heading[1]) if heading else 0,
        _words(given.properties.get("tags", "")),
    )  # fmt: skip


def _count(top: _Open) -> int:
    stack, count = [*top.below], 0
    while stack:
        one = stack.pop()
        count += 1
        stack += one.below
    return count


def _words(value: str) -> tuple[str, ...]:
    """Returns the values of a property: `[[people]], #radio, second name`."""
    inner = re.findall(r"\[\[([^\[\]]{1,200})\]\]", value)
    rest = re.sub(r"#?\[\[[^\[\]]*\]\]", ",", value)
    words = [*inner, *(word.strip().lstrip("#").strip('"') for word in rest.split(","))]
    return tuple(dict.fromkeys(clean(word).strip() for word in words if word.strip()))


def _kept(page: Mapping[str, str]) -> dict[str, str]:
    left = {"title", "alias", "aliases", "tags", *_SETTINGS}
    return {name: clean(value) for name, value in page.items() if value and name not in left}


def _title_of(name: str) -> str:
    """Returns the title of a page from its file's name: `a___b` and `a%2Fb` are the page a/b."""
    return clean(unquote(name.replace("___", "/"))).strip()


def _above(title: str) -> tuple[str, ...]:
    return (title.rsplit("/", 1)[0],) if "/" in title.strip("/") else ()


def _journal_day(source: str) -> int | None:
    return document_dates.from_name(stem(source)) if _JOURNAL.fullmatch(stem(source)) else None


def _day_names(day: int | None) -> list[str]:
    """Returns the names by which pages link to a journal: `Mar 12th, 2024`, `2024-03-12`."""
    if day is None:
        return []
    date = datetime.fromtimestamp(day / 1000, UTC)
    nth = "th" if date.day in (11, 12, 13) else _ORDINALS.get(date.day % 10, "th")
    return [f"{date:%Y-%m-%d}", f"{date:%b} {date.day}{nth}, {date.year}", f"{date:%B} {date.day}{nth}, {date.year}"]


# --- the blocks of the whole graph


def _ids_in(text: str) -> dict[str, str]:
    """Returns, by id, the texts of the blocks that have one, without the blocks below them."""
    if not _ID_LINE.search(text):
        return {}
    found: dict[str, str] = {}
    stack = [_outline(text)]
    while stack:
        one = stack.pop()
        if id_ := one.properties.get("id"):
            found[id_] = "\n".join(one.lines).strip()
        stack += one.below
    return found


def _known_blocks(place: Place, graph: Path) -> Mapping[str, str]:
    """Returns, by id, the texts of all blocks of a graph that have one. They are read once per ingest."""
    if "blocks" not in place.shared:
        place.shared["blocks"] = _read_blocks(sorted(_files(graph))[:_MOST_FILES])
    blocks: Mapping[str, str] = place.shared["blocks"]
    return blocks


def _files(graph: Path) -> Iterator[str]:
    for folder in ("pages", "journals"):
        for here, _, names in os.walk(graph / folder):
            yield from (str(Path(here, name)) for name in names if name.endswith(".md"))


def _read_blocks(files: Sequence[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for file in files:
        try:
            with Path(file).open("rb") as opened:
                text = read_at_most(opened, _MOST_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
        found |= _ids_in(clean(text))
    return found
