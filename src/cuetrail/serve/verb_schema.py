"""What each verb answers over HTTP, as JSON Schema, made from the types the verbs give back."""

from __future__ import annotations

import types
from collections.abc import Generator, Iterable, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from cuetrail.memory import Memory
from cuetrail.model import Node
from cuetrail.serve.tool import Schema

_TEXT: Schema = {"type": "string"}
_WHOLE: Schema = {"type": "integer"}
_NUMBER: Schema = {"type": "number"}
_FLAG: Schema = {"type": "boolean"}
_THING: Schema = {"type": "object"}
_PLAIN: dict[Any, Schema] = {
    str: _TEXT, int: _WHOLE, float: _NUMBER, bool: _FLAG, Path: _TEXT, bytes: _TEXT, None: {"type": "null"},
    types.NoneType: {"type": "null"}, Any: {},
}  # fmt: skip


def maybe(schema: Schema) -> Schema:
    """This or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def several(schema: Schema) -> Schema:
    """A list of these."""
    return {"type": "array", "items": schema}


def thing(**properties: Schema) -> Schema:
    """An object that has all of these."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def named(name: str) -> Schema:
    """A schema of the components."""
    return {"$ref": f"#/components/schemas/{name}"}


_HOP = thing(src=_TEXT, dst=_TEXT, energy=_NUMBER, kind=_TEXT, weight=maybe(_NUMBER), tags=several(_TEXT))
_RECOLLECTION = thing(
    cue=_TEXT, text=_TEXT, answerable=_FLAG, looked_for=several(_TEXT), notices=several(_TEXT),
    anchors=several(_TEXT), walkers=several(_TEXT), attempts=several(_THING),
    hits=several(thing(node=named("Node"), score=_NUMBER, direct=_FLAG, why=_THING)),
)  # fmt: skip
TOLD: dict[str, Schema] = {
    "Node": thing(
        id=_TEXT, kind=_TEXT, name=maybe(_TEXT), text=_TEXT, aliases=several(_TEXT), tags=several(_TEXT),
        buckets=several(_TEXT), source=maybe(_TEXT), seq=_WHOLE, at=_WHOLE, provenance=_TEXT, props=_THING,
        state=_TEXT, salience=_NUMBER,
    ),
    "Activation": thing(
        seed=_TEXT, score=_NUMBER, reason=_TEXT, error=maybe(_TEXT), tags=several(_TEXT), depth=_WHOLE,
        paths=several(several(_HOP)),
    ),
    "Recollection": _RECOLLECTION,
    "Narrative": thing(cue=_TEXT, text=_TEXT, answerable=_FLAG),
    "Brief": thing(text=_TEXT, owner=_TEXT, beliefs=several(_TEXT), goals=several(_TEXT), recent=several(_TEXT)),
    "Exploration": thing(meta=_THING, semantic=_THING, episodic=_THING, artifacts=several(_THING)),
    "Traversal": thing(
        start=several(_TEXT), mode=_TEXT, cut=_FLAG,
        arrivals=several(thing(node=named("Node"), hops=_WHOLE, score=maybe(_NUMBER), path=several(_TEXT))),
    ),
    "Comparison": _THING,
}  # fmt: skip
"""Types that tell themselves in their own way."""


class Results:
    """The schemas of all results; the types they are made of gather in `components`."""

    def __init__(self) -> None:
        self.components: dict[str, Schema] = {}

    def of(self, verb: str) -> Schema:
        """The schema of what a verb answers. What is no object comes as `result`."""
        hint = get_type_hints(getattr(Memory, verb))["return"]
        inner = get_args(hint)
        if get_origin(hint) in (Union, types.UnionType) and types.NoneType in inner:
            there = next(one for one in inner if one is not types.NoneType)
            return {"anyOf": [self._schema(there), thing(result={"type": "null"})]}
        schema = self._schema(hint)
        return schema if "$ref" in schema or schema.get("type") == "object" else thing(result=schema)

    def _schema(self, hint: Any) -> Schema:
        if hint in _PLAIN:
            return _PLAIN[hint]
        origin, inner = get_origin(hint), get_args(hint)
        if origin is Literal:
            return {"enum": list(inner)}
        if origin in (Union, types.UnionType):
            return {"anyOf": [self._schema(one) for one in inner]}
        if origin is Generator:
            return several(self._schema(inner[0]))
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self._schema(inner[1])}
        if isinstance(origin, type) and issubclass(origin, Iterable):
            return several(self._schema(inner[0]))
        return self._kept(hint) if is_dataclass(hint) or hint.__name__ in TOLD else {}

    def _kept(self, kind: Any) -> Schema:
        name = kind.__name__
        if name not in self.components:
            self.components[name] = {}
            if name in TOLD or hasattr(kind, "to_dict"):
                self._schema(Node)
                self.components[name] = TOLD.get(name, _THING)
            else:
                hints = get_type_hints(kind)
                self.components[name] = thing(**{one.name: self._schema(hints[one.name]) for one in fields(kind)})
        return named(name)
