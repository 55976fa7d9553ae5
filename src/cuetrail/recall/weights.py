"""The weights of the signals that TRAIL scores by, and its other constants.

There is one set of weights for each kind of memory. Questions about named nodes (articles, people) often need several
of them, which names connect. In notes and chats, the right passage contains most of the query words itself, and its
neighbours match too. If the candidates are of several kinds, the weights are mixed in the same proportion.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from cuetrail.model import FieldWeights, Node
from cuetrail.text.normalise import has_topics

if TYPE_CHECKING:
    from cuetrail.recall.stage_types import Anchor
    from cuetrail.store.vector_space import QueryVector

_BLEND_SETTINGS = frozenset({"words", "words_if_strong", "blend_if_strong"})


@dataclass(frozen=True, slots=True)
class Weights:
    """The weight of each signal; `score/trail.py` says what the signals mean. `ahead` is negative.

    `words` is the share of BM25 in the blend of BM25 and cosine. With the vectors of a strong model that share is
    `words_if_strong`, and the weight of the blend is multiplied by `blend_if_strong`.
    """

    blend: float = 0.0
    cover: float = 0.0
    named: float = 0.0
    walk: float = 0.0
    link: float = 0.0
    hop: float = 0.0
    left: float = 0.0
    further: float = 0.0
    near: float = 0.0
    place: float = 0.0
    whole: float = 0.0
    spoken: float = 0.0
    when: float = 0.0
    ahead: float = 0.0
    words: float = 0.7
    words_if_strong: float = 0.35
    blend_if_strong: float = 1.0

    def signals(self) -> dict[str, float]:
        """Returns the weights of the signals, without those that are 0."""
        return {name: value for name, value in asdict(self).items() if value and name not in _BLEND_SETTINGS}

    def total(self) -> float:
        """Returns the sum of the positive weights, by which scores are divided; 1 if all weights are 0."""
        return sum(value for value in self.signals().values() if value > 0) or 1.0


NAMED = Weights(
    blend=0.5, named=4.0, walk=1.0, link=0.75, hop=2.0, left=3.3, further=2.6,
    near=0.5, place=0.5, spoken=1.4, when=4.5,
)  # fmt: skip
NOTES = Weights(blend=4.5, cover=5.3, named=0.8, walk=1.5, link=0.4, left=0.9, near=2.2, when=2.0)
CHATS = Weights(
    blend=1.75, cover=2.0, walk=1.0, near=1.8, place=2.9, whole=2.2, spoken=1.6, when=4.0, ahead=-4.0,
    blend_if_strong=2.2,
)  # fmt: skip


class Kinds(NamedTuple):
    """The shares of the candidates that have a name, that belong to a note, and that do neither (chats); together 1."""

    named: float
    notes: float
    chats: float


def kinds_of(nodes: Iterable[Node]) -> Kinds:
    """Returns which shares of these nodes belong to a note, have a name, and do neither (chats). A part of a note
    counts as a note even if it has a name.

    Without nodes, the share of chats is 1.
    """
    counts = [0, 0, 0]
    for node in nodes:
        counts[1 if is_in_note(node) else 0 if is_named(node) else 2] += 1
    total = sum(counts)
    return Kinds(*(count / total for count in counts)) if total else Kinds(0.0, 0.0, 1.0)


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

    `named`, `notes` and `chats` are the weights for named nodes, notes and chats. `fields` are those of the text
    search. `texts` and `vectors` limit the two searches. Activation spreads from the `starts` best anchors `along`
    these kinds of ties, and `named_share` of it starts at nodes the cue names. The second hop searches for names in the
    `best` candidates. Neighbours of the `expanded` best anchors become candidates. `strong_models` are prefixes of
    models whose vectors are better than BM25. A node that only a cosine below `vector_floor` found needs more evidence.
    At most `facts` current facts begin the text, within `facts_share` of the budget.
    """

    named: Weights = NAMED
    notes: Weights = NOTES
    chats: Weights = CHATS
    fields: FieldWeights = FIELDS
    texts: int = 60
    vectors: int = 50
    starts: int = 5
    best: int = 5
    expanded: int = 20
    along: tuple[str, ...] = ("names", "edges", "order", "tags", "facts")
    named_share: float = 0.5
    strong_models: tuple[str, ...] = ("onnx:", "fastembed:", "openai:")
    vector_floor: float = 0.35
    fusion: Fusion = "values"
    facts: int = 5
    facts_share: float = 0.25

    def weights(self, kinds: Kinds, query_embedding: QueryVector | None) -> Weights:
        """Returns the mean of the three sets of weights, in the proportion of `kinds`, adjusted to the embedding model.

        Without an embedding of the query, the blend is BM25 alone.
        """
        parts = [asdict(one) for one in (self.named, self.notes, self.chats)]
        mixed = {name: sum(k * part[name] for k, part in zip(kinds, parts, strict=True)) for name in parts[0]}
        if query_embedding is None:
            return Weights(**{**mixed, "words": 1.0})
        if query_embedding.space.model.startswith(self.strong_models):
            mixed |= {"words": mixed["words_if_strong"], "blend": mixed["blend"] * mixed["blend_if_strong"]}
        return Weights(**mixed)

    def is_weak(self, anchor: Anchor) -> bool:
        """True if only the vector search found the anchor, with a cosine below `vector_floor`."""
        return anchor.bm25 is None and (anchor.cosine or 0.0) < self.vector_floor
