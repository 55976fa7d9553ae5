"""The engine protocol: six small ports, which together are a `Store`. Both engines pass the tests in
`tests/store/contract`.

Rules that all engines follow:
- Methods with a scope neither read, change nor count rows outside it.
- In a scope an id means one row: that of the partition the scope writes to, else of the user's other partitions, else
  of a teammate, by team and owner. Other visible rows are called `id@@owner/team`, or `id@@owner` if they are private.
  No id contains `@@` itself.
- `write` is one transaction: after it returns everything is stored; if it raises nothing is. So is `forget`.
- Reads see every write that was acknowledged before them, in any process.
- Orders are total: score descending, then newer, then id.
"""

from __future__ import annotations

from typing import Protocol

from cuetrail.store.dream import Dreams
from cuetrail.store.graph import Graph
from cuetrail.store.read import Reads
from cuetrail.store.search import Searches
from cuetrail.store.upkeep import Upkeep
from cuetrail.store.write import Writing


class Store(Reads, Searches, Graph, Writing, Dreams, Upkeep, Protocol):
    """The engine protocol: what an engine offers, opened on one memory."""
