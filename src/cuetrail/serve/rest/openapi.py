"""The OpenAPI document of the HTTP server, made from the signatures of the verbs."""

from __future__ import annotations

from functools import cache
from typing import Any

import cuetrail
from cuetrail.serve.rest.file_routes import FILE_VERBS, FileVerb
from cuetrail.serve.rest.mem0 import ENDPOINTS
from cuetrail.serve.rest.requests import JSON, PROBLEM_JSON
from cuetrail.serve.rest.server_sent_events import STREAM
from cuetrail.serve.tool import TEXT, Schema, object_of
from cuetrail.serve.verbs import EFFECTS, ResultSchemas, reference, verb_tool

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
_PROBLEM = {
    "description": "What is wrong, and what to do.",
    "content": {PROBLEM_JSON: {"schema": reference("Problem")}},
}
_KEY = {
    "name": "Idempotency-Key", "in": "header", "required": False,
    "description": "A repeated request with the same key, within an hour, runs once and gets the same response.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}  # fmt: skip
_STREAMED = "With `Accept: text/event-stream` the response is events: progress, then the result."


@cache
def openapi_document() -> dict[str, Any]:
    """Returns the whole document, as OpenAPI 3.1."""
    results = ResultSchemas()
    paths = {f"/v1/{name}": _path(name, results) for name, effect in sorted(EFFECTS.items()) if not effect.paths}
    paths |= {f"/v1/{name}": _file_path(name, verb, results) for name, verb in FILE_VERBS.items()}
    problem: Schema = {
        **object_of(type=TEXT, title=TEXT, status={"type": "integer"}),
        "description": "Problem details, RFC 9457.",
    }
    problem["properties"] |= {"detail": TEXT, "kind": TEXT}
    problem["required"] += ["detail"]
    readable = _responses("The memory can be read.", JSON, object_of(status={"const": "ok"}))
    health = {"operationId": "health", "responses": readable, "security": []}
    metrics = {"operationId": "metrics", "responses": _responses("For Prometheus.", "text/plain", TEXT)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "cuetrail", "version": cuetrail.__version__},
        "paths": {"/health": {"get": health}, "/metrics": {"get": metrics}, **paths, **_mem0_paths()},
        "components": {
            "schemas": {"Problem": problem, **results.components},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _responses(description: str, media: str, schema: Schema) -> dict[str, Any]:
    return {"200": {"description": description, "content": {media: {"schema": schema}}}, "default": _PROBLEM}


def _path(name: str, results: ResultSchemas) -> dict[str, Any]:
    tool, effect = verb_tool(name), EFFECTS[name]
    content: dict[str, Any] = {"schema": tool.schema}
    if name in EXAMPLES:
        content["example"] = EXAMPLES[name]
    responses = _responses("The result.", JSON, results.of(name))
    responses["200"]["content"][STREAM] = {"schema": TEXT}
    return {
        "post": {
            "operationId": name,
            "summary": tool.title,
            "description": f"{tool.description} {_STREAMED}",
            "parameters": [_KEY] if effect.writes else [],
            "requestBody": {"required": bool(tool.required), "content": {JSON: content}},
            "responses": responses,
        }
    }


def _file_path(name: str, file: FileVerb, results: ResultSchemas) -> dict[str, Any]:
    tool = file.tool
    operation: dict[str, Any] = {"operationId": name, "summary": tool.title, "description": tool.description}
    if not file.uploads:
        body = {"required": False, "content": {JSON: {"schema": tool.schema}}}
        return {"post": {**operation, "requestBody": body, "responses": _responses("A file.", file.media_type, {})}}
    query = [
        {"name": one, "in": "query", "required": one in tool.required, "schema": schema}
        for one, schema in tool.properties.items()
    ]
    body = {"required": True, "content": {file.media_type: {"schema": {"type": "string", "format": "binary"}}}}
    responses = _responses("What was done.", JSON, results.of(file.verb))
    return {"post": {**operation, "parameters": [_KEY, *query], "requestBody": body, "responses": responses}}


def _mem0_paths() -> dict[str, Any]:
    """Returns the endpoints of mem0, by the first path of each."""
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        path, in_path = endpoint.paths[0].replace(":path", ""), endpoint.in_path
        properties = endpoint.tool.properties
        operation: dict[str, Any] = {
            "operationId": f"mem0 {endpoint.method} {path}", "summary": endpoint.tool.title, "tags": ["mem0"],
            "responses": _responses("The result.", JSON, endpoint.result),
        }  # fmt: skip
        operation["parameters"] = [
            {
                "name": name, "in": "path" if name in in_path else "query", "required": name in endpoint.tool.required,
                "schema": schema,
            }
            for name, schema in properties.items()
            if name in in_path or (not endpoint.has_body and schema.get("type") != "object")
        ]  # fmt: skip
        if endpoint.has_body:
            schema = {
                "type": "object", "properties": {n: s for n, s in properties.items() if n not in in_path},
                "required": [name for name in endpoint.tool.required if name not in in_path],
            }  # fmt: skip
            example = {"example": endpoint.example} if endpoint.example else {}
            operation["requestBody"] = {"required": True, "content": {JSON: {"schema": schema, **example}}}
        paths.setdefault(path, {})[endpoint.method.lower()] = operation
    return paths
