"""The endpoints of mem0: the paths of its open-source server and of its hosted service."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cuetrail.serve.compat import mem0
from cuetrail.serve.rest.metrics import VERB_KEY
from cuetrail.serve.rest.request_body import json_arguments
from cuetrail.serve.tokens import Access
from cuetrail.serve.tool import Schema, Tool, checked_arguments, http_only
from cuetrail.serve.verb_schema import TEXT, array_of, nullable, object_of
from cuetrail.transfer.formats.mem0 import OWNER_KEYS

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.rest.service import Service

_NAME: Schema = {"type": "string", "minLength": 1}
_OWNER: dict[str, Schema] = dict.fromkeys(OWNER_KEYS, _NAME)
_OBJECT: Schema = {"type": "object"}
_MESSAGE = {"type": "object", "properties": {"role": TEXT, "content": {"type": ["string", "array"]}}}
_MESSAGES: Schema = {"type": ["array", "string"], "items": {**_MESSAGE, "required": ["content"]}}
_TIME: Schema = {"type": ["integer", "string"]}
_COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 1000}

MEMORY = object_of(
    id=TEXT, memory=TEXT, user_id=nullable(TEXT), agent_id=nullable(TEXT), app_id=nullable(TEXT), run_id=nullable(TEXT),
    metadata=nullable(_OBJECT), categories=array_of(TEXT), created_at=nullable(TEXT), updated_at=nullable(TEXT),
)  # fmt: skip
_MESSAGE_RESULT = object_of(message=TEXT)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An operation of mem0: its method and paths, the access it needs, its arguments and its result.

    The OpenAPI document describes the first path; the others belong to other versions of mem0.
    """

    method: str
    paths: tuple[str, ...]
    access: Access
    run: Callable[[Memory, dict[str, Any]], Any]
    tool: Tool
    result: Schema
    example: dict[str, Any] | None = None

    @property
    def has_body(self) -> bool:
        """True if arguments come in the body instead of the query string."""
        return self.method in ("POST", "PUT") or "memories" in self.tool.properties

    @property
    def in_path(self) -> list[str]:
        """The names of arguments that are part of the path."""
        return re.findall(r"{(\w+)", self.paths[0])


def _tool(description: str, properties: dict[str, Schema], *required: str) -> Tool:
    return http_only("mem0", description, description, properties, *required)


def _results_only(run: Callable[[Memory, dict[str, Any]], Any]) -> Callable[[Memory, dict[str, Any]], Any]:
    """Returns a function whose result is the bare list, as in older versions of mem0."""
    return lambda memory, arguments: run(memory, arguments)["results"]


_ADD = _tool(
    "Remember messages, as mem0 does.",
    {
        **_OWNER, "messages": _MESSAGES, "text": TEXT, "metadata": _OBJECT, "timestamp": _TIME,
        "categories": array_of(TEXT),
    },
)  # fmt: skip
_FIND = _tool(
    "Search memories, as mem0 does.",
    {**_OWNER, "query": TEXT, "filters": _OBJECT, "top_k": _COUNT, "limit": _COUNT, "threshold": {"type": "number"}},
    "query",
)
_NUMBER: Schema = {"type": "integer", "minimum": 1, "maximum": 10**6}
_PAGED: dict[str, Schema] = {"page": _NUMBER, "page_size": _NUMBER}
_LIST = _tool("All memories of a user, agent, app or run.", {**_OWNER, "filters": _OBJECT, "top_k": _COUNT, **_PAGED})
_ALL = _tool("Delete all memories of a user, agent, app or run.", _OWNER)
_ONE = _tool("One memory.", {"id": _NAME}, "id")
_PUT = _tool(
    "Correct one memory.",
    {"id": _NAME, "text": TEXT, "data": TEXT, "memory": TEXT, "metadata": _OBJECT, "timestamp": _TIME}, "id",
)  # fmt: skip
_PUT_EXAMPLE = {"text": "I like mate."}
_CHANGED: Schema = {
    "type": "object", "required": ["memory_id"],
    "properties": {"memory_id": _NAME, "text": TEXT, "metadata": _OBJECT},
}  # fmt: skip
_SEVERAL: dict[str, Schema] = {"memories": {"type": "array", "items": _CHANGED, "minItems": 1, "maxItems": 1000}}
_WHO = _tool(
    "Delete all memories of a user, an agent, an app or a run.",
    {"type": {"type": "string", "enum": [k.removesuffix("_id") for k in OWNER_KEYS]}, "name": _NAME}, "type", "name",
)  # fmt: skip
_PUT_MANY = _tool("Correct several.", _SEVERAL, "memories")
_DELETE_MANY = _tool("Delete several.", _SEVERAL, "memories")
_FOUND = object_of(results=array_of(MEMORY))
ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint("GET", ("/v1/ping",), "read", mem0.ping, _tool("Check a token.", {}), object_of(status=TEXT)),
    Endpoint(
        "POST", ("/memories", "/v1/memories", "/v3/memories/add"), "write", mem0.add, _ADD,
        object_of(results=array_of(object_of(id=TEXT, memory=TEXT, event=TEXT))),
        {"user_id": "ada", "messages": [{"role": "user", "content": "I like tea."}]},
    ),
    Endpoint("GET", ("/memories",), "read", lambda m, given: {"results": mem0.list_memories(m, given)}, _LIST, _FOUND),
    Endpoint("GET", ("/v1/memories",), "read", mem0.list_memories, _LIST, array_of(MEMORY)),
    Endpoint("POST", ("/v2/memories", "/v3/memories"), "read", mem0.page, _LIST, _FOUND),
    Endpoint("DELETE", ("/memories", "/v1/memories"), "write", mem0.delete_all, _ALL, _MESSAGE_RESULT),
    Endpoint(
        "POST", ("/search", "/v3/memories/search"), "read", mem0.search, _FIND, _FOUND,
        {"query": "does Ada like tea?", "user_id": "ada"},
    ),
    Endpoint(
        "POST", ("/v1/memories/search", "/v2/memories/search"), "read", _results_only(mem0.search), _FIND,
        array_of(MEMORY),
    ),
    Endpoint("GET", ("/memories/{id}", "/v1/memories/{id}"), "read", mem0.get, _ONE, MEMORY),
    Endpoint("PUT", ("/memories/{id}", "/v1/memories/{id}"), "write", mem0.update, _PUT, MEMORY, _PUT_EXAMPLE),
    Endpoint("DELETE", ("/memories/{id}", "/v1/memories/{id}"), "write", mem0.delete, _ONE, _MESSAGE_RESULT),
    Endpoint(
        "GET", ("/memories/{id}/history", "/v1/memories/{id}/history"), "read", mem0.history, _ONE,
        array_of(object_of(memory_id=TEXT, old_memory=nullable(TEXT), new_memory=TEXT, event=TEXT)),
    ),
    Endpoint(
        "GET", ("/v1/entities",), "read", mem0.entities, _tool("Users, agents, apps and runs that have memories.", {}),
        object_of(results=array_of(object_of(type=TEXT, name=TEXT, total_memories={"type": "integer"}))),
    ),
    Endpoint("DELETE", ("/v2/entities/{type}/{name:path}",), "write", mem0.delete_entity, _WHO, _MESSAGE_RESULT),
    Endpoint("PUT", ("/v1/batch",), "write", mem0.update_many, _PUT_MANY, _MESSAGE_RESULT),
    Endpoint("DELETE", ("/v1/batch",), "write", mem0.delete_many, _DELETE_MANY, _MESSAGE_RESULT),
)  # fmt: skip


def mem0_routes(service: Service) -> list[Route]:
    """Returns the routes for mem0's clients, with and without a slash at the end."""
    # Fixed paths come first, or "search" would be taken for an id.
    ordered = sorted(
        ((path, endpoint) for endpoint in ENDPOINTS for path in endpoint.paths), key=lambda one: ("{" in one[0], one[0])
    )
    routes: list[Route] = []
    for path in dict.fromkeys(path for path, _ in ordered):
        by_method = {endpoint.method: endpoint for other, endpoint in ordered if other == path}
        respond = _handler(service, by_method)
        # The path with a slash comes first: a name at the end may contain slashes.
        routes += [Route(one, respond, methods=list(by_method)) for one in (f"{path}/", path)]
    return routes


def _query_arguments(query: Mapping[str, str]) -> dict[str, Any]:
    """Returns the arguments of a query string, counts as int."""
    numbers = (*_PAGED, "top_k", "limit")
    return {
        name: int(value) if name in numbers and value.isascii() and value.isdecimal() and len(value) < 10 else value
        for name, value in query.items()
    }


def _handler(service: Service, by_method: dict[str, Endpoint]) -> Callable[[Request], Any]:
    async def respond(request: Request) -> Response:
        endpoint = by_method["GET" if request.method == "HEAD" else request.method]
        request.scope[VERB_KEY] = "mem0"
        scope = await service.authorize(request, endpoint.access)
        body = await json_arguments(request, service.rules) if endpoint.has_body else {}
        sent = {**_query_arguments(request.query_params), **body, **request.path_params}
        # Each version of mem0's clients sends arguments of its own that have no meaning here.
        known = {name: value for name, value in sent.items() if name in endpoint.tool.properties}
        arguments = checked_arguments(endpoint.tool, known)
        key = request.headers.get("idempotency-key") if endpoint.access == "write" else None
        return await service.respond(
            request, "mem0-delete" if endpoint.method == "DELETE" else "mem0", scope,
            lambda memory: endpoint.run(memory, arguments),
            None if key is None else (key, repr((request.url.path, arguments))),
        )  # fmt: skip

    return respond
