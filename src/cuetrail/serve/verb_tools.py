"""Every verb of `Memory` as a tool with JSON arguments, and as a job that can report its progress."""

from __future__ import annotations

import hashlib
import inspect
import json
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from cuetrail.model import Budget
from cuetrail.recall import recipes
from cuetrail.serve.json_data import compact_json, fit_data, fit_text, to_json_data
from cuetrail.serve.tool import Tool, ToolResult
from cuetrail.serve.verb_effects import EFFECTS
from cuetrail.serve.verb_schema import EXPIRY_WORDS, TEXTS, TIME_ARGUMENTS, argument_schema, memory_verb, parameters
from cuetrail.text.timestamps import last_millisecond, milliseconds

if TYPE_CHECKING:
    from cuetrail.memory import Memory

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
    variadic = _variadic(name)
    if variadic is not None:
        properties[variadic] = TEXTS
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
    """Calls a verb with JSON arguments and with `local` ones that only this process can pass."""
    options = {key: _python_value(key, value) for key, value in arguments.items()}
    variadic = _variadic(name)
    values = options.pop(variadic, ()) if variadic is not None else ()
    return getattr(memory, name)(*values, **options, **local)


def _python_value(name: str, value: Any) -> Any:
    """Converts a JSON argument to the value the verb takes."""
    match name:
        case "budget":
            return Budget(tokens=value)
        case "recipe":
            return recipes.BY_NAME[value]
        case "expires" if isinstance(value, str) and value not in EXPIRY_WORDS:
            return milliseconds(value)
        case "seeds" if isinstance(value, list):
            return [tuple(one) if isinstance(one, list) else one for one in value]
    if name in TIME_ARGUMENTS and isinstance(value, str):
        return (last_millisecond if name == "until" else milliseconds)(value)
    return value


def _as_mapping(result: Any) -> dict[str, Any]:
    """Returns a result as JSON data; one that is no mapping becomes the value of `result`."""
    data = to_json_data(result)
    return data if isinstance(data, dict) else {"result": data}


@dataclass(frozen=True, slots=True)
class Job:
    """A verb with its arguments, to be run once.

    `arguments` identify the job. `callbacks` are the parameters of `run` by which it can be followed and stopped.
    """

    name: str
    run: Callable[..., Any]
    arguments: Any
    callbacks: tuple[str, ...] = ()
    writes: bool = True

    def fingerprint(self) -> str:
        """Returns a text that is equal for jobs with the same name and arguments."""
        return json.dumps([self.name, self.arguments], sort_keys=True, default=_hash_or_repr)

    def result(self, memory: Memory) -> dict[str, Any]:
        """Runs the job and returns its result as JSON data."""
        return _as_mapping(self.run(memory))

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
    return Job(
        name, lambda memory, **local: call_verb(memory, verb, arguments, **local), arguments, _callbacks(verb),
        EFFECTS[verb].writes,
    )  # fmt: skip
