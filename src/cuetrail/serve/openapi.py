"""The description of the HTTP server, made from the verbs themselves."""

from __future__ import annotations

from functools import cache
from typing import Any

import cuetrail
from cuetrail.serve.verbs import EFFECTS, verb_tool

EXAMPLES: dict[str, dict[str, Any]] = {
    "add": {"text": "The antenna stands on the lee side", "tags": ["radio"]},
    "brief": {"budget": 1300},
    "explore": {"queries": ["the silent receiver"]},
    "fact": {"subject": "Ines Okafor", "predicate": "lives_in", "object": "Turin"},
    "forget": {"ids": ["5f0c1d2e"]},
    "ingest_text": {"text": "# Notes\n\nThe antenna fell.", "source": "notes.md"},
    "link": {"src": "Wingbeat", "dst": "Receiver", "weight": 0.6},
    "narrate": {"cue": "where does Ines live?"},
    "recall": {"cue": "what did we decide about the antenna?", "budget": 2000},
    "relate": {"src": "Ines Okafor", "dst": "Tomas Lund", "type": "colleague"},
    "traverse": {"start": ["Ines Okafor"], "max_hops": 2},
}
_JSON, _PROBLEM = "application/json", "application/problem+json"
_PROBLEMS = {"$ref": "#/components/schemas/Problem"}


@cache
def document() -> dict[str, Any]:
    """The whole of it, as OpenAPI 3.1."""
    paths = {f"/v1/{name.rstrip('_')}": _path(name) for name, effect in sorted(EFFECTS.items()) if not effect.paths}
    problem = {
        "type": "object",
        "properties": {
            "type": {"type": "string"}, "title": {"type": "string"}, "status": {"type": "integer"},
            "detail": {"type": "string"}, "kind": {"type": "string"},
        },
        "required": ["type", "title", "status", "detail"],
    }  # fmt: skip
    return {
        "openapi": "3.1.0",
        "info": {"title": "cuetrail", "version": cuetrail.__version__},
        "paths": {"/health": _health(), **paths},
        "components": {
            "schemas": {"Problem": problem},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _health() -> dict[str, Any]:
    ok = {"description": "The memory can be read.", "content": {_JSON: {"schema": {"type": "object"}}}}
    return {"get": {"operationId": "health", "responses": {"200": ok, "default": _problem()}}}


def _problem() -> dict[str, Any]:
    return {"description": "What is wrong, and what to do.", "content": {_PROBLEM: {"schema": _PROBLEMS}}}


def _path(name: str) -> dict[str, Any]:
    tool, verb = verb_tool(name), name.rstrip("_")
    content: dict[str, Any] = {"schema": tool.schema}
    if verb in EXAMPLES:
        content["example"] = EXAMPLES[verb]
    ok = {"description": "The result.", "content": {_JSON: {"schema": {"type": "object"}}}}
    return {
        "post": {
            "operationId": verb,
            "summary": tool.title,
            "description": tool.description,
            "requestBody": {"required": bool(tool.required), "content": {_JSON: content}},
            "responses": {"200": ok, "default": _problem()},
        }
    }
