"""Every verb of `Memory` for other programs: its effect, the schema of its arguments, the verb as a tool or a job."""

from __future__ import annotations

import hashlib
import inspect
import json
import threading
import types
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Literal, Union, Unpack, get_args, get_origin, get_type_hints

from cuetrail.recall import recipes
from cuetrail.serve.json_data import compact_json, fit_data, fit_text, to_json_data
from cuetrail.serve.tool import (
    PLAIN_TYPES,
    TEXT,
    TEXTS,
    TIME_ARGUMENTS,
    Schema,
    Tool,
    ToolResult,
    array_of,
    count_schema,
    either,
)
from cuetrail.validation.convert_arguments import SIZES
from cuetrail.validation.limits import MOST, MOST_ITEMS, TIMES

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Activation


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one verb on a memory. `writes`: it changes the memory. `destroys`: a call may lose data.

    `repeatable`: a second call with the same arguments changes nothing more. `paths`: it takes or shows paths on the
    machine that stores the memory. `all_users`: it concerns the memories of all users.
    """

    writes: bool = False
    destroys: bool = False
    repeatable: bool = True
    paths: bool = False
    all_users: bool = False


_EFFECTS: tuple[tuple[str, Effect], ...] = (
    (
        ("activate bench brief doomed dreams edge explore fact_history fact_ids facts get has_traces history ids "
        "labels narrate neighbours nodes prewarm recall stats tag_walk timeline traverse"), Effect(),
    ),
    ("mirrors", Effect(paths=True)),
    ("add add_many chat confirm declare dream edit fact link quarantine refresh relate retract", Effect(writes=True)),
    ("note", Effect(writes=True, repeatable=False)),
    ("doctor", Effect(writes=True, all_users=True)),
    ("end_mirror import_", Effect(writes=True, paths=True)),
    ("forget ingest_text unlink", Effect(writes=True, destroys=True)),
    ("backup export ingest ingest_bytes mirror", Effect(writes=True, destroys=True, paths=True)),
    ("reembed", Effect(writes=True, destroys=True, all_users=True)),
)  # fmt: skip
EFFECTS = {name: effect for names, effect in _EFFECTS for name in names.split()}
"""Every verb of `Memory`; a test fails when one is missing."""


def memory_verb(name: str) -> Callable[..., Any]:
    """Returns the method of `Memory` with this name."""
    # Imported here: `Memory` loads the stores, and a server answers its first request without them.
    from cuetrail.memory import Memory

    verb: Callable[..., Any] = getattr(Memory, name)
    return verb


# --- arguments

_TIME: list[Schema] = [
    TEXT,
    {"type": "integer", "minimum": TIMES[0], "maximum": TIMES[1]},
]  # fmt: skip
# Times as text have no format here: the parser of times gives better error messages.
_WHEN: Schema = {
    "anyOf": _TIME,
    "description": "2026-05-31, 2026-05-31T10:30Z, UTC milliseconds, or words such as yesterday or 3 days ago",
}
_SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_SEED: Schema = {
    **array_of(either(TEXT, PLAIN_TYPES[float])), "prefixItems": [TEXT, PLAIN_TYPES[float]],
    "minItems": 2, "maxItems": 2,
}  # fmt: skip
# Arguments that only Python code in the same process can pass.
_PYTHON_ONLY = {
    "choose_tags", "count_tokens", "expander", "now", "on_line", "on_report", "others",
    "progress", "stop", "tagger", "teller",
    "watch",
}  # fmt: skip


def _only(size: str) -> Schema:
    """Returns the part of a schema that allows this one property, a count."""
    return {"properties": {size: count_schema("budget")}, "required": [size], "additionalProperties": False}


_BY_NAME: dict[str, Schema] = {
    **dict.fromkeys(TIME_ARGUMENTS, _WHEN),
    **{name: count_schema(name) for name in MOST},
    "budget": {
        "anyOf": [count_schema("budget"), *({"type": "object", **_only(size)} for size in SIZES)],
        "description": 'a number of tokens, or {"tokens": 500} or {"chars": 2000}',
    },
    "embedder": TEXT,
    **dict.fromkeys(("confidence", "min_activation", "tag_sim_floor", "text_weight", "vector_weight"), _SHARE),
    "expires": {"anyOf": _TIME, "description": "week, month, year, never, or a time"},
    "items": array_of(either(TEXT, {"type": "object"})),
    "messages": {
        "type": "array",
        "items": {"type": "object"},
        "maxItems": MOST_ITEMS["messages"],
        "description": "{role, content}, in order; also name, id, at",
    },
    "questions": {"type": "array", "items": {"type": "object"}, "description": "{question, gold: [ids or names]}"},
    "queries": array_of(either(TEXT, {"type": "object"})),
    "vector": {"type": "array", "items": PLAIN_TYPES[float], "description": "of the memory's own model"},
    "recipe": {**TEXT, "description": ", ".join(sorted(recipes.BY_NAME))},
    "seeds": {
        "anyOf": [
            TEXT,
            {"type": "array", "items": {"anyOf": [TEXT, _SEED]}, "maxItems": MOST_ITEMS["seeds"]},
        ],
        "description": "a query, ids, or pairs of id and energy",
    },
    **{
        name: {**TEXTS, "maxItems": most}
        for name, most in MOST_ITEMS.items()
        if name not in ("messages", "props", "seeds")
    },
}


EXPORTS = ("paths", "graph", "context", "cypher")
"""The forms of an activation: its paths alone, or also a graph to draw, lines for a language model, or Cypher."""
_MORE_ARGUMENTS: dict[str, dict[str, Schema]] = {
    "activate": {"as": {"type": "string", "enum": list(EXPORTS), "default": "paths"}}
}
"""Arguments that a verb has for other programs only, in place of functions on its result."""


def argument_schema(name: str, hint: Any) -> Schema:
    """Returns the schema of one argument. Raises TypeError for a type that JSON cannot express."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    if hint in PLAIN_TYPES:
        return PLAIN_TYPES[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin in (Union, types.UnionType):
        known = [one for one in inner if one is str or one in PLAIN_TYPES or get_origin(one) is not None]
        return argument_schema(name, known[0])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object"}
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return TEXTS
    raise TypeError(f"{name}: {hint} has no JSON Schema")


def parameters(verb: Callable[..., Any]) -> Iterator[tuple[inspect.Parameter, Any]]:
    """Yields the parameters of a verb that other programs can pass, each with its type; not those for Python only."""
    hints = get_type_hints(verb)
    for parameter in inspect.signature(verb).parameters.values():
        if parameter.name == "self" or parameter.name in _PYTHON_ONLY:
            continue
        hint = hints[parameter.name]
        if get_origin(hint) is Unpack:
            for name, each in get_type_hints(get_args(hint)[0]).items():
                if name not in _PYTHON_ONLY:
                    yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None), each
        else:
            yield parameter, hint


# --- tools and jobs

DEFAULT_TOKENS = 4000
"""The token budget of a result unless the call has its own."""


@cache
def _variadic(name: str) -> str | None:
    """Returns the name of a verb's `*args` parameter, or None."""
    found = inspect.signature(memory_verb(name)).parameters.values()
    return next((p.name for p in found if p.kind is p.VAR_POSITIONAL), None)


@cache
def verb_tool(name: str) -> Tool:
    """Returns a verb of `Memory` as the tool `memory_NAME`."""
    verb, effect = memory_verb(name), EFFECTS[name]
    found = list(parameters(verb))
    properties = {parameter.name: argument_schema(parameter.name, hint) for parameter, hint in found}
    properties |= _MORE_ARGUMENTS.get(name, {})
    variadic = _variadic(name)
    if variadic is not None:
        properties[variadic] = {**TEXTS, "maxItems": MOST_ITEMS[variadic]}
    required = [p.name for p, _ in found if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    description = (inspect.getdoc(verb) or name).split("\n\n")[0]
    return Tool(
        f"memory_{name.rstrip('_')}", name.rstrip("_").replace("_", " ").capitalize(), " ".join(description.split()),
        properties, partial(_call_tool, name), tuple(required),
        writes=effect.writes, destroys=effect.destroys, repeatable=effect.repeatable,
    )  # fmt: skip


def every_tool() -> dict[str, Tool]:
    """Returns all verbs as tools by name. `ingest_bytes` is left out: JSON has no bytes, and `ingest` reads files."""
    return {tool.name: tool for tool in map(verb_tool, sorted(set(EFFECTS) - {"ingest_bytes"}))}


def _call_tool(name: str, memory: Memory, arguments: dict[str, Any]) -> ToolResult:
    budget = arguments.get("budget", DEFAULT_TOKENS)
    data = fit_data(
        _as_mapping(call_verb(memory, name, arguments)), budget if isinstance(budget, int) else DEFAULT_TOKENS
    )
    return ToolResult(fit_text(str(data["text"]) if data.get("text") else compact_json(data), DEFAULT_TOKENS), data)


def call_verb(memory: Memory, name: str, arguments: Mapping[str, Any], **local: Any) -> Any:
    """Calls a verb with JSON arguments, and with `local` arguments that are Python objects; returns its result."""
    options = {key: _python_value(key, value) for key, value in arguments.items()}
    variadic = _variadic(name)
    values = options.pop(variadic, ()) if variadic is not None else ()
    form = options.pop("as", "paths")
    found = getattr(memory, name)(*values, **options, **local)
    return found if form == "paths" else _exported(memory, list(found), form)


def _exported(memory: Memory, found: list[Activation], form: str) -> dict[str, Any]:
    """Returns activations with their export in one of the forms EXPORTS, under its name."""
    from cuetrail.recall.render import graph

    if form == "cypher":
        return {"result": found, form: graph.to_cypher(found, scope=memory.scope)}
    nodes = memory.nodes(*graph.ids_of(found))
    return {"result": found, form: graph.to_graph(found, nodes) if form == "graph" else graph.to_context(found, nodes)}


def _python_value(name: str, value: Any) -> Any:
    """Converts a JSON argument to the value the verb takes."""
    if name == "seeds" and isinstance(value, list):
        return [tuple(one) if isinstance(one, list) else one for one in value]
    return value


def _as_mapping(result: Any) -> dict[str, Any]:
    """Returns a result as JSON data; one that is no mapping becomes the value of `result`."""
    data = to_json_data(result)
    return data if isinstance(data, dict) else {"result": data}


@dataclass(frozen=True, slots=True)
class Job:
    """A verb with its arguments, to be run once. `run` takes the memory; another process can run it too.

    `arguments` identify the job. `callbacks` are the parameters that `run` also takes: "progress" and "stop".
    """

    name: str
    run: Callable[..., Any]
    arguments: Any
    callbacks: tuple[str, ...] = ()
    writes: bool = True

    def fingerprint(self) -> str:
        """Returns a text that is equal for jobs with the same name and arguments."""
        return json.dumps([self.name, self.arguments], sort_keys=True, default=_hash_or_repr)

    def result(self, memory: Memory, progress: Callable[[str, int, int], None] | None = None) -> dict[str, Any]:
        """Runs the job, reports its progress if asked to, and returns its result as JSON data."""
        told = {"progress": progress} if progress is not None and "progress" in self.callbacks else {}
        return _as_mapping(self.run(memory, **told))

    def run_with_events(self, memory: Memory, emit: Callable[[str, Any], None], stop: threading.Event) -> None:
        """Runs the job and emits `progress` events, then a `result` event; a generator emits one for each value."""

        def progress(step: str, done: int, total: int) -> None:
            emit("progress", {"step": step, "done": done, "total": total})

        local = {"progress": progress, "stop": stop}
        found = self.run(memory, **{name: local[name] for name in self.callbacks})
        if isinstance(found, Generator):
            with closing(found):
                for one in found:
                    emit("result", to_json_data(one))
        else:
            emit("result", _as_mapping(found))


def _hash_or_repr(value: Any) -> str:
    """Returns the hash of bytes, which may be large, and the repr of anything else."""
    return hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else repr(value)


@cache
def _callbacks(verb: str) -> tuple[str, ...]:
    known = inspect.signature(memory_verb(verb)).parameters
    return tuple(name for name in ("progress", "stop") if name in known)


def verb_job(verb: str, arguments: dict[str, Any], name: str) -> Job:
    """Returns a job for a verb of `Memory`; `name` is the verb's name in the URL."""
    return Job(name, partial(_run_verb, verb, arguments), arguments, _callbacks(verb), EFFECTS[verb].writes)


def _run_verb(verb: str, arguments: dict[str, Any], memory: Memory, **local: Any) -> Any:
    return call_verb(memory, verb, arguments, **local)
