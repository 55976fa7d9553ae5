"""Where mem0's clients look for a memory: the paths of its own server, and those of its hosted one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cuetrail.serve.compat import mem0
from cuetrail.serve.rest.middleware import ASKED
from cuetrail.serve.rest.request_body import arguments
from cuetrail.serve.tokens import Access
from cuetrail.serve.tool import Answer, Schema, Tool, checked_arguments
from cuetrail.serve.verb_schema import maybe, several, thing
from cuetrail.transfer.formats.mem0 import WHOSE

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.rest.app import Desk

_TEXT: Schema = {"type": "string"}
_NAME: Schema = {"type": "string", "minLength": 1}
_WHOSE: dict[str, Schema] = dict.fromkeys(WHOSE, _NAME)
_MORE: Schema = {"type": "object"}
_MESSAGE = {"type": "object", "properties": {"role": _TEXT, "content": {"type": ["string", "array"]}}}
_MESSAGES: Schema = {"type": ["array", "string"], "items": {**_MESSAGE, "required": ["content"]}}
_TIME: Schema = {"type": ["integer", "string"]}
_COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 1000}

MEMORY = thing(
    id=_TEXT, memory=_TEXT, user_id=maybe(_TEXT), agent_id=maybe(_TEXT), app_id=maybe(_TEXT), run_id=maybe(_TEXT),
    metadata=maybe(_MORE), categories=several(_TEXT), created_at=maybe(_TEXT), updated_at=maybe(_TEXT),
)  # fmt: skip
_SAID = thing(message=_TEXT)


@dataclass(frozen=True, slots=True)
class Alias:
    """Something mem0 does: where, how it is done, for whom, what it takes and what comes back.

    The first of the paths is the one that is described; the others are of other versions.
    """

    method: str
    paths: tuple[str, ...]
    access: Access
    work: Callable[[Memory, dict[str, Any]], Any]
    tool: Tool
    result: Schema
    example: dict[str, Any] | None = None

    @property
    def has_body(self) -> bool:
        """Whether arguments come in the body, and not in the address."""
        return self.method in ("POST", "PUT") or "memories" in self.tool.properties

    @property
    def in_path(self) -> list[str]:
        """The arguments that are part of the path."""
        return re.findall(r"{(\w+)", self.paths[0])


def _no_tool(_memory: Memory, _given: dict[str, Any]) -> Answer:
    raise NotImplementedError("mem0's clients are answered over HTTP alone")


def _tool(said: str, properties: dict[str, Schema], *required: str) -> Tool:
    return Tool("mem0", said, said, properties, _no_tool, required)


def _bare(work: Callable[[Memory, dict[str, Any]], Any]) -> Callable[[Memory, dict[str, Any]], Any]:
    """The results alone, as older versions give them."""
    return lambda memory, given: work(memory, given)["results"]


_ADD = _tool(
    "Remember messages, as mem0 does.",
    {
        **_WHOSE, "messages": _MESSAGES, "text": _TEXT, "metadata": _MORE, "timestamp": _TIME,
        "categories": several(_TEXT),
    },
)  # fmt: skip
_FIND = _tool(
    "Search memories, as mem0 does.",
    {**_WHOSE, "query": _TEXT, "filters": _MORE, "top_k": _COUNT, "limit": _COUNT, "threshold": {"type": "number"}},
    "query",
)
_NUMBER: Schema = {"type": "integer", "minimum": 1, "maximum": 10**6}
_PAGED: dict[str, Schema] = {"page": _NUMBER, "page_size": _NUMBER}
_LIST = _tool("All memories of somebody, as mem0 tells them.", {**_WHOSE, "filters": _MORE, "top_k": _COUNT, **_PAGED})
_ALL = _tool("Delete all memories of somebody.", _WHOSE)
_ONE = _tool("One memory.", {"id": _NAME}, "id")
_PUT = _tool(
    "Correct one memory.",
    {"id": _NAME, "text": _TEXT, "data": _TEXT, "memory": _TEXT, "metadata": _MORE, "timestamp": _TIME}, "id",
)  # fmt: skip
_CHANGED: Schema = {
    "type": "object", "required": ["memory_id"],
    "properties": {"memory_id": _NAME, "text": _TEXT, "metadata": _MORE},
}  # fmt: skip
_SEVERAL: dict[str, Schema] = {"memories": {"type": "array", "items": _CHANGED, "minItems": 1, "maxItems": 1000}}
_WHO = _tool(
    "Delete all memories of a user, an agent, an app or a run.",
    {"type": {"type": "string", "enum": [name.removesuffix("_id") for name in WHOSE]}, "name": _NAME}, "type", "name",
)  # fmt: skip
_FOUND = thing(results=several(MEMORY))
ALIASES: tuple[Alias, ...] = (
    Alias("GET", ("/v1/ping",), "read", mem0.ping, _tool("Whether a token is known.", {}), thing(status=_TEXT)),
    Alias(
        "POST", ("/memories", "/v1/memories", "/v3/memories/add"), "write", mem0.add, _ADD,
        thing(results=several(thing(id=_TEXT, memory=_TEXT, event=_TEXT))),
        {"user_id": "ada", "messages": [{"role": "user", "content": "I like tea."}]},
    ),
    Alias("GET", ("/memories",), "read", lambda m, given: {"results": mem0.listed(m, given)}, _LIST, _FOUND),
    Alias("GET", ("/v1/memories",), "read", mem0.listed, _LIST, several(MEMORY)),
    Alias("POST", ("/v2/memories", "/v3/memories"), "read", mem0.page, _LIST, _FOUND),
    Alias("DELETE", ("/memories", "/v1/memories"), "write", mem0.delete_all, _ALL, _SAID),
    Alias(
        "POST", ("/search", "/v3/memories/search"), "read", mem0.search, _FIND, _FOUND,
        {"query": "does Ada like tea?", "user_id": "ada"},
    ),
    Alias("POST", ("/v1/memories/search", "/v2/memories/search"), "read", _bare(mem0.search), _FIND, several(MEMORY)),
    Alias("GET", ("/memories/{id}", "/v1/memories/{id}"), "read", mem0.get, _ONE, MEMORY),
    Alias("PUT", ("/memories/{id}", "/v1/memories/{id}"), "write", mem0.update, _PUT, MEMORY, {"text": "I like mate."}),
    Alias("DELETE", ("/memories/{id}", "/v1/memories/{id}"), "write", mem0.delete, _ONE, _SAID),
    Alias(
        "GET", ("/memories/{id}/history", "/v1/memories/{id}/history"), "read", mem0.history, _ONE,
        several(thing(memory_id=_TEXT, old_memory=maybe(_TEXT), new_memory=_TEXT, event=_TEXT)),
    ),
    Alias(
        "GET", ("/v1/entities",), "read", mem0.entities, _tool("Whose memories there are.", {}),
        thing(results=several(thing(type=_TEXT, name=_TEXT, total_memories={"type": "integer"}))),
    ),
    Alias("DELETE", ("/v2/entities/{type}/{name:path}",), "write", mem0.delete_entity, _WHO, _SAID),
    Alias("PUT", ("/v1/batch",), "write", mem0.update_many, _tool("Correct several.", _SEVERAL, "memories"), _SAID),
    Alias("DELETE", ("/v1/batch",), "write", mem0.delete_many, _tool("Delete several.", _SEVERAL, "memories"), _SAID),
)  # fmt: skip


def aliases(desk: Desk) -> list[Route]:
    """The routes for mem0's clients, with and without a slash at the end."""
    # Static paths first: "search" is no id.
    ordered = sorted(
        ((path, alias) for alias in ALIASES for path in alias.paths), key=lambda one: ("{" in one[0], one[0])
    )
    routes: list[Route] = []
    for path in dict.fromkeys(path for path, _ in ordered):
        by_method = {alias.method: alias for place, alias in ordered if place == path}
        answer = _endpoint(desk, by_method)
        # With the slash first: a name at the end may have slashes of its own.
        routes += [Route(place, answer, methods=list(by_method)) for place in (f"{path}/", path)]
    return routes


def _numbered(query: Mapping[str, str]) -> dict[str, Any]:
    """What an address says, with numbers where numbers belong."""
    numbers = (*_PAGED, "top_k", "limit")
    return {
        name: int(value) if name in numbers and value.isascii() and value.isdecimal() and len(value) < 10 else value
        for name, value in query.items()
    }


def _endpoint(desk: Desk, by_method: dict[str, Alias]) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        alias = by_method["GET" if request.method == "HEAD" else request.method]
        request.scope[ASKED] = "mem0"
        scope = await desk.allowed(request, alias.access)
        body = await arguments(request, desk.rules) if alias.has_body else {}
        sent = {**_numbered(request.query_params), **body, **request.path_params}
        # mem0's clients send more than means anything here, and each version something else.
        known = {name: value for name, value in sent.items() if name in alias.tool.properties}
        given = checked_arguments(alias.tool, known)
        key = request.headers.get("idempotency-key") if alias.access == "write" else None
        return await desk.answer(
            request, "mem0-delete" if alias.method == "DELETE" else "mem0", scope,
            lambda memory: alias.work(memory, given), None if key is None else (key, repr((request.url.path, given))),
        )  # fmt: skip

    return answer
