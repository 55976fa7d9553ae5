"""A LangGraph store that keeps its items in a memory.

    graph = builder.compile(store=CuetrailStore(memory))

An item is a memory: its texts are found by `search(prefix, query=...)`, and by every recall of the memory. `index`
names the fields that are searched; an item with `index=False` is only found by key and by `search` without a query.
Items do not fade. `abatch` runs the same in a thread.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)
from langgraph.store.base.embed import get_text_at_path, tokenize_path

from cuetrail.errors import Forgotten, InputError
from cuetrail.integrations.shared import made_id, remove
from cuetrail.memory import Memory
from cuetrail.model import Budget, Node

__all__ = ["CuetrailStore"]

KEPT = "langgraph"
"""The property that has an item's namespace, key and value, and the bucket of all items."""
PAGE, MOST_FOUND = 5_000, 1_000
# A search is for items, not for a text: their number limits it.
_WIDE = Budget(chars=10_000_000)


class CuetrailStore(BaseStore):
    """Items by namespace and key, in a memory. Threads may share it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Returns one result per operation. Reads see the memory as it was before; of several puts to one key the last
        counts.

        Raises InputError for a value that is no JSON, and Forgotten if its text was forgotten before.
        """
        every = list(ops)
        results = [self._read(op) for op in every]
        puts = {(op.namespace, op.key): op for op in every if isinstance(op, PutOp)}
        self._put([op for op in puts.values() if op.value is not None])
        gone = [item_id(op.namespace, op.key) for op in puts.values() if op.value is None]
        remove(self.memory, list(self.memory.nodes(*gone)) if gone else [])
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Returns the same as `batch`, which runs in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            id_ = item_id(op.namespace, op.key)
            node = self.memory.nodes(id_).get(id_)
            return None if node is None or KEPT not in node.props else Item(**_fields(node))
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        return None

    def _put(self, ops: Sequence[PutOp]) -> None:
        if not ops:
            return
        try:
            written = self.memory.add_many([_record(op) for op in ops])
        except InputError as error:
            keys = ", ".join(f"{op.key!r:.40}" for op in ops[:5])
            raise InputError(f"nothing of this batch was stored (keys {keys}): {error}") from error
        if written.forgotten:
            raise Forgotten(
                f"{len(written.forgotten)} items were not stored, because their text was forgotten before: leave it out"
            )

    def _search(self, op: SearchOp) -> list[SearchItem]:
        if op.query:
            # A filter, and names that differ only in case, leave some of the hits out.
            limit = MOST_FOUND if op.filter else max(0, min(op.offset + op.limit + 100, MOST_FOUND))
            hits = self.memory.recall(
                op.query, buckets=[bucket(op.namespace_prefix)], limit=limit, budget=_WIDE, include_archived=True
            ).hits
            scored: Iterator[tuple[Node, float | None]] = ((hit.node, hit.score) for hit in hits)
        else:
            scored = ((node, None) for node in self._items(op.namespace_prefix))
        found = (
            SearchItem(**_fields(node), score=score)
            for node, score in scored
            if _fits(node, op.namespace_prefix) and _passes(node.props[KEPT]["value"], op.filter)
        )
        # No more pages are read than this needs.
        return list(islice(found, max(op.offset, 0), max(op.offset, 0) + max(op.limit, 0)))

    def _items(self, prefix: Sequence[str]) -> Iterator[Node]:
        """Yields the items below a prefix, the newest first."""
        after: str | None = None
        while True:
            page = self.memory.timeline(
                buckets=[bucket(prefix)], limit=PAGE, after=after, include_quarantined=True, include_archived=True
            )
            yield from page.nodes
            after = page.more
            if after is None:
                return

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = {tuple(node.props[KEPT]["namespace"]) for node in self._items(()) if KEPT in node.props}
        fitting = [one for one in found if all(_matches(one, condition) for condition in op.match_conditions or ())]
        cut = sorted({one[: op.max_depth] for one in fitting})
        return cut[op.offset : op.offset + op.limit]


def item_id(namespace: Sequence[str], key: str) -> str:
    """Returns the id of the memory that holds an item."""
    return made_id(KEPT, *namespace, "", key)


def bucket(prefix: Sequence[str]) -> str:
    """Returns the bucket of all items below a prefix of namespaces.

    >>> bucket(()), bucket(("users", "ann"))
    ('langgraph', 'langgraph/users/ann')
    """
    return "/".join((KEPT, *prefix))


def _record(op: PutOp) -> dict[str, Any]:
    """Returns the arguments of `add` for an item."""
    try:
        value = json.loads(json.dumps(op.value, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise InputError(f"the value of {op.key!r:.60} cannot be stored as JSON ({error}): use plain data") from error
    if op.index is False or op.index is None:
        found = list(_texts(value))
    else:
        found = [text for path in op.index for text in get_text_at_path(value, tokenize_path(path))]
    return {
        "id": item_id(op.namespace, op.key),
        "text": "\n".join(found) or json.dumps(value, ensure_ascii=False),
        "buckets": [bucket(op.namespace[:depth]) for depth in range(len(op.namespace), -1, -1)],
        "props": {KEPT: {"namespace": list(op.namespace), "key": op.key, "value": value}},
        "retention": "keep_forever",
        # What is not indexed is kept where only searches that ask for it look.
        "provenance": "quarantine" if op.index is False else "internal",
    }


def _texts(value: Any) -> Iterator[str]:
    """Yields the texts in a value, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _fields(node: Node) -> dict[str, Any]:
    kept = node.props[KEPT]
    created, updated = (datetime.fromtimestamp(ms / 1000, UTC) for ms in (node.created, node.updated))
    return {
        "namespace": tuple(kept["namespace"]), "key": kept["key"], "value": kept["value"],
        "created_at": created, "updated_at": updated,
    }  # fmt: skip


def _fits(node: Node, prefix: Sequence[str]) -> bool:
    """True if a memory is an item below a prefix. Unlike the buckets, which found it, it tells capitals apart."""
    return KEPT in node.props and node.props[KEPT]["namespace"][: len(prefix)] == list(prefix)


COMPARISONS = {
    "$eq": lambda have, want: have == want,
    "$ne": lambda have, want: have != want,
    "$gt": lambda have, want: have > want,
    "$gte": lambda have, want: have >= want,
    "$lt": lambda have, want: have < want,
    "$lte": lambda have, want: have <= want,
}
"""The operators of a filter, by name."""


def _passes(value: Mapping[str, Any], wanted: Mapping[str, Any] | None) -> bool:
    return all(_compares(value.get(name), want) for name, want in (wanted or {}).items())


def _compares(have: Any, want: Any) -> bool:
    if not isinstance(want, dict) or not any(isinstance(name, str) and name.startswith("$") for name in want):
        return bool(have == want)
    strange = next((name for name in want if name not in COMPARISONS), None)
    if strange is not None:
        raise InputError(f"there is no filter operator {strange!r:.60}: use {', '.join(COMPARISONS)}")
    try:
        return all(COMPARISONS[name](have, limit) for name, limit in want.items())
    except TypeError:
        # A text is neither less nor more than a number, and nothing is less than a missing value.
        return False


def _matches(namespace: Sequence[str], condition: MatchCondition) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(want in ("*", have) for have, want in zip(part, path, strict=True))
