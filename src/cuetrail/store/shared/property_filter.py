"""Filters on properties, the same in both engines: patterns of stored JSON, and searches repeated until enough pass."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from cuetrail.model import Node, Where

H = TypeVar("H")

# How many times more a search asks for if too few of what it found pass.
WIDER = 4


def patterns(name: str, value: str) -> list[str]:
    """Returns the texts of which one is in the JSON of a node's properties if it has this property, and else none.
    `value` is JSON. It rests on the form in which `encoding.pack` writes.

    >>> patterns("project", '"x"')[0]
    '{"project":"x",'
    """
    pair = f"{json.dumps(name, ensure_ascii=False)}:{value}"
    return [f"{before}{pair}{after}" for before in "{," for after in ",}"]


def first_passing(
    find: Callable[[int, Where], Sequence[H]], node_of: Callable[[H], Node | None], limit: int, where: Where
) -> list[H]:
    """Returns the first `limit` of what a search finds that have the properties which `where` asks for. `find` takes a
    number, and filters without properties; it must return the same order for every number.
    """
    if not where.props:
        return list(find(limit, where))
    wide, wanted = replace(where, props=()), limit
    while True:
        found = find(wanted, wide)
        kept = [one for one in found if (node := node_of(one)) is not None and where.admits_props(node)]
        if len(kept) >= limit or len(found) < wanted:
            return kept[:limit]
        wanted *= WIDER
