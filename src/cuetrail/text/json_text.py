"""JSON that others wrote: read unless its values would take far more memory than its text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from cuetrail.errors import ReadError

# About what a value of each kind takes in memory beside its text, in bytes.
_COMMA_BYTES, _LIST_BYTES, _MAPPING_BYTES = 60, 60, 230
MOST_BYTES, MOST_TIMES = 512 * 2**20, 10
"""JSON whose values would take more bytes than this is read only if that is at most so many times its text."""


def load_json(text: str, parse_constant: Callable[[str], Any] | None = None) -> Any:
    """Returns the value of a JSON text. Raises ReadError, before it is read, for one that consists of brackets and
    commas to fill the memory; ValueError or RecursionError for one that is no JSON.

    >>> load_json('{"a": [1]}')
    {'a': [1]}
    """
    taken = _COMMA_BYTES * text.count(",") + _LIST_BYTES * text.count("[") + _MAPPING_BYTES * text.count("{")
    if taken > max(MOST_BYTES, MOST_TIMES * len(text)):
        raise ReadError(f"this JSON would take more than {taken >> 20} MB of memory. Split it, and import the parts.")
    return json.loads(text, parse_constant=parse_constant)
