"""Values that have broken programs: numbers at and beyond every bound, far times, deep nesting, long lists and texts.

The fuzz tests mix them with arbitrary values. CUETRAIL_FUZZ=100000 makes that many calls per test:

CUETRAIL_FUZZ=100000 python -m pytest -k "any_value_for or whatever_is_sent or whatever_a_model"
"""

from __future__ import annotations

import math
import os
from typing import Any

FUZZ_CALLS = int(os.environ.get("CUETRAIL_FUZZ", "0"))


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value} if depth % 2 else [value]
    return value


HOSTILE_JSON: list[Any] = [
    -1, 0, 10_000, 10_001, 2**31 - 1, 2**31, 2**32, 10**9, 10**12, 10**15, -(10**15), 2**53, 2**62, 2**63, -(2**63),
    2**64, 10**100, 1e308, -1e308, 5e-324, -0.0, 253_402_300_799_999, 253_402_300_800_000, -62_135_596_800_000,
    "#a", "@a", "a" * 20_000, "\x00", "a@@b", "__class__", "../..", "NaN", "9999-12-31", "0001-01-01", "10000-01-01",
    _nested(33), _nested(100), ["a"] * 1_001, [["a", 0.5]] * 10, {"a": {}}, {"query": "a", "threshold": 2**31},
    {"min_attitude": 2**31}, {"semantic": 1e308, "time": 1e308},
]  # fmt: skip
"""Hostile values that JSON can express."""

HOSTILE: list[Any] = [*HOSTILE_JSON, math.nan, math.inf, -math.inf, _nested(900), b"a" * 100, "\ud800"]
"""Hostile values of Python."""
