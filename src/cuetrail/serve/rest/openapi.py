"""The OpenAPI document of the HTTP server, made from the signatures of the verbs."""

from __future__ import annotations

import re
import types
from collections.abc import Generator, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import cuetrail
from cuetrail.model import Hit, Node
from cuetrail.serve.rest.file_routes import BINARY, FILE_VERBS, JSON_LINES, FileVerb
from cuetrail.serve.rest.mem0 import ENDPOINTS
from cuetrail.serve.rest.problem_details import PROBLEM_JSON
from cuetrail.serve.rest.requests import JSON
from cuetrail.serve.rest.server_sent_events import STREAM
from cuetrail.serve.rest.views.registry import VIEWS
from cuetrail.serve.tool import PLAIN_TYPES, TEXT, TEXTS, Schema, array_of, either, nullable, object_of
from cuetrail.serve.verbs import EFFECTS, memory_verb, verb_tool

# --- schemas of results

_INTEGER, _NUMBER, _BOOLEAN = PLAIN_TYPES[int], PLAIN_TYPES[float], PLAIN_TYPES[bool]
_OBJECT: Schema = {"type": "object"}
_NULL: Schema = {"type": "null"}
_FILE: Schema = {"type": "string", "format": "binary"}


def reference(name: str) -> Schema:
    """Returns a reference to a component of the OpenAPI document."""
    return {"$ref": f"#/components/schemas/{name}"}


_SIMPLE: dict[Any, Schema] = {**PLAIN_TYPES, Path: TEXT, bytes: TEXT, None: _NULL, types.NoneType: _NULL}
_HOP = object_of(src=TEXT, dst=TEXT, energy=_NUMBER, kind=TEXT, weight=nullable(_NUMBER), tags=TEXTS)
_RECOLLECTION = object_of(
    cue=TEXT, text=TEXT, answerable=_BOOLEAN, looked_for=TEXTS, notices=TEXTS, anchors=TEXTS, walkers=TEXTS,
    attempts=array_of(_OBJECT),
    facts=array_of(
        object_of(
            line=TEXT, subject=TEXT, predicate=TEXT, object=TEXT, source=nullable(TEXT), since=_INTEGER, score=_NUMBER,
            fact=_OBJECT, why=_OBJECT,
        )
    ),
    hits=array_of(reference("Hit")), confidence=_NUMBER,
)  # fmt: skip
_BY_TYPE: dict[str, Schema] = {
    "Node": object_of(
        id=TEXT, kind=TEXT, name=nullable(TEXT), text=TEXT, aliases=TEXTS, tags=TEXTS, buckets=TEXTS,
        source=nullable(TEXT), seq=_INTEGER, at=_INTEGER, provenance=TEXT, props=_OBJECT, state=TEXT, salience=_NUMBER,
    ),
    "Activation": object_of(
        seed=TEXT, score=_NUMBER, reason=TEXT, error=nullable(TEXT), tags=TEXTS, depth=_INTEGER,
        paths=array_of(array_of(_HOP)),
    ),
    "Recollection": _RECOLLECTION,
    "Hit": object_of(
        node=reference("Node"), score=_NUMBER, direct=_BOOLEAN, mark=TEXT, why=_OBJECT, cut=_BOOLEAN,
        more=array_of(reference("Hit")),
    ),
    "Narrative": object_of(cue=TEXT, text=TEXT, answerable=_BOOLEAN),
    "Brief": object_of(text=TEXT, owner=TEXT, beliefs=TEXTS, goals=TEXTS, recent=TEXTS),
    "Exploration": object_of(meta=_OBJECT, semantic=_OBJECT, episodic=_OBJECT, artifacts=array_of(_OBJECT)),
    "Traversal": object_of(
        start=TEXTS, mode=TEXT, cut=_BOOLEAN,
        arrivals=array_of(object_of(node=reference("Node"), hops=_INTEGER, score=nullable(_NUMBER), path=TEXTS)),
    ),
    "Comparison": _OBJECT,
}  # fmt: skip
"""Types whose `to_dict` differs from their fields."""


class ResultSchemas:
    """Makes the schemas of results and collects the types they refer to in `components`."""

    def __init__(self) -> None:
        self.components: dict[str, Schema] = {}

    def of(self, verb: str) -> Schema:
        """Returns the schema of a verb's result. A result that is no object is returned as property `result`."""
        hint = get_type_hints(memory_verb(verb))["return"]
        inner = get_args(hint)
        if get_origin(hint) in (Union, types.UnionType) and types.NoneType in inner:
            present = next(one for one in inner if one is not types.NoneType)
            nothing = {**object_of(result={"enum": [None]}), "description": "There is none."}
            self.components["Nothing"] = nothing
            return either(self._schema(present), reference("Nothing"))
        schema = self._schema(hint)
        if verb == "activate":
            whole = object_of(result=schema)
            return {**whole, "properties": {**whole["properties"], "graph": _OBJECT, "context": TEXT, "cypher": TEXT}}
        return schema if "$ref" in schema or schema.get("type") == "object" else object_of(result=schema)

    def _schema(self, hint: Any) -> Schema:
        if hint in _SIMPLE:
            return _SIMPLE[hint]
        origin, inner = get_origin(hint), get_args(hint)
        if origin is Literal:
            return {"enum": list(inner)}
        if origin in (Union, types.UnionType):
            return {"anyOf": [self._schema(one) for one in inner]}
        if origin is Generator:
            return array_of(self._schema(inner[0]))
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self._schema(inner[1])}
        if isinstance(origin, type) and issubclass(origin, Iterable):
            return array_of(self._schema(inner[0]))
        return self._component(hint) if is_dataclass(hint) or hint.__name__ in _BY_TYPE else {}

    def _component(self, type_: Any) -> Schema:
        name = type_.__name__
        if name not in self.components:
            self.components[name] = {}
            if name in _BY_TYPE or hasattr(type_, "to_dict"):
                self._schema(Node)
                self.components[name] = _BY_TYPE.get(name, _OBJECT)
                if name == "Recollection":
                    self._schema(Hit)
            else:
                hints = get_type_hints(type_)
                own = {one.name: self._schema(hints[one.name]) for one in fields(type_)}
                self.components[name] = object_of(**own)
        return reference(name)


# --- the document

EXAMPLES: dict[str, dict[str, Any]] = {
    "activate": {"seeds": [["Ines Okafor", 0.9]], "max_depth": 3},
    "add": {"text": "The antenna stands on the lee side", "tags": ["radio"]},
    "add_many": {"items": ["The antenna stands.", {"text": "It hums.", "tags": ["radio"]}]},
    "brief": {"budget": 1300},
    "chat": {"messages": [{"role": "user", "content": "I live in Oslo."}], "source": "talk-42"},
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


_TAGS = {
    "verbs": "The verbs of a memory.",
    "files": "Verbs that take or return a file.",
    "mem0": "The endpoints of mem0's clients.",
    "page": "What the web page asks for.",
    "server": "The state of the server.",
}


@cache
def openapi_document() -> dict[str, Any]:
    """Returns the whole document, as OpenAPI 3.1."""
    results = ResultSchemas()
    paths = {f"/v1/{name}": _path(name, results) for name, effect in sorted(EFFECTS.items()) if not effect.paths}
    paths |= {f"/v1/{name}": _file_path(name, verb, results) for name, verb in FILE_VERBS.items()}
    paths |= {f"/view/{name}": _view_path(name) for name, view in VIEWS.items() if view.result is not None}
    problem: Schema = {
        **object_of(type=TEXT, title=TEXT, status={"type": "integer"}),
        "description": "Problem details, RFC 9457.",
    }
    problem["properties"] |= {"detail": TEXT, "kind": TEXT}
    problem["required"] += ["detail"]
    readable = _responses("The memory can be read.", JSON, object_of(status={"const": "ok"}))
    health = {
        "operationId": "health", "summary": "Health", "description": "Whether the memory can be read.",
        "tags": ["server"], "responses": readable, "security": [],
    }  # fmt: skip
    metrics = {
        "operationId": "metrics", "summary": "Metrics", "description": "Counts and times of requests, for Prometheus.",
        "tags": ["server"], "responses": _responses("For Prometheus.", "text/plain", TEXT),
    }  # fmt: skip
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "cuetrail",
            "version": cuetrail.__version__,
            "description": "A memory for agents and people.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The server that this document came from."}],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": {"/health": {"get": health}, "/metrics": {"get": metrics}, **paths, **_mem0_paths()},
        "components": {
            "schemas": {"Problem": problem, **results.components},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


def _responses(description: str, media: str, schema: Schema) -> dict[str, Any]:
    response = {"description": description, "content": {media: {"schema": schema}}}
    return {"200": response, "4XX": _PROBLEM, "default": _PROBLEM}


def _identifier(text: str) -> str:
    """Returns the words of a text joined to one, in lower case, that may stand in a URL.

    >>> _identifier("mem0 GET /memories/{id}")
    'mem0_get_memories_id'
    """
    return "_".join(re.findall(r"\w+", text.lower()))


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
            "tags": ["verbs"],
            "summary": tool.title,
            "description": f"{tool.description} {_STREAMED}",
            "parameters": [_KEY] if effect.writes else [],
            "requestBody": {"required": bool(tool.required), "content": {JSON: content}},
            "responses": responses,
        }
    }


def _file_path(name: str, file: FileVerb, results: ResultSchemas) -> dict[str, Any]:
    tool = file.tool
    operation: dict[str, Any] = {
        "operationId": name, "summary": tool.title, "description": tool.description, "tags": ["files"],
    }  # fmt: skip
    if not file.uploads:
        body = {"required": False, "content": {JSON: {"schema": tool.schema}}}
        responses = _responses("A file.", file.media_type, _FILE)
        # Generators of clients know how to read plain bytes; the server sends them if asked to.
        responses["200"]["content"][BINARY] = {"schema": _FILE}
        return {"post": {**operation, "requestBody": body, "responses": responses}}
    query = [
        {"name": one, "in": "query", "required": one in tool.required, "schema": schema}
        for one, schema in tool.properties.items()
    ]
    body = {"required": True, "content": {file.media_type: {"schema": _FILE}}}
    responses = _responses("What was done.", JSON, results.of(file.verb))
    if "report" in tool.properties:
        responses["200"]["content"][JSON_LINES] = {"schema": TEXT}
    return {"post": {**operation, "parameters": [_KEY, *query], "requestBody": body, "responses": responses}}


def _view_path(name: str) -> dict[str, Any]:
    tool, result = VIEWS[name].tool, VIEWS[name].result or {}
    content = {"schema": tool.schema, "example": {"text": "cold conn"}}
    return {
        "post": {
            "operationId": name,
            "tags": ["page"],
            "summary": tool.title,
            "description": tool.description,
            "requestBody": {"required": True, "content": {JSON: content}},
            "responses": _responses("The result.", JSON, result),
        }
    }


def _mem0_paths() -> dict[str, Any]:
    """Returns the endpoints of mem0, by the first path of each."""
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        path, in_path = endpoint.paths[0].replace(":path", ""), endpoint.in_path
        properties = endpoint.tool.properties
        operation: dict[str, Any] = {
            "operationId": _identifier(f"mem0 {endpoint.method} {path}"), "summary": endpoint.tool.title,
            "description": endpoint.tool.description or endpoint.tool.title, "tags": ["mem0"],
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
