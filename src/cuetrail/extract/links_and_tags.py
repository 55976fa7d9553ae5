"""Finds hashtags in prose, by Obsidian's rules, and links to other notes: `[[wikilinks]]` and relative Markdown links.

>>> find_tags("#radio and #field/notes, not issue #12, C#, the colours #fff and #43b02a or https://x.org/#top")
('radio', 'field/notes')
>>> find_links("See [[people/Ada Lovelace#Work|Ada]], ![[plan]] and [why](../notes/radio%20log.md).")
('Ada Lovelace', 'plan', 'radio log')
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import unquote

from cuetrail.text.prose import prose_only, without_code

# A tag may contain letters of any script and emoji, so the pattern lists what ends it: spaces and punctuation.
_TAG = re.compile(
    r"(?:(?<=[\s(*_,;>|])|\A)#([^\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f\u3000-\u303f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s]{1,200})"
)
_MARK = re.compile(r"#[^\s#]")
# Colours of CSS: six or eight hexadecimal digits, or three with a digit, or three equal letters.
_COLOUR = re.compile(r"(?i:(?=[a-f]*\d)[0-9a-f]{3}|([a-f])\1\1|(?=[a-f]*\d)[0-9a-f]{6}|([a-f])\2{5}|[0-9a-f]{8})")
_MEANING = re.compile(r"[^\d\-/_]")
_WIKI = re.compile(r"\[\[([^\[\]\n]{1,500})\]\]")
_MARKDOWN = re.compile(
    r"\]\([ \t]{0,8}(?:<([^<>\n]{1,500})>|((?:[^\s()<>]|\([^\s()]{0,100}\)){1,500}))[^()\n]{0,300}\)"
)
# Dendron puts the alias first and names notes by dotted paths: [[why we do it|project.reasons#top]].
_DOTTED = re.compile(r"\s*(?:dendron://[^/|]+/)?([\w-]+(?:\.[\w-]+)+)(?:#[^|]*)?\s*")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]{0,20}:")
_DOCUMENT = re.compile(r"\.(?:md|markdown|txt|rst|org|html?|pdf|json|jsonl|ndjson)$", re.IGNORECASE)
_MEDIA = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?|ico|heic|avif|mp[34]|m4[av]|wav|ogg|flac|webm|mov|mkv|avi|zip|gz|canvas|excalidraw)$",
    re.IGNORECASE,
)


def find_tags(text: str) -> tuple[str, ...]:
    """Returns the tags without `#`, as typed, in order. Tags that differ only in case are returned once."""
    # A heading also begins with #, but a space follows.
    if "#" not in text or not _MARK.search(text):
        return ()
    text = _WIKI.sub(" ", prose_only(text))
    tags = (match[1].strip("/-") if match[1][-1] in "/-" else match[1] for match in _TAG.finditer(text))
    return _unique(tag for tag in tags if _MEANING.search(tag) and not _COLOUR.fullmatch(tag))


def find_links(text: str) -> tuple[str, ...]:
    """Returns the linked names in order, without repeats. Skips code, media files and web addresses."""
    if "[[" not in text and "](" not in text:
        return ()
    text = without_code(text)
    found = [(m.start(), _wiki_name(m[1])) for m in _WIKI.finditer(text)]
    found += [(m.start(), link_target_name(m[1] or m[2])) for m in _MARKDOWN.finditer(text)]
    return _unique(name for _, name in sorted(found, key=lambda pair: pair[0]) if name)


def find_block_links(text: str, name: str = "") -> tuple[str, ...]:
    """Returns the names of the blocks that a text links to or embeds. `name` is that of its own note.

    >>> find_block_links("See [[people/Ada#^works|hers]] and ![[#^plan]].", "Tasks")
    ('Ada#^works', 'Tasks#^plan')
    """
    if "#^" not in text:
        return ()
    found = (match[1].partition("|")[0].rstrip("\\").partition("#^") for match in _WIKI.finditer(without_code(text)))
    blocks = ((_stem(note, any_suffix=False) or name, id_.strip()) for note, mark, id_ in found if mark)
    return _unique(f"{note}#^{id_}" for note, id_ in blocks if note and id_)


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    """Returns the names without those that differ from an earlier one only in case."""
    first: dict[str, str] = {}
    for name in names:
        first.setdefault(name.casefold(), name)
    return tuple(first.values())


def link_target_name(href: str) -> str:
    """Returns the file stem that a relative link points to; "" for web addresses, anchors and media."""
    href = href.strip()
    if _SCHEME.match(href) or href.startswith(("//", "#", "?")):
        return ""
    return _stem(unquote(href.split("#", 1)[0].split("?", 1)[0]), any_suffix=True)


def _wiki_name(inner: str) -> str:
    # In tables the bar before an alias is escaped: [[note\|alias]].
    name, _, alias = inner.partition("|")
    name = name.rstrip("\\")
    if (dotted := _DOTTED.fullmatch(alias)) and not _DOTTED.fullmatch(name):
        name = dotted[1]
    name = name.split("#", 1)[0].split("^", 1)[0]
    return "" if _SCHEME.match(name) and "/" in name else _stem(name, any_suffix=False)


def _stem(path: str, any_suffix: bool) -> str:
    """Returns the last part of a path without its suffix, "" for media and archives. Without `any_suffix`, only the
    suffixes of documents are removed: "v1.2" stays.
    """
    name = path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].strip()
    if _MEDIA.search(name) or name in ("", ".", ".."):
        return ""
    if any_suffix and not _DOCUMENT.search(name) and "." in name[1:]:
        return name.rsplit(".", 1)[0].strip()
    return _DOCUMENT.sub("", name).strip()
