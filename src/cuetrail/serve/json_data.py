"""Results as JSON data, cut to a budget of tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from cuetrail.formulas import estimated_tokens
from cuetrail.model import Fact, Node, fact_dict, node_dict

# Each round of cutting removes one part in this many of a list or text.
_CUT_DIVISOR = 8

_PLAIN = frozenset({str, int, float, bool, type(None)})


def to_json_data(value: Any) -> Any:
    """Converts the result of any verb to mappings, lists, texts and numbers."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    # Most of a result: without a call for each text in it.
    if kind is dict:
        return {str(key): one if type(one) in _PLAIN else to_json_data(one) for key, one in value.items()}
    if kind is list or kind is tuple:
        return [one if type(one) in _PLAIN else to_json_data(one) for one in value]
    match value:
        case Node():
            return to_json_data(node_dict(value))
        case Fact():
            return fact_dict(value)
        case Mapping():
            return {str(key): to_json_data(one) for key, one in value.items()}
        case None | bool() | int() | float() | str():
            return value
        case Path():
            return str(value)
        case bytes():
            return value.hex()
    if hasattr(value, "to_dict"):
        return to_json_data(value.to_dict())
    if is_dataclass(value):
        return {one.name: to_json_data(getattr(value, one.name)) for one in fields(value)}
    return [to_json_data(one) for one in value] if hasattr(value, "__iter__") else str(value)


def compact_json(data: Any) -> str:
    """Returns JSON without spaces between its parts."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)


def fit_data(data: dict[str, Any], tokens: int) -> dict[str, Any]:
    """Returns the data unchanged if it fits into the budget, else a copy with the longest lists and texts shortened.

    A shortened copy has `"cut": true`.
    """
    if estimated_tokens(compact_json(data)) <= tokens:
        return data
    shorter: dict[str, Any] = {**json.loads(compact_json(data)), "cut": True}
    while estimated_tokens(compact_json(shorter)) > tokens:
        part = max(_parts(shorter), key=lambda part: part[0], default=None)
        if part is None:
            break
        _size, holder, key = part
        holder[key] = holder[key][: len(holder[key]) - max(1, len(holder[key]) // _CUT_DIVISOR)]
    return shorter


def _parts(value: Any) -> list[tuple[int, Any, Any]]:
    """Returns the lists and long texts inside a JSON value, each as (size, container, key in the container)."""
    found: list[tuple[int, Any, Any]] = []
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in pairs:
        if (isinstance(one, list) and one) or (isinstance(one, str) and len(one) > 80):
            # Lists with several members count four times, so that members go before the texts of the others.
            size = len(compact_json(one)) * (4 if isinstance(one, list) and len(one) > 1 else 1)
            found.append((size, value, key))
        found += _parts(one)
    return found


def fit_text(text: str, tokens: int) -> str:
    """Returns the text cut to the budget; a cut text ends with an ellipsis."""
    if estimated_tokens(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimated_tokens(text[:middle] + " …") <= tokens else (low, middle - 1)
    return text[:low].rstrip() + " …" if low else ""
