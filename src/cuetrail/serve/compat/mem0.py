"""The memory as mem0's server and clients know it, so that they can be pointed here: /memories, /search, history.

A memory of mem0 is an atom. Whose it is (`user_id`, `agent_id`, `app_id`, `run_id`) is kept in its props and as its
buckets, by which it is found; who may see it at all is still a matter of the token. What is added is kept as it was
said: no model picks facts out of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cuetrail.errors import InputError, NotFound
from cuetrail.model import Budget, Node, TextQuery, Where
from cuetrail.model.ids import digest
from cuetrail.model.tags import norm_buckets
from cuetrail.serve.compat.mcp_memory import drop
from cuetrail.serve.tool import plain
from cuetrail.text.timestamps import milliseconds
from cuetrail.transfer.formats.mem0 import FORMAT, WHOSE
from cuetrail.transfer.formats.text_files import to_iso, to_ms

if TYPE_CHECKING:
    from cuetrail.memory import Memory

MOST, PAGE, FOUND = 100_000, 100, 10
# Among those of several people, so many times more are looked at.
DEEPER = 8
_UNBOUNDED = Budget(chars=1 << 30)

Given = dict[str, Any]


def told(node: Node) -> Given:
    """A memory as mem0 tells it."""
    props = dict(node.props)
    row: Given = {"id": node.id, "memory": node.text or node.name or "", "hash": digest(node.text)}
    row |= {name: props.get(name) for name in WHOSE}
    metadata = props.get("metadata")
    return {
        **row, "metadata": plain(metadata) if isinstance(metadata, Mapping) else None,
        "categories": [tag.display for tag in node.tag_details if tag.origin == "user"],
        "created_at": to_iso(node.at), "updated_at": to_iso(node.updated),
    }  # fmt: skip


def add(memory: Memory, given: Given) -> Given:
    """Remember messages, each as it was said. The same again for the same user is one memory."""
    whose = _whose(given)
    if not whose:
        raise InputError("say whose it is: user_id, agent_id, app_id or run_id")
    texts = _texts(given)
    known = memory.nodes(*(_id(whose, text) for _, text in texts))
    results: list[Given] = []
    for role, text in texts:
        props = {**whose, "role": role} | ({"metadata": given["metadata"]} if "metadata" in given else {})
        node = memory.add(
            text, id=_id(whose, text), source=FORMAT, buckets=list(whose.values()), props=props,
            tags=given.get("categories", ()), at=_when(given.get("timestamp")), allow_again=True,
        )  # fmt: skip
        results.append({"id": node.id, "memory": node.text, "event": "NONE" if node.id in known else "ADD"})
    return {"results": results}


def _id(whose: Mapping[str, str], text: str) -> str:
    return digest(FORMAT, *(f"{name}={value}" for name, value in sorted(whose.items())), text)


def _texts(given: Given) -> list[tuple[str, str]]:
    """Who said what. What a system prompt says is nobody's memory."""
    messages: Any = given.get("messages") or given.get("text") or []
    some = [{"content": messages}] if isinstance(messages, str) else messages
    said = [(str(one.get("role", "user")), _content(one.get("content"))) for one in some]
    found = [(role, text) for role, text in said if role != "system" and text.strip()]
    if not found:
        raise InputError('there is nothing to remember: send {"messages": [{"role": "user", "content": "..."}]}')
    return found


def _content(content: Any) -> str:
    """A content of one text, or of parts of which some are texts."""
    if isinstance(content, list):
        return "\n".join(str(part["text"]) for part in content if isinstance(part, dict) and "text" in part)
    return content if isinstance(content, str) else ""


def _when(value: Any) -> int | None:
    if value is None:
        return None
    found = to_ms(value)
    return milliseconds(str(value)) if found is None else found


def _whose(given: Mapping[str, Any]) -> dict[str, str]:
    """Those of the four names that are given, at the top or among the filters as something that must be so."""
    filters = given.get("filters")
    parts = [given, *_conditions(filters)] if isinstance(filters, Mapping) else [given]
    return {
        name: str(part[name])
        for part in parts
        for name in WHOSE
        if isinstance(part.get(name), str | int) and part[name] != "*"
    }


def _conditions(filters: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Filters that must all hold."""
    both = filters.get("AND", ())
    return [filters, *(one for one in both if isinstance(one, Mapping))]


def _passes(row: Mapping[str, Any], condition: Mapping[str, Any]) -> bool:
    """Whether a memory passes filters: names with values, `in`, comparisons, AND, OR and NOT. Raises InputError."""
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
        elif not _fits(_field(row, name), wanted):
            return False
    return True


def _field(row: Mapping[str, Any], name: str) -> Any:
    return row[name] if name in row else (row.get("metadata") or {}).get(name)


_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda one, other: one == other, "ne": lambda one, other: one != other,
    "gt": lambda one, other: one > other, "gte": lambda one, other: one >= other,
    "lt": lambda one, other: one < other, "lte": lambda one, other: one <= other,
    "in": lambda one, other: one in other, "nin": lambda one, other: one not in other,
    "contains": lambda one, other: other in one,
    "icontains": lambda one, other: str(other).lower() in str(one).lower(),
}  # fmt: skip


def _fits(value: Any, wanted: Any) -> bool:
    if wanted == "*":
        return value is not None
    if not isinstance(wanted, Mapping):
        return bool(value == wanted) if not isinstance(value, list) else wanted in value
    strange = [name for name in wanted if name not in _COMPARED]
    if strange:
        raise InputError(f"there is no comparison {strange[0]!r:.40}: use {', '.join(_COMPARED)}")
    try:
        return value is not None and all(_COMPARED[name](value, other) for name, other in wanted.items())
    except TypeError:
        return False


def _condition(given: Given) -> Given:
    """All that is asked of a memory."""
    filters = given.get("filters")
    if filters is not None and not isinstance(filters, Mapping):
        raise InputError('filters must be an object, such as {"user_id": "ada"}')
    _passes({}, filters or {})
    return {"AND": [_whose(given), filters or {}]}


def search(memory: Memory, given: Given) -> Given:
    """The memories that a query finds, the best first."""
    most: int = given["top_k"] if "top_k" in given else given.get("limit", FOUND)
    condition = _condition(given)
    floor = given.get("threshold")
    buckets, deep = norm_buckets(_whose(given).values()), 1
    while True:
        found = memory.recall(
            given["query"], kinds=["atom"], buckets=buckets, limit=deep * most, budget=_UNBOUNDED
        ) if most > 0 else None  # fmt: skip
        hits = found.hits if found is not None else ()
        rows = [{**told(hit.node), "score": hit.score} for hit in hits]
        rows = [row for row in rows if _passes(row, condition) and (floor is None or row["score"] >= floor)]
        if len(rows) >= most or len(hits) < deep * most or deep * most >= MOST:
            return {"results": rows[:most]}
        deep *= DEEPER


def listed(memory: Memory, given: Given) -> list[Given]:
    """All memories that pass, the newest first."""
    where = Where(kinds=("atom",), buckets=norm_buckets(_whose(given).values()), archived=True)
    found = memory.store.text(memory.scope, TextQuery(""), MOST, where, nodes=True)
    nodes = [one.node for one in found if one.node is not None]
    nodes.sort(key=lambda node: (-node.at, node.id))
    condition = _condition(given)
    return [row for row in map(told, nodes) if _passes(row, condition)]


def page(memory: Memory, given: Given) -> Given:
    """Some of the memories that pass, with how many there are."""
    rows = listed(memory, given)
    number, size = int(given.get("page", 1)), int(given.get("page_size", PAGE))
    if number < 1 or size < 1:
        raise InputError("page and page_size begin with 1")
    return {
        "count": len(rows), "next": _place(number + 1, size) if number * size < len(rows) else None,
        "previous": _place(number - 1, size) if number > 1 else None,
        "results": rows[(number - 1) * size : number * size],
    }  # fmt: skip


def _place(number: int, size: int) -> str:
    return f"/v3/memories/?page={number}&page_size={size}"


def get(memory: Memory, given: Given) -> Given:
    """One memory."""
    return told(_need(memory, given["id"]))


def _need(memory: Memory, id_: str) -> Node:
    node = memory.nodes(id_).get(id_)
    if node is None:
        raise NotFound(f"there is no memory {id_!r:.80} in this scope: /search finds ids")
    return node


def update(memory: Memory, given: Given) -> Given:
    """Correct a memory; what it said before is history."""
    node = _need(memory, given["id"])
    text = next((given[name] for name in ("text", "data", "memory") if isinstance(given.get(name), str)), node.text)
    props = dict(node.props) | ({"metadata": given["metadata"]} if "metadata" in given else {})
    when = _when(given.get("timestamp"))
    made = memory.add(
        text, id=node.id, kind=node.kind, name=node.name, aliases=node.aliases, buckets=node.buckets, props=props,
        tags=[tag.display for tag in node.tag_details if tag.origin == "user"], source=node.source,
        at=node.at if when is None else when, provenance=node.provenance, allow_again=True,
    )  # fmt: skip
    return {**told(made), "message": "Memory updated successfully!"}


def history(memory: Memory, given: Given) -> list[Given]:
    """What a memory said, from the first to the last."""
    node = _need(memory, given["id"])
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


def delete(memory: Memory, given: Given) -> Given:
    """Forget one memory. What somebody else has in the same words stays his."""
    drop(memory, [], [_need(memory, given["id"])])
    return {"message": "Memory deleted successfully!"}


def delete_all(memory: Memory, given: Given) -> Given:
    """Forget all memories of somebody."""
    if not _whose(given):
        raise InputError("say whose memories to delete: user_id, agent_id, app_id or run_id")
    nodes = memory.nodes(*(row["id"] for row in listed(memory, given)))
    drop(memory, [], list(nodes.values()))
    return {"message": "Memories deleted successfully!"}


def entities(memory: Memory, _given: Given) -> Given:
    """Whose memories there are, and how many each has."""
    found: dict[tuple[str, str], list[Given]] = {}
    for row in listed(memory, {}):
        for name in WHOSE:
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


def delete_entity(memory: Memory, given: Given) -> Given:
    """Forget all memories of one of those that `entities` tells."""
    whose = {f"{given['type']}_id": given["name"]}
    if not listed(memory, whose):
        raise NotFound(f"there is no memory of {given['name']!r:.80} in this scope")
    delete_all(memory, whose)
    return {"message": "Entity deleted successfully!"}


def update_many(memory: Memory, given: Given) -> Given:
    """Correct several memories; none where one is not there."""
    rows = [{**row, "id": row["memory_id"]} for row in given["memories"]]
    for row in rows:
        _need(memory, row["id"])
    for row in rows:
        update(memory, row)
    return {"message": f"Successfully updated {len(rows)} memories"}


def delete_many(memory: Memory, given: Given) -> Given:
    """Forget several memories; none where one is not there."""
    nodes = {row["memory_id"]: _need(memory, row["memory_id"]) for row in given["memories"]}
    drop(memory, [], list(nodes.values()))
    return {"message": f"Successfully deleted {len(nodes)} memories"}


def ping(memory: Memory, _given: Given) -> Given:
    """What mem0's clients ask first. They do not go on without an organisation and a project."""
    return {"status": "ok", "org_id": memory.scope.tenant, "project_id": memory.scope.user, "user_email": None}
