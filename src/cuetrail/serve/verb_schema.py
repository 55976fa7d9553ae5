"""JSON Schemas of a verb's arguments and of its result, made from the type hints of `Memory`."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, Union, Unpack, get_args, get_origin, get_type_hints

from cuetrail.model import Node
from cuetrail.recall import recipes
from cuetrail.serve.tool import Schema

TEXT: Schema = {"type": "string"}
_INTEGER: Schema = {"type": "integer"}
_NUMBER: Schema = {"type": "number"}
_BOOLEAN: Schema = {"type": "boolean"}
_OBJECT: Schema = {"type": "object"}
_NULL: Schema = {"type": "null"}
_SIMPLE: dict[Any, Schema] = {str: TEXT, int: _INTEGER, float: _NUMBER, bool: _BOOLEAN, Any: {}}


def nullable(schema: Schema) -> Schema:
    """Returns a schema that also allows null."""
    return {"anyOf": [schema, _NULL]}


def array_of(schema: Schema) -> Schema:
    """Returns the schema of a list."""
    return {"type": "array", "items": schema}


def object_of(**properties: Schema) -> Schema:
    """Returns the schema of an object with these required properties."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def reference(name: str) -> Schema:
    """Returns a reference to a component of the OpenAPI document."""
    return {"$ref": f"#/components/schemas/{name}"}


def memory_verb(name: str) -> Callable[..., Any]:
    """Returns a method of `Memory`."""
    # Imported here: `Memory` loads the stores, and a server answers its first request without them.
    from cuetrail.memory import Memory

    verb: Callable[..., Any] = getattr(Memory, name)
    return verb


# --- arguments

_TIME: list[Schema] = [
    {"type": "string", "format": "date"},
    {"type": "string", "format": "date-time"},
    {"type": "integer", "minimum": -(10**15), "maximum": 10**15},
]  # fmt: skip
# The format is described and not enforced: the parser of times gives better error messages.
_WHEN: Schema = {"anyOf": _TIME, "description": "2026-05-31, 2026-05-31T10:30Z or UTC milliseconds"}
EXPIRY_WORDS = ("week", "month", "year", "never")
_SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
_COUNT: Schema = {"type": "integer", "minimum": 0, "maximum": 10**15}
_SEED: Schema = {"type": "array", "prefixItems": [TEXT, _NUMBER], "minItems": 2, "maxItems": 2}
TEXTS = array_of(TEXT)
TIME_ARGUMENTS = ("as_of", "at", "since", "until", "valid_from", "valid_until")
# Arguments that only Python code in the same process can pass.
_PYTHON_ONLY = {
    "choose_tags", "count_tokens", "expander", "now", "on_report", "others", "progress", "stop", "tagger", "teller",
    "watch",
}  # fmt: skip
_BY_NAME: dict[str, Schema] = {
    **dict.fromkeys(TIME_ARGUMENTS, _WHEN),
    "budget": {**_COUNT, "description": "tokens"},
    "embedder": TEXT,
    **dict.fromkeys(("confidence", "min_activation", "tag_sim_floor", "text_weight", "vector_weight"), _SHARE),
    "expires": {"anyOf": [{"enum": list(EXPIRY_WORDS)}, *_TIME], "description": "week, month, year, never, or a time"},
    "limit": _COUNT,
    "min_results": _COUNT,
    "items": {"type": "array", "items": {"type": ["string", "object"]}},
    "questions": {"type": "array", "items": {"type": "object"}, "description": "{question, gold: [ids or names]}"},
    "queries": {"type": "array", "items": {"type": ["string", "object"]}},
    "recipe": {"type": "string", "enum": sorted(recipes.BY_NAME)},
    "seeds": {
        "anyOf": [TEXT, {"type": "array", "items": {"anyOf": [TEXT, _SEED]}}],
        "description": "a query, ids, or pairs of id and energy",
    },
    "start": TEXTS,
}


def argument_schema(name: str, hint: Any) -> Schema:
    """Returns the schema of one argument. Raises TypeError for a type that JSON cannot express."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin in (Union, types.UnionType):
        known = [one for one in inner if one is str or one in _SIMPLE or get_origin(one) is not None]
        return argument_schema(name, known[0])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _OBJECT
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return TEXTS
    raise TypeError(f"{name}: {hint} has no JSON Schema")


def parameters(verb: Callable[..., Any]) -> Iterator[tuple[inspect.Parameter, Any]]:
    """Yields the arguments of a verb that other programs can pass, each with its type."""
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


# --- results

_RESULT_SIMPLE: dict[Any, Schema] = {**_SIMPLE, Path: TEXT, bytes: TEXT, None: _NULL, types.NoneType: _NULL}
_HOP = object_of(src=TEXT, dst=TEXT, energy=_NUMBER, kind=TEXT, weight=nullable(_NUMBER), tags=TEXTS)
_RECOLLECTION = object_of(
    cue=TEXT, text=TEXT, answerable=_BOOLEAN, looked_for=TEXTS, notices=TEXTS, anchors=TEXTS, walkers=TEXTS,
    attempts=array_of(_OBJECT),
    hits=array_of(object_of(node=reference("Node"), score=_NUMBER, direct=_BOOLEAN, why=_OBJECT)),
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
            return {"anyOf": [self._schema(present), object_of(result=_NULL)]}
        schema = self._schema(hint)
        return schema if "$ref" in schema or schema.get("type") == "object" else object_of(result=schema)

    def _schema(self, hint: Any) -> Schema:
        if hint in _RESULT_SIMPLE:
            return _RESULT_SIMPLE[hint]
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
            else:
                hints = get_type_hints(type_)
                own = {one.name: self._schema(hints[one.name]) for one in fields(type_)}
                self.components[name] = object_of(**own)
        return reference(name)
