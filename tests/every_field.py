"""A result with every field as text: the repr of a node, a fact or a recollection shows only some of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def every_field(found: Any) -> str:
    """All that a result says."""
    return repr(_plain(found))


def _plain(found: Any) -> Any:
    if is_dataclass(found) and not isinstance(found, type):
        return {one.name: _plain(getattr(found, one.name)) for one in fields(found)}
    if isinstance(found, Mapping):
        return {repr(key): _plain(value) for key, value in found.items()}
    if isinstance(found, list | tuple | set | frozenset):
        return [_plain(one) for one in found]
    return found
