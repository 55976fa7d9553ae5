"""The views of the web page by name: the arguments of each, its function, and the schema of its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cuetrail.serve.rest.views.about import about
from cuetrail.serve.rest.views.files import MOST_SOURCES, files
from cuetrail.serve.rest.views.owner import owner
from cuetrail.serve.rest.views.suggest import LIMIT, MOST_CHARS, MOST_SUGGESTED, suggest
from cuetrail.serve.tool import PLAIN_TYPES, TEXT, Schema, Tool, array_of, nullable, object_of

if TYPE_CHECKING:
    from cuetrail.memory import Memory

Read = Callable[["Memory", Mapping[str, Any], bool], dict[str, Any]]
"""Returns the data of a view. True as the last argument: the server answers this machine alone, and may show paths."""


@dataclass(frozen=True, slots=True)
class View:
    """A view: its arguments, its function, and the schema of its result. Those with a schema are in `openapi.json`."""

    tool: Tool
    read: Read
    result: Schema | None = None


_SUGGESTION = object_of(kind=TEXT, text=TEXT, id=nullable(TEXT), nodes=nullable(PLAIN_TYPES[int]))
VIEWS: dict[str, View] = {
    "about": View(
        Tool("about", "About", "A memory with its edges, facts, notes and versions, and the note it is from.",
             {"id": {"type": "string", "minLength": 1}}, required=("id",)),
        about,
    ),
    "files": View(
        Tool("files", "Files", "Where the files of these sources are on the disk of the server.",
             {"sources": {"type": "array", "items": TEXT, "maxItems": MOST_SOURCES}}, required=("sources",)),
        files,
    ),
    "owner": View(Tool("owner", "Owner", "The user, and the facts about the user with their sources.", {}), owner),
    "suggest": View(
        Tool(
            "suggest", "Suggest",
            "Titles, names, tags and buckets that continue a text that is being typed: `#` asks for tags, `@` for "
            "buckets. The best come first.",
            {
                "text": {"type": "string", "maxLength": MOST_CHARS},
                "limit": {"type": "integer", "minimum": 1, "maximum": MOST_SUGGESTED, "default": LIMIT},
            },
            required=("text",),
        ),
        suggest,
        object_of(suggestions=array_of(_SUGGESTION)),
    ),
}  # fmt: skip
"""By name in `POST /view/NAME`."""
