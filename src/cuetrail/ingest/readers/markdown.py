"""Reads Markdown and Obsidian notes: frontmatter, headings, callouts, fenced code, #tags and [[wikilinks]]."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cuetrail.extract.links_and_tags import find_block_links, find_links, find_tags
from cuetrail.ingest import split
from cuetrail.ingest.document import Document, LeftOut, Part, aliases, stem
from cuetrail.ingest.passages import compose
from cuetrail.ingest.readers.app_folders import NOWHERE, Place
from cuetrail.ingest.readers.markdown_structure import only_links, without_comments, without_markup
from cuetrail.text import document_dates
from cuetrail.text.normalise import clean
from cuetrail.text.prose import closes_fence, open_fence

_CALLOUT = re.compile(r"[ \t]*>[ \t]*\[!([\w\-]{1,40})")
_MARKED = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]|!?\[([^\[\]]*)\]\([^()]*\)|[*`]+|(?<!\w)_+|_+(?!\w)")
_FRONTMATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_NULLS = frozenset({"", "null", "~", "none"})
# The mark of a block of Obsidian, at the end of a line.
_ANCHOR = re.compile(r"(?:(?<=\s)|^)\^([\w-]{1,60})[ \t]*$", re.MULTILINE)
# Longer frontmatter is data, not metadata of a note, and is not parsed.
_MAX_CHARS = 64 * 1024
_MAX_DEPTH = 40


def read(text: str, source: str, place: Place = NOWHERE) -> Document:
    """Returns a Markdown text as one document of kind `note`, with the fields of its frontmatter.

    Raises LeftOut for a drawing of Excalidraw and for a template of a vault.
    """
    head, matter, body = split_front_matter(text)
    if "excalidraw-plugin" in matter or source.lower().endswith(".excalidraw.md"):
        raise LeftOut(source, "drawings")
    if place.is_template(text):
        raise LeftOut(source, "templates")
    parts, comments = _parts(body, stem(source), place.app == "obsidian")
    heading = next((str(part.props["heading"]) for part in parts if part.level == 1), "")
    is_title = _begins_with_heading(parts)
    title = _text_of(matter.get("title")) or (heading if is_title else "") or stem(source)
    stated = (document_dates.parse(matter.get(key)) for key in ("date", "created", "updated", "modified"))
    document = Document(
        path=source,
        title=title,
        kind="note",
        aliases=aliases(source, title, _listed(matter, r"[,\n]", "aliases", "alias")),
        tags=tuple(tag.lstrip("#") for tag in _listed(matter, r"[,\s]", "tags", "tag")),
        buckets=_listed(matter, r"[,\n]", "buckets", "bucket", "categories", "category"),
        own_links=find_links(head),
        known_as=() if is_title or not heading else (heading,),
        at=next((at for at in stated if at is not None), document_dates.from_name(stem(source))),
        props=_other_fields(matter),
        read={"notes": 1},
        left_out={"comments": comments} if comments else {},
    )
    return compose(document, parts)


def _parts(body: str, name: str, in_vault: bool) -> tuple[list[Part], int]:
    """Returns the blocks of a note, with its structure (headings, comments, embeds, lists of links), and the number of
    comments. `name` is that of the file, with which links to its blocks begin.
    """
    text, comments = without_comments(body, in_vault)
    parts: list[Part] = []
    # The text before a block in its section, and whether a rule separates the two.
    before, apart, opening = "", False, ""
    for block in split.markdown(text):
        if block.kind == "code":
            props = {"language": block.language} if block.language else {}
            opening = opening if block.continues else block.text.partition("\n")[0]
            parts.append(Part(_fenced(block, opening), prose=False, apart=apart, joint=block.joint, props=props))
            before, apart = "", False
        elif block.kind == "heading":
            if heading := split.heading_text(block.text):
                parts.append(Part(block.text, level=block.level, props={"heading": _plain(heading)}))
            before = ""
        elif block.kind == "rule":
            before, apart = "", True
        else:
            words, dropped = without_markup(block.text)
            parts += _hidden(dropped)
            # A sentence that ends in a colon introduces the links below it: they are text with it.
            structure = not before.endswith(":") and only_links(words)
            if words.strip():
                prose = _prose(words, name)
                parts.append(replace(prose, structure=structure, apart=apart, joint=block.joint))
                before, apart = words.rstrip(), apart and structure
    return [*parts, *_hidden(comments)], len(comments)


def _fenced(block: split.MarkdownBlock, opening: str) -> str:
    """Returns the text of a code block. A part of a long one is fenced too, so that it is code wherever it is read."""
    if not block.is_cut:
        return block.text
    fence = open_fence(opening) or ""
    text = f"{opening}\n{block.text}" if block.continues else block.text
    is_closed = closes_fence(block.text.rpartition("\n")[2], fence) and block.continues
    return text if is_closed else f"{text}\n{opening[: len(opening) - len(opening.lstrip())]}{fence}"


def _prose(words: str, name: str) -> Part:
    """Returns a block of text. The marks `^id` at the ends of its lines, by which others link to it, become aliases."""
    callout = _CALLOUT.match(words)
    props = {"callout": callout[1].lower()} if callout else {}
    anchors = tuple(f"{name}#^{id_}" for id_ in _ANCHOR.findall(words)) if "^" in words else ()
    text = _ANCHOR.sub("", words).rstrip() if anchors else words
    return Part(text, props=props, links=find_block_links(words, name), aliases=anchors)


def _hidden(lines: Sequence[str]) -> list[Part]:
    """Returns one part without text that has the links and tags of these lines; [] if they have none."""
    text = "\n".join(lines)
    links, tags = (*find_links(text), *find_block_links(text)), find_tags(text)
    return [Part("", structure=True, links=links, tags=tags)] if links or tags else []


def _begins_with_heading(parts: Sequence[Part]) -> bool:
    """True if no text stands before the first heading of level 1: it is the note's title, and not a section's."""
    top = next((number for number, part in enumerate(parts) if part.level == 1), 0)
    return not any(part.text and not part.level and not part.structure for part in parts[:top])


def _plain(heading: str) -> str:
    """Returns the words of a heading without markup; the heading itself if nothing else is left."""
    return _MARKED.sub(lambda m: m[1] or m[2] or "", heading).strip() or heading


# --- frontmatter


def split_front_matter(text: str) -> tuple[str, dict[str, Any], str]:
    """Returns the frontmatter as text, the same as a mapping with lower-case keys, and the body.

    Frontmatter that is not a YAML mapping is left in the body.
    """
    # Some editors leave blank lines before the first rule.
    match = _FRONTMATTER.match(text.lstrip("\n")) if text.lstrip("\n").startswith("---") else None
    if match is None or len(match[1]) > _MAX_CHARS or _is_deep(match[1]):
        return "", {}, text
    # Imported here: it takes 25 ms, and many files have no frontmatter.
    import yaml

    # BaseLoader keeps every value a string: no date errors, no `no` that becomes False, no objects.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        matter = yaml.load(match[1], Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return "", {}, text
    if not isinstance(matter, dict):
        # An empty block is frontmatter without fields; any other text is part of the body.
        return ("", {}, text.lstrip("\n")[match.end() :]) if not match[1].strip() else ("", {}, text)
    return match[1], {str(k).strip().lower(): v for k, v in matter.items()}, text.lstrip("\n")[match.end() :]


def _is_deep(yaml_text: str) -> bool:
    """True if brackets nest so deeply that a recursive parser may fail."""
    depth = deepest = 0
    for char in yaml_text:
        depth += (char in "[{") - (char in "]}")
        deepest = max(deepest, depth)
    return deepest > _MAX_DEPTH


def _text_of(value: object) -> str:
    """Returns the cleaned text of a field, "" if it is empty, null or not a text."""
    return clean(value).strip() if isinstance(value, str) and value.strip().lower() not in _NULLS else ""


def _listed(matter: Mapping[str, Any], separators: str, *keys: str) -> tuple[str, ...]:
    """Returns the values of these keys without repeats. A list gives its items, a text is split at the regular
    expression `separators`; other values are left out.
    """
    found: dict[str, None] = {}
    for key in keys:
        value = matter.get(key)
        items = value if isinstance(value, list) else re.split(separators, value) if isinstance(value, str) else []
        found.update((text, None) for item in items if (text := _text_of(item)) and text != "#")
    return tuple(found)


def _other_fields(matter: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the remaining fields that are texts or lists of texts. Nested fields are left out: they may be huge."""
    known = {"kanban-plugin", "title", "aliases", "alias", "tags", "tag", "buckets", "bucket", "categories", "category"}
    props: dict[str, Any] = {}
    for key, value in matter.items():
        if key in known:
            continue
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            props[key] = [clean(item) for item in value]
        elif _text_of(value):
            props[key] = _text_of(value)
    return props
