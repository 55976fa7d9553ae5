"""Requests of reads: the parts of a text search (words, phrases, prefix, typos), walks along labels, and budgets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from cuetrail.model.records import Label

Direction = Literal["out", "in", "both"]
Rank = Literal["idf", "gravity"]
Claim = Literal["energy", "frontier"]
When = int | str | date
"""A time as callers give it: UTC milliseconds, ISO text, words such as "last week", a date or a datetime."""


@dataclass(frozen=True, slots=True)
class FieldWeights:
    """How much each field of a node counts in a text search; a field of weight 0 is not searched.

    `title` holds a node's names and the titles of its note, `heading` the headings above a passage, `body` the node's
    names and its text.
    """

    title: float = 0.0
    heading: float = 0.0
    body: float = 1.0


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A text search. At least one word must match, and all phrases must.

    With `prefix`, the last word matches all words that begin with it. `fuzzy` also matches words with typos; `mend`
    does so only for words that no memory contains.
    Without `fields` the body is searched, and a score is doubled if a tag or bucket has a word of the query. With
    `fields` a score is the weighted sum of the BM25 of each field, and nothing is doubled.
    """

    words: str
    phrases: tuple[str, ...] = ()
    prefix: bool = False
    fuzzy: bool = False
    mend: bool = False
    fields: FieldWeights | None = None


@dataclass(frozen=True, slots=True)
class WalkSeed:
    """A node a walk starts from, with the labels (tags, buckets) to follow. `key` is the engine's number for it."""

    id: str
    labels: tuple[Label, ...]
    at: int = 0
    simhash: int | None = None
    key: int | None = None


@dataclass(frozen=True, slots=True)
class WalkQuery:
    """A walk from the seeds to nodes that share a tag or bucket with them and match no word of `unlike`, best first by
    `rank`.
    """

    seeds: tuple[WalkSeed, ...]
    unlike: TextQuery
    rank: Rank = "idf"


@dataclass(frozen=True, slots=True)
class Budget:
    """The size limit of the rendered text, in characters or in tokens. Give one of them."""

    chars: int | None = None
    tokens: int | None = None

    def __repr__(self) -> str:
        """Returns only what is given, such as Budget(tokens=500)."""
        given = {"chars": self.chars, "tokens": self.tokens}
        return f"Budget({', '.join(f'{name}={size}' for name, size in given.items() if size is not None)})"


BudgetLike = Budget | int | Mapping[str, int]
"""A budget as callers give it: a Budget, a number of tokens, or {"tokens": 500} or {"chars": 2000}."""
