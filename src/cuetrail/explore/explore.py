"""Exploring: what a memory holds on some questions from every side. READ FIRST: `explore` at the end.

    gather -> score -> cut by granularity -> expand

Granularity 1 tells single sources, 2 storylines with a preview of their sources, 3 macros with their storylines. With
each of them people, concepts and entities come too, with the relationships between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from cuetrail.explore.candidates import (
    CANDIDATES,
    LEAST_LIKE,
    LEAST_WORDS,
    Evidence,
    Quest,
    Scored,
    gather,
    likeness,
    ranked,
    rated,
    sought,
    telling_words,
)
from cuetrail.model import Edge, Node, Note, node_dict
from cuetrail.model.records import SEMANTIC_KINDS
from cuetrail.store.graph import Step, StepQuery, Ties
from cuetrail.store.search import RelationQuery
from cuetrail.store.vector_space import VectorKind, VectorSpace
from cuetrail.text.normalise import sanitize_query, snippet
from cuetrail.text.similarity import token_overlap

PART_OF = "part_of"
"""The kind of edge from a source to its storyline, and from a storyline to its macro."""

Detail = Literal["full", "minimal"]
Said = Edge | Note
Spoken = tuple[Edge, Evidence]
"""A relationship, and what speaks for it."""
_SAYING: tuple[VectorKind, ...] = ("edge", "note")
NODES, RELATIONSHIPS, ARTIFACTS = 5, 10, 5
# Per granularity: the kind told in full, and how many of each kind.
FULL = {1: "source", 2: "storyline", 3: "macro"}
CUTS: Mapping[int, Mapping[str, int]] = {
    1: {"source": 5, "storyline": 3, "macro": 2},
    2: {"storyline": 5, "macro": 2},
    3: {"macro": 5},
}
PREVIEWS, ALL_PREVIEWS = 5, 10
MENTIONED = {"fast": 5, "deep": 10}
NEIGHBOURS = {"fast": 5, "deep": 10}
NOTES, NOTE_CHARS, ALL_NOTE_CHARS = 10, 500, 5_000
# So many relationships of a node are looked at, the strongest, and so many children of a storyline or macro.
RELATED, CHILDREN = 100, 1_000


@dataclass(frozen=True, slots=True)
class Glimpse:
    """A node in a line: what it is called and what it is about; `via` is the kind of edge that leads to it."""

    id: str
    kind: str
    name: str | None
    summary: str
    via: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"id": self.id, "kind": self.kind, "name": self.name, "summary": self.summary, "via": self.via}


def glimpse(node: Node, via: str | None = None) -> Glimpse:
    """A node in a line."""
    said = node.text or node.props.get("summary") or ""
    return Glimpse(node.id, node.kind, node.name, snippet(str(said), 160), via)


@dataclass(frozen=True, slots=True)
class Item:
    """A node that was found. `minimal` ones tell their id and name only.

    `sources` are previews of a storyline's, `storylines` those of a macro, `mentioned` whom a storyline tells of.
    """

    node: Node
    score: float
    why: Mapping[str, Any]
    detail: Detail = "full"
    notes: tuple[str, ...] = ()
    neighbours: tuple[Glimpse, ...] = ()
    sources: tuple[Glimpse, ...] = ()
    storylines: tuple[Glimpse, ...] = ()
    mentioned: tuple[Glimpse, ...] = ()

    def to_dict(self, explain: bool = False) -> dict[str, Any]:
        """Plain data for JSON."""
        if self.detail == "minimal":
            return {"id": self.node.id, "name": self.node.name}
        told = {**node_dict(self.node), "score": self.score, "notes": list(self.notes)}
        for name in ("neighbours", "sources", "storylines", "mentioned"):
            told[name] = [one.to_dict() for one in getattr(self, name)]
        return {**told, "why": dict(self.why)} if explain else told


@dataclass(frozen=True, slots=True)
class Relationship:
    """An edge between people, concepts and entities that somebody stated, with what was noted on it."""

    edge: Edge
    score: float
    why: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    def to_dict(self, explain: bool = False) -> dict[str, Any]:
        """Plain data for JSON."""
        edge = self.edge
        told = {
            "id": edge.id, "src": edge.src, "dst": edge.dst, "kind": edge.kind, "type": edge.type,
            "description": edge.text, "attitude": edge.attitude, "proximity": edge.proximity,
            "confidence": edge.confidence, "score": self.score, "notes": list(self.notes),
        }  # fmt: skip
        return {**told, "why": dict(self.why)} if explain else told


@dataclass(frozen=True, slots=True)
class Semantic:
    """The people, concepts and entities found, and their relationships."""

    people: tuple[Item, ...] = ()
    concepts: tuple[Item, ...] = ()
    entities: tuple[Item, ...] = ()
    relationships: tuple[Relationship, ...] = ()


@dataclass(frozen=True, slots=True)
class Episodic:
    """The sources, storylines and macros found."""

    sources: tuple[Item, ...] = ()
    storylines: tuple[Item, ...] = ()
    macros: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Exploration:
    """What a memory holds on some questions. `meta` says how it was asked and what to know about it."""

    meta: Mapping[str, Any]
    semantic: Semantic = field(default_factory=Semantic)
    episodic: Episodic = field(default_factory=Episodic)
    artifacts: tuple[Item, ...] = ()

    @property
    def groups(self) -> dict[str, tuple[Item, ...]]:
        """The nodes that were found, by group."""
        one, other = self.semantic, self.episodic
        return {
            "people": one.people, "concepts": one.concepts, "entities": one.entities, "sources": other.sources,
            "storylines": other.storylines, "macros": other.macros, "artifacts": self.artifacts,
        }  # fmt: skip

    @property
    def items(self) -> tuple[Item, ...]:
        """Every node that was found."""
        return tuple(item for items in self.groups.values() for item in items)

    @property
    def answerable(self) -> bool:
        """True if anything was found."""
        return bool(self.items or self.semantic.relationships)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, the same in the CLI, REST and MCP."""
        explain = bool(self.meta.get("explain"))

        def told(some: Sequence[Item | Relationship]) -> list[dict[str, Any]]:
            return [one.to_dict(explain) for one in some]

        return {
            "meta": dict(self.meta),
            "semantic": {
                "people": told(self.semantic.people),
                "concepts": told(self.semantic.concepts),
                "entities": told(self.semantic.entities),
                "relationships": told(self.semantic.relationships),
            },
            "episodic": {
                "sources": told(self.episodic.sources),
                "storylines": told(self.episodic.storylines),
                "macros": told(self.episodic.macros),
            },
            "artifacts": told(self.artifacts),
        }


# --- relationships


def relationships(quest: Quest, nodes: Sequence[Node], spoken: Sequence[Spoken]) -> tuple[Relationship, ...]:
    """The best relationships of these nodes: of their strongest, and of what is asked for. The filters hold before
    anything is scored.
    """
    ids, ties = tuple(node.id for node in nodes), replace(quest.ties, stated=True)
    around = quest.store.steps(quest.scope, StepQuery(ids, RELATED, "both", ties, quest.of_kinds(*SEMANTIC_KINDS)))
    edges = {step.edge.id: step.edge for some in around.values() for step in some}
    edges |= {edge.id: edge for edge, _ in spoken if not {edge.src, edge.dst}.isdisjoint(ids)}
    ends = quest.store.get(quest.scope, sorted({end for edge in edges.values() for end in (edge.src, edge.dst)}))
    notes = quest.store.notes(quest.scope, list(edges), "edge", quest.now, NOTES)
    evidence = _evidence(quest, list(edges.values()), notes)
    found = []
    for id_, edge in edges.items():
        salience = sum(ends[end].life.salience for end in (edge.src, edge.dst) if end in ends) / 2
        scored = rated(quest, evidence[id_], edge.updated, salience)
        found.append(Relationship(edge, scored.score, scored.why, told_notes(notes.get(id_, []))))
    found.sort(key=lambda one: (-one.score, -one.edge.updated, one.edge.id))
    return tuple(found[:RELATIONSHIPS])


def gather_nodes(quest: Quest, spoken: Sequence[Spoken]) -> list[tuple[Node, Scored]]:
    """People, concepts and entities, the best first. A relationship that is spoken of, but would not be told because
    neither of its ends is, brings them both.
    """
    own = sought(quest, SEMANTIC_KINDS)
    found = ranked(quest, SEMANTIC_KINDS, own)
    shown = {node.id for node, _ in found[:NODES]}
    also: dict[str, Evidence] = {}
    for edge, evidence in spoken:
        if shown.isdisjoint((edge.src, edge.dst)):
            for end in (edge.src, edge.dst):
                also[end] = also[end].joined(evidence) if end in also else evidence
    known = {node.id: node for node, _ in found}
    return ranked(quest, SEMANTIC_KINDS, replace(own, known=known), also) if also else found


def spoken_of(quest: Quest) -> list[Spoken]:
    """The relationships that what is asked for means, or has words of, and for which it speaks as a whole.

    One that leads to what is hidden or left out could not be told either.
    """
    said = [*quest.text_matches, *(query.text for query in quest.queries)]
    words = tuple(word for text in said for word in telling_words(text))
    most, where = CANDIDATES[quest.mode], quest.of_kinds(*SEMANTIC_KINDS)
    meant = [one for query in quest.queries if (one := quest.embed(query.text)) is not None]
    vectors, space = tuple(one.vector for one in meant), meant[0].space if meant else None
    query = RelationQuery(words, most, quest.now, quest.ties, where, vectors, space)
    found = quest.store.relationships(quest.scope, query) if words or vectors else []
    edges = list({edge.id: edge for edge in found}.values())
    notes = quest.store.notes(quest.scope, [edge.id for edge in edges], "edge", quest.now, NOTES) if edges else {}
    evidence = _evidence(quest, edges, notes)
    return [(edge, evidence[edge.id]) for edge in edges if evidence[edge.id].speaks()]


def _evidence(quest: Quest, edges: Sequence[Edge], notes: Mapping[str, Sequence[Note]]) -> dict[str, Evidence]:
    """What speaks for each relationship: its type, its description and what was noted on it."""
    found = {edge.id: Evidence() for edge in edges}
    said: dict[str, list[Said]] = {edge.id: [edge, *notes.get(edge.id, ())] for edge in edges}
    for edge in edges:
        for text in quest.text_matches:
            for part in (edge.type or "", *(one.text for one in said[edge.id])):
                value = likeness(text, part, quest.fuzzy)
                found[edge.id].match(text, value if value >= LEAST_LIKE else 0.0)
    parts = [(id_, one) for id_, some in said.items() for one in some if one.text]
    for number, (near, least) in enumerate(_nearness(quest, [one for _, one in parts]) if parts else ()):
        best: dict[str, float] = {}
        for (id_, _), value in zip(parts, near, strict=True):
            best[id_] = max(best.get(id_, 0.0), value)
        kept = sorted(((-value, id_) for id_, value in best.items() if value >= least))
        for rank, (value, id_) in enumerate(kept, 1):
            found[id_].cosines[number], found[id_].ranks[number] = -value, rank
    return found


def _nearness(quest: Quest, said: Sequence[Said]) -> Iterator[tuple[list[float], float]]:
    """For each query how near descriptions and notes are to it, by meaning or, where there are no vectors, by the words
    they share; and how near they must be.
    """
    meanings = [quest.embed(query.text) for query in quest.queries]
    space = next((meant.space for meant in meanings if meant is not None), None)
    vectors = _vectors(quest, space, said) if space is not None else None
    for query, meant in zip(quest.queries, meanings, strict=True):
        if meant is not None and vectors is not None:
            yield _cosines(meant.vector, vectors), query.threshold
        else:
            words = sanitize_query(query.text)
            shared = [token_overlap(words, sanitize_query(one.text)) for one in said]
            yield shared, max(LEAST_WORDS, query.threshold)


def _vectors(quest: Quest, space: VectorSpace, said: Sequence[Said]) -> list[bytes] | None:
    """The vectors of descriptions and notes: those that are stored, and for others new ones; None where none can be."""
    known: dict[tuple[VectorKind, str], bytes] = {}
    for what in _SAYING:
        if ids := [one.id for one in said if _saying(one) == what]:
            stored = quest.store.vectors(quest.scope, ids, space, what)
            known |= {(what, id_): vector for id_, vector in stored.items()}
    missing = [one for one in said if (_saying(one), one.id) not in known]
    made = quest.embed_texts([one.text for one in missing]) if missing else []
    if made is None:
        return None
    known |= {(_saying(one), one.id): vector for one, vector in zip(missing, made, strict=True)}
    return [known[_saying(one), one.id] for one in said]


def _saying(one: Said) -> VectorKind:
    return "edge" if isinstance(one, Edge) else "note"


def _cosines(query: bytes, vectors: Sequence[bytes]) -> list[float]:
    """Returns the cosine of each; all are unit vectors."""
    import numpy as np

    rows = np.frombuffer(b"".join(vectors), dtype="<f2").reshape(len(vectors), -1).astype(np.float64)
    found: list[float] = (rows @ np.frombuffer(query, dtype="<f2").astype(np.float64)).tolist()
    return found


# --- expanding


def told_notes(notes: Sequence[Note]) -> tuple[str, ...]:
    """The newest notes, each cut to its share, as many as there is room for."""
    told: list[str] = []
    room = ALL_NOTE_CHARS
    for note in notes[:NOTES]:
        text = note.text[: min(NOTE_CHARS, room)]
        if text:
            told.append(text)
            room -= len(text)
    return tuple(told)


def expanded(quest: Quest, found: Sequence[Item]) -> dict[str, Item]:
    """The items by id, with their notes and neighbours."""
    ids = tuple(item.node.id for item in found)
    if not ids:
        return {}
    each = NEIGHBOURS[quest.mode]
    notes = quest.store.notes(quest.scope, ids, "node", quest.now, NOTES)
    around = quest.store.steps(quest.scope, StepQuery(ids, 4 * each, "both", quest.ties, quest.where))
    others = quest.store.get(quest.scope, sorted({step.other for some in around.values() for step in some}))
    made = {}
    for item in found:
        id_ = item.node.id
        near = {
            step.other: glimpse(others[step.other], step.edge.kind)
            for step in reversed(around.get(id_, []))
            if step.other in others and step.other != id_ and others[step.other].kind != "episode"
        }
        neighbours = tuple(reversed(near.values()))[:each]
        made[id_] = replace(item, notes=told_notes(notes.get(id_, [])), neighbours=neighbours)
    return made


def with_sources(quest: Quest, found: Sequence[Item]) -> list[Item]:
    """Storylines with previews of their newest sources, and whom these mention, the most salient first."""
    children = _children(quest, found)
    room, made = ALL_PREVIEWS, []
    every = sorted({step.other for some in children.values() for step in some})
    sources = quest.store.get(quest.scope, every)
    mentions = quest.store.mentions(quest.scope, every, "source", CHILDREN)
    named = quest.store.get(quest.scope, sorted({one.node for some in mentions.values() for one in some}))
    where = quest.of_kinds(*SEMANTIC_KINDS)
    for item in found:
        own = [sources[step.other] for step in children.get(item.node.id, []) if step.other in sources]
        own.sort(key=lambda node: (-node.at, node.id))
        shown = own[: min(PREVIEWS, room)]
        room -= len(shown)
        counts = Counter(one.node for node in own for one in mentions.get(node.id, []) if one.node in named)
        told = [named[id_] for id_ in counts if where.admits(named[id_])]
        told.sort(key=lambda node: (-node.life.salience, -counts[node.id], node.id))
        mentioned = tuple(glimpse(node) for node in told[: MENTIONED[quest.mode]])
        made.append(replace(item, sources=tuple(map(glimpse, shown)), mentioned=mentioned))
    return made


def with_storylines(quest: Quest, found: Sequence[Item]) -> list[Item]:
    """Macros with all their storylines, by start."""
    children = _children(quest, found)
    every = quest.store.get(quest.scope, sorted({step.other for some in children.values() for step in some}))
    made = []
    for item in found:
        own = [every[step.other] for step in children.get(item.node.id, []) if step.other in every]
        own.sort(key=lambda node: (node.at, node.id))
        made.append(replace(item, storylines=tuple(map(glimpse, own))))
    return made


def _children(quest: Quest, found: Sequence[Item]) -> dict[str, list[Step]]:
    """What is part of each. The hierarchy is no relationship, so filters on those do not cut it."""
    ids = tuple(item.node.id for item in found)
    query = StepQuery(ids, CHILDREN, "in", Ties(kinds=(PART_OF,)), quest.where)
    return quest.store.steps(quest.scope, query) if ids else {}


# --- all of it


def explore(quest: Quest) -> Exploration:
    """What a memory holds on the questions: gathered, scored, cut by granularity, and expanded."""
    spoken = spoken_of(quest)
    best = _items(gather_nodes(quest, spoken)[:NODES])
    related = relationships(quest, [item.node for item in best], spoken) if best else ()
    episodic: dict[str, list[Item]] = {}
    for kind, most in CUTS[quest.granularity].items():
        detail: Detail = "full" if kind == FULL[quest.granularity] else "minimal"
        episodic[kind] = _items(gather(quest, kind)[:most], detail)
    artifacts = _items(gather(quest, "artifact")[:ARTIFACTS])
    main = episodic[FULL[quest.granularity]]
    whole = expanded(quest, [*best, *main, *artifacts])
    main = [whole[item.node.id] for item in main]
    if quest.granularity == 2:
        main = with_sources(quest, main)
    if quest.granularity == 3:
        main = with_storylines(quest, main)
    episodic[FULL[quest.granularity]] = main
    by_kind = {kind: tuple(whole[one.node.id] for one in best if one.node.kind == kind) for kind in SEMANTIC_KINDS}
    return Exploration(
        {},
        Semantic(by_kind["person"], by_kind["concept"], by_kind["entity"], related),
        Episodic(*(tuple(episodic.get(kind, ())) for kind in ("source", "storyline", "macro"))),
        tuple(whole[item.node.id] for item in artifacts),
    )


def _items(found: Sequence[tuple[Node, Scored]], detail: Detail = "full") -> list[Item]:
    return [Item(node, scored.score, scored.why, detail) for node, scored in found]
