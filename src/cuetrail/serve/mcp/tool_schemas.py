"""The schemas of the arguments and results of the default MCP tools. They are short: every conversation has them."""

from __future__ import annotations

from functools import partial

from cuetrail.serve.tool import TEXT, TEXTS, Schema, array_of, described
from cuetrail.text.similarity import MEASURES

RECALL_TOKENS, BRIEF_TOKENS = 2000, 1300

text, texts = partial(described, TEXT), partial(described, TEXTS)
FLAG: Schema = {"type": "boolean"}
OBJECT: Schema = {"type": "object"}
WHOLE: Schema = {"type": "integer"}


def tokens(default: int) -> Schema:
    """Returns the schema of a token budget."""
    return {"type": "integer", "minimum": 100, "default": default, "description": "budget"}


def object_with(**properties: Schema) -> Schema:
    """Returns the schema of an object with these properties, none of which is required."""
    return {"type": "object", "properties": properties}


def map_of(schema: Schema, **others: Schema) -> Schema:
    """Returns the schema of an object whose values have this schema, except those of the `others`."""
    own = object_with(**others) if others else OBJECT
    return {**own, "additionalProperties": schema}


# --- arguments

LEVEL: Schema = {"type": "integer", "minimum": 1, "maximum": 5}
WHEN = "2026-05-31, yesterday"
FILTERS: dict[str, Schema] = {"tags": texts("all"), "since": text(WHEN), "until": text("likewise")}
EXPLORE: dict[str, Schema] = {
    "queries": described(array_of({"type": ["string", "object"]}), "texts or {query, threshold}"),
    "text_matches": texts("names, tags, types"),
    "relationship_filters": described(OBJECT, "min_/max_ attitude/proximity, [exclude_]relationship_types"),
    "granularity": described(WHOLE, "1 sources, 2 storylines, 3 macros"),
    "mode": text("fast or deep"),
    "multi_query": described(FLAG, "reword queries"),
    "weights": described(OBJECT, "semantic, time, salience"),
    "fuzzy": text(", ".join(MEASURES)),
    "explain": described(FLAG, "say why"),
    "record_access": described(FLAG, "false: no use"),
    **FILTERS,
    "buckets": texts("any"),
    "props": described(OBJECT, "equal"),
    "include_quarantined": described(FLAG, "too"),
    "include_archived": described(FLAG, "too"),
    "tokens": tokens(RECALL_TOKENS),
}
"""All arguments of `Memory.explore` that are no Python objects, and the budget."""

# --- results: the names that every result has, and the types of all others. Lists have items of one or two types.


def _of(*kinds: str, items: Schema) -> Schema:
    """Returns the schema of a value of one of these types; lists have such items."""
    return {"type": list(kinds), "items": items}


_TEXT_OR_OBJECT: Schema = {"type": ["string", "object"]}
_TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
RECALLED = map_of(_of("number", "boolean", "object", "array", items=_TEXT_OR_OBJECT), answerable=FLAG)
ADDED = map_of(_of("string", "number", "boolean", "array", items=_TEXT_OR_NULL))
FACT = map_of(_of("string", "number", "null", "array", items=TEXT))
RELATED = map_of(_TEXT_OR_NULL)
DETAILS = map_of(_of("string", "number", "boolean", "array", items=_TEXT_OR_OBJECT))
EXPLORED = map_of(_of("boolean", "array", items=OBJECT), answerable=FLAG)
BRIEFED = map_of(_of("string", "boolean", "array", items=TEXT))
FORGOTTEN = map_of(_of("boolean", "array", items=TEXT))
SEARCHED = map_of(array_of(map_of(TEXT)))
FETCHED = map_of(TEXT, metadata=map_of(TEXT))
