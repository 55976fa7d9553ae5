"""Explore: everything a memory holds on some queries, in groups. READ FIRST: `explore` at the end.

    find -> score -> cut by granularity -> add notes, neighbours and previews

Granularity 1 returns sources, 2 storylines with previews of their sources, 3 macros with their storylines; all of them
also people, concepts and entities with their relationships, and artifacts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from cuetrail.errors import EmbedderError, InputError
from cuetrail.explore.candidates import (
    CANDIDATES,
    LEAST_SIMILARITY,
    LEAST_WORD_SHARE,
    content_words,
    find_matches,
    find_nodes,
    match_quality,
    query_variants,
)
from cuetrail.explore.context import MOST_QUERIES, Expander, ExploreContext, Query, Weights, trim_query
from cuetrail.explore.score import Evidence, EvidenceScore, rank_matches, score_evidence
from cuetrail.model import Edge, Node, Note, Where, node_dict
from cuetrail.model.records import SEMANTIC_KINDS, SEMANTIC_ROLES
from cuetrail.model.searched_fields import embedded_text
from cuetrail.store.graph import EdgeFilter, Step, StepQuery
from cuetrail.store.search import RelationQuery
from cuetrail.store.vector_space import QueryVector, VectorKind, VectorSpace
from cuetrail.text.normalise import sanitize_query, snippet
from cuetrail.text.similarity import token_overlap

if TYPE_CHECKING:
    from cuetrail.embed.vectors import Vectors
    from cuetrail.session import Session

G = TypeVar("G")
T = TypeVar("T")

PART_OF = "part_of"
"""The kind of edge from a source to its storyline, and from a storyline to its macro (a summary of storylines)."""

Detail = Literal["full", "minimal"]
Described = Edge | Note
MatchedEdge = tuple[Edge, Evidence]
"""An edge, and how well it matches."""
_VECTOR_KINDS: tuple[VectorKind, ...] = ("edge", "note")
NODES, RELATIONSHIPS, ARTIFACTS = 5, 10, 5
# Per granularity: the kind shown in full, and how many of each kind.
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
# How many of a node's strongest relationships are read, and how many children of a storyline or macro.
RELATED, CHILDREN = 100, 1_000


@dataclass(frozen=True, slots=True)
class Preview:
    """A node in short: id, kind, name and the beginning of its text; `via` is the kind of edge that leads to it."""

    id: str
    kind: str
    name: str | None
    summary: str
    via: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {"id": self.id, "kind": self.kind, "name": self.name, "summary": self.summary, "via": self.via}


def preview_of(node: Node, via: str | None = None) -> Preview:
    """Returns the preview of a node; `via` is the kind of edge that leads to it."""
    text = node.text or node.props.get("summary") or ""
    return Preview(node.id, node.kind, node.name, snippet(str(text), 160), via)


@dataclass(frozen=True, slots=True)
class Item:
    """A node that was found. With detail "minimal", `to_dict` gives its id and name only.

    `sources` are the newest sources of a storyline, `storylines` those of a macro, `mentioned` the people, concepts and
    entities that the sources of a storyline mention.
    """

    node: Node
    score: float
    why: Mapping[str, Any]
    detail: Detail = "full"
    notes: tuple[str, ...] = ()
    neighbours: tuple[Preview, ...] = ()
    sources: tuple[Preview, ...] = ()
    storylines: tuple[Preview, ...] = ()
    mentioned: tuple[Preview, ...] = ()

    def to_dict(self, explain: bool = False) -> dict[str, Any]:
        """Returns plain data for JSON."""
        if self.detail == "minimal":
            return {"id": self.node.id, "name": self.node.name}
        shown = {**node_dict(self.node), "score": self.score, "notes": list(self.notes)}
        for name in ("neighbours", "sources", "storylines", "mentioned"):
            shown[name] = [one.to_dict() for one in getattr(self, name)]
        return {**shown, "why": dict(self.why)} if explain else shown


@dataclass(frozen=True, slots=True)
class Relationship:
    """An edge that a user stated between people, concepts or entities, with its score and notes."""

    edge: Edge
    score: float
    why: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    def to_dict(self, explain: bool = False) -> dict[str, Any]:
        """Returns plain data for JSON."""
        edge = self.edge
        shown = {
            "id": edge.id, "src": edge.src, "dst": edge.dst, "kind": edge.kind, "type": edge.type,
            "description": edge.text, "attitude": edge.attitude, "proximity": edge.proximity,
            "confidence": edge.confidence, "score": self.score, "notes": list(self.notes),
        }  # fmt: skip
        return {**shown, "why": dict(self.why)} if explain else shown


@dataclass(frozen=True, slots=True)
class Semantic:
    """The people, concepts and entities found, and their relationships."""

    people: tuple[Item, ...] = ()
    concepts: tuple[Item, ...] = ()
    entities: tuple[Item, ...] = ()
    relationships: tuple[Relationship, ...] = ()


@dataclass(frozen=True, slots=True)
class Episodic:
    """The sources found, the storylines (summaries of sources) and the macros (summaries of storylines)."""

    sources: tuple[Item, ...] = ()
    storylines: tuple[Item, ...] = ()
    macros: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class Exploration:
    """The result of an exploration, in groups. `meta` has the arguments of the call and the notices."""

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
        """Returns plain data for JSON, the same in the CLI, REST and MCP."""
        explain = bool(self.meta.get("explain"))

        def shown(some: Sequence[Item | Relationship]) -> list[dict[str, Any]]:
            return [one.to_dict(explain) for one in some]

        return {
            "meta": dict(self.meta),
            "semantic": {
                "people": shown(self.semantic.people),
                "concepts": shown(self.semantic.concepts),
                "entities": shown(self.semantic.entities),
                "relationships": shown(self.semantic.relationships),
            },
            "episodic": {
                "sources": shown(self.episodic.sources),
                "storylines": shown(self.episodic.storylines),
                "macros": shown(self.episodic.macros),
            },
            "artifacts": shown(self.artifacts),
        }


# --- relationships


def relationships(
    context: ExploreContext, nodes: Sequence[Node], matched: Sequence[MatchedEdge]
) -> tuple[Relationship, ...]:
    """Returns the best relationships of these nodes: of their strongest edges, and of their edges in `matched`.

    Filters apply before anything is scored.
    """
    ids, ties = tuple(node.id for node in nodes), replace(context.ties, stated=True)
    around = context.store.steps(
        context.scope, StepQuery(ids, RELATED, "both", ties, context.of_kinds(*SEMANTIC_KINDS))
    )
    edges = {step.edge.id: step.edge for some in around.values() for step in some}
    edges |= {edge.id: edge for edge, _ in matched if not {edge.src, edge.dst}.isdisjoint(ids)}
    ends = context.store.get(context.scope, sorted({end for edge in edges.values() for end in (edge.src, edge.dst)}))
    notes = context.store.notes(context.scope, list(edges), "edge", context.now, NOTES)
    evidence = _evidence(context, list(edges.values()), notes)
    found = []
    for id_, edge in edges.items():
        salience = sum(ends[end].life.salience for end in (edge.src, edge.dst) if end in ends) / 2
        scored = score_evidence(context, evidence[id_], edge.updated, salience)
        found.append(Relationship(edge, scored.score, scored.why, shown_notes(notes.get(id_, []))))
    found.sort(key=lambda one: (-one.score, -one.edge.updated, one.edge.id))
    return tuple(found[:RELATIONSHIPS])


def find_semantic_nodes(context: ExploreContext, matched: Sequence[MatchedEdge]) -> list[tuple[Node, EvidenceScore]]:
    """Returns the people, concepts and entities that match, with their scores, best first.

    If neither end of a matching relationship would be shown, both are added, so that the relationship can be shown.
    """
    own = find_matches(context, SEMANTIC_KINDS)
    found = rank_matches(context, SEMANTIC_KINDS, own)
    shown = {node.id for node, _ in found[:NODES]}
    also: dict[str, Evidence] = {}
    for edge, evidence in matched:
        if shown.isdisjoint((edge.src, edge.dst)):
            for end in (edge.src, edge.dst):
                also[end] = also[end].joined(evidence) if end in also else evidence
    known = {node.id: node for node, _ in found}
    return rank_matches(context, SEMANTIC_KINDS, replace(own, known=known), also) if also else found


def matching_relationships(context: ExploreContext) -> list[MatchedEdge]:
    """Returns the relationships that queries or text matches find by their descriptions and notes.

    Both ends must pass the filters.
    """
    texts = [*context.text_matches, *(query.text for query in context.queries)]
    words = tuple(word for text in texts for word in content_words(text))
    most, where = CANDIDATES[context.mode], context.of_kinds(*SEMANTIC_KINDS)
    embeddings = [one for query in context.queries if (one := context.embed(query.text)) is not None]
    vectors, space = tuple(one.vector for one in embeddings), embeddings[0].space if embeddings else None
    query = RelationQuery(words, most, context.now, context.ties, where, vectors, space)
    found = context.store.relationships(context.scope, query) if words or vectors else []
    edges = list({edge.id: edge for edge in found}.values())
    notes = context.store.notes(context.scope, [edge.id for edge in edges], "edge", context.now, NOTES) if edges else {}
    evidence = _evidence(context, edges, notes)
    return [(edge, evidence[edge.id]) for edge in edges if evidence[edge.id].is_match()]


def _evidence(
    context: ExploreContext, edges: Sequence[Edge], notes: Mapping[str, Sequence[Note]]
) -> dict[str, Evidence]:
    """Returns how well the type, description and notes of each edge match, by edge id."""
    found = {edge.id: Evidence() for edge in edges}
    described: dict[str, list[Described]] = {edge.id: [edge, *notes.get(edge.id, ())] for edge in edges}
    for edge in edges:
        for text in context.text_matches:
            for part in (edge.type or "", *(one.text for one in described[edge.id])):
                value = match_quality(text, part, context.fuzzy)
                found[edge.id].match(text, value if value >= LEAST_SIMILARITY else 0.0)
    parts = [(id_, one) for id_, some in described.items() for one in some if one.text]
    for number, (near, least) in enumerate(_similarities(context, [one for _, one in parts]) if parts else ()):
        best: dict[str, float] = {}
        for (id_, _), value in zip(parts, near, strict=True):
            best[id_] = max(best.get(id_, 0.0), value)
        kept = sorted(((-value, id_) for id_, value in best.items() if value >= least))
        for rank, (value, id_) in enumerate(kept, 1):
            found[id_].cosines[number], found[id_].ranks[number] = -value, rank
    return found


def _similarities(context: ExploreContext, described: Sequence[Described]) -> Iterator[tuple[list[float], float]]:
    """Yields for each query its similarity to every description and note, and the least similarity that counts.

    The similarity is the cosine; without vectors, the share of the query's words.
    """
    embeddings = [context.embed(query.text) for query in context.queries]
    space = next((embedding.space for embedding in embeddings if embedding is not None), None)
    vectors = _vectors(context, space, described) if space is not None else None
    for query, embedding in zip(context.queries, embeddings, strict=True):
        if embedding is not None and vectors is not None:
            yield _cosines(embedding.vector, vectors), query.threshold
        else:
            words = sanitize_query(query.text)
            shared = [token_overlap(words, sanitize_query(one.text)) for one in described]
            yield shared, max(LEAST_WORD_SHARE, query.threshold)


def _vectors(context: ExploreContext, space: VectorSpace, described: Sequence[Described]) -> list[bytes] | None:
    """Returns the vectors of descriptions and notes, stored or newly made; None if they cannot be made."""
    known: dict[tuple[VectorKind, str], bytes] = {}
    for what in _VECTOR_KINDS:
        if ids := [one.id for one in described if _vector_kind(one) == what]:
            stored = context.store.vectors(context.scope, ids, space, what)
            known |= {(what, id_): vector for id_, vector in stored.items()}
    missing = [one for one in described if (_vector_kind(one), one.id) not in known]
    made = context.embed_texts([one.text for one in missing]) if missing else []
    if made is None:
        return None
    known |= {(_vector_kind(one), one.id): vector for one, vector in zip(missing, made, strict=True)}
    return [known[_vector_kind(one), one.id] for one in described]


def _vector_kind(one: Described) -> VectorKind:
    return "edge" if isinstance(one, Edge) else "note"


def _cosines(query: bytes, vectors: Sequence[bytes]) -> list[float]:
    """Returns the cosine of the query and each vector. All are unit vectors."""
    import numpy as np

    rows = np.frombuffer(b"".join(vectors), dtype="<f2").reshape(len(vectors), -1).astype(np.float64)
    found: list[float] = (rows @ np.frombuffer(query, dtype="<f2").astype(np.float64)).tolist()
    return found


# --- notes, neighbours and previews


def shown_notes(notes: Sequence[Note]) -> tuple[str, ...]:
    """Returns the newest notes, each cut to NOTE_CHARS, together at most ALL_NOTE_CHARS."""
    shown: list[str] = []
    room = ALL_NOTE_CHARS
    for note in notes[:NOTES]:
        text = note.text[: min(NOTE_CHARS, room)]
        if text:
            shown.append(text)
            room -= len(text)
    return tuple(shown)


def with_notes_and_neighbours(context: ExploreContext, found: Sequence[Item]) -> dict[str, Item]:
    """Returns the items by id, with their notes and neighbours."""
    ids = tuple(item.node.id for item in found)
    if not ids:
        return {}
    each = NEIGHBOURS[context.mode]
    notes = context.store.notes(context.scope, ids, "node", context.now, NOTES)
    around = context.store.steps(context.scope, StepQuery(ids, 4 * each, "both", context.ties, context.where))
    others = context.store.get(context.scope, sorted({step.other for some in around.values() for step in some}))
    made = {}
    for item in found:
        id_ = item.node.id
        near = {
            step.other: preview_of(others[step.other], step.edge.kind)
            for step in reversed(around.get(id_, []))
            if step.other in others and step.other != id_ and others[step.other].kind != "episode"
        }
        neighbours = tuple(reversed(near.values()))[:each]
        made[id_] = replace(item, notes=shown_notes(notes.get(id_, [])), neighbours=neighbours)
    return made


def with_sources(context: ExploreContext, found: Sequence[Item]) -> list[Item]:
    """Returns storylines with previews of their newest sources and of the nodes these mention, most salient first."""
    children = _children(context, found)
    room, made = ALL_PREVIEWS, []
    every = sorted({step.other for some in children.values() for step in some})
    sources = context.store.get(context.scope, every)
    mentions = context.store.mentions(context.scope, every, "source", CHILDREN)
    named = context.store.get(context.scope, sorted({one.node for some in mentions.values() for one in some}))
    where = context.of_kinds(*SEMANTIC_KINDS)
    for item in found:
        own = [sources[step.other] for step in children.get(item.node.id, []) if step.other in sources]
        own.sort(key=lambda node: (-node.at, node.id))
        shown = own[: min(PREVIEWS, room)]
        room -= len(shown)
        counts = Counter(one.node for node in own for one in mentions.get(node.id, []) if one.node in named)
        people = [named[id_] for id_ in counts if where.admits(named[id_])]
        people.sort(key=lambda node: (-node.life.salience, -counts[node.id], node.id))
        mentioned = tuple(preview_of(node) for node in people[: MENTIONED[context.mode]])
        made.append(replace(item, sources=tuple(map(preview_of, shown)), mentioned=mentioned))
    return made


def with_storylines(context: ExploreContext, found: Sequence[Item]) -> list[Item]:
    """Returns macros (summaries of storylines) with previews of all their storylines, by start."""
    children = _children(context, found)
    every = context.store.get(context.scope, sorted({step.other for some in children.values() for step in some}))
    made = []
    for item in found:
        own = [every[step.other] for step in children.get(item.node.id, []) if step.other in every]
        own.sort(key=lambda node: (node.at, node.id))
        made.append(replace(item, storylines=tuple(map(preview_of, own))))
    return made


def _children(context: ExploreContext, found: Sequence[Item]) -> dict[str, list[Step]]:
    """Returns, by id, the edges to each storyline from its sources, or to each macro from its storylines.

    Filters on relationships do not apply to these edges.
    """
    ids = tuple(item.node.id for item in found)
    query = StepQuery(ids, CHILDREN, "in", EdgeFilter(kinds=(PART_OF,)), context.where)
    return context.store.steps(context.scope, query) if ids else {}


# --- the verb `explore`


def explore(
    session: Session, queries: tuple[Query, ...], text_matches: tuple[str, ...], *, ties: EdgeFilter, where: Where,
    granularity: int, multi_query: bool, expander: Expander | None, mode: str, weights: Weights, fuzzy: str,
    explain: bool, record_access: bool, now: int,
) -> Exploration:  # fmt: skip
    """Returns the people, concepts, entities, relationships, sources, storylines, macros and artifacts that queries
    (by vectors) and text matches (by names and tags) find.

    With `record_access`, items shown in full count as used. With `multi_query`, or in mode "deep", the expander adds
    further queries to each; without an expander, templates do.
    """
    failure = ""
    if multi_query or mode == "deep":
        queries, failure = expand_queries(queries, expander or query_variants)
    embedding = _Embedding(session.vectors)
    context = ExploreContext(
        session.store, session.scope, queries, text_matches, now, embedding.query, embedding.texts, granularity, mode,
        weights, fuzzy, ties, where,
    )  # fmt: skip
    found = run_exploration(context)
    if record_access and found.items:
        shown = list({item.node.id: item.node for item in found.items if item.detail == "full"}.values())
        session.store.touch(session.scope, [node.id for node in shown], now)
        session.count_answer("\n".join(map(embedded_text, shown)), shown, now)
    notices = [notice for notice in (failure, embedding.failure, session.vectors.notice) if notice]
    return replace(found, meta={**_request(context), "explain": explain, "notices": notices})


def expand_queries(queries: tuple[Query, ...], expander: Expander) -> tuple[tuple[Query, ...], str]:
    """Returns the queries, each followed by up to three of the expander's, and a notice if the expander failed.

    Raises InputError for an expander that does not return a list of texts.
    """
    found: dict[str, Query] = {}
    notice = ""
    for query in queries:
        found.setdefault(query.text, query)
        try:
            made: object = expander(query.text)
            texts = made if isinstance(made, str) or not isinstance(made, Iterable) else list(made)
        except Exception as error:  # noqa: BLE001  # an expander of the caller's may raise anything
            notice = f"asked without other sides: the expander failed ({error})"
            continue
        if not isinstance(texts, list):
            raise InputError(f"an expander must return a list of texts, not {texts!r:.60}")
        for text in [trimmed for one in texts if (trimmed := trim_query(str(one)))][:3]:
            found.setdefault(text, Query(text, query.threshold))
    return tuple(found.values())[:MOST_QUERIES], notice


def _request(context: ExploreContext) -> dict[str, Any]:
    """Returns the arguments of an exploration as plain data."""
    return {
        "queries": [{"query": one.text, "threshold": one.threshold} for one in context.queries],
        "text_matches": list(context.text_matches),
        "granularity": context.granularity,
        "mode": context.mode,
        "weights": dict(zip(("semantic", "time", "salience"), context.weights, strict=True)),
        "now": context.now,
    }


class _Embedding:
    """The embedder for one exploration. If it fails, its methods return None and `failure` is set to a notice."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors, self.failure = vectors, ""

    def query(self, text: str) -> QueryVector | None:
        return self._try(self._vectors.of_repeated, text)

    def texts(self, texts: Sequence[str]) -> list[bytes] | None:
        return self._try(self._vectors.of_texts, texts)

    def _try(self, make: Callable[[G], T | None], given: G) -> T | None:
        try:
            return make(given)
        except EmbedderError as error:
            self.failure = f"answered from words alone: {error}"
            return None


def run_exploration(context: ExploreContext) -> Exploration:
    """Runs an exploration and returns its result; `meta` is still empty."""
    matched = matching_relationships(context)
    best = _items(find_semantic_nodes(context, matched)[:NODES])
    related = relationships(context, [item.node for item in best], matched) if best else ()
    episodic: dict[str, list[Item]] = {}
    for kind, most in CUTS[context.granularity].items():
        detail: Detail = "full" if kind == FULL[context.granularity] else "minimal"
        episodic[kind] = _items(find_nodes(context, kind)[:most], detail)
    artifacts = _items(find_nodes(context, "artifact")[:ARTIFACTS])
    main = episodic[FULL[context.granularity]]
    whole = with_notes_and_neighbours(context, [*best, *main, *artifacts])
    main = [whole[item.node.id] for item in main]
    if context.granularity == 2:
        main = with_sources(context, main)
    if context.granularity == 3:
        main = with_storylines(context, main)
    episodic[FULL[context.granularity]] = main
    by_role: dict[str, list[Item]] = {"person": [], "concept": [], "entity": []}
    for one in best:
        by_role[SEMANTIC_ROLES[one.node.kind]].append(whole[one.node.id])
    return Exploration(
        {},
        Semantic(tuple(by_role["person"]), tuple(by_role["concept"]), tuple(by_role["entity"]), related),
        Episodic(*(tuple(episodic.get(kind, ())) for kind in ("source", "storyline", "macro"))),
        tuple(whole[item.node.id] for item in artifacts),
    )


def _items(found: Sequence[tuple[Node, EvidenceScore]], detail: Detail = "full") -> list[Item]:
    return [Item(node, scored.score, scored.why, detail) for node, scored in found]
