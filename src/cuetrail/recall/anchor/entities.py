"""Anchors of a narrative: the entities a cue is about, found by vectors or by name."""

from __future__ import annotations

from collections.abc import Sequence

from cuetrail.errors import EmbedderError
from cuetrail.model import SearchHit
from cuetrail.recall.stages import Anchor, Anchored, RecallContext
from cuetrail.store.search import NameMatch
from cuetrail.store.vector_space import QueryVector
from cuetrail.text.normalise import folded, name_words

MEANING, NAMES, EITHER = "meaning", "names", "meaning and names"
"""How entities were found: by vectors; by name, because there are no vectors; by name, because vectors found none."""

CANDIDATES = 200
# A shorter word is the beginning of too many names.
_SHORTEST_BEGINNING = 3
# A file has a name, but is an entity only if facts are about it.
_FILE = "source"


def find_entities(context: RecallContext, *, limit: int, floor: float) -> Anchored:
    """Returns the entities with the highest cosine to the cue, at least `floor`; without vectors, those it names.

    `attempt` says which. If the embedder fails, a notice says so.
    """
    notices: tuple[str, ...] = ()
    text = " ".join((context.cue.query.words, *context.cue.query.phrases)).strip()
    embedding: QueryVector | None = None
    found: list[Anchor] = []
    try:
        embedding = context.embed(text) if context.embed is not None and text else None
        found = _by_vector(context, embedding, limit, floor) if embedding is not None else []
    except EmbedderError as error:
        embedding, notices = None, (f"entities were looked for by name alone: {error}",)
    if found:
        return Anchored(tuple(found), context.cue.query, MEANING)
    attempt = NAMES if embedding is None else EITHER
    return Anchored(tuple(_by_name(context, limit)), context.cue.query, attempt, notices=notices)


def _by_vector(context: RecallContext, embedding: QueryVector, limit: int, floor: float) -> list[Anchor]:
    wanted = max(limit, 0)
    while True:
        near = context.store.vector(
            context.scope, embedding.vector, wanted, context.cue.where, embedding.space, named=True
        )
        found = [one for one in near if one.score >= floor]
        anchors = _entities(context, found)[:limit]
        if len(anchors) >= limit or len(near) < wanted or len(found) < len(near):
            return anchors
        wanted *= 4


def _entities(context: RecallContext, found: Sequence[SearchHit]) -> list[Anchor]:
    """Returns the found nodes that are entities, in the same order: all but files without facts."""
    nodes = context.store.get(context.scope, [one.id for one in found])
    files = [id_ for id_, node in nodes.items() if node.kind == _FILE]
    with_facts = context.store.beliefs(context.scope, files, context.now, 1, "both") if files else ()
    others = set(files).difference(with_facts)
    return [Anchor(nodes[one.id], None, one.score) for one in found if one.id in nodes and one.id not in others]


def _by_name(context: RecallContext, limit: int) -> list[Anchor]:
    """Returns the entities whose names match the words of the cue best; see `name_score`."""
    asked = " ".join(_words(" ".join((context.cue.query.words, *context.cue.query.phrases))))
    words = frozenset(asked.split())
    beginnings = {word for word in words if len(word) >= _SHORTEST_BEGINNING}
    similar = context.store.named_like(context.scope, words, beginnings, CANDIDATES) if words else []
    ranked = sorted(((name_score(one, asked), one.id) for one in similar), key=lambda pair: (-pair[0], pair[1]))
    scores = {id_: score for score, id_ in ranked if score > 0}
    nodes = context.store.get(context.scope, list(scores)[: limit * 8])
    found = [SearchHit(id_, scores[id_]) for id_ in scores if id_ in nodes and context.cue.where.admits(nodes[id_])]
    return [Anchor(anchor.node, None) for anchor in _entities(context, found)[:limit]]


def _words(text: str) -> list[str]:
    """Returns the words of a text in order, in lower case and without accents."""
    known = name_words(text)
    return [word for word in folded(text).replace("_", " ").split() if word in known] or sorted(known)


def name_score(one: NameMatch, asked: str) -> float:
    """Returns how well an entity's name or alias matches: 3 or more if the cue contains all of it, 2 or more if a word
    of the cue begins it, else the share of its words, below 1.

    >>> jacq = NameMatch("1", "project", "JACQ Project", ("jq",), 0)
    >>> cues = "status of jacq project", "jacq", "the project plan", "jq", "tea"
    >>> [round(name_score(jacq, cue), 2) for cue in cues]
    [3.12, 2.5, 0.5, 3.02, 0.0]
    """
    return max(_name_score(" ".join(_words(name)), asked) for name in (one.name, *one.aliases))


def _name_score(name: str, asked: str) -> float:
    if not name:
        return 0.0
    if f" {name} " in f" {asked} ":
        return 3 + len(name) / 100
    shared = len(set(name.split()) & set(asked.split())) / len(set(name.split()))
    begins = any(name.startswith(word) for word in asked.split() if len(word) >= _SHORTEST_BEGINNING)
    return 2 + shared if begins else shared
