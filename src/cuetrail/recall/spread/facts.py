"""The four stages of a narrative: entities a cue means, the facts around them, what each is worth, sections of text.

They are stages like those of any recipe: `recipes.NARRATIVE` puts them together with every number in sight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cuetrail.errors import EmbedderError
from cuetrail.facts.predicates import one_each
from cuetrail.formulas import CONFIRMED_WEIGHT, fact_score, recency, source_weight, usage
from cuetrail.model import Direction, Fact, Hit, Node, SearchHit, fact_dict
from cuetrail.recall.anchor.hybrid_search import Anchor, Anchored, Ask
from cuetrail.recall.score.tag_walk import Scored
from cuetrail.recall.spread.tag_walk import Reached, Told
from cuetrail.store.search import Alike
from cuetrail.store.shared.fact_validity import ends_of
from cuetrail.store.vector_space import QueryVector
from cuetrail.text.normalise import folded, name_words, snippet

MEANING, NAMES, EITHER = "meaning", "names", "meaning and names"
"""How entities were found: by vectors; by their names, as there are no vectors; by names, as vectors found none."""

USER = "user"
CANDIDATES = 200
# A shorter word begins too many names to tell anything.
_SHORTEST_BEGINNING = 3
# Files are named, but only those that something is stated of are entities.
_FILE = "source"


# --- anchor


def by_entity(ask: Ask, *, limit: int, floor: float) -> Anchored:
    """The entities nearest to the cue by cosine, not farther than `floor`; where there are no vectors, by their names.

    `attempt` says which. An embedder that fails is a notice.
    """
    notices: tuple[str, ...] = ()
    said = " ".join((ask.cue.query.words, *ask.cue.query.phrases)).strip()
    meant: QueryVector | None = None
    found: list[Anchor] = []
    try:
        meant = ask.embed(said) if ask.embed is not None and said else None
        found = _by_meaning(ask, meant, limit, floor) if meant is not None else []
    except EmbedderError as error:
        meant, notices = None, (f"entities were looked for by name alone: {error}",)
    if found:
        return Anchored(tuple(found), ask.cue.query, MEANING)
    attempt = NAMES if meant is None else EITHER
    return Anchored(tuple(_by_name(ask, limit)), ask.cue.query, attempt, notices=notices)


def _by_meaning(ask: Ask, meant: QueryVector, limit: int, floor: float) -> list[Anchor]:
    wanted = max(limit, 0)
    while True:
        near = ask.store.vector(ask.scope, meant.vector, wanted, ask.cue.where, meant.space, named=True)
        found = [one for one in near if one.score >= floor]
        anchors = _entities(ask, found)[:limit]
        if len(anchors) >= limit or len(near) < wanted or len(found) < len(near):
            return anchors
        wanted *= 4


def _entities(ask: Ask, found: Sequence[SearchHit]) -> list[Anchor]:
    """Those of the nodes that are entities, in the same order."""
    nodes = ask.store.get(ask.scope, [one.id for one in found])
    files = [id_ for id_, node in nodes.items() if node.kind == _FILE]
    idle = set(files).difference(ask.store.beliefs(ask.scope, files, ask.now, 1, "both") if files else ())
    return [Anchor(nodes[one.id], None, one.score) for one in found if one.id in nodes and one.id not in idle]


def _by_name(ask: Ask, limit: int) -> list[Anchor]:
    """The entities whose names fit the words best: all of a name, its beginning, or some of its words."""
    asked = " ".join(_words(" ".join((ask.cue.query.words, *ask.cue.query.phrases))))
    words = frozenset(asked.split())
    starts = {word for word in words if len(word) >= _SHORTEST_BEGINNING}
    alike = ask.store.named_like(ask.scope, words, starts, CANDIDATES) if words else []
    ranked = sorted(((fit(one, asked), one.id) for one in alike), key=lambda pair: (-pair[0], pair[1]))
    fits = {id_: score for score, id_ in ranked if score > 0}
    nodes = ask.store.get(ask.scope, list(fits)[: limit * 8])
    shown = [SearchHit(id_, fits[id_]) for id_ in fits if id_ in nodes and ask.cue.where.admits(nodes[id_])]
    return [Anchor(anchor.node, None) for anchor in _entities(ask, shown)[:limit]]


def _words(text: str) -> list[str]:
    """The words of a text in their order, without marks and case."""
    known = name_words(text)
    return [word for word in folded(text).replace("_", " ").split() if word in known] or sorted(known)


def fit(one: Alike, asked: str) -> float:
    """How well a name fits what is asked: 3 and more where it is all there, 2 where one begins with the other, else
    less than 1, the share of its words.

    >>> jacq = Alike("1", "project", "JACQ Project", ("jq",), 0)
    >>> [round(fit(jacq, asked), 2) for asked in ("status of jacq project", "jacq", "the project plan", "jq", "tea")]
    [3.12, 2.5, 0.5, 3.02, 0.0]
    """
    return max(_fit(" ".join(_words(name)), asked) for name in (one.name, *one.aliases))


def _fit(name: str, asked: str) -> float:
    if not name:
        return 0.0
    if f" {name} " in f" {asked} ":
        return 3 + len(name) / 100
    shared = len(set(name.split()) & set(asked.split())) / len(set(name.split()))
    starts = any(name.startswith(word) for word in asked.split() if len(word) >= _SHORTEST_BEGINNING)
    return 2 + shared if starts else shared


# --- spread


def along_facts(
    ask: Ask, anchored: Anchored, *, hops: int, per_entity: int, max_facts: int, direction: Direction
) -> Reached:
    """Facts around the anchors, breadth first: of each entity the most certain ones, and no more than `max_facts`.

    One request for all entities of a level.
    """
    nodes = {anchor.node.id: anchor.node for anchor in anchored.anchors}
    ways: dict[str, tuple[str, ...]] = {id_: (id_,) for id_ in nodes}
    told: dict[str, Told] = {}
    level = list(nodes)
    for hop in range(hops):
        if not level or len(told) >= max_facts:
            break
        found = _shown(ask, level, nodes, per_entity, direction)
        further: dict[str, None] = {}
        for entity, fact in ((id_, one) for id_ in level for one in found.get(id_, ())):
            if len(told) >= max_facts:
                break
            if fact.id in told:
                continue
            told[fact.id] = Told(fact, entity, hop, ways[entity])
            for end in ends_of(fact):
                if end not in ways:
                    ways[end] = (*ways[entity], end)
                    further[end] = None
        level = list(further)
    return Reached(told=tuple(told.values()), entities={id_: nodes[id_] for id_ in ways if id_ in nodes})


def _shown(
    ask: Ask, level: Sequence[str], nodes: dict[str, Node], each: int, direction: Direction
) -> dict[str, list[Fact]]:
    """Of each entity the most certain facts whose ends may be shown; the ends are added to `nodes`.

    Where some may not be shown, more are read: what is hidden takes nobody's place.
    """
    shown: dict[str, list[Fact]] = {}
    limit = each
    while level:
        found = ask.store.beliefs(ask.scope, level, ask.now, limit, direction)
        new = {end for facts in found.values() for fact in facts for end in ends_of(fact)} - nodes.keys()
        nodes |= ask.store.get(ask.scope, sorted(new)) if new else {}
        every = {fact.id: fact for facts in found.values() for fact in facts}
        seen = [f for f in every.values() if all(e in nodes and ask.cue.where.admits(nodes[e]) for e in ends_of(f))]
        believed = {fact.id for fact in one_each(ask.store, ask.scope, seen)}
        for id_, facts in found.items():
            shown[id_] = [fact for fact in facts if fact.id in believed][:each]
        level = [id_ for id_ in level if len(found.get(id_, ())) == limit > len(shown.get(id_, ())) < each]
        limit *= 4
    return shown


# --- score


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a narrative: the fact it tells, what that is worth, and why it is here (data, not prose)."""

    fact: Fact
    text: str
    score: float
    why: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"text": self.text, "score": self.score, "fact": fact_dict(self.fact), "why": dict(self.why)}


def by_relevance(ask: Ask, anchored: Anchored, reached: Reached) -> Scored:
    """One hit per subject, anchors first, then as they were come to; its lines, in `why`, the most relevant first."""
    lines: dict[str, list[Line]] = {}
    for told in reached.told:
        lines.setdefault(told.fact.subject, []).append(_line(told, reached.entities, ask.now))
    anchors = {anchor.node.id: anchor for anchor in anchored.anchors}
    hits = {
        id_: _hit(node, sorted(lines[id_], key=_order), anchors.get(id_))
        for id_, node in reached.entities.items()
        if id_ in lines
    }
    return Scored(
        tuple(hit for id_, hit in hits.items() if id_ in anchors),
        tuple(hit for id_, hit in hits.items() if id_ not in anchors),
    )


def _order(line: Line) -> tuple[float, int, str]:
    return (-line.score, -line.fact.created, line.fact.id)


def _hit(node: Node, lines: Sequence[Line], anchor: Anchor | None) -> Hit:
    why = {
        "role": "anchor" if anchor else "walker",
        "found_by": ["facts"] if anchor is None else ["vector" if anchor.cosine is not None else "name"],
        "parts": {"cosine": anchor.cosine} if anchor else {},
        "lines": [line.to_dict() for line in lines],
    }
    return Hit(node, lines[0].score, why)


def _line(told: Told, entities: Mapping[str, Node], now: int) -> Line:
    fact = told.fact
    age = now - (fact.created if fact.last_accessed is None else fact.last_accessed)
    confirmed = fact.status == "confirmed"
    why = {
        "anchor": told.way[0],
        "hop": told.hop,
        "path": list(told.way),
        "direction": "out" if fact.subject == told.entity else "in",
        "parts": {
            "confidence": fact.confidence,
            "source": source_weight(fact.source),
            "recency": recency(age),
            "usage": usage(fact.access_count),
            "status": CONFIRMED_WEIGHT if confirmed else 1.0,
        },
    }
    said = called(entities[fact.object]) if fact.object is not None else fact.value or ""
    score = fact_score(fact.confidence, fact.source, age, fact.access_count, confirmed)
    return Line(fact, f"- {fact.predicate}: {' '.join(said.split())}", score, why)


def called(node: Node) -> str:
    """What people call a node."""
    return " ".join((node.name or snippet(node.text) or node.id).split())


# --- render


def in_sections(ask: Ask, scored: Scored) -> tuple[str, Scored]:
    """A section per subject, with the most relevant lines there is room for; and the subjects that are in it."""
    hits = [*scored.anchors, *scored.walkers]
    lines = [(at, line["text"], line["score"]) for at, hit in enumerate(hits) for line in hit.why["lines"]]
    kept = set(range(len(lines)))
    if ask.measure(_text(hits, lines, kept)) > ask.size:
        kept, left = set(), ask.size
        for number in sorted(range(len(lines)), key=lambda n: (-lines[n][2], n)):
            # Most of what does not fit is too long by itself; the whole text is measured for the others alone.
            if ask.measure(lines[number][1]) > left:
                continue
            size = ask.measure(_text(hits, lines, kept | {number}))
            if size <= ask.size:
                kept.add(number)
                left = ask.size - size
    shown = _left(hits, kept)
    anchors = {hit.node.id for hit in scored.anchors}
    return _text(hits, lines, kept), Scored(
        tuple(hit for hit in shown if hit.node.id in anchors),
        tuple(hit for hit in shown if hit.node.id not in anchors),
    )


_Lines = Sequence[tuple[int, str, float]]


def _text(hits: Sequence[Hit], lines: _Lines, kept: set[int]) -> str:
    sections: dict[int, list[str]] = {}
    for number, (at, text, _) in enumerate(lines):
        if number in kept:
            sections.setdefault(at, [header(hits[at].node)]).append(text)
    return "\n\n".join("\n".join(section) for section in sections.values())


def header(node: Node) -> str:
    """The line above what is told of an entity."""
    name = called(node)
    return "### 👤 USER CONTEXT" if name.casefold() == USER else f"### 💡 CONTEXT: {name}"


def _left(hits: Sequence[Hit], kept: set[int]) -> list[Hit]:
    """The hits with the lines that are told of them; those of which none is are left out."""
    shown = []
    first = 0
    for hit in hits:
        count = len(hit.why["lines"])
        told = [line for n, line in enumerate(hit.why["lines"], first) if n in kept]
        first += count
        if told:
            shown.append(Hit(hit.node, hit.score, {**hit.why, "lines": told}))
    return shown
