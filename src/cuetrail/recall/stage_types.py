"""The types of a recall: the recipe with its four functions, what they are given, and what they return."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from cuetrail.model import (
    Activation,
    Attempt,
    Fact,
    Hit,
    Label,
    Node,
    Rank,
    RecalledFact,
    Scope,
    TextQuery,
    WalkHit,
    WalkSeed,
)
from cuetrail.recall.query import Cue

if TYPE_CHECKING:
    from cuetrail.store.ports import Store
    from cuetrail.store.vector_space import QueryVector

Mode = Literal["all", "internal", "external"]

ANSWERABLE_FROM = 0.5
"""The lowest confidence with which hits count as an answer."""

Measure = Callable[[str], int]
"""Returns the size of a text, in characters or tokens."""


EmbedQuery = Callable[[str], "QueryVector | None"]
"""Embeds a query; returns None if the memory has no vectors to compare it with."""

EmbedTexts = Callable[[Sequence[str]], "list[bytes] | None"]
"""Embeds short texts; returns None if the memory has no vectors."""


Rerank = Callable[[Sequence[str]], "list[float] | None"]
"""Scores texts for the cue with a cross-encoder, higher is better; returns None if it has no time left or fails."""


@dataclass(frozen=True, slots=True)
class RecallContext:
    """Everything the stages of one recall share: the store to search, the parsed cue, and the room for an answer.

    `size` is the budget in units of `measure`, `tokens` the same budget in tokens, estimated. `limit` is the maximum
    number of hits; None leaves that to the budget. Without `embed`, only text is searched. `now` is the time for which
    to answer, in milliseconds. `embed_texts` embeds the facts that are compared with the cue. `rerank` is None
    without a reranker.
    """

    store: Store
    scope: Scope
    cue: Cue
    size: int
    measure: Measure
    tokens: int
    limit: int | None = None
    embed: EmbedQuery | None = None
    now: int = 0
    embed_texts: EmbedTexts | None = None
    rerank: Rerank | None = None


@dataclass(frozen=True, slots=True)
class Anchor:
    """A node that the query found, with its BM25 score and cosine (None if that search did not find it).

    `boosted`: one of its tags or buckets contains a query word. `factor` is the multiplier its score got for its
    provenance. `key` is the engine's row number of the node, if the engine gave one.
    """

    node: Node
    bm25: float | None
    cosine: float | None = None
    boosted: bool = False
    factor: float = 1.0
    key: int | None = None

    def why(self) -> dict[str, Any]:
        """Returns the `why` of a hit that was found directly: which searches found it, with their scores."""
        found_by = [name for name, part in (("text", self.bm25), ("vector", self.cosine)) if part is not None]
        return {
            "anchors": [self.node.id],
            "found_by": found_by,
            "parts": {"bm25": self.bm25, "cosine": self.cosine},
            "tag_boost": self.boosted,
            "path": [],
        }


@dataclass(frozen=True, slots=True)
class Anchored:
    """Result of the anchor stage: the anchors, the text query that found them, and notices for the user.

    `attempt` names the form of the query that gave the anchors, such as "full" or "nouns"; `attempts` lists all that
    were tried. `query_embedding` is the query's vector, None if vectors were not searched.
    """

    anchors: tuple[Anchor, ...]
    query: TextQuery
    attempt: str = "full"
    attempts: tuple[Attempt, ...] = ()
    notices: tuple[str, ...] = ()
    query_embedding: QueryVector | None = None


@dataclass(frozen=True, slots=True)
class ReachedFact:
    """A fact that a narrative reached: `entity` is the id of the node it was found at, `hop` the number of hops from an
    anchor to that node, `path` the ids from the anchor to it.
    """

    fact: Fact
    entity: str
    hop: int
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reached:
    """Result of the spread stage; each recipe fills the fields it needs.

    Tag walk: `walked` nodes, best first, the `seeds` they were reached from, the IDF of each label (a tag or a bucket)
    and the `rank` that ordered them. Energy: `walked` and `activations`. Narrative: `facts` in the order they were
    reached, and by id the nodes on the paths to them (`entities`).
    """

    walked: tuple[WalkHit, ...] = ()
    seeds: tuple[WalkSeed, ...] = ()
    idfs: Mapping[Label, float] = field(default_factory=dict)
    rank: Rank = "idf"
    activations: tuple[Activation, ...] = ()
    facts: tuple[ReachedFact, ...] = ()
    entities: Mapping[str, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scored:
    """Result of the score stage: `anchors` are hits the query found directly, `walkers` hits reached from those.

    TRAIL puts all hits into `anchors`. `confidence` is an estimate from 0 to 1 that the hits answer the cue; None if
    the recipe makes none. `facts` are the current facts that fit the query, best first.
    """

    anchors: tuple[Hit, ...]
    walkers: tuple[Hit, ...] = ()
    confidence: float | None = None
    facts: tuple[RecalledFact, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way to recall: one function for each of the four stages.

    `limit` is the maximum number of hits unless the caller gives one; None leaves it to the budget.
    """

    name: str
    anchor: Callable[[RecallContext], Anchored]
    spread: Callable[[RecallContext, Anchored], Reached]
    score: Callable[[RecallContext, Anchored, Reached], Scored]
    render: Callable[[RecallContext, Scored], tuple[str, Scored]]
    limit: int | None = None

    def __repr__(self) -> str:
        """Returns the name, which stands for the recipe wherever one is asked for."""
        return f"Recipe({self.name!r})"
