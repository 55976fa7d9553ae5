"""A tool: a function over a memory with a JSON Schema for its arguments. MCP, REST and mem0 routes share it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from cuetrail.errors import InputError
from cuetrail.validation.limits import MOST

if TYPE_CHECKING:
    from cuetrail.memory import Memory

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
TEXTS: Schema = {"type": "array", "items": TEXT}
PLAIN_TYPES: dict[Any, Schema] = {
    str: TEXT, int: {"type": "integer"}, float: {"type": "number"}, bool: {"type": "boolean"}, Any: {},
}  # fmt: skip
"""The schemas of types that JSON has too."""
TIME_ARGUMENTS = ("as_of", "at", "since", "until", "valid_from", "valid_until")


def described(schema: Schema, description: str) -> Schema:
    """Returns the schema with a description; unchanged if that is empty."""
    return {**schema, "description": description} if description else schema


def count_schema(name: str, minimum: int = 0) -> Schema:
    """Returns the schema of a whole number argument, from `minimum` to the limit for this argument in MOST."""
    return {"type": "integer", "minimum": minimum, "maximum": MOST[name]}


def nullable(schema: Schema) -> Schema:
    """Returns a schema that also allows null."""
    return {"anyOf": [schema, {"type": "null"}]}


def either(*schemas: Schema) -> Schema:
    """Returns a schema that allows what one of these allows."""
    return {"anyOf": list(schemas)}


def array_of(schema: Schema) -> Schema:
    """Returns the schema of a list whose items have this schema."""
    return {"type": "array", "items": schema}


def object_of(**properties: Schema) -> Schema:
    """Returns the schema of an object with these required properties."""
    return {"type": "object", "properties": properties, "required": list(properties)}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool: `text` for a language model, `data` for a program. Each fits into the token budget."""

    text: str
    data: dict[str, Any]


def _over_http_only(_memory: Memory, _arguments: dict[str, Any]) -> ToolResult:
    raise NotImplementedError("this tool describes an HTTP route and cannot be called")


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """A named function with a schema for its arguments and one for its result.

    `writes`: it changes the memory. `destroys`: a call may lose data. `repeatable`: a second call with the same
    arguments changes nothing more. `lenient`: unknown arguments are ignored instead of refused. A tool without `call`
    only describes the arguments of an HTTP route.
    """

    name: str
    title: str
    description: str
    properties: Mapping[str, Schema]
    call: Callable[[Memory, dict[str, Any]], ToolResult] = _over_http_only
    required: tuple[str, ...] = ()
    output: Schema | None = None
    writes: bool = False
    destroys: bool = False
    repeatable: bool = True
    lenient: bool = False

    @property
    def schema(self) -> Schema:
        """The JSON Schema of the arguments."""
        schema: Schema = {"type": "object", "properties": dict(self.properties)}
        schema |= {} if self.lenient else {"additionalProperties": False}
        return {**schema, "required": list(self.required)} if self.required else schema


def checked_arguments(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments with whole numbers as int.

    Raises InputError, with the position and the expected value, if the arguments do not match the tool's schema.
    """
    validator = _validator(tool)
    if validator.is_valid(given):
        return {name: _whole_number(value, tool.properties.get(name, {})) for name, value in given.items()}
    # Imported here: needed only for invalid arguments.
    from jsonschema.exceptions import best_match

    error = best_match(validator.iter_errors(given))
    if error.validator == "additionalProperties":
        unknown = sorted(set(given) - set(tool.properties)) or [error.message]
        raise InputError(f"{tool.name} has no argument {', '.join(unknown)}; it takes {', '.join(tool.properties)}")
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path).lstrip(".")
    message = error.message
    # The message begins with the value, which may be long, and ends with the reason.
    message = message if len(message) <= 300 else f"{message[:60]} … {message[-200:]}"
    raise InputError(f"{tool.name}: {path + ': ' if path else ''}{message}")


def _whole_number(value: Any, schema: Schema) -> Any:
    """Returns the value; a float such as 5.0 as int if the schema asks for an integer, as JSON Schema accepts both."""
    if not isinstance(value, float) or not value.is_integer():
        return value
    return int(value) if any(one.get("type") == "integer" for one in (schema, *schema.get("anyOf", ()))) else value


@cache
def _validator(tool: Tool) -> Any:
    # Imported here: loading it would delay the first response of a server.
    from jsonschema import Draft202012Validator

    return Draft202012Validator(tool.schema)
