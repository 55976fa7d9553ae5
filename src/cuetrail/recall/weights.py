"""The constants of the recipe: how much each signal counts, by the kind of memories that may answer.

What is asked of memories that carry a name, articles or people, is often spread over several, and names join these.
In a note, links and what stands around a paragraph tell more. And of what somebody said, the memory that is meant has
most of the words itself. So each kind has weights of its own, and where kinds are mixed, so are these.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple

from cuetrail.model import Node
from cuetrail.recall.anchor.hybrid_search import Anchor
from cuetrail.store.vector_space import QueryVector

_OF_THE_BLEND = frozenset({"words", "words_if_strong", "strong"})


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts against the others; see `weighing.py`.

    `ahead` counts against a memory. `words` is how much words count against meaning in a blend, `words_if_strong`
    beside the vectors of a strong model, where a blend counts `strong` times as much.
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
    strong: float = 1.0

    def signals(self) -> dict[str, float]:
        """The weights of the signals that count."""
        return {name: value for name, value in asdict(self).items() if value and name not in _OF_THE_BLEND}

    def total(self) -> float:
        """What a memory for which every signal speaks would get."""
        return sum(value for value in self.signals().values() if value > 0) or 1.0


NAMED = Weights(
    blend=0.5, named=4.0, walk=1.0, link=0.75, hop=2.0, left=3.3, further=2.6,
    near=0.5, place=0.5, spoken=1.4, when=4.5,
)  # fmt: skip
NOTED = Weights(blend=1.9, cover=0.2, named=0.3, walk=1.2, link=2.0, further=0.5, near=0.5, place=2.8, when=4.5)
TOLD = Weights(
    blend=1.75, cover=2.0, walk=1.0, near=1.8, place=2.9, whole=2.2, spoken=1.6, when=4.0, ahead=-4.0,
    strong=2.2,
)  # fmt: skip


class Kinds(NamedTuple):
    """Which shares of some memories carry a name of their own, stand in a note, and are neither."""

    named: float
    noted: float
    told: float


def kinds_of(nodes: Iterable[Node]) -> Kinds:
    """The kinds of these memories; of none, they are taken for what somebody told."""
    counts = [0, 0, 0]
    for node in nodes:
        counts[1 if is_in_note(node) else 0 if node.name is not None else 2] += 1
    total = sum(counts)
    return Kinds(*(count / total for count in counts)) if total else Kinds(0.0, 0.0, 1.0)


def is_bare(node: Node) -> bool:
    """Whether a memory is a name and no more. The title of a note is more: the note says something."""
    return not node.text and node.kind != "source"


def is_in_note(node: Node) -> bool:
    """Whether a memory is a note, or stands in one."""
    return "doc" in node.tags or (node.kind == "source" and node.name is not None)


Fusion = Literal["values", "ranks"]
"""How words and meaning are blended: by what each says, scaled to its own range, or by ranks (RRF)."""


@dataclass(frozen=True, slots=True)
class Trail:
    """The constants of the recipe. The vectors of `strong_models` say more than words, those of others less."""

    named: Weights = NAMED
    noted: Weights = NOTED
    told: Weights = TOLD
    texts: int = 60
    vectors: int = 50
    starts: int = 5
    best: int = 5
    strong: int = 20
    along: tuple[str, ...] = ("names", "edges", "tags", "facts")
    named_share: float = 0.5
    strong_models: tuple[str, ...] = ("onnx:", "fastembed:", "openai:")
    vector_floor: float = 0.35
    fusion: Fusion = "values"

    def weights(self, kinds: Kinds, meant: QueryVector | None) -> Weights:
        """The weights for such a mixture, and for such vectors; without any, words are all there is to blend."""
        parts = [asdict(one) for one in (self.named, self.noted, self.told)]
        mixed = {name: sum(k * part[name] for k, part in zip(kinds, parts, strict=True)) for name in parts[0]}
        if meant is None:
            return Weights(**{**mixed, "words": 1.0})
        if meant.space.model.startswith(self.strong_models):
            mixed |= {"words": mixed["words_if_strong"], "blend": mixed["blend"] * mixed["strong"]}
        return Weights(**mixed)

    def is_far(self, anchor: Anchor) -> bool:
        """Whether nothing but a distant vector found it."""
        return anchor.bm25 is None and (anchor.cosine or 0.0) < self.vector_floor
