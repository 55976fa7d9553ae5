"""Narratives: the facts about the entities a cue is about, in sections within a budget.

anchor -> spread -> score -> render, as in any recall. The anchors are entities, found by vectors or by name. From them
facts are followed breadth first, scored by confidence, source, age and use, and rendered as one section per entity.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cuetrail.model import Budget, Fact, Node, Where, node_dict
from cuetrail.recall.query import Cue, parse_cue, query_terms
from cuetrail.recall.render.text import budget_measure
from cuetrail.recall.stage_types import Anchored, Measure, Reached, RecallContext, Recipe, Scored
from cuetrail.store.read import HeldAt, PageRequest, facts_by_id
from cuetrail.text.normalise import norm_name

if TYPE_CHECKING:
    from cuetrail.session import Session
import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import Generic, TypeVar

from cuetrail.errors import EmbedderError
from cuetrail.facts.beliefs import one_each
from cuetrail.formulas import CONFIRMED_WEIGHT, fact_score, recency, source_weight, usage
from cuetrail.model import Direction, Hit, Scope, SearchHit, fact_dict
from cuetrail.recall.stage_types import Anchor, ReachedFact
from cuetrail.store.search import NameMatch
from cuetrail.store.shared.fact_fields import EVER, ends_of, until
from cuetrail.store.vector_space import QueryVector
from cuetrail.text.normalise import folded, name_words, snippet

MEANING, NAMES, EITHER = "meaning", "names", "meaning and names"
"""How entities were found: by vectors; by name, because there are no vectors; by name, because vectors found none."""

CANDIDATES = 200
# A shorter word is the beginning of too many names.
_SHORTEST_BEGINNING = 3
# A file has a name, but is an entity only if facts are about it.
_FILE = "source"
USER = "user"
LIFETIME_SECONDS = 60
MOST_ENTRIES = 1_000
PREWARMED = 20
"""The number of narratives that `prewarm` makes."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a narrative: a fact, its text and score, and `why`: the path to the fact and the parts of the score."""

    fact: Fact
    text: str
    score: float
    why: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON."""
        return {"text": self.text, "score": self.score, "fact": fact_dict(self.fact), "why": dict(self.why)}


@dataclass(frozen=True, slots=True)
class Narrative:
    """The narrative of a cue: text within the budget, and its lines, each with its fact and the reasons for it.

    `anchors` are the entities the cue is about, also those without a line. `entities` are by id the nodes on the paths
    to the facts. `believed` counts all facts found, also those the budget had no room for. `degraded`: entities were
    found by name, because there were no vectors. `cached`: it comes from the cache. `until` is when the first of its
    facts ends.
    """

    cue: str
    text: str
    lines: tuple[Line, ...]
    anchors: tuple[Node, ...]
    entities: Mapping[str, Node]
    degraded: bool = False
    looked_for: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    believed: int = 0
    cached: bool = field(default=False, compare=False)
    until: int = field(default=EVER, compare=False)

    @property
    def answerable(self) -> bool:
        """True if the narrative has any line."""
        return bool(self.lines)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts of the lines, in their order."""
        return tuple(line.fact for line in self.lines)

    def to_dict(self) -> dict[str, Any]:
        """Returns plain data for JSON, the same in the CLI, REST and MCP."""
        return {
            "cue": self.cue,
            "text": self.text,
            "answerable": self.answerable,
            "degraded": self.degraded,
            "cached": self.cached,
            "looked_for": list(self.looked_for),
            "notices": list(self.notices),
            "anchors": [node_dict(node) for node in self.anchors],
            "entities": {id_: node.name for id_, node in self.entities.items()},
            "lines": [line.to_dict() for line in self.lines],
        }


# --- the cache: an entry is valid for a minute, as long as nothing was written in its scope


@dataclass(frozen=True, slots=True)
class CacheKey:
    """The scope, the words of the cue in normal form, and all other parameters of a narrative."""

    scope: Scope
    words: Hashable
    parameters: Hashable


class VersionedCache(Generic[T]):
    """A thread-safe cache of the `most` latest entries, each with the version its scope had when the entry was made.

    Every write of any process changes the version of its scope, and an entry of another version counts as missing, so
    writes need not clear anything. Access counts do not change the version; the caller compares these.
    """

    def __init__(self, seconds: int = LIFETIME_SECONDS, most: int = MOST_ENTRIES) -> None:
        self._lifetime = seconds * 1000
        self._most = most
        self._entries: OrderedDict[CacheKey, tuple[Hashable, range, T]] = OrderedDict()
        self._counts: Counter[tuple[Scope, str]] = Counter()
        self._lock = threading.Lock()

    def get(self, key: CacheKey, version: Hashable, now: int) -> T | None:
        """Returns the entry of this version, None if there is none or it has expired. Counts a hit or a miss, and
        removes an entry of another version.
        """
        with self._lock:
            found = self._entries.get(key)
            if found is not None and found[0] == version and now in found[1]:
                self._entries.move_to_end(key)
                self._counts[key.scope, "hits"] += 1
                return found[2]
            self._entries.pop(key, None)
            self._counts[key.scope, "misses"] += 1
            return None

    def put(self, key: CacheKey, version: Hashable, now: int, entry: T, until: int = EVER) -> None:
        """Stores an entry, valid for the cache's lifetime but not beyond `until`. If there are too many entries, the
        least recently used ones are dropped.
        """
        with self._lock:
            self._entries[key] = (version, range(now, min(now + self._lifetime, until)), entry)
            self._entries.move_to_end(key)
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)

    def renew(self, key: CacheKey, version: Hashable, entry: T) -> None:
        """Replaces a stored entry that has this version, with the same expiry; else does nothing."""
        with self._lock:
            found = self._entries.get(key)
            if found is not None and found[0] == version:
                self._entries[key] = (version, found[1], entry)

    def counts(self, scope: Scope) -> dict[str, int]:
        """Returns the number of "hits" and "misses" in this scope, and of its entries in the cache ("kept")."""
        with self._lock:
            kept = sum(key.scope == scope for key in self._entries)
            return {"hits": self._counts[scope, "hits"], "misses": self._counts[scope, "misses"], "kept": kept}


# --- the verb `narrate`


@dataclass(frozen=True, slots=True)
class NarrativeFacts:
    """Entities and facts of a narrative, before scoring: the results of the anchor and spread stages."""

    anchored: Anchored
    reached: Reached


class CachedNarrative(NamedTuple):
    """A narrative in the cache, the facts it was made of, and the usage counts of the scope at that time."""

    narrative: Narrative
    found: NarrativeFacts
    uses: Hashable


NarrativeCache = VersionedCache[CachedNarrative]


def narrate(
    session: Session, cache: NarrativeCache, cue: str, *, recipe: Recipe, parameters: Hashable, budget: Budget,
    as_of: int | None, use_cache: bool, record_access: bool, count_tokens: Measure | None, now: int,
) -> Narrative:  # fmt: skip
    """Returns the narrative on a cue; from the cache if nothing was written in this scope since it was made.

    `parameters` are the arguments the recipe was made with; they are part of the cache key. `as_of` is the time for
    which facts are told, None for now. With `record_access`, the facts shown and their subjects count as used, unless
    they come from the cache.
    """
    store, scope = session.store, session.scope
    parsed = _lower_case(parse_cue(cue, Where()))
    key = CacheKey(scope, (parsed.query, parsed.where), (parameters, budget, as_of, count_tokens))
    version, uses, _ = store.version(scope) if use_cache else (None, None, None)
    cached = cache.get(key, version, now) if use_cache else None
    if cached is not None and cached.uses == uses:
        return replace(cached.narrative, cue=cue, cached=True)
    context = RecallContext(
        store, scope, parsed, *budget_measure(budget, count_tokens), None, session.vectors.of_query,
        now if as_of is None else as_of,
    )  # fmt: skip
    if cached is not None and (facts := reread_facts(context, cached.found)) is not None:
        # Since then only access counts have changed, perhaps by this verb: the facts are the same, their scores not.
        narrative = replace(write_narrative(context, recipe, facts), notices=cached.narrative.notices)
        cache.renew(key, version, CachedNarrative(narrative, facts, uses))
        return replace(narrative, cue=cue, cached=True)
    facts = find_facts(context, recipe)
    narrative = write_narrative(context, recipe, facts)
    narrative = replace(narrative, notices=session.with_notice(narrative.notices))
    # A narrative made while the embedder failed is not kept: the embedder may be back in a moment.
    if use_cache and not (narrative.degraded and narrative.notices):
        until = _unchanged_until(session, narrative, now) if as_of is None else EVER
        cache.put(key, version, now, CachedNarrative(narrative, facts, uses), until)
    if record_access and narrative.lines:
        store.touch(scope, list({fact.subject for fact in narrative.facts}), now, [one.id for one in narrative.facts])
    return narrative


def _lower_case(cue: Cue) -> Cue:
    """Returns the cue in lower case, so that case makes no difference to the narrative."""
    words, phrases = norm_name(cue.query.words), tuple(map(norm_name, cue.query.phrases))
    return replace(cue, query=replace(cue.query, words=words, phrases=phrases))


def _unchanged_until(session: Session, narrative: Narrative, now: int) -> int:
    """Returns the time, in milliseconds, when the narrative changes without a write: the first of its facts ends, or
    another fact becomes valid.
    """
    next_begin = session.store.version(session.scope, now).next_fact
    return narrative.until if next_begin is None else min(narrative.until, next_begin)


def most_used_names(session: Session, limit: int) -> list[str]:
    """Returns the names of up to `limit` entities, ordered by how often their most used fact was used."""
    used = session.store.page(session.scope, PageRequest(limit, order="fact use"))
    return [one.node.name for one in used if one.node.name]


def find_facts(context: RecallContext, recipe: Recipe) -> NarrativeFacts:
    """Returns the entities that a cue is about, and the facts around them."""
    anchored = recipe.anchor(context)
    return NarrativeFacts(anchored, recipe.spread(context, anchored))


def reread_facts(context: RecallContext, found: NarrativeFacts) -> NarrativeFacts | None:
    """Returns the same entities and facts with their current access counts; None if any of them is gone."""
    facts = facts_by_id(context.store, context.scope, [one.fact.id for one in found.reached.facts])
    nodes = context.store.get(context.scope, list(found.reached.entities))
    if len(facts) < len(found.reached.facts) or len(nodes) < len(found.reached.entities):
        return None
    anchors = tuple(replace(anchor, node=nodes[anchor.node.id]) for anchor in found.anchored.anchors)
    current = tuple(replace(one, fact=facts[one.fact.id]) for one in found.reached.facts)
    return NarrativeFacts(
        replace(found.anchored, anchors=anchors),
        replace(found.reached, facts=current, entities={id_: nodes[id_] for id_ in found.reached.entities}),
    )


def write_narrative(context: RecallContext, recipe: Recipe, found: NarrativeFacts) -> Narrative:
    """Returns the narrative of these facts, within the budget."""
    anchored, reached = found.anchored, found.reached
    scored = recipe.score(context, anchored, reached)
    text, shown = recipe.render(context, scored)

    facts = {one.fact.id: one.fact for one in reached.facts}
    lines = (line for hit in (*shown.anchors, *shown.walkers) for line in hit.why["lines"])
    return Narrative(
        context.cue.raw,
        text,
        tuple(Line(facts[line["fact"]["id"]], line["text"], line["score"], line["why"]) for line in lines),
        tuple(anchor.node for anchor in anchored.anchors),
        reached.entities,
        degraded=anchored.attempt == NAMES,
        looked_for=query_terms(context.cue),
        notices=(*context.cue.notices, *anchored.notices, *_no_room(context, scored, text)),
        believed=len(reached.facts),
        until=min((until(one.fact) for one in reached.facts), default=EVER),
    )


def _no_room(context: RecallContext, scored: Scored, text: str) -> Iterator[str]:
    """Yields one notice, with the least budget that would do, if there are facts but no text; else nothing."""
    hits = (*scored.anchors, *scored.walkers)
    if hits and not text:
        lines = [f"{header(hit.node)}\n{line['text']}" for hit in hits for line in hit.why["lines"]]
        least, unit = min(map(context.measure, lines)), "characters" if context.measure is len else "tokens"
        facts = "1 fact is" if len(lines) == 1 else f"{len(lines)} facts are"
        yield f"the budget is too small: {facts} believed, and to tell one takes at least {least} {unit}"


# --- anchor: the entities a cue is about


def find_entities(context: RecallContext, *, limit: int, floor: float) -> Anchored:
    """Returns the `limit` entities with the highest cosine to the cue, at least `floor`. If there are none, or there
    are no vectors, returns those whose names match the cue.

    `attempt` of the result is MEANING, NAMES or EITHER. If the embedder fails, a notice says so.
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
    """Returns the search results as anchors, in the same order, without files that no current fact is about."""
    nodes = context.store.get(context.scope, [one.id for one in found])
    files = [id_ for id_, node in nodes.items() if node.kind == _FILE]
    with_facts = context.store.facts(context.scope, files, held=HeldAt(context.now, 1, "both")) if files else ()
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
    """Returns how well an entity's name or its best alias matches the cue `asked`: 3 or more if the cue contains the
    whole name, 2 or more if the name begins with a word of the cue, else the share of the name's words in the cue.

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


# --- spread: the facts around them


def follow_facts(
    context: RecallContext, anchored: Anchored, *, hops: int, per_entity: int, max_facts: int, direction: Direction
) -> Reached:
    """Returns up to `max_facts` facts, breadth first from the anchors: for each entity its `per_entity` most certain
    facts, up to `hops` levels of entities.

    `direction` says whether the entity must be the subject ("out"), the object ("in"), or either.
    """
    nodes = {anchor.node.id: anchor.node for anchor in anchored.anchors}
    paths: dict[str, tuple[str, ...]] = {id_: (id_,) for id_ in nodes}
    reached: dict[str, ReachedFact] = {}
    level = list(nodes)
    for hop in range(hops):
        if not level or len(reached) >= max_facts:
            break
        found = _visible_facts(context, level, nodes, per_entity, direction)
        next_level: dict[str, None] = {}
        for entity, fact in ((id_, one) for id_ in level for one in found.get(id_, ())):
            if len(reached) >= max_facts:
                break
            if fact.id in reached:
                continue
            reached[fact.id] = ReachedFact(fact, entity, hop, paths[entity])
            for end in ends_of(fact):
                if end not in paths:
                    paths[end] = (*paths[entity], end)
                    next_level[end] = None
        level = list(next_level)
    return Reached(facts=tuple(reached.values()), entities={id_: nodes[id_] for id_ in paths if id_ in nodes})


def _visible_facts(
    context: RecallContext, level: Sequence[str], nodes: dict[str, Node], each: int, direction: Direction
) -> dict[str, list[Fact]]:
    """Returns for each entity its `each` most certain facts that hold at `context.now`, have visible nodes at their
    ends, and that the user believes (see `one_each`). Adds all nodes that it read to `nodes`, hidden ones too.

    If some facts are hidden, more are read, so that hidden facts do not use up the limit.
    """
    visible: dict[str, list[Fact]] = {}
    limit = each
    while level:
        found = context.store.facts(context.scope, level, held=HeldAt(context.now, limit, direction))
        new = {end for facts in found.values() for fact in facts for end in ends_of(fact)} - nodes.keys()
        nodes |= context.store.get(context.scope, sorted(new)) if new else {}
        every = {fact.id: fact for facts in found.values() for fact in facts}
        shown = [
            fact
            for fact in every.values()
            if all(end in nodes and context.cue.where.admits(nodes[end]) for end in ends_of(fact))
        ]
        believed = {fact.id for fact in one_each(context.store, context.scope, shown)}
        for id_, facts in found.items():
            visible[id_] = [fact for fact in facts if fact.id in believed][:each]
        level = [id_ for id_ in level if len(found.get(id_, ())) == limit > len(visible.get(id_, ())) < each]
        limit *= 4
    return visible


# --- score: each fact by confidence, source, age and use


def rank_facts(context: RecallContext, anchored: Anchored, reached: Reached) -> Scored:
    """Returns one hit per subject of the reached facts, in the order the subjects were reached.

    `why["lines"]` of a hit has the lines of its facts, highest score first.
    """
    lines: dict[str, list[Line]] = {}
    for one in reached.facts:
        lines.setdefault(one.fact.subject, []).append(_line(one, reached.entities, context.now))
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


def _line(reached: ReachedFact, entities: Mapping[str, Node], now: int) -> Line:
    fact = reached.fact
    age = now - (fact.created if fact.last_accessed is None else fact.last_accessed)
    confirmed = fact.status == "confirmed"
    why = {
        "anchor": reached.path[0],
        "hop": reached.hop,
        "path": list(reached.path),
        "direction": "out" if fact.subject == reached.entity else "in",
        "parts": {
            "confidence": fact.confidence,
            "source": source_weight(fact.source),
            "recency": recency(age),
            "usage": usage(fact.access_count),
            "status": CONFIRMED_WEIGHT if confirmed else 1.0,
        },
    }
    value = display_name(entities[fact.object]) if fact.object is not None else fact.value or ""
    score = fact_score(fact.confidence, fact.source, age, fact.access_count, confirmed)
    return Line(fact, f"- {fact.predicate}: {' '.join(value.split())}", score, why)


def display_name(node: Node) -> str:
    """Returns a node's name, else the beginning of its text, else its id."""
    return " ".join((node.name or snippet(node.text) or node.id).split())


# --- render: one section per entity


_Lines = Sequence[tuple[int, str, float]]


def in_sections(context: RecallContext, scored: Scored) -> tuple[str, Scored]:
    """Returns the text, one section per hit, with the lines of highest score that fit the budget; and the hits that
    have a line in it.
    """
    hits = [*scored.anchors, *scored.walkers]
    lines = [(at, line["text"], line["score"]) for at, hit in enumerate(hits) for line in hit.why["lines"]]
    kept = set(range(len(lines)))
    if context.measure(_text(hits, lines, kept)) > context.size:
        kept, room = set(), context.size
        for number in sorted(range(len(lines)), key=lambda n: (-lines[n][2], n)):
            # Measuring a line alone is cheap and rules out most of those that do not fit.
            if context.measure(lines[number][1]) > room:
                continue
            size = context.measure(_text(hits, lines, kept | {number}))
            if size <= context.size:
                kept.add(number)
                room = context.size - size
    shown = _with_kept_lines(hits, kept)
    anchors = {hit.node.id for hit in scored.anchors}
    return _text(hits, lines, kept), Scored(
        tuple(hit for hit in shown if hit.node.id in anchors), tuple(hit for hit in shown if hit.node.id not in anchors)
    )


def _text(hits: Sequence[Hit], lines: _Lines, kept: set[int]) -> str:
    sections: dict[int, list[str]] = {}
    for number, (at, text, _) in enumerate(lines):
        if number in kept:
            sections.setdefault(at, [header(hits[at].node)]).append(text)
    return "\n\n".join("\n".join(section) for section in sections.values())


def header(node: Node) -> str:
    """Returns the heading of an entity's section; the entity called "user" has a heading of its own."""
    name = display_name(node)
    return "### 👤 USER CONTEXT" if name.casefold() == USER else f"### 💡 CONTEXT: {name}"


def _with_kept_lines(hits: Sequence[Hit], kept: set[int]) -> list[Hit]:
    """Returns the hits with only the lines whose numbers are in `kept`; leaves out hits without such lines.

    Lines are numbered through all hits, from 0.
    """
    shown = []
    first = 0
    for hit in hits:
        lines = [line for n, line in enumerate(hit.why["lines"], first) if n in kept]
        first += len(hit.why["lines"])
        if lines:
            shown.append(Hit(hit.node, hit.score, {**hit.why, "lines": lines}))
    return shown
