"""Seeds of a spreading activation: the nodes a query finds, the energy of each, and the tags the query is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cuetrail.formulas import seed_score
from cuetrail.recall.anchor.hybrid_search import hybrid_search
from cuetrail.recall.stage_types import Anchor, Anchored, RecallContext
from cuetrail.text.normalise import norm_tag, sanitize_query

FEWEST_TAGS, MOST_TAGS = 3, 7
# The most words in a tag's name, and the most words of a query that are read for tags.
MOST_TAG_WORDS, MOST_QUERY_WORDS = 3, 60
MOST_SEEDS = 10_000
JOINTS = ("_", "-", "/", "")

Chooser = Callable[[str, Sequence[str]], Iterable[str]]
"""Returns the tags a query is about, given the query and all tags of edges: the place to plug in a language model."""


@dataclass(frozen=True, slots=True)
class Seeding:
    """How seeds are chosen: the best `limit` nodes of `limit * candidates` results of each search (text and vectors).

    `text_weight` and `vector_weight` are the weights of BM25 and cosine in a seed's energy.
    """

    limit: int = 5
    candidates: int = 5
    text_weight: float = 0.5
    vector_weight: float = 0.5

    def energy(self, anchor: Anchor) -> float:
        """Returns the energy a seed starts with: its weighted BM25 and cosine, BM25 without the boost for a tag."""
        bm25 = (anchor.bm25 or 0.0) / (2.0 if anchor.boosted else 1.0)
        return seed_score(bm25, anchor.cosine, self.text_weight, self.vector_weight)


def find_seeds(context: RecallContext, *, seeding: Seeding) -> Anchored:
    """Returns the seeds of the query, those with the most energy first, then newer, then by id."""
    if seeding.limit <= 0:
        return Anchored((), context.cue.query)
    found = hybrid_search(context, candidates=min(seeding.limit, MOST_SEEDS) * seeding.candidates)
    scored = [(seeding.energy(anchor), anchor) for anchor in found.anchors]
    scored.sort(key=lambda pair: (-pair[0], -pair[1].node.at, pair[1].node.id))
    return replace(found, anchors=tuple(anchor for energy, anchor in scored if energy > 0)[: seeding.limit])


def query_tags(context: RecallContext, anchors: Sequence[Anchor], choose: Chooser | None = None) -> tuple[str, ...]:
    """Returns the tags the query is about: at most MOST_TAGS, and only tags that a visible edge has.

    `choose` selects them. Without it, these are the tags whose names occur in the query; if they are fewer than three,
    tags of the best anchors make up three.
    """
    if choose is not None:
        every = context.store.edge_tags(context.scope)
        chosen = [tag for tag in map(norm_tag, choose(context.cue.raw, every)) if tag in every]
        return tuple(dict.fromkeys(chosen))[:MOST_TAGS]
    named = list(dict.fromkeys(possible_tags(context.cue.raw)))
    of_anchors = list(dict.fromkeys(tag for anchor in anchors for tag in anchor.node.tags))
    known = set(context.store.edge_tags(context.scope, [*named, *of_anchors]))
    chosen = [name for name in named if name in known][:MOST_TAGS]
    more = [tag for tag in of_anchors if tag in known and tag not in chosen]
    return tuple(chosen + more[: max(FEWEST_TAGS - len(chosen), 0)])


def possible_tags(query: str) -> Iterator[str]:
    """Yields every tag that one to three adjacent words of the query could spell, those of more words first.

    >>> list(possible_tags("Field notes!"))
    ['field_notes', 'field-notes', 'field/notes', 'fieldnotes', 'field', 'notes']
    """
    words = sanitize_query(query).split()[:MOST_QUERY_WORDS]
    for length in range(min(MOST_TAG_WORDS, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            part = words[start : start + length]
            yield from (joint.join(part) for joint in (JOINTS if length > 1 else ("",)))
