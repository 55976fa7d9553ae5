"""Every verb of a memory as a tool, made from its own signature: names, types and the first words of its docstring."""

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
from typing import Any, Literal, Union, Unpack, get_args, get_origin, get_type_hints

from cuetrail.memory import Memory
from cuetrail.model import Budget
from cuetrail.recall import recipes
from cuetrail.serve.tool import Answer, Schema, Tool, clipped, compact, fitted, plain
from cuetrail.text.timestamps import last_millisecond, milliseconds

TOKENS = 4000
"""How much a verb says unless it is asked for more or less."""

_TIME: list[Schema] = [
    {"type": "string", "format": "date"},
    {"type": "string", "format": "date-time"},
    {"type": "integer", "minimum": -(10**15), "maximum": 10**15},
]  # fmt: skip
# What it looks like is told and not checked here: who reads a time says better what is wrong with it.
_WHEN: Schema = {"anyOf": _TIME, "description": "2026-05-31, 2026-05-31T10:30Z or UTC milliseconds"}
_FOR = ("week", "month", "year", "never")
_SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_SEED: Schema = {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "minItems": 2, "maxItems": 2}
_TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"}, int: {"type": "integer"}, float: {"type": "number"}, bool: {"type": "boolean"},
    Any: {},
}  # fmt: skip
_TIMES = ("as_of", "at", "since", "until", "valid_from", "valid_until")
# What only a program in the same process can give.
_LOCAL = {
    "choose_tags", "count_tokens", "expander", "now", "on_report", "others", "progress", "stop", "tagger", "teller",
    "watch",
}  # fmt: skip
_SPECIAL: dict[str, Schema] = {
    **dict.fromkeys(_TIMES, _WHEN),
    "budget": {"type": "integer", "minimum": 0, "maximum": 10**15, "description": "tokens"},
    "embedder": {"type": "string"},
    **dict.fromkeys(("confidence", "min_activation", "tag_sim_floor", "text_weight", "vector_weight"), _SHARE),
    "expires": {"anyOf": [{"enum": list(_FOR)}, *_TIME], "description": "week, month, year, never, or a time"},
    "limit": {"type": "integer", "minimum": 0, "maximum": 10**15},
    "min_results": {"type": "integer", "minimum": 0, "maximum": 10**15},
    "items": {"type": "array", "items": {"type": ["string", "object"]}},
    "questions": {"type": "array", "items": {"type": "object"}, "description": "{question, gold: [ids or names]}"},
    "queries": {"type": "array", "items": {"type": ["string", "object"]}},
    "recipe": {"type": "string", "enum": sorted(recipes.BY_NAME)},
    "seeds": {
        "anyOf": [{"type": "string"}, {"type": "array", "items": {"anyOf": [{"type": "string"}, _SEED]}}],
        "description": "a query, ids, or pairs of id and energy",
    },
    "start": _TEXTS,
}


@dataclass(frozen=True, slots=True)
class Effect:
    """What a verb does to a memory.

    `paths`: it takes or shows places on the machine that keeps the memory. `whole`: it concerns everybody's memories.
    """

    writes: bool = False
    destroys: bool = False
    repeatable: bool = True
    paths: bool = False
    whole: bool = False


_READS, _WRITES = Effect(), Effect(writes=True)
EFFECTS: dict[str, Effect] = {
    **dict.fromkeys(
        (
            "activate", "bench", "brief", "doomed", "dreams", "edge", "explore", "fact_history", "fact_ids", "facts",
            "get", "has_traces", "history", "ids", "labels", "narrate", "neighbours", "nodes", "prewarm", "recall",
            "stats", "tag_walk", "timeline", "traverse",
        ),
        _READS,
    ),
    **dict.fromkeys(
        ("add", "add_many", "confirm", "declare", "edit", "fact", "link", "quarantine", "refresh", "relate", "retract"),
        _WRITES,
    ),
    "dream": _WRITES,
    "note": Effect(writes=True, repeatable=False),
    "mirrors": Effect(paths=True),
    "doctor": Effect(writes=True, whole=True),
    "reembed": Effect(writes=True, destroys=True, whole=True),
    "unlink": Effect(writes=True, destroys=True),
    "forget": Effect(writes=True, destroys=True),
    "ingest_text": Effect(writes=True, destroys=True),
    "ingest": Effect(writes=True, destroys=True, paths=True),
    "ingest_bytes": Effect(writes=True, destroys=True, paths=True),
    "import_": Effect(writes=True, paths=True),
    "export": Effect(writes=True, destroys=True, paths=True),
    "backup": Effect(writes=True, destroys=True, paths=True),
    "mirror": Effect(writes=True, destroys=True, paths=True),
    "end_mirror": Effect(writes=True, paths=True),
}  # fmt: skip
"""Every verb there is; a test fails when one is missing."""


def schema_of(name: str, hint: Any) -> Schema:
    """The JSON Schema of an argument. Raises TypeError for a type that no other program can give."""
    if name in _SPECIAL:
        return _SPECIAL[name]
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin in (Union, types.UnionType):
        known = [one for one in inner if one is str or one in _PLAIN or get_origin(one) is not None]
        return schema_of(name, known[0])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object"}
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return _TEXTS
    raise TypeError(f"{name}: {hint} has no JSON Schema")


def _parameters(verb: Callable[..., Any]) -> Iterator[tuple[inspect.Parameter, Any]]:
    """The arguments of a verb that can be given from outside, with their types."""
    hints = get_type_hints(verb)
    for parameter in inspect.signature(verb).parameters.values():
        if parameter.name == "self" or parameter.name in _LOCAL:
            continue
        hint = hints[parameter.name]
        if get_origin(hint) is Unpack:
            for name, each in get_type_hints(get_args(hint)[0]).items():
                if name not in _LOCAL:
                    yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None), each
        else:
            yield parameter, hint


@cache
def _many(name: str) -> str | None:
    """The argument of a verb that takes any number of values, if it has one."""
    parameters = inspect.signature(getattr(Memory, name)).parameters.values()
    return next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)


@cache
def verb_tool(name: str) -> Tool:
    """A verb of `Memory` as a tool, `memory_` before its name."""
    verb, effect = getattr(Memory, name), EFFECTS[name]
    found = list(_parameters(verb))
    properties = {parameter.name: schema_of(parameter.name, hint) for parameter, hint in found}
    many = _many(name)
    if many is not None:
        properties[many] = _TEXTS
    needed = [p.name for p, _ in found if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    said = (inspect.getdoc(verb) or name).split("\n\n")[0]
    return Tool(
        f"memory_{name.rstrip('_')}", name.rstrip("_").replace("_", " ").capitalize(), " ".join(said.split()),
        properties, partial(_called, name), tuple(needed),
        writes=effect.writes, destroys=effect.destroys, repeatable=effect.repeatable,
    )  # fmt: skip


def _called(name: str, memory: Memory, given: dict[str, Any]) -> Answer:
    budget = given.get("budget", TOKENS)
    data = fitted(result_of(memory, name, given), budget if isinstance(budget, int) else TOKENS)
    return Answer(clipped(str(data["text"]) if data.get("text") else compact(data), TOKENS), data)


def called(memory: Memory, name: str, given: Mapping[str, Any], **local: Any) -> Any:
    """What a verb gives to arguments from outside, and to those that only this process can give."""
    options = {key: _made(key, value) for key, value in given.items()}
    many = _many(name)
    listed = options.pop(many, ()) if many is not None else ()
    return getattr(memory, name)(*listed, **options, **local)


def result_of(memory: Memory, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a verb says to arguments from outside, as plain data; what is no mapping comes as `result`."""
    return _mapping(called(memory, name, given))


def _mapping(found: Any) -> dict[str, Any]:
    data = plain(found)
    return data if isinstance(data, dict) else {"result": data}


@dataclass(frozen=True, slots=True)
class Job:
    """A verb with its arguments, to be done once: all at the end, or told as it goes.

    `takes` are arguments of `run` by which it can be followed and stopped; `asked` is what it was asked for.
    """

    name: str
    run: Callable[..., Any]
    asked: Any
    takes: tuple[str, ...] = ()
    writes: bool = True

    def mark(self) -> str:
        """What tells this job from another."""
        return json.dumps([self.name, self.asked], sort_keys=True, default=_marked)

    def result(self, memory: Memory) -> dict[str, Any]:
        """What it gives, as plain data."""
        return _mapping(self.run(memory))

    def tell(self, memory: Memory, say: Callable[[str, Any], None], gone: threading.Event) -> None:
        """Do it and say how far it is, then what it gives; what comes one by one is said so."""

        def progress(step: str, done: int, total: int) -> None:
            say("progress", {"step": step, "done": done, "total": total})

        local = {"progress": progress, "stop": gone}
        found = self.run(memory, **{name: local[name] for name in self.takes})
        if isinstance(found, Generator):
            with closing(found):
                for one in found:
                    say("result", plain(one))
        else:
            say("result", _mapping(found))


def _marked(value: Any) -> str:
    """What tells a value from another that JSON has no form for: of a file, which may be large, its hash."""
    return hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else repr(value)


def job_of(verb: str, given: dict[str, Any], name: str) -> Job:
    """A verb of `Memory` with arguments from outside, under the name it was asked by."""
    return Job(
        name, lambda memory, **local: called(memory, verb, given, **local), given, _takes(verb), EFFECTS[verb].writes
    )


@cache
def _takes(verb: str) -> tuple[str, ...]:
    parameters = inspect.signature(getattr(Memory, verb)).parameters
    return tuple(name for name in ("progress", "stop") if name in parameters)


def _made(name: str, value: Any) -> Any:
    """An argument from outside as the verb takes it."""
    match name:
        case "budget":
            return Budget(tokens=value)
        case "recipe":
            return recipes.BY_NAME[value]
        case "expires" if isinstance(value, str) and value not in _FOR:
            return milliseconds(value)
        case "seeds" if isinstance(value, list):
            return [tuple(one) if isinstance(one, list) else one for one in value]
    if name in _TIMES and isinstance(value, str):
        return (last_millisecond if name == "until" else milliseconds)(value)
    return value


def every_tool() -> dict[str, Tool]:
    """All verbs as tools, by their names; bytes cannot be said in JSON, and `ingest` takes the file itself."""
    return {tool.name: tool for tool in map(verb_tool, sorted(set(EFFECTS) - {"ingest_bytes"}))}
