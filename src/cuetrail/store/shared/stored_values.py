"""Values in the form that both engines store: signed 64-bit numbers, and JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

GIVEN = ("user", "auto")
"""The origins of tags that a person or a rule gave."""
TWO64 = 1 << 64
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False)


def signed(value: int) -> int:
    """Converts an unsigned 64-bit number to the signed one with the same bits, which databases can store."""
    return value - TWO64 if value >= TWO64 >> 1 else value


def unsigned(value: int) -> int:
    """Converts a stored signed number back to the unsigned one: the inverse of `signed`."""
    return value + TWO64 if value < 0 else value


def pack(value: Mapping[str, Any] | tuple[Any, ...] | list[Any]) -> str | None:
    """Returns a value as compact JSON with sorted keys, or None if it is empty."""
    return _ENCODER.encode(value) if value else None
