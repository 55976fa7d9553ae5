"""Tables of arguments and results from JSON Schemas, for the pages on REST and MCP."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

Schema = Mapping[str, Any]


def table(properties: Mapping[str, Schema], required: Collection[str]) -> str:
    """Returns a Markdown table of properties: name, type, and what else the schema says. "" if there are none."""
    rows = [
        f"| `{name}`{' (required)' if name in required else ''} | {_cell(type_of(schema))} | {_cell(_notes(schema))} |"
        for name, schema in properties.items()
    ]
    return "\n".join(["| argument | type | |", "|---|---|---|", *rows]) if rows else ""


def type_of(schema: Schema) -> str:
    """Returns the type that a schema describes, in a few words."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{one}`" for one in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(type_of(one) for one in schema["anyOf"]))
    kind = schema.get("type", "any")
    kinds = kind if isinstance(kind, list) else [kind]
    return " or ".join(_plain(one, schema) for one in kinds)


def _plain(kind: str, schema: Schema) -> str:
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(type_of(one) for one in schema['prefixItems'])}]".replace("[", "\\[", 1)
        return f"list of {type_of(schema['items'])}" if schema.get("items") else "list"
    if kind == "string" and "format" in schema:
        return str(schema["format"])
    return kind


def _notes(schema: Schema) -> str:
    """Returns the description, bounds and default of a schema."""
    notes = [schema["description"]] if "description" in schema else []
    if "maximum" in schema:
        notes.append(f"{schema.get('minimum', 0):,} to {schema['maximum']:,}")
    if "maxItems" in schema and "prefixItems" not in schema:
        notes.append(f"at most {schema['maxItems']:,}")
    if "default" in schema:
        notes.append(f"default `{json.dumps(schema['default'])}`")
    return "; ".join(notes)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
