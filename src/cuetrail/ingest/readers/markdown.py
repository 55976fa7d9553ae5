"""Reads Markdown and Obsidian notes: frontmatter, headings, callouts, fenced code, #tags and [[wikilinks]]."""

from __future__ import annotations

import re

from cuetrail.extract import links
from cuetrail.ingest import chunk
from cuetrail.ingest.document import Document
from cuetrail.ingest.readers import front_matter
from cuetrail.ingest.readers.pieces import Part, aliases, make_pieces, stem
from cuetrail.text import dates

_CALLOUT = re.compile(r"[ \t]*>[ \t]*\[!([\w\-]{1,40})")
_MARKED = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|!?\[([^\[\]]*)\]\([^()]*\)|[*`]+|(?<!\w)_+|_+(?!\w)")


def read(text: str, source: str) -> Document:
    """Returns one document of kind `note`."""
    head, matter, body = front_matter.split(text)
    parts = [_part(block) for block in chunk.markdown(body) if block.kind != "rule" and not _is_bare(block)]
    if parts and (linked := links.find(head)):
        first = parts[0]
        parts[0] = Part(first.text, first.level, first.prose, links=linked, props=first.props)
    title = front_matter.text_of(matter.get("title")) or _first_heading(parts) or stem(source)
    stated = (dates.parse(matter.get(key)) for key in ("date", "created", "updated", "modified"))
    return Document(
        path=source,
        title=title,
        kind="note",
        pieces=make_pieces(parts),
        aliases=aliases(source, title, front_matter.listed(matter, r"[,\n]", "aliases", "alias")),
        tags=tuple(tag.lstrip("#") for tag in front_matter.listed(matter, r"[,\s]", "tags", "tag")),
        buckets=front_matter.listed(matter, r"[,\n]", "buckets", "bucket", "categories", "category"),
        at=next((at for at in stated if at is not None), dates.from_name(stem(source))),
        props=front_matter.other_fields(matter),
    )


def _part(block: chunk.Block) -> Part:
    if block.kind == "code":
        return Part(block.text, prose=False, props={"language": block.language} if block.language else {})
    if block.kind == "heading":
        return Part(block.text, level=block.level, props={"heading": chunk.heading_text(block.text)})
    callout = _CALLOUT.match(block.text)
    return Part(block.text, props={"callout": callout[1].lower()} if callout else {})


def _is_bare(block: chunk.Block) -> bool:
    """True for a heading without text, such as `##` alone."""
    return block.kind == "heading" and not chunk.heading_text(block.text)


def _first_heading(parts: list[Part]) -> str:
    for part in parts:
        if part.level == 1:
            return _MARKED.sub(lambda m: m[1] or m[2] or "", part.props["heading"]).strip()
    return ""
