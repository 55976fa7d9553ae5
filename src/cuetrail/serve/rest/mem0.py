"""The REST interface of mem0: its paths, and its operations add, search, list, update, history and delete.

A memory of mem0 is an atom. Its owner (`user_id`, `agent_id`, `app_id`, `run_id`) is stored in its props and as its
buckets, which the search filters by. The token decides who may read it at all. Messages are stored as they are: no
language model extracts facts from them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cuetrail.errors import InputError, NotFound
from cuetrail.model import Budget, Node, TextQuery, Where
from cuetrail.model.ids import digest
from cuetrail.model.tags import norm_buckets
from cuetrail.serve.json_data import to_json_data
from cuetrail.serve.memory_access import delete_nodes
from cuetrail.serve.rest.auth import Access
from cuetrail.serve.rest.middleware import VERB_KEY
from cuetrail.serve.rest.requests import json_arguments, json_bytes
from cuetrail.serve.tool import TEXT, TEXTS, Schema, Tool, array_of, checked_arguments, either, nullable, object_of
from cuetrail.serve.write_queue import Write
from cuetrail.text.timestamps import milliseconds
from cuetrail.transfer.formats.mem0 import FORMAT, OWNER_KEYS
from cuetrail.transfer.formats.text_files import to_iso, to_ms
from cuetrail.validation.limits import MOST

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.serve.rest.service import Service

MAX_MEMORIES, PAGE_SIZE, SEARCH_RESULTS = 100_000, 100, 10
# If filters remove too many results, the search is repeated with this many times the limit.
DEEPER = 8
_UNBOUNDED = Budget(chars=MOST["budget"])

Arguments = dict[str, Any]
Json = dict[str, Any]


def memory_json(node: Node) -> Json:
    """Returns a node in mem0's JSON format."""
    props = dict(node.props)
    row: Json = {"id": node.id, "memory": node.text or node.name or "", "hash": digest(node.text)}
    row |= {name: props.get(name) for name in OWNER_KEYS}
    metadata = props.get("metadata")
    return {
        **row, "metadata": to_json_data(metadata) if isinstance(metadata, Mapping) else None,
        "categories": [tag.display for tag in node.tag_details if tag.origin == "user"],
        "created_at": to_iso(node.at), "updated_at": to_iso(node.updated),
    }  # fmt: skip


def add(memory: Memory, given: Arguments) -> Json:
    """Adds each message as a memory. The same text of the same owner is one memory. Raises InputError without an owner
    or a text.
    """
    owner = _owner(given)
    if not owner:
        raise InputError("say whose it is: user_id, agent_id, app_id or run_id")
    texts = _texts(given)
    known = memory.nodes(*(_id(owner, text) for _, text in texts))
    results: list[Json] = []
    event = _uuid(digest(FORMAT, "event", *(_id(owner, text) for _, text in texts)))
    for role, text in texts:
        props = {**owner, "role": role, "event": event} | (
            {"metadata": given["metadata"]} if "metadata" in given else {}
        )
        node = memory.add(
            text, id=_id(owner, text), source=FORMAT, buckets=list(owner.values()), props=props,
            tags=given.get("categories", ()), at=_when(given.get("timestamp")), allow_again=True,
        )  # fmt: skip
        results.append({"id": node.id, "memory": node.text, "event": "NONE" if node.id in known else "ADD"})
    return {"results": results, "event_id": event, "status": "SUCCEEDED", "message": "The memories are stored."}


def _uuid(hex_digits: str) -> str:
    return str(UUID(hex_digits))


def event(memory: Memory, given: Arguments) -> Json:
    """Returns what an addition stored, by the event_id of its answer. Raises InputError for no UUID, and NotFound."""
    id_ = _known_form(given["event_id"], "event")
    where = Where(kinds=("atom",), archived=True, props=(("event", json.dumps(id_)),))
    found = memory.store.text(memory.scope, TextQuery(""), MAX_MEMORIES, where, nodes=True)
    rows = [memory_json(one.node) for one in found if one.node is not None]
    if not rows:
        raise NotFound(f"there is no event {id_!r:.80} in this scope")
    begun, ended = min(row["created_at"] for row in rows), max(row["updated_at"] for row in rows)
    return {
        "id": id_, "event_type": "ADD", "status": "SUCCEEDED", "results": rows, "created_at": begun,
        "updated_at": ended, "started_at": begun, "completed_at": ended,
    }  # fmt: skip


def _known_form(id_: str, what: str = "memory") -> str:
    """Returns an id as it is. Raises InputError if it is no UUID, which those of memories and events are."""
    try:
        UUID(id_)
    except ValueError:
        raise InputError(f"{id_!r:.80} is no id of a {what}: it must be a UUID") from None
    return id_


def _id(owner: Mapping[str, str], text: str) -> str:
    return digest(FORMAT, *(f"{name}={value}" for name, value in sorted(owner.items())), text)


def _texts(given: Arguments) -> list[tuple[str, str]]:
    """Returns role and text of each message, without system prompts. Raises InputError if there is none."""
    messages: Any = given.get("messages") or given.get("text") or []
    rows = [{"content": messages}] if isinstance(messages, str) else messages
    texts = [(str(one.get("role", "user")), _content(one.get("content"))) for one in rows]
    found = [(role, text) for role, text in texts if role != "system" and text.strip()]
    if not found:
        raise InputError('there is nothing to remember: send {"messages": [{"role": "user", "content": "..."}]}')
    return found


def _content(content: Any) -> str:
    """Returns the text of a message; of a list of parts, the texts joined by line ends."""
    if isinstance(content, list):
        return "\n".join(str(part["text"]) for part in content if isinstance(part, dict) and "text" in part)
    return content if isinstance(content, str) else ""


def _when(value: Any) -> int | None:
    if value is None:
        return None
    found = to_ms(value)
    return milliseconds(str(value)) if found is None else found


def _owner(given: Mapping[str, Any]) -> dict[str, str]:
    """Returns those of the owner's ids (user_id, agent_id, app_id, run_id) that the arguments or their filters give.

    Filters inside OR and NOT do not count.
    """
    filters = given.get("filters")
    parts = [given, *_conditions(filters)] if isinstance(filters, Mapping) else [given]
    return {
        name: str(part[name])
        for part in parts
        for name in OWNER_KEYS
        if isinstance(part.get(name), str | int) and part[name] != "*"
    }


def _conditions(filters: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns the filters that must all hold: the top level and its AND."""
    both = filters.get("AND", ())
    return [filters, *(one for one in both if isinstance(one, Mapping))]


def _passes(row: Mapping[str, Any], condition: Mapping[str, Any]) -> bool:
    """True if a memory passes a filter: names with values or comparisons, and AND, OR, NOT. Raises InputError for what
    is no filter, and for an unknown comparison.
    """
    if not isinstance(condition, Mapping):
        raise InputError(f'a filter must be an object, such as {{"user_id": "ada"}}, not {condition!r:.60}')
    for name, wanted in condition.items():
        if name in ("AND", "OR", "NOT"):
            found = [_passes(row, one) for one in (wanted if isinstance(wanted, list) else [wanted])]
            if not (all(found) if name == "AND" else any(found) is (name == "OR")):
                return False
        elif name == "metadata" and isinstance(wanted, Mapping):
            if not _passes(row.get("metadata") or {}, wanted):
                return False
        elif not _matches(row[name] if name in row else (row.get("metadata") or {}).get(name), wanted):
            return False
    return True


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda one, other: one == other, "ne": lambda one, other: one != other,
    "gt": lambda one, other: one > other, "gte": lambda one, other: one >= other,
    "lt": lambda one, other: one < other, "lte": lambda one, other: one <= other,
    "in": lambda one, other: one in other, "nin": lambda one, other: one not in other,
    "contains": lambda one, other: other in one,
    "icontains": lambda one, other: str(other).lower() in str(one).lower(),
}  # fmt: skip


def _matches(value: Any, wanted: Any) -> bool:
    if wanted == "*":
        return value is not None
    if not isinstance(wanted, Mapping):
        return bool(value == wanted) if not isinstance(value, list) else wanted in value
    unknown = [name for name in wanted if name not in _COMPARISONS]
    if unknown:
        raise InputError(f"there is no comparison {unknown[0]!r:.40}: use {', '.join(_COMPARISONS)}")
    try:
        return value is not None and all(_COMPARISONS[name](value, other) for name, other in wanted.items())
    except TypeError:
        return False


def _condition(given: Arguments) -> Json:
    """Returns the owner and the filters of the arguments as one filter. Raises InputError for invalid filters."""
    filters = given.get("filters")
    if filters is not None and not isinstance(filters, Mapping):
        raise InputError('filters must be an object, such as {"user_id": "ada"}')
    _passes({}, filters or {})
    return {"AND": [_owner(given), filters or {}]}


def search(memory: Memory, given: Arguments) -> Json:
    """Returns the memories that match a query and the filters, best first."""
    limit: int = given["top_k"] if "top_k" in given else given.get("limit", SEARCH_RESULTS)
    condition = _condition(given)
    threshold = given.get("threshold")
    buckets, wanted = norm_buckets(_owner(given).values()), limit
    while True:
        found = memory.recall(
            given["query"], kinds=["atom"], buckets=buckets, limit=wanted, budget=_UNBOUNDED
        ) if limit > 0 else None  # fmt: skip
        hits = found.passages if found is not None and found.answerable else ()
        rows = [{**memory_json(hit.node), "score": hit.score} for hit in hits]
        rows = [row for row in rows if _passes(row, condition) and (threshold is None or row["score"] >= threshold)]
        if len(rows) >= limit or len(hits) < wanted or wanted >= MOST["limit"]:
            return {"results": rows[:limit]}
        wanted = min(DEEPER * wanted, MOST["limit"])


def list_memories(memory: Memory, given: Arguments) -> list[Json]:
    """Returns all memories that pass the filters, newest first."""
    where = Where(kinds=("atom",), buckets=norm_buckets(_owner(given).values()), archived=True)
    found = memory.store.text(memory.scope, TextQuery(""), MAX_MEMORIES, where, nodes=True)
    nodes = [one.node for one in found if one.node is not None]
    nodes.sort(key=lambda node: (-node.at, node.id))
    condition = _condition(given)
    return [row for row in map(memory_json, nodes) if _passes(row, condition)]


def page(memory: Memory, given: Arguments) -> Json:
    """Returns one page of the memories that pass the filters, newest first, with the number of all that pass (`count`)
    and the addresses of the next and previous page. Raises InputError for invalid filters or page numbers.
    """
    rows = list_memories(memory, given)
    number, size = int(given.get("page", 1)), int(given.get("page_size", PAGE_SIZE))
    if number < 1 or size < 1:
        raise InputError("page and page_size begin with 1")
    return {
        "count": len(rows), "next": _page_url(number + 1, size) if number * size < len(rows) else None,
        "previous": _page_url(number - 1, size) if number > 1 else None,
        "results": rows[(number - 1) * size : number * size],
    }  # fmt: skip


def _page_url(number: int, size: int) -> str:
    return f"/v3/memories/?page={number}&page_size={size}"


def get(memory: Memory, given: Arguments) -> Json:
    """Returns one memory. Raises NotFound."""
    return memory_json(_find(memory, given["id"]))


def _find(memory: Memory, id_: str) -> Node:
    node = memory.nodes(id_).get(id_)
    if node is None:
        # Memories that were imported may have other ids.
        _known_form(id_)
        raise NotFound(f"there is no memory {id_!r:.80} in this scope: /search finds ids")
    return node


def update(memory: Memory, given: Arguments) -> Json:
    """Changes a memory; its old text stays in its history. Raises NotFound."""
    node = _find(memory, given["id"])
    text = next((given[name] for name in ("text", "data", "memory") if isinstance(given.get(name), str)), node.text)
    props = dict(node.props) | ({"metadata": given["metadata"]} if "metadata" in given else {})
    when = _when(given.get("timestamp"))
    made = memory.add(
        text, id=node.id, kind=node.kind, name=node.name, aliases=node.aliases, buckets=node.buckets, props=props,
        tags=[tag.display for tag in node.tag_details if tag.origin == "user"], source=node.source,
        at=node.at if when is None else when, provenance=node.provenance, allow_again=True,
    )  # fmt: skip
    return {**memory_json(made), "message": "Memory updated successfully!"}


def history(memory: Memory, given: Arguments) -> list[Json]:
    """Returns all versions of a memory, oldest first. Raises NotFound."""
    node = _find(memory, given["id"])
    versions = memory.history(node.id)
    texts = [*(version.text for version in versions), node.text]
    times = [node.created, *(version.at for version in versions)]
    before = [None, *texts]
    return [
        {
            "id": digest(node.id, str(number)), "memory_id": node.id, "old_memory": before[number],
            "new_memory": text, "event": "UPDATE" if number else "ADD", "created_at": to_iso(node.created),
            "updated_at": to_iso(times[number]), "is_deleted": False,
        }
        for number, text in enumerate(texts)
    ]  # fmt: skip


def delete(memory: Memory, given: Arguments) -> Json:
    """Forgets one memory. Equal texts of other owners stay. Raises NotFound."""
    delete_nodes(memory, [], [_find(memory, given["id"])])
    return {"message": "Memory deleted successfully!"}


def delete_all(memory: Memory, given: Arguments) -> Json:
    """Forgets all memories of an owner. Raises InputError if none is named."""
    if not _owner(given):
        raise InputError("say whose memories to delete: user_id, agent_id, app_id or run_id")
    nodes = memory.nodes(*(row["id"] for row in list_memories(memory, given)))
    delete_nodes(memory, [], list(nodes.values()))
    return {"message": "Memories deleted successfully!"}


def entities(memory: Memory, _given: Arguments) -> Json:
    """Returns every user, agent, app and run that has memories, and how many."""
    found: dict[tuple[str, str], list[Json]] = {}
    for row in list_memories(memory, {}):
        for name in OWNER_KEYS:
            if row[name] is not None:
                found.setdefault((name.removesuffix("_id"), str(row[name])), []).append(row)
    results = [
        {
            "id": digest(kind, name), "type": kind, "name": name, "total_memories": len(rows),
            "created_at": min(row["created_at"] for row in rows), "updated_at": max(row["updated_at"] for row in rows),
        }
        for (kind, name), rows in sorted(found.items())
    ]  # fmt: skip
    return {"count": len(results), "results": results}


def delete_entity(memory: Memory, given: Arguments) -> Json:
    """Forgets all memories of one user, agent, app or run; there may be none."""
    delete_all(memory, {f"{given['type']}_id": given["name"]})
    return {"message": "Entity deleted successfully!"}


def reset(memory: Memory, _given: Arguments) -> Json:
    """Forgets the memories of all users, agents, apps and runs in this scope, and nothing else."""
    rows = list_memories(memory, {})
    nodes = memory.nodes(*(row["id"] for row in rows if any(row[name] is not None for name in OWNER_KEYS)))
    delete_nodes(memory, [], list(nodes.values()))
    return {"message": "All memories reset"}


def update_many(memory: Memory, given: Arguments) -> Json:
    """Changes several memories. Raises NotFound before any change if one is missing."""
    rows = [{**row, "id": row["memory_id"]} for row in given["memories"]]
    for row in rows:
        _find(memory, row["id"])
    for row in rows:
        update(memory, row)
    return {"message": f"Successfully updated {len(rows)} memories"}


def delete_many(memory: Memory, given: Arguments) -> Json:
    """Deletes several memories. Raises NotFound before any change if one is missing."""
    nodes = {row["memory_id"]: _find(memory, row["memory_id"]) for row in given["memories"]}
    delete_nodes(memory, [], list(nodes.values()))
    return {"message": f"Successfully deleted {len(nodes)} memories"}


def ping(memory: Memory, _given: Arguments) -> Json:
    """Returns the response to the first request of mem0's clients, with the organisation and project they require."""
    return {"status": "ok", "org_id": memory.scope.tenant, "project_id": memory.scope.user, "user_email": None}


# --- endpoints

_NAME: Schema = {"type": "string", "minLength": 1}
_OBJECT: Schema = {"type": "object"}
_OWNER: dict[str, Schema] = dict.fromkeys(OWNER_KEYS, _NAME)
_CONTENT = either(TEXT, array_of({"type": "object"}))
_MESSAGE = {"type": "object", "properties": {"role": TEXT, "content": _CONTENT}, "required": ["content"]}
_MESSAGES: Schema = either(TEXT, array_of(_MESSAGE))
_TIME: Schema = either({"type": "integer"}, TEXT)
_COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 1000}

MEMORY = object_of(
    id=TEXT, memory=TEXT, user_id=nullable(TEXT), agent_id=nullable(TEXT), app_id=nullable(TEXT), run_id=nullable(TEXT),
    metadata=nullable(_OBJECT), categories=TEXTS, created_at=nullable(TEXT), updated_at=nullable(TEXT),
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
    return Tool("mem0", description, description, properties, required=required)


_ADD = _tool(
    "Remember messages, as mem0 does.",
    {**_OWNER, "messages": _MESSAGES, "text": TEXT, "metadata": _OBJECT, "timestamp": _TIME, "categories": TEXTS},
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
    Endpoint("GET", ("/v1/ping",), "read", ping, _tool("Check a token.", {}), object_of(status=TEXT)),
    Endpoint(
        "POST", ("/memories", "/v1/memories", "/v3/memories/add"), "write", add, _ADD,
        object_of(results=array_of(object_of(id=TEXT, memory=TEXT, event=TEXT)), event_id=TEXT, status=TEXT),
        {"user_id": "ada", "messages": [{"role": "user", "content": "I like tea."}]},
    ),
    Endpoint("GET", ("/memories",), "read", lambda m, given: {"results": list_memories(m, given)}, _LIST, _FOUND),
    Endpoint("GET", ("/v1/memories",), "read", list_memories, _LIST, array_of(MEMORY)),
    Endpoint("POST", ("/v2/memories", "/v3/memories"), "read", page, _LIST, _FOUND),
    Endpoint("DELETE", ("/memories", "/v1/memories"), "write", delete_all, _ALL, _MESSAGE_RESULT),
    Endpoint(
        "POST", ("/search", "/v3/memories/search"), "read", search, _FIND, _FOUND,
        {"query": "does Ada like tea?", "user_id": "ada"},
    ),
    Endpoint(
        # Older versions of mem0 get the bare list.
        "POST", ("/v1/memories/search", "/v2/memories/search"), "read",
        lambda memory, given: search(memory, given)["results"], _FIND, array_of(MEMORY),
    ),
    Endpoint("GET", ("/memories/{id}", "/v1/memories/{id}"), "read", get, _ONE, MEMORY),
    Endpoint("PUT", ("/memories/{id}", "/v1/memories/{id}"), "write", update, _PUT, MEMORY, _PUT_EXAMPLE),
    Endpoint("DELETE", ("/memories/{id}", "/v1/memories/{id}"), "write", delete, _ONE, _MESSAGE_RESULT),
    Endpoint(
        "GET", ("/memories/{id}/history", "/v1/memories/{id}/history"), "read", history, _ONE,
        array_of(object_of(memory_id=TEXT, old_memory=nullable(TEXT), new_memory=TEXT, event=TEXT)),
    ),
    Endpoint(
        "GET", ("/v1/entities",), "read", entities, _tool("Users, agents, apps and runs that have memories.", {}),
        object_of(results=array_of(object_of(type=TEXT, name=TEXT, total_memories={"type": "integer"}))),
    ),
    Endpoint(
        "DELETE", ("/v2/entities/{type}/{name:path}", "/v1/entities/{type}/{name:path}"), "write", delete_entity, _WHO,
        _MESSAGE_RESULT,
    ),
    Endpoint("POST", ("/reset",), "write", reset, _tool("Delete all memories of mem0's clients.", {}), _MESSAGE_RESULT),
    Endpoint(
        "GET", ("/v1/event/{event_id}",), "read", event,
        _tool("What an addition stored.", {"event_id": _NAME}, "event_id"),
        object_of(id=TEXT, event_type=TEXT, status=TEXT, results=array_of(MEMORY)),
    ),
    Endpoint("PUT", ("/v1/batch",), "write", update_many, _PUT_MANY, _MESSAGE_RESULT),
    Endpoint("DELETE", ("/v1/batch",), "write", delete_many, _DELETE_MANY, _MESSAGE_RESULT),
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
    """Returns the arguments of a query string; those that are counts, such as `top_k`, as int."""
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
        if endpoint.access == "read":
            return await service.respond("mem0", scope, lambda memory: endpoint.run(memory, arguments))
        name = "mem0-delete" if endpoint.method == "DELETE" or endpoint.run is reset else "mem0"
        work = partial(_json_of_write, ENDPOINTS.index(endpoint), arguments)
        key = await service.key(request, lambda: repr((request.url.path, arguments)))
        return await service.respond_to_write(Write(name, scope, work), key)

    return respond


def _json_of_write(number: int, arguments: Arguments, memory: Memory, _progress: object) -> bytes:
    return json_bytes(ENDPOINTS[number].run(memory, arguments))
