"""The automatic tags that ingest derives from a file's path: its project and its format."""

from cuetrail.model.records import Tag

PROJECT_PREFIX = "project:"
FORMAT_TAGS = frozenset({"doc", "code", "chat"})


def is_path_tag(tag: Tag) -> bool:
    """True if ingest derived the tag from a path. All other automatic tags come from dreaming."""
    return tag.origin == "auto" and (tag.name in FORMAT_TAGS or tag.name.startswith(PROJECT_PREFIX))
