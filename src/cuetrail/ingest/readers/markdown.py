"""Markdown and Obsidian notes: frontmatter, headings, callouts, fenced code, #tags and [[wikilinks]]."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cuetrail.extract import links
from cuetrail.ingest import chunk
from cuetrail.ingest.document import Document
from cuetrail.ingest.readers.pieces import Part, aliases, make_pieces, stem
from cuetrail.text import dates
from cuetrail.text.normalise import clean

_FRONTMATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_CALLOUT = re.compile(r"[ \t]*>[ \t]*\[!([\w\-]{1,40})")
_MARKED = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|!?\[([^\[\]]*)\]\([^()]*\)|[*`]+|(?<!\w)_+|_+(?!\w)")
_NULLS = frozenset({"", "null", "~", "none"})
# Frontmatter of people is short; a larger one is data, and a parser need not be fed it.
_MAX_FRONTMATTER = 64 * 1024
_MAX_DEPTH = 40


def read(text: str, source: str) -> Document:
    """One document of kind `note`. Frontmatter that is no YAML mapping is kept as body text."""
    head, matter, body = _front(text)
    parts = [_part(block) for block in chunk.markdown(body) if block.kind != "rule" and not _is_bare(block)]
    if parts and (linked := links.find(head)):
        first = parts[0]
        parts[0] = Part(first.text, first.level, first.prose, links=linked, props=first.props)
    title = _text(matter.get("title")) or _first_heading(parts) or stem(source)
    stated = (dates.parse(matter.get(key)) for key in ("date", "created", "updated", "modified"))
    return Document(
        path=source,
        title=title,
        kind="note",
        pieces=make_pieces(parts),
        aliases=aliases(source, title, _listed(matter, r"[,\n]", "aliases", "alias")),
        tags=tuple(tag.lstrip("#") for tag in _listed(matter, r"[,\s]", "tags", "tag")),
        buckets=_listed(matter, r"[,\n]", "buckets", "bucket", "categories", "category"),
        at=next((at for at in stated if at is not None), dates.from_name(stem(source))),
        props=_props(matter),
    )


def _front(text: str) -> tuple[str, dict[str, Any], str]:
    """Frontmatter as text, as a mapping with lower-case keys, and the body behind it."""
    # The BOM is gone already; some editors leave blank lines before the first rule.
    match = _FRONTMATTER.match(text.lstrip("\n")) if text.lstrip("\n").startswith("---") else None
    if match is None or len(match[1]) > _MAX_FRONTMATTER or _is_deep(match[1]):
        return "", {}, text
    # Imported here: yaml takes 25 ms, and many files have no frontmatter.
    import yaml

    # BaseLoader leaves every value a string: no dates that raise, no `no` that becomes False, no objects.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        matter = yaml.load(match[1], Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return "", {}, text
    if not isinstance(matter, dict):
        # An empty block is frontmatter without fields; anything else was meant to be read.
        return ("", {}, text.lstrip("\n")[match.end() :]) if not match[1].strip() else ("", {}, text)
    return match[1], {str(k).strip().lower(): v for k, v in matter.items()}, text.lstrip("\n")[match.end() :]


def _is_deep(yaml_text: str) -> bool:
    """Whether brackets nest deeper than people write; a recursive parser is not to be tried with that."""
    depth = deepest = 0
    for char in yaml_text:
        depth += (char in "[{") - (char in "]}")
        deepest = max(deepest, depth)
    return deepest > _MAX_DEPTH


def _part(block: chunk.Block) -> Part:
    if block.kind == "code":
        return Part(block.text, prose=False, props={"language": block.language} if block.language else {})
    if block.kind == "heading":
        return Part(block.text, level=block.level, props={"heading": chunk.heading_text(block.text)})
    callout = _CALLOUT.match(block.text)
    return Part(block.text, props={"callout": callout[1].lower()} if callout else {})


def _is_bare(block: chunk.Block) -> bool:
    """Whether a heading has no words: `##` alone is a rule in all but name."""
    return block.kind == "heading" and not chunk.heading_text(block.text)


def _first_heading(parts: list[Part]) -> str:
    for part in parts:
        if part.level == 1:
            return _MARKED.sub(lambda m: m[1] or m[2] or "", part.props["heading"]).strip()
    return ""


def _text(value: object) -> str:
    return clean(value).strip() if isinstance(value, str) and value.strip().lower() not in _NULLS else ""


def _listed(matter: Mapping[str, Any], separators: str, *keys: str) -> tuple[str, ...]:
    """The values under any of the keys, a list or one string with separators, each once."""
    found: dict[str, None] = {}
    for key in keys:
        value = matter.get(key)
        items = value if isinstance(value, list) else re.split(separators, value) if isinstance(value, str) else []
        found.update((text, None) for item in items if (text := _text(item)) and text != "#")
    return tuple(found)


def _props(matter: Mapping[str, Any]) -> dict[str, Any]:
    """The other fields that are plain: strings and lists of strings. Nested ones could be made to grow without end."""
    known = {"title", "aliases", "alias", "tags", "tag", "buckets", "bucket", "categories", "category"}
    props: dict[str, Any] = {}
    for key, value in matter.items():
        if key in known:
            continue
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            props[key] = [clean(item) for item in value]
        elif _text(value):
            props[key] = _text(value)
    return props
