"""The constants of TRAIL: what it searches, how far it goes, and what it counts as weak. The weights of its signals are
learnt; `score/ranker.py` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cuetrail.model import FieldWeights, Node
from cuetrail.text.normalise import has_topics

if TYPE_CHECKING:
    from cuetrail.recall.stage_types import Anchor
    from cuetrail.store.vector_space import QueryVector


def is_named(node: Node) -> bool:
    """True if a node has a name, or has no source and a property with the names that its text is known by."""
    return node.name is not None or (node.source is None and has_topics(node.props))


def is_bare(node: Node) -> bool:
    """True if a node has no text, only a name. False for sources: the text of a note is in its passages."""
    return not node.text and node.kind != "source"


def is_in_note(node: Node) -> bool:
    """True for a note (a source with a name) and for its parts, which have the tag `doc`."""
    return "doc" in node.tags or (node.kind == "source" and node.name is not None)


Fusion = Literal["values", "ranks"]
"""How BM25 and cosine are blended: by value, each scaled to its own range, or by rank (RRF)."""


FIELDS = FieldWeights(title=0.5, heading=0.25, body=1.0)
"""What a word counts in titles and names, in the headings above a passage, and in its text. Names are part of the text
too. Titles that count more win over the passage that answers a question; a cue that is a title has a rule of its own.
"""


BODY = FieldWeights()
"""Texts and names alone: labels, which a dream may have given, double no score."""


@dataclass(frozen=True, slots=True)
class Trail:
    """All constants of the default recipe, TRAIL.

    `fields` are those of the text search. `texts` and `vectors` limit the two searches. `words` is the share of BM25 in
    the blend of BM25 and cosine, `words_beside_context` that share with a contextual embedder. Activation spreads from
    the `starts` best anchors `along` these kinds of ties, and `named_share` of it starts at nodes the cue names. The
    second hop searches for names in the `best` candidates. Neighbours of the `expanded` best anchors become candidates.
    A node that only a cosine below `vector_floor` found needs more evidence. The reranker reads the first `read`
    candidates. At most `facts` current facts begin the text, within `facts_share` of the budget.
    """

    fields: FieldWeights = FIELDS
    texts: int = 60
    vectors: int = 50
    starts: int = 5
    best: int = 5
    expanded: int = 20
    along: tuple[str, ...] = ("names", "edges", "order", "tags", "facts")
    named_share: float = 0.5
    words: float = 0.7
    words_beside_context: float = 0.35
    vector_floor: float = 0.35
    fusion: Fusion = "values"
    read: int = 20
    facts: int = 5
    facts_share: float = 0.25

    def text_share(self, query_embedding: QueryVector | None) -> float:
        """Returns the share of BM25 in the blend of BM25 and cosine; 1 without an embedding of the query."""
        if query_embedding is None:
            return 1.0
        return self.words_beside_context if query_embedding.contextual else self.words

    def is_weak(self, anchor: Anchor) -> bool:
        """True if only the vector search found the anchor, with a cosine below `vector_floor`."""
        return anchor.bm25 is None and (anchor.cosine or 0.0) < self.vector_floor
