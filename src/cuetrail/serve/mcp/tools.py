"""The default MCP tools: eight verbs of a memory, and ChatGPT's `search` and `fetch`. The list is `TOOLS`.

Descriptions are short because the list of tools is part of every conversation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args
from urllib.parse import quote

from cuetrail.errors import InputError, NotFound
from cuetrail.model import Budget, Fact, Hit, Node, Recollection
from cuetrail.model.records import SEMANTIC_KINDS, Retention
from cuetrail.recall.render.text import quoted
from cuetrail.serve.json_data import compact_json, fit_data, fit_text, to_json_data
from cuetrail.serve.mcp.tool_schemas import (
    ADDED,
    BRIEF_TOKENS,
    BRIEFED,
    DETAILS,
    EXPLORE,
    EXPLORED,
    FACT,
    FETCHED,
    FILTERS,
    FORGOTTEN,
    LEVEL,
    RECALL_TOKENS,
    RECALLED,
    RELATED,
    SEARCHED,
    WHEN,
    text,
    texts,
    tokens,
)
from cuetrail.serve.tool import Tool, ToolResult, count_schema, described
from cuetrail.text.normalise import one_line, snippet
from cuetrail.text.timestamps import utc_date
from cuetrail.validation.limits import MOST_ITEMS

if TYPE_CHECKING:
    from cuetrail.explore.brief import Brief
    from cuetrail.explore.explore import Item
    from cuetrail.memory import Memory

FETCH_TOKENS = 8000
NEIGHBOURS = 10
SEARCH_RESULTS = 10
_HIDDEN_FIELDS = ("score", "seq", "props", "provenance", "aliases", "salience")

Arguments = dict[str, Any]


def uri_of(id_: str) -> str:
    """Returns the URI of a node's resource."""
    return f"memory://node/{quote(id_, safe='')}"


def node_json(node: Node) -> dict[str, Any]:
    """Returns a node as JSON data without empty and internal fields."""
    return {
        name: value
        for name, value in to_json_data(node).items()
        if value not in (None, [], "") and name not in _HIDDEN_FIELDS
    }


# --- write


_OF_MESSAGES = frozenset({"messages", "source", "at", "tags", "buckets", "allow_again"})


def _add(memory: Memory, given: Arguments) -> ToolResult:
    if "messages" in given:
        return _add_messages(memory, given)
    node = memory.add(**given)
    return ToolResult(f"Remembered as {node.id}.", {"id": node.id, "kind": node.kind, "tags": list(node.own_tags)})


def _add_messages(memory: Memory, given: Arguments) -> ToolResult:
    others = sorted(given.keys() - _OF_MESSAGES)
    if others or "source" not in given:
        raise InputError(
            f"messages go without {', '.join(others)}: give them or a text"
            if others
            else "name the conversation that the messages belong to: source"
        )
    report = memory.chat(**given)
    left_out = f" Left out: {'; '.join(report.left_out)}." if report.left_out else ""
    text = f"Remembered {report.added} messages in {report.source}; {report.known} were known.{left_out}"
    return ToolResult(fit_text(one_line(text), RECALL_TOKENS), fit_data(to_json_data(report), RECALL_TOKENS))


def _fact(memory: Memory, given: Arguments) -> ToolResult:
    fact = memory.fact(**given)
    statement = f"{given['subject']} {fact.predicate} {given['object']}"
    return ToolResult(f"{statement} ({fact.status}, id {fact.id}).", {**to_json_data(fact)})


def _relate(memory: Memory, given: Arguments) -> ToolResult:
    """Relates two people, concepts or entities; links nodes of other kinds."""
    ends = [_find(memory, given["src"]), _find(memory, given["dst"])]
    join = memory.relate if all(node.kind in SEMANTIC_KINDS for node in ends) else memory.link
    edge = join(**{**given, "src": ends[0].id, "dst": ends[1].id})
    names = {node.id: _title(node) for node in ends}
    text = f"{names[edge.src]} - {edge.type or edge.kind} - {names[edge.dst]} (id {edge.id})."
    return ToolResult(
        one_line(text), {"id": edge.id, "src": edge.src, "dst": edge.dst, "kind": edge.kind, "type": edge.type}
    )


def _forget(memory: Memory, given: Arguments) -> ToolResult:
    ids, dry_run = given.pop("ids", ()), given.pop("dry_run", False)
    doomed = memory.doomed(*ids, **given)
    copies = [node.id for node in doomed.copies]
    if dry_run:
        lines = [
            one_line(f"- {node.id}: {snippet(node.text or node.name or '', 80)}")
            for node in (*doomed.meant, *doomed.copies)
        ]
        data = fit_data({"ids": doomed.ids, "copies": copies, "forgotten": False}, RECALL_TOKENS)
        return ToolResult(fit_text("\n".join(["Would be forgotten:", *lines]), RECALL_TOKENS), data)
    gone = memory.forget(*ids, **given)
    return ToolResult(
        f"Forgotten for good: {len(gone)}.", fit_data({"ids": gone, "copies": copies, "forgotten": True}, 2000)
    )


# --- read


def recall(memory: Memory, given: Arguments) -> ToolResult:
    """Returns the current facts that fit the cue, then the memories it finds; or what was looked for in vain."""
    tokens = given.pop("tokens", RECALL_TOKENS)
    found = memory.recall(budget=Budget(tokens=tokens), **given)
    if not found.answerable:
        looked = f" Looked for: {', '.join(found.looked_for)}." if found.looked_for else " Say what to look for."
        text = found.text or f"Nothing is remembered on this.{looked}"
        return ToolResult(fit_text(text, tokens), fit_data(_hits_json(found), tokens))
    return ToolResult(fit_text(_recall_text(found, tokens), tokens), fit_data(_hits_json(found), tokens))


def _recall_text(found: Recollection, tokens: int) -> str:
    """Returns the text of a recollection, then the ids of its hits from files, then its notices."""
    if not found.text:
        return f"Something is remembered on this, but it takes more than {tokens} tokens to say."
    ids = [one_line(f"{hit.node.source}: {hit.node.id}") for hit in found.hits if hit.node.source]
    id_list = "\n\nIds: " + ", ".join(ids) if ids else ""
    return found.text + id_list + "".join(f"\n({one_line(notice)})" for notice in found.notices)


def _hits_json(found: Recollection) -> dict[str, Any]:
    """Returns the facts and hits as JSON data. If they do not answer the cue, `hits` is empty and `nearest` has the
    first hit.
    """
    hits = [
        {
            **node_json(hit.node),
            "score": round(hit.score, 4),
            "found": "directly" if found.is_direct(hit) else "associated",
            **({"mark": hit.mark} if hit.mark else {}),
        }
        for hit in found.hits
    ]
    facts = [
        {
            "id": one.fact.id, "line": one.line, "subject": one.subject, "predicate": one.fact.predicate,
            "object": one.value, "since": utc_date(one.since), "source": one.source,
        }
        for one in found.facts
    ]  # fmt: skip
    return {
        "answerable": found.answerable,
        "confidence": found.confidence,
        **({"facts": facts} if facts else {}),
        "hits": hits if found.answerable else [],
        **({"nearest": hits[0]} if hits and not found.answerable else {}),
        "looked_for": list(found.looked_for),
        **({"notices": list(found.notices)} if found.notices else {}),
    }


def _fact_json(fact: Fact, entities: Mapping[str, Node]) -> dict[str, Any]:
    """Returns a fact with the titles of its subject and object instead of their ids."""
    subject, object_ = (entities.get(id_ or "") for id_ in (fact.subject, fact.object))
    value = fact.value if fact.object is None else _title(object_) if object_ is not None else fact.object
    return {
        "id": fact.id, "subject": _title(subject) if subject is not None else fact.subject,
        "predicate": fact.predicate, "object": value,
    }  # fmt: skip


def _find(memory: Memory, id_: str) -> Node:
    node = memory.get(id_)
    if node is None:
        raise NotFound(
            f"there is no memory with the id or name {id_!r:.80}: memory_recall finds ids, memory_add makes one"
        )
    return node


def _title(node: Node) -> str:
    return one_line(node.name or "") or snippet(node.text, 60) or node.id


def node_details(memory: Memory, node: Node) -> dict[str, Any]:
    """Returns a node with its facts, strongest neighbours and earlier versions."""
    near = memory.neighbours(node.id, NEIGHBOURS).neighbours
    names = memory.nodes(*(one.id for one in near))
    neighbours = [
        {"id": one.id, "title": _title(names[one.id]), "by": one.kind, "tags": list(one.tags)}
        for one in near
        if one.id in names
    ]
    current = memory.facts(node.id)
    objects = memory.nodes(*(fact.object for fact in current if fact.object is not None))
    facts = [{**to_json_data(fact), "object_title": _fact_json(fact, objects)["object"]} for fact in current]
    history = [{"at": version.at, "text": version.text} for version in memory.history(node.id)]
    return {**node_json(node), "facts": facts, "neighbours": neighbours, "history": history}


def _get(memory: Memory, given: Arguments) -> ToolResult:
    tokens = given.get("tokens", RECALL_TOKENS)
    data = fit_data(node_details(memory, _find(memory, given["id"])), tokens)
    return ToolResult(fit_text(node_page(data), tokens), data)


def node_page(data: Mapping[str, Any]) -> str:
    """Returns the result of `node_details` as text: the memory's own text quoted, all else in one line each."""
    shown = ("tags", "automatic_tags", "buckets")
    lines = [f"{name.replace('_', ' ')}: {', '.join(data[name])}" for name in shown if data.get(name)]
    lines += [f"source: {data['source']}"] if data.get("source") else []
    lines += [f"- {fact['predicate']}: {fact['object_title']}" for fact in data.get("facts", [])]
    lines += [f"- {one['by']}: {one['title']} [{one['id']}]" for one in data.get("neighbours", [])]
    lines += [f"- said before: {one['text']}" for one in data.get("history", [])]
    head, text = f"# {one_line(data.get('name') or data['kind'])}", quoted(data.get("text", ""))
    return "\n".join(filter(None, (head, text, *map(one_line, (*lines, f"id: {data['id']}")))))


def _explore(memory: Memory, given: Arguments) -> ToolResult:
    tokens = given.pop("tokens", RECALL_TOKENS)
    found = memory.explore(given.pop("queries", ()), **given)
    explain = bool(given.get("explain"))
    parts = {name: [_item_json(item, explain) for item in items] for name, items in found.groups.items() if items}
    edges = found.semantic.relationships
    names = memory.nodes(*(id_ for one in edges for id_ in (one.edge.src, one.edge.dst)))
    related = [
        {
            "id": one.edge.id, "src": _title(names[one.edge.src]), "type": one.edge.type or one.edge.kind,
            "dst": _title(names[one.edge.dst]), "text": one.edge.text, **({"why": dict(one.why)} if explain else {}),
        }
        for one in edges
        if one.edge.src in names and one.edge.dst in names
    ]  # fmt: skip
    data = {"answerable": found.answerable, **parts, **({"relationships": related} if related else {})}
    return ToolResult(fit_text(_explore_text(parts, related), tokens), fit_data(data, tokens))


def _item_json(item: Item, explain: bool) -> dict[str, Any]:
    text = item.node.text or str(item.node.props.get("summary") or "")
    row: dict[str, Any] = {
        "id": item.node.id,
        "title": _title(item.node),
        "text": snippet(text, 300),
        "notes": list(item.notes),
    }
    row |= {"why": dict(item.why)} if explain else {}
    return {name: value for name, value in row.items() if value}


def _explore_text(parts: Mapping[str, list[dict[str, Any]]], related: list[dict[str, Any]]) -> str:
    lines: list[str] = []
    for name, items in parts.items():
        lines += [f"## {name}", *(one_line(f"- {one['title']}: {one.get('text', '')} [{one['id']}]") for one in items)]
    if related:
        lines += ["## relationships", *(one_line(f"- {one['src']} - {one['type']} - {one['dst']}") for one in related)]
    return "\n".join(lines) or (
        "No person, concept, entity, file or storyline fits. memory_recall looks through single memories."
    )


def _brief(memory: Memory, given: Arguments) -> ToolResult:
    tokens = given.get("tokens", BRIEF_TOKENS)
    found = memory.brief(budget=Budget(tokens=tokens))
    data = {name: value for name, value in found.to_dict().items() if name != "text"}
    return ToolResult(brief_text(found), fit_data(data, tokens))


def brief_text(found: Brief) -> str:
    """Returns the text of a brief, or a sentence that nothing is remembered yet."""
    known = found.beliefs or found.goals or found.relationships or found.recent
    return found.text if known and found.text else "Nothing is remembered yet."


# --- search and fetch, with the names and result formats that ChatGPT requires


def _search(memory: Memory, given: Arguments) -> ToolResult:
    found = memory.recall(given["query"], limit=SEARCH_RESULTS) if given["query"].strip() else None
    if found is None or not found.answerable:
        return _json_result({"results": []})
    # A fact leads to its subject, the page of which has all of its facts.
    facts = [(one.fact.subject, one.line) for one in found.facts]
    hits = [(hit.node.id, _marked_title(hit)) for hit in found.hits]
    results = [{"id": id_, "title": title, "url": uri_of(id_)} for id_, title in (*facts, *hits)]
    return _json_result({"results": results[:SEARCH_RESULTS]})


def _marked_title(hit: Hit) -> str:
    return f"[{hit.mark}] {_title(hit.node)}" if hit.mark else _title(hit.node)


def _fetch(memory: Memory, given: Arguments) -> ToolResult:
    node = _find(memory, given["id"])
    more = {
        "kind": node.kind, "tags": ", ".join(node.own_tags), "automatic_tags": ", ".join(node.automatic_tags),
        "source": node.source or "",
    }  # fmt: skip
    # The facts of a person or entity say more than its own text.
    body = (
        node_page(node_details(memory, node))
        if node.kind in SEMANTIC_KINDS or not node.text
        else node.text or node.name or ""
    )
    text = fit_text(body, FETCH_TOKENS)
    return _json_result({"id": node.id, "title": _title(node), "text": text, "url": uri_of(node.id), "metadata": more})


def _json_result(data: dict[str, Any]) -> ToolResult:
    return ToolResult(compact_json(data), data)


TOOLS: tuple[Tool, ...] = (
    Tool(
        "memory_recall", "Recall",
        "What is remembered on a cue. Ask it before you answer.",
        {
            "cue": text("a question, names, #tag, @bucket"), "tokens": tokens(RECALL_TOKENS),
            "limit": described(count_schema("limit", 1), "most hits"), "kinds": texts("any"), **FILTERS,
        },
        recall, ("cue",), RECALLED,
    ),
    Tool(
        "memory_add", "Remember",
        "Remember one thing: a sentence or two, or a named person, concept or entity. The same id corrects it. "
        "Or messages of the conversation source.",
        {
            "text": text("what to keep"), "name": text("if it has one"),
            "kind": text("atom (default), person, concept, entity, belief, goal"), "tags": texts("topics"),
            "buckets": texts("areas, such as work"), "at": text(f"when: {WHEN}"),
            "id": text("of your own"), "source": text("conversation or file"),
            "retention": text(", ".join(get_args(Retention))),
            "messages": {
                "type": "array", "items": {"type": "object"}, "maxItems": MOST_ITEMS["messages"],
                "description": "{role, content, name, at}; no text",
            },
            "allow_again": {"type": "boolean", "description": "though forgotten; if the user wants it"},
        },
        _add, (), ADDED, writes=True,
    ),
    Tool(
        "memory_fact", "State a fact",
        "State a fact, such as Ines - lives_in - Turin. A new lives_in or the like ends the old one.",
        {
            "subject": text("id or name"), "predicate": text("such as works_at"),
            "object": text("id, name or value"),
            "confidence": {"type": "number", "minimum": 0, "maximum": 1, "description": "how sure"},
            "valid_from": text(WHEN),
        },
        _fact, ("subject", "predicate", "object"), FACT, writes=True,
    ),
    Tool(
        "memory_relate", "Relate",
        "State how two memories relate. For people and concepts a new type or level ends the old one.",
        {
            "src": text("id or name"), "dst": text("id or name"), "type": text("such as colleague"),
            "text": text("in words"), "attitude": {**LEVEL, "description": "1 hostile, 5 devoted"},
            "proximity": {**LEVEL, "description": "1 far, 5 close"},
        },
        _relate, ("src", "dst"), RELATED, writes=True,
    ),
    Tool(
        "memory_get", "Look at one memory",
        "One memory, its facts, neighbours, history.",
        {"id": text("id or name"), "tokens": tokens(RECALL_TOKENS)}, _get, ("id",),
        DETAILS,
    ),
    Tool(
        "memory_explore", "Explore",
        "Survey a topic: people, concepts, entities, events. Give queries or text_matches.",
        EXPLORE, _explore, (), EXPLORED,
    ),
    Tool(
        "memory_brief", "Brief",
        "To start with: the user, beliefs, goals, relationships, last 7 days.",
        {"tokens": tokens(BRIEF_TOKENS)}, _brief, (), BRIEFED,
    ),
    Tool(
        "memory_forget", "Forget",
        "Forget for good, with copies. Only when the user asks.",
        {
            "ids": texts("ids or names"), "source": text("file or conversation"),
            "everything": {"type": "boolean", "description": "all of this user"},
            "dry_run": {"type": "boolean", "description": "only show"},
        },
        _forget, (), FORGOTTEN, writes=True, destroys=True,
    ),
    Tool(
        "search", "Search", "memory_recall for ChatGPT.",
        {"query": text("what to find")}, _search, ("query",), SEARCHED,
    ),
    Tool(
        "fetch", "Fetch", "memory_get for ChatGPT.",
        {"id": text("from search")}, _fetch, ("id",),
        FETCHED,
    ),
)  # fmt: skip
