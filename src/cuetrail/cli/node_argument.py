"""Which node is meant: by id, by name, or by the first digits of an id that cuetrail made."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cuetrail.cli import present
from cuetrail.errors import InputError, NotFound

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Node

SHORTEST = 6
CANDIDATES = 5
LOOKED_AT = 50
# Ids that people chose are given in full: who asks for "report" does not mean "report-final".
_DIGITS = re.compile(rf"[0-9a-f]{{{SHORTEST},32}}")


def meant(memory: Memory, word: str) -> Node:
    """The node a word names. Raises NotFound, with what comes nearest, or InputError for digits that begin several."""
    found = known(memory, word)
    if found is None:
        raise NotFound(f"there is no node with the id or name {word!r} in this scope{nearest(memory, word)}")
    return found


def known(memory: Memory, word: str) -> Node | None:
    """The same, but None when there is no such node."""
    found = memory.get(word)
    if found is not None or not _DIGITS.fullmatch(word.lower()):
        return found
    ids = [id_ for id_ in memory.ids(word.lower(), limit=LOOKED_AT) if len(id_) == 32]
    if len(ids) > 1:
        nodes = [node for node in map(memory.get, ids[:CANDIDATES]) if node is not None]
        raise InputError(f"{word!r} begins several ids, give more digits: {'; '.join(map(_named, nodes))}")
    return memory.get(ids[0]) if ids else None


def nearest(memory: Memory, word: str) -> str:
    """What to do next: names that come near, or how to find ids."""
    hits = memory.recall(word, limit=3, fuzzy=True, record_access=False).hits
    if hits:
        return f"; did you mean {' or '.join(_named(hit.node) for hit in hits)}?"
    return "; `cuetrail recall WORDS --explain` shows the ids of what it finds"


def _named(node: Node) -> str:
    return f"{present.short(node.id)} ({present.title(node, 40)})"
