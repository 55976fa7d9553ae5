"""Finds the node that a command-line argument names: by id, by name, or by the first digits of an id."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cuetrail.cli.format import node_title, short_id
from cuetrail.errors import InputError, NotFound

if TYPE_CHECKING:
    from cuetrail.memory import Memory
    from cuetrail.model import Node

CANDIDATES_SHOWN = 5
MAX_CANDIDATES = 50
# Only ids made by cuetrail may be shortened: "report" must not find "report-final".
_ID_PREFIX = re.compile(r"[0-9a-f]{6,32}")


def is_id_prefix(word: str) -> bool:
    """True if the word can be the first digits of an id made by cuetrail."""
    return _ID_PREFIX.fullmatch(word.lower()) is not None


def find_node(memory: Memory, word: str) -> Node:
    """Returns the node that a word names. Raises NotFound, with suggestions, or InputError for an ambiguous prefix."""
    found = find_node_or_none(memory, word)
    if found is None:
        raise NotFound(f"there is no node with the id or name {word!r} in this scope{suggestion(memory, word)}")
    return found


def find_node_or_none(memory: Memory, word: str) -> Node | None:
    """Returns the node that a word names, or None. Raises InputError for an ambiguous prefix."""
    found = memory.get(word)
    if found is not None or not is_id_prefix(word):
        return found
    ids = [id_ for id_ in memory.ids(word.lower(), limit=MAX_CANDIDATES) if len(id_) == 32]
    if len(ids) > 1:
        nodes = [node for node in map(memory.get, ids[:CANDIDATES_SHOWN]) if node is not None]
        raise InputError(f"{word!r} begins several ids, give more digits: {'; '.join(map(_id_and_title, nodes))}")
    return memory.get(ids[0]) if ids else None


def suggestion(memory: Memory, word: str) -> str:
    """Returns the end of an error message: similar names, or how to find ids."""
    hits = memory.recall(word, limit=3, fuzzy=True, record_access=False).hits
    if hits:
        return f"; did you mean {' or '.join(_id_and_title(hit.node) for hit in hits)}?"
    return "; `cuetrail recall WORDS --explain` shows the ids of what it finds"


def _id_and_title(node: Node) -> str:
    return f"{short_id(node.id)} ({node_title(node, 40)})"
