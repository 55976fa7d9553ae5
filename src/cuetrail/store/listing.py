"""What looking through a memory asks of an engine: what is there, the newest first, and by which labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from cuetrail.model import Node, Provenance, Where


class Spot(NamedTuple):
    """Where a node stands among all others: its time, then the engine's own number for it, which is never used twice.

    A list goes on behind a spot also when the node that was there is gone.
    """

    at: int
    key: int


@dataclass(frozen=True, slots=True)
class Page:
    """The next nodes to list, the newest first: at most `limit` of those behind `after` that pass all filters.

    With `provenance` only nodes of that one.
    """

    limit: int
    where: Where = field(default_factory=Where)
    provenance: Provenance | None = None
    after: Spot | None = None


class Listed(NamedTuple):
    """A node of a list, and where it stands."""

    spot: Spot
    node: Node


@dataclass(frozen=True, slots=True)
class Labelled:
    """A tag or a bucket, and how many nodes have it."""

    name: str
    nodes: int
