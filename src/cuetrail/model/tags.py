"""Tags and buckets: their normalised form, and the tags that describe no topic or come from the path of a file."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from cuetrail.model.records import Origin, Tag
from cuetrail.text.normalise import clean, norm_tag

GENERIC_TAGS = frozenset({"core", "misc", "general", "other", "unknown", "inbox", "pending", "notebook"})
"""Tags and buckets that do not describe their content."""

FORMAT_TAGS = frozenset({"doc", "code", "chat"})
"""Tags that ingest gives by the kind of a file."""

PROJECT_PREFIX = "project:"
"""Tags with this prefix name the outermost folder of a file."""


def make_tags(tags: Iterable[str], origin: Origin = "user") -> tuple[Tag, ...]:
    """Returns these tag names as tags, normalised, in the order given. Repeats and empty names are dropped."""
    unique: dict[str, Tag] = {}
    for raw in tags:
        tag = _tag(raw, origin)
        if tag.name:
            unique.setdefault(tag.name, tag)
    return tuple(unique.values())


def norm_buckets(buckets: Iterable[str]) -> tuple[str, ...]:
    """Returns the buckets normalised like tags, in the order given, without repeats."""
    return _buckets(tuple(buckets))


def is_topic(tag: str) -> bool:
    """True if a tag describes a topic: it is neither generic (such as inbox) nor a file's format or folder.

    >>> [tag for tag in ("radio", "inbox", "doc", "project:masts") if is_topic(tag)]
    ['radio']
    """
    return tag not in GENERIC_TAGS and tag not in FORMAT_TAGS and not tag.startswith(PROJECT_PREFIX)


def is_path_tag(tag: Tag) -> bool:
    """True for the tags that ingest gives every file: its format (doc, code, chat) and its outermost folder. Other
    automatic tags come from dreams.
    """
    return tag.origin == "auto" and (tag.name in FORMAT_TAGS or tag.name.startswith(PROJECT_PREFIX))


# Tags repeat, so most of them are normalised once.
@lru_cache(maxsize=65536)
def _tag(raw: str, origin: Origin) -> Tag:
    return Tag(norm_tag(raw), clean(raw).strip().lstrip("#@").strip(), origin)


@lru_cache(maxsize=4096)
def _buckets(buckets: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, map(norm_tag, buckets))))
