"""Where energy starts: the memories a query finds, how much each begins with, and the tags the query is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cuetrail.formulas import seed_score
from cuetrail.recall.anchor.hybrid_search import Anchor, Anchored, Ask, by_words_and_meaning
from cuetrail.text.normalise import norm_tag, sanitize_query

FEWEST_TAGS, MOST_TAGS = 3, 7
# A name of a tag has so few words; a query longer than this does not ask by tags.
LONGEST_NAME, LONGEST_QUERY = 3, 60
MOST_SEEDS = 10_000
JOINTS = ("_", "-", "/", "")

Chooser = Callable[[str, Sequence[str]], Iterable[str]]
"""From a query and every tag there is to those it is about: the place for a language model."""


@dataclass(frozen=True, slots=True)
class Seeding:
    """How many seeds a query has, of how many times as many candidates, and how much text and vectors count."""

    limit: int = 5
    candidates: int = 5
    text_weight: float = 0.5
    vector_weight: float = 0.5

    def energy(self, anchor: Anchor) -> float:
        """What a seed starts with. A tag that has a word of the query doubles its rank among candidates, not this."""
        bm25 = (anchor.bm25 or 0.0) / (2.0 if anchor.boosted else 1.0)
        return seed_score(bm25, anchor.cosine, self.text_weight, self.vector_weight)


def by_hybrid(ask: Ask, *, seeding: Seeding) -> Anchored:
    """The memories that text and vectors together say most for, the best first, then newer, then by id."""
    if seeding.limit <= 0:
        return Anchored((), ask.cue.query)
    found = by_words_and_meaning(ask, candidates=min(seeding.limit, MOST_SEEDS) * seeding.candidates)
    scored = [(seeding.energy(anchor), anchor) for anchor in found.anchors]
    scored.sort(key=lambda pair: (-pair[0], -pair[1].node.at, pair[1].node.id))
    return replace(found, anchors=tuple(anchor for energy, anchor in scored if energy > 0)[: seeding.limit])


def query_tags(ask: Ask, anchors: Sequence[Anchor], choose: Chooser | None = None) -> tuple[str, ...]:
    """The tags a query is about, at most seven, of those that edges in sight carry.

    By default those whose names stand in the query; where they are fewer than three, tags of the best anchors too.
    """
    if choose is not None:
        every = ask.store.edge_tags(ask.scope)
        chosen = [tag for tag in map(norm_tag, choose(ask.cue.raw, every)) if tag in every]
        return tuple(dict.fromkeys(chosen))[:MOST_TAGS]
    named = list(dict.fromkeys(names_in(ask.cue.raw)))
    given = list(dict.fromkeys(tag for anchor in anchors for tag in anchor.node.tags))
    known = set(ask.store.edge_tags(ask.scope, [*named, *given]))
    chosen = [name for name in named if name in known][:MOST_TAGS]
    more = [tag for tag in given if tag in known and tag not in chosen]
    return tuple(chosen + more[: max(FEWEST_TAGS - len(chosen), 0)])


def names_in(query: str) -> Iterator[str]:
    """What tags the words of a query could be the names of, the longer names first.

    >>> list(names_in("Field notes!"))
    ['field_notes', 'field-notes', 'field/notes', 'fieldnotes', 'field', 'notes']
    """
    words = sanitize_query(query).split()[:LONGEST_QUERY]
    for length in range(min(LONGEST_NAME, len(words)), 0, -1):
        for start in range(len(words) - length + 1):
            part = words[start : start + length]
            yield from (joint.join(part) for joint in (JOINTS if length > 1 else ("",)))
