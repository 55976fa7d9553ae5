"""The orders in which nodes are listed, the same in both engines, which pass in their queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from cuetrail.model import Node
from cuetrail.store.read import Listed, PagePosition, PageRequest


def page(
    query: PageRequest,
    newest: Callable[[PageRequest, int], Iterable[tuple[int, int] | list[int]]],
    core: Callable[[Sequence[str], int], list[int]],
    most_used: Callable[[int], list[int]],
    nodes_by_key: Callable[[list[int]], Mapping[int, Node]],
) -> list[Listed]:
    """Returns the nodes of a page in the order the query asks for.

    `newest` returns (time, key) of nodes by time, at most the limit of each partition; `core` returns keys of core
    nodes of these kinds, most salient first; `most_used` keys of entities, by how often their most used fact
    was used.
    """
    limit = max(query.limit, 0)
    if query.order == "time":
        keys = [key for _, key in sorted(newest(query, limit), reverse=True)[:limit]]
    else:
        keys = most_used(limit) if query.order == "fact use" else core(query.where.kinds, limit)
    nodes = nodes_by_key(keys)
    return [Listed(PagePosition(nodes[key].at, key), nodes[key]) for key in keys if key in nodes]
