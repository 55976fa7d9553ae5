"""Writes docs/rest_reference.md from the OpenAPI document: `python -m scripts.rest_docs`.

A test fails if the page is outdated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cuetrail.serve.rest.openapi import openapi_document
from scripts.schema_docs import table, type_of

DOCUMENT = Path(__file__).parents[1] / "docs" / "rest_reference.md"
INTRODUCTION = """\
<!-- Made by `python -m scripts.rest_docs` from the OpenAPI document. Change the verbs, not this. -->

# REST reference

What `GET /openapi.json` says, for reading. How to start the server, tokens, errors and repeated requests:
[rest.md](rest.md). Arguments are a JSON object in the body, unless the line above their table says otherwise. An
error is a [Problem](#problem). With `Accept: text/event-stream` the verbs that take JSON answer with
[events](rest.md#progress)."""
STREAMED = "With `Accept: text/event-stream` the response is events: progress, then the result."
RESULTS = """\
## Results

The objects that answers consist of. A field that may be null says so."""


def page() -> str:
    """Returns the text of docs/rest_reference.md."""
    document = openapi_document()
    verbs: list[tuple[str, dict[str, Any]]] = []
    mem0: list[tuple[str, dict[str, Any]]] = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            (mem0 if "mem0" in operation.get("tags", ()) else verbs).append((f"{method.upper()} {path}", operation))
    parts = [INTRODUCTION, "## Verbs"]
    parts += [part for name, operation in verbs for part in _operation(name, operation)]
    parts += ["## Paths of mem0", "For clients of mem0: [how to point one here](rest.md#coming-from-mem0)."]
    parts += [part for name, operation in mem0 for part in _operation(name, operation)]
    parts.append(RESULTS)
    for name, schema in document["components"]["schemas"].items():
        fields = table(schema.get("properties", {}), ()).replace("| argument |", "| field |")
        parts += [f"### {name}", schema.get("description", ""), fields]
    return "\n\n".join(part for part in parts if part) + "\n"


def _operation(name: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"### {name}"
    answer = operation["responses"]["200"]
    described = operation.get("description") or operation.get("summary") or answer["description"]
    yield described.replace(STREAMED, "").strip()
    named = [one for one in operation.get("parameters", ()) if one["in"] != "header"]
    if named:
        places = " and ".join(dict.fromkeys(one["in"] for one in named))
        required = [one["name"] for one in named if one["required"]]
        yield f"In the {places}:"
        yield table({one["name"]: one["schema"] for one in named}, required)
    for media, body in operation.get("requestBody", {}).get("content", {}).items():
        schema = body["schema"]
        yield table(schema.get("properties", {}), schema.get("required", ()))
        if media != "application/json":
            yield f"The body is the file (`{media}`)."
        if "example" in body:
            yield f"```json\n{json.dumps(body['example'], ensure_ascii=False)}\n```"
    for media, content in answer["content"].items():
        if media != "text/event-stream":
            yield f"Answers with {_answer(content['schema'], media)}."


def _answer(schema: dict[str, Any], media: str) -> str:
    if media != "application/json":
        return f"`{media}`"
    inner = schema.get("properties", {})
    if list(inner) == ["result"]:
        return f'`{{"result": ...}}`, {type_of(inner["result"])}'
    return type_of(schema) + (" with " + ", ".join(f"`{name}`" for name in inner) if inner else "")


if __name__ == "__main__":
    DOCUMENT.write_text(page(), encoding="utf-8")
