"""What every door does with arguments and results: check them, make them plain data, keep them within a budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuetrail.errors import InputError
from cuetrail.formulas import estimated_tokens
from cuetrail.model import Fact, Node, fact_dict, node_dict

if TYPE_CHECKING:
    from cuetrail.memory import Memory

# A list or text is shortened by this part of it at a time.
_STEP = 8

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool says: `text` for a model to read, `data` for a program. Each is within the budget."""

    text: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Tool:
    """A verb as a tool: what to pass, what comes back, and what it does to the memory.

    `writes` is whether it changes anything, `destroys` whether something may be lost by that, `repeatable` whether a
    second call with the same arguments changes nothing more. A `lenient` one passes over arguments it does not know.
    """

    name: str
    title: str
    description: str
    properties: Mapping[str, Schema]
    call: Callable[[Memory, dict[str, Any]], Answer]
    required: tuple[str, ...] = ()
    output: Schema | None = None
    writes: bool = False
    destroys: bool = False
    repeatable: bool = True
    lenient: bool = False

    @property
    def schema(self) -> Schema:
        """The JSON Schema of its arguments."""
        given: Schema = {"type": "object", "properties": dict(self.properties)}
        given |= {} if self.lenient else {"additionalProperties": False}
        return {**given, "required": list(self.required)} if self.required else given


def checked_arguments(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, whole numbers as such however they were written.

    Raises InputError, with the place and what belongs there, unless they fit the tool's schema.
    """
    check = _checker(tool)
    if check.is_valid(given):
        return {name: _whole(value, tool.properties.get(name, {})) for name, value in given.items()}
    # Imported here: not needed before somebody errs.
    from jsonschema.exceptions import best_match

    error = best_match(check.iter_errors(given))
    if error.validator == "additionalProperties":
        strange = sorted(set(given) - set(tool.properties)) or [error.message]
        raise InputError(f"{tool.name} has no argument {', '.join(strange)}; it takes {', '.join(tool.properties)}")
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.absolute_path).lstrip(".")
    said = error.message
    # It begins with what was given, which may be long; what is wrong with that comes last.
    said = said if len(said) <= 300 else f"{said[:60]} … {said[-200:]}"
    raise InputError(f"{tool.name}: {place + ': ' if place else ''}{said}")


def _whole(value: Any, schema: Schema) -> Any:
    """To JSON 5.0 is a whole number too."""
    if not isinstance(value, float) or not value.is_integer():
        return value
    return int(value) if any(one.get("type") == "integer" for one in (schema, *schema.get("anyOf", ()))) else value


@cache
def _checker(tool: Tool) -> Any:
    # Imported here: a server has answered before it is needed.
    from jsonschema import Draft202012Validator

    return Draft202012Validator(tool.schema)


def plain(value: Any) -> Any:
    """A result of any verb as data for JSON: mappings, lists, texts, numbers."""
    match value:
        case Node():
            return plain(node_dict(value))
        case Fact():
            return fact_dict(value)
        case Mapping():
            return {str(key): plain(one) for key, one in value.items()}
        case None | bool() | int() | float() | str():
            return value
        case Path():
            return str(value)
        case bytes():
            return value.hex()
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    return [plain(one) for one in value] if hasattr(value, "__iter__") else str(value)


def compact(data: Any) -> str:
    """Data as JSON in as few characters as it takes."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)


@dataclass(slots=True)
class _Part:
    """A list or a text somewhere in data, how large it is, and where it hangs."""

    size: int
    holder: Any = field(repr=False)
    key: Any = None


def fitted(data: dict[str, Any], tokens: int) -> dict[str, Any]:
    """The data itself, or a shorter copy within so many tokens: the longest lists and texts lose their ends.

    A shorter copy says so with `"cut": true`.
    """
    if estimated_tokens(compact(data)) <= tokens:
        return data
    shorter: dict[str, Any] = {**json.loads(compact(data)), "cut": True}
    while estimated_tokens(compact(shorter)) > tokens:
        part = max(_parts(shorter), key=lambda part: part.size, default=None)
        if part is None:
            break
        long = part.holder[part.key]
        part.holder[part.key] = long[: len(long) - max(1, len(long) // _STEP)]
    return shorter


def _parts(value: Any) -> list[_Part]:
    """Every list and text below a value that can be shorter; ids and other short texts are left whole."""
    found: list[_Part] = []
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in pairs:
        if (isinstance(one, list) and one) or (isinstance(one, str) and len(one) > 80):
            # A list that can lose members goes before the text of one that stays.
            found.append(_Part(len(compact(one)) * (4 if isinstance(one, list) and len(one) > 1 else 1), value, key))
        found += _parts(one)
    return found


def clipped(text: str, tokens: int) -> str:
    """A text, cut to so many tokens; a cut one ends with an ellipsis."""
    if estimated_tokens(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimated_tokens(text[:middle] + " …") <= tokens else (low, middle - 1)
    return text[:low].rstrip() + " …" if low else ""
