"""The largest numbers, lists, times and properties that a caller may pass: one table, read by the checks, the schemas
of REST and MCP, and `docs/limits.md`.

A search reserves memory for as many results as are asked for, so no number of a caller's goes further without a bound.
"""

from __future__ import annotations

from collections.abc import Mapping

MOST: Mapping[str, int] = {
    "anchors": 1_000,
    "budget": 10_000_000_000,
    "depth": 10,
    "hops": 10,
    "limit": 10_000,
    "max_branches": 1_000,
    "max_bytes": 1_000_000_000_000_000,
    "max_depth": 100,
    "max_facts": 10_000,
    "max_hops": 3,
    "min_results": 10_000,
    "per_entity": 10_000,
    "rerank_ms": 60_000,
    "seq": 1_000_000_000_000_000,
    "top_k": 10_000,
}
"""The largest value of each argument that is a number, in every verb."""

MOST_ITEMS: Mapping[str, int] = {
    "aliases": 1_000,
    "buckets": 1_000,
    "exclude_relationship_types": 1_000,
    "ids": 1_000_000,
    "keywords": 1_000,
    "kinds": 1_000,
    "messages": 100_000,
    "only": 1_000,
    "props": 100,
    "relationship_types": 1_000,
    "seeds": 10_000,
    "start": 1_000,
    "tags": 1_000,
}
"""The most items of each argument that is a list."""

WORD_CHARS = 10_000
"""The most characters of a text in such a list, such as a tag."""

PROPS_DEPTH = 32
"""How deep the properties of a record may be nested: {"a": {"b": 1}} is 2 deep."""

PROPS_BYTES = 1_000_000
"""The most bytes that the properties of a record have as JSON."""

TIMES = (-62_135_596_800_000, 253_402_300_799_999)
"""The first and the last time that can be given, in UTC milliseconds: from the year 1 to the year 9999."""


def nesting_fault(value: object) -> str | None:
    """Returns what is wrong with lists and mappings that are nested too deep or have too many items; None if nothing.

    It uses no recursion, and stops early at a value that refers to the same list many times.

    >>> nesting_fault({"a": {"b": [1]}}) is None
    True
    """
    level, items = [value], 0
    for _ in range(PROPS_DEPTH):
        inner: list[object] = []
        for one in level:
            if isinstance(one, Mapping):
                inner += one.values()
            elif isinstance(one, list | tuple):
                inner += one
            if items + len(inner) > PROPS_BYTES:
                return f"they have more than {PROPS_BYTES} items"
        level, items = [one for one in inner if isinstance(one, Mapping | list | tuple)], items + len(inner)
        if not level:
            return None
    return f"they are nested more than {PROPS_DEPTH} deep"
