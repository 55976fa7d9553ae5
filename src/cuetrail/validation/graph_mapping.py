"""From the arguments of a caller, or a TOML file, to the mapping of a graph. Raises InputError."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from cuetrail.config import read_toml
from cuetrail.errors import InputError
from cuetrail.model.graph_mapping import GraphMapping, IdType
from cuetrail.text.normalise import storable
from cuetrail.validation.arguments import is_number

MOST_NAMES, NAME_CHARS = 1_000, 1_000
_LISTS = ("labels", "types")
_OPTIONAL = ("weight", "tags", "tag_separator", "name", "text", "time", "fulltext")
_NUMBERS = ("weight_scale", "missing_weight")
FIELDS = tuple(field.name for field in fields(GraphMapping))


def make_mapping(given: GraphMapping | Mapping[str, Any], base: GraphMapping | None = None) -> GraphMapping:
    """Returns a mapping with these fields; the others are those of `base`, else the defaults.

    A property that is "" is none. Raises InputError for a field that is unknown or has a wrong value.
    """
    if isinstance(given, GraphMapping):
        given = {name: getattr(given, name) for name in FIELDS}
    strange = next((name for name in given if name not in FIELDS), None)
    if strange is not None:
        near = get_close_matches(str(strange), FIELDS, 1)
        hint = f"did you mean {near[0]}?" if near else f"use {', '.join(FIELDS)}"
        raise InputError(f"the mapping of a graph has no field {strange!r:.60}: {hint}")
    return replace(base or GraphMapping(), **{name: _value(name, value) for name, value in given.items()})


def load_mapping(path: str | Path, base: GraphMapping | None = None) -> GraphMapping:
    """Returns the mapping in a TOML file; fields that it does not have are those of `base`, else the defaults.

    Raises InputError for a file that cannot be read, and for a wrong field.
    """
    file = Path(path).expanduser()
    try:
        return make_mapping(read_toml(file), base)
    except InputError as error:
        raise InputError(f"{file}: {error}") from error


def _value(name: str, value: Any) -> Any:
    if name in _LISTS:
        return _names(name, value)
    if name in _NUMBERS:
        low = 0 if name == "missing_weight" else None
        fits = is_number(value) and (value > 0 if low is None else 0 <= value <= 1)
        if not fits:
            allowed = "above 0" if low is None else "from 0 to 1"
            raise InputError(f"{name} of the mapping must be a number {allowed}, not {value!r:.60}")
        return float(value)
    if name == "id_type":
        if value not in get_args(IdType):
            raise InputError(f"id_type of the mapping must be {' or '.join(get_args(IdType))}, not {value!r:.60}")
        return value
    if name in _OPTIONAL and value in (None, ""):
        return None
    return _name(name, value)


def _names(name: str, value: Any) -> tuple[str, ...]:
    given = [value] if isinstance(value, str) else value
    if not isinstance(given, list | tuple) or len(given) > MOST_NAMES:
        raise InputError(f'{name} of the mapping must be a list of at most {MOST_NAMES} names, such as ["Person"]')
    return tuple(dict.fromkeys(_name(name, one) for one in given))


def _name(field: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > NAME_CHARS or not storable(value):
        raise InputError(f"{field} of the mapping must be a name in the graph, not {value!r:.60}")
    return value
