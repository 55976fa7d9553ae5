"""The description of the HTTP server, made from the verbs themselves."""

from __future__ import annotations

from functools import cache
from typing import Any

import cuetrail
from cuetrail.serve.rest.file_routes import FILES, FileVerb
from cuetrail.serve.rest.mem0_routes import ALIASES
from cuetrail.serve.rest.problems import MEDIA
from cuetrail.serve.rest.request_body import JSON
from cuetrail.serve.rest.server_sent_events import STREAM
from cuetrail.serve.tool import Schema
from cuetrail.serve.verb_schema import Results, named, thing
from cuetrail.serve.verb_tools import EFFECTS, verb_tool

EXAMPLES: dict[str, dict[str, Any]] = {
    "activate": {"seeds": [["Ines Okafor", 0.9]], "max_depth": 3},
    "add": {"text": "The antenna stands on the lee side", "tags": ["radio"]},
    "add_many": {"items": ["The antenna stands.", {"text": "It hums.", "tags": ["radio"]}]},
    "brief": {"budget": 1300},
    "dream": {"dry_run": True},
    "explore": {"queries": ["the silent receiver"]},
    "fact": {"subject": "Ines Okafor", "predicate": "lives_in", "object": "Turin"},
    "forget": {"ids": ["5f0c1d2e"]},
    "get": {"id": "Ines Okafor"},
    "history": {"id": "5f0c1d2e"},
    "ingest_text": {"text": "# Notes\n\nThe antenna fell.", "source": "notes.md"},
    "link": {"src": "Wingbeat", "dst": "Receiver", "weight": 0.6},
    "narrate": {"cue": "where does Ines live?"},
    "neighbours": {"id": "Ines Okafor", "limit": 5},
    "note": {"target": "Ines Okafor", "text": "back on Monday", "expires": "week"},
    "recall": {"cue": "what did we decide about the antenna?", "budget": 2000},
    "relate": {"src": "Ines Okafor", "dst": "Tomas Lund", "type": "colleague"},
    "tag_walk": {"cue": "antenna", "budget": 2000},
    "traverse": {"start": ["Ines Okafor"], "max_hops": 2},
    "unlink": {"ids": ["5f0c1d2e"]},
}
_PROBLEM = {"description": "What is wrong, and what to do.", "content": {MEDIA: {"schema": named("Problem")}}}
_KEY = {
    "name": "Idempotency-Key", "in": "header", "required": False,
    "description": "The same key again, within an hour, is answered as before and done once.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}  # fmt: skip
_STREAMED = "With `Accept: text/event-stream` events tell how far it is, then the result."


@cache
def document() -> dict[str, Any]:
    """The whole of it, as OpenAPI 3.1."""
    results = Results()
    paths = {f"/v1/{name}": _path(name, results) for name, effect in sorted(EFFECTS.items()) if not effect.paths}
    paths |= {f"/v1/{name}": _file_path(name, verb, results) for name, verb in FILES.items()}
    problem: Schema = {
        **thing(type={"type": "string"}, title={"type": "string"}, status={"type": "integer"}),
        "description": "Problem details, RFC 9457.",
    }
    problem["properties"] |= {"detail": {"type": "string"}, "kind": {"type": "string"}}
    problem["required"] += ["detail"]
    return {
        "openapi": "3.1.0",
        "info": {"title": "cuetrail", "version": cuetrail.__version__},
        "paths": {"/health": _health(), "/metrics": _metrics(), **paths, **_aliases()},
        "components": {
            "schemas": {"Problem": problem, **results.components},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _answered(description: str, media: str, schema: Schema) -> dict[str, Any]:
    return {"200": {"description": description, "content": {media: {"schema": schema}}}, "default": _PROBLEM}


def _health() -> dict[str, Any]:
    said = _answered("The memory can be read.", JSON, thing(status={"const": "ok"}))
    return {"get": {"operationId": "health", "responses": said, "security": []}}


def _metrics() -> dict[str, Any]:
    return {
        "get": {"operationId": "metrics", "responses": _answered("For Prometheus.", "text/plain", {"type": "string"})}
    }


def _path(name: str, results: Results) -> dict[str, Any]:
    tool, effect = verb_tool(name), EFFECTS[name]
    content: dict[str, Any] = {"schema": tool.schema}
    if name in EXAMPLES:
        content["example"] = EXAMPLES[name]
    answers = _answered("The result.", JSON, results.of(name))
    answers["200"]["content"][STREAM] = {"schema": {"type": "string"}}
    return {
        "post": {
            "operationId": name,
            "summary": tool.title,
            "description": f"{tool.description} {_STREAMED}",
            "parameters": [_KEY] if effect.writes else [],
            "requestBody": {"required": bool(tool.required), "content": {JSON: content}},
            "responses": answers,
        }
    }


def _file_path(name: str, file: FileVerb, results: Results) -> dict[str, Any]:
    tool = file.tool
    asked: dict[str, Any] = {"operationId": name, "summary": tool.title, "description": tool.description}
    if not file.takes:
        body = {"required": False, "content": {JSON: {"schema": tool.schema}}}
        return {"post": {**asked, "requestBody": body, "responses": _answered("A file.", file.media, {})}}
    query = [
        {"name": one, "in": "query", "required": one in tool.required, "schema": schema}
        for one, schema in tool.properties.items()
    ]
    body = {"required": True, "content": {file.media: {"schema": {"type": "string", "format": "binary"}}}}
    answers = _answered("What was done.", JSON, results.of(file.verb))
    return {"post": {**asked, "parameters": [_KEY, *query], "requestBody": body, "responses": answers}}


def _aliases() -> dict[str, Any]:
    """What mem0's clients use, by the first path of each."""
    paths: dict[str, Any] = {}
    for alias in ALIASES:
        place, in_path, named_ = alias.paths[0].replace(":path", ""), alias.in_path, alias.tool.properties
        asked: dict[str, Any] = {
            "operationId": f"mem0 {alias.method} {place}", "summary": alias.tool.title, "tags": ["mem0"],
            "responses": _answered("The result.", JSON, alias.result),
        }  # fmt: skip
        asked["parameters"] = [
            {
                "name": name, "in": "path" if name in in_path else "query", "required": name in alias.tool.required,
                "schema": schema,
            }
            for name, schema in named_.items()
            if name in in_path or (not alias.has_body and schema.get("type") != "object")
        ]  # fmt: skip
        if alias.has_body:
            schema = {
                "type": "object", "properties": {n: s for n, s in named_.items() if n not in in_path},
                "required": [name for name in alias.tool.required if name not in in_path],
            }  # fmt: skip
            example = {"example": alias.example} if alias.example else {}
            asked["requestBody"] = {"required": True, "content": {JSON: {"schema": schema, **example}}}
        paths.setdefault(place, {})[alias.method.lower()] = asked
    return paths
