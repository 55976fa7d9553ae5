"""Queries: filters, text searches, walks along labels, and budgets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from cuetrail.model.records import Label, Node

DERIVED = ("storyline", "macro")
"""Kinds of nodes that dreams write about other memories. A search returns them only if their kind is asked for."""

Direction = Literal["out", "in", "both"]


Rank = Literal["idf", "gravity"]


Claim = Literal["energy", "frontier"]


@dataclass(frozen=True, slots=True)
class Where:
    """Filters that apply in every stage of a recall. An empty filter does not restrict.

    `with_text` excludes nodes without text, except sources.
    """

    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    quarantined: bool = False
    archived: bool = False
    with_text: bool = False

    def admits(self, node: Node) -> bool:
        """True if a node passes all filters."""
        return (
            set(self.tags) <= set(node.tags)
            and (not self.buckets or not set(self.buckets).isdisjoint(node.buckets))
            and (not self.kinds or node.kind in self.kinds)
            and (self.since is None or node.at >= self.since)
            and (self.until is None or node.at <= self.until)
            and (self.quarantined or node.provenance != "quarantine")
            and (self.archived or node.life.state != "archived")
            and (not self.with_text or node.text != "" or node.kind == "source")
        )

    def finds(self, node: Node) -> bool:
        """True if a search may return a node. Storylines and macros are returned only if `kinds` names them."""
        return self.admits(node) and (bool(self.kinds) or node.kind not in DERIVED)


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A text search. One word must match and all phrases must match.

    `prefix` completes the last word. `fuzzy` also matches words with typos, `mend` only for words that no memory has.
    """

    words: str
    phrases: tuple[str, ...] = ()
    prefix: bool = False
    fuzzy: bool = False
    mend: bool = False


@dataclass(frozen=True, slots=True)
class WalkSeed:
    """A node a walk starts from, with the labels to follow. `key` is the engine's own number for the node."""

    id: str
    labels: tuple[Label, ...]
    at: int = 0
    simhash: int | None = None
    key: int | None = None


@dataclass(frozen=True, slots=True)
class WalkQuery:
    """A walk from the seeds to nodes that share a label with them and match no word of `unlike`."""

    seeds: tuple[WalkSeed, ...]
    unlike: TextQuery
    rank: Rank = "idf"


@dataclass(frozen=True, slots=True)
class Budget:
    """The size limit of the rendered text, in characters or in tokens. Give one of them."""

    chars: int | None = None
    tokens: int | None = None
