"""Facts in a recall: current facts about the names in a cue come first in the answer, if they fit the rest of the cue.

"Where does Ann live now?" names Ann, and the rest asks where she lives. Of the current facts about Ann, those come
first whose predicate or object fits the rest. A cue that is only a name gets its main facts. Facts that share nothing
with the rest of the cue are left out: "what did Ann say about the antenna?" is no question about where she lives. A
date in the cue asks for the facts of that time.

A text that states a superseded or retracted fact is marked, and ranks below texts that state the current one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from cuetrail.errors import EmbedderError
from cuetrail.facts.beliefs import one_each
from cuetrail.formulas import DAY, fact_score, share
from cuetrail.model import Fact, Hit, Node, RecalledFact, Where
from cuetrail.recall.anchor.hybrid_search import TrailAnchors
from cuetrail.recall.dates_in_query import Span, read_dates
from cuetrail.recall.query import LONGEST_NAMED
from cuetrail.recall.render.text import SEPARATOR
from cuetrail.recall.stage_types import ANSWERABLE_FROM, Anchored, Reached, RecallContext, Scored
from cuetrail.recall.trail_constants import Trail, is_bare
from cuetrail.store.read import Around, HeldAt
from cuetrail.store.shared.fact_fields import ACTIVE, begins, holds, until, value_of
from cuetrail.text.names import fold, fold_padded, mentions, name_variants
from cuetrail.text.normalise import norm_name, snippet, terms_of
from cuetrail.text.prose import sentence_ends
from cuetrail.text.timestamps import utc_date
from cuetrail.text.word_lists import (
    ASKING_WORDS,
    CATCH_ALL_WORDS,
    FUNCTION_WORDS,
    PRESENT_WORDS,
    TELLING_WORDS,
    VERB_PREDICATES,
)

# How many facts of each subject are read, and of how many subjects.
FACTS_READ, SUBJECTS = 200, 20
# The share of the other words of the cue that a fact must have: if one is in its predicate, and if none is.
LEAST_WITH_PREDICATE, LEAST_SHARE = 0.2, 1 / 3
# The same for a name in small letters, which may be no name, and for the user, of whom many cues say "I" in passing.
LEAST_IF_LOWER_CASE, LEAST_OF_OWNER = 0.5, 1 / 3
# The least cosine between the rest of the cue and a fact, for static vectors and for those of a strong model.
LEAST_COSINE, LEAST_CONTEXTUAL_COSINE = 0.28, 0.65
# How many facts are compared by their vectors, with how many words of the cue. More words ask for no single property.
COMPARED, MOST_COMPARED_WORDS = 60, 3
# The most characters of a value in a line, and in a mark.
LONGEST_VALUE, LONGEST_MARK = 200, 80
# The factor for the score of the last hit that an outdated one ranks below, and how many marks a hit shows.
BELOW, MARKS = 0.999, 2
# A faded fact had a lower score than this when a dream retracted it; see `dream.passes.facts`.
FADED = 0.2
# A value that is looked for in the cue has at most so many words.
LONGEST_RUN = 6
# Names of the node that holds the user's own facts, beside the name of the user.
OWNERS = ("me", "user")

_WORD = re.compile(r"[^\W_]+")
_AROUND_WORDS = ".,;:!?'\"()[]“”‘’"
_OF_OWNER = re.compile(r"\b(?:i|my|mine|myself)\b|\babout me\b", re.IGNORECASE)
_SHORT_NAME = re.compile(r"(?<![\w'’])[^\W\d_]{1,2}(?!\w)")
_ASKS_WHO_I_AM = re.compile(r"\bwho am i\b|\babout (?:me|myself)\b", re.IGNORECASE)
# What a question asks for that has no other word: "where is Ann?"
_ASKED_FOR = {
    "where": "lives located based home address city country place",
    "when": "birthday born date deadline due",
}
_PREPOSITIONS = frozenset(("about", "as", "at", "by", "for", "from", "in", "of", "on", "to", "with"))
_BRACKETS = str.maketrans("[]", "()")

Topic = tuple[str, str]
"""The ids of a subject and a predicate: what a fact has a value for."""
Rank = Callable[[RecallContext, Anchored, Reached], Scored]
Render = Callable[[RecallContext, Scored], tuple[str, Scored]]


class Period(NamedTuple):
    """The time that a cue asks about, in milliseconds. Without a date in the cue, both ends are now."""

    start: int
    end: int

    def admits(self, fact: Fact) -> bool:
        """True if the fact is valid at the end of the period, or was valid at some time within it."""
        return holds(fact, self.end) or (begins(fact) <= self.end and until(fact) > max(self.start, begins(fact)))


@dataclass(slots=True)
class Believed:
    """The facts that a recall has read, by topic (subject and predicate): `current` ones are valid at the end of
    `period`, `ended` ones ended before that.

    `extracted` are ended facts by the id of the text they were extracted from. `nodes` are the visible subjects by id.
    """

    period: Period
    nodes: dict[str, Node]
    current: dict[Topic, list[Fact]] = field(default_factory=dict)
    ended: dict[Topic, list[Fact]] = field(default_factory=dict)
    extracted: dict[str, list[Fact]] = field(default_factory=dict)


# --- the score stage: hits as the recipe ranks them, and the facts


def with_current_facts(
    context: RecallContext, anchored: Anchored, reached: Reached, *, rank: Rank, how: Trail
) -> Scored:
    """Score stage: returns the hits of `rank`, and the current facts that fit the cue.

    Hits that state ended facts are marked and moved down. Nodes without text are left out if their facts are shown. If
    nothing is likely to answer, facts are also looked for by their value.
    """
    scored = rank(context, anchored, reached)
    if how.facts <= 0:
        return scored
    assert isinstance(anchored, TrailAnchors), "facts lead the answers of TRAIL"
    scored = _with_facts_of_subjects(context, anchored, scored, how)
    unsure = not scored.anchors or (scored.confidence is not None and scored.confidence < ANSWERABLE_FROM)
    if scored.facts or not unsure or anchored.literal or _filters(context.cue.where):
        return scored
    facts = _facts_of_value(context, anchored)[: how.facts]
    return replace(scored, anchors=(), facts=tuple(facts)) if facts else scored


def _with_facts_of_subjects(context: RecallContext, anchored: TrailAnchors, scored: Scored, how: Trail) -> Scored:
    """Returns the hits, marked where they state ended facts, and the current facts about the names in the cue that fit
    the rest of it.
    """
    mentioned = mentioned_subjects(context, anchored)
    found = read_facts(context, anchored, list(mentioned), scored.anchors)
    if found is None:
        return scored
    names = _objects(context, found)
    asked = asked_of(context, mentioned)
    facts = fitting_facts(context, anchored, asked, found, names, how)
    hits = mark_outdated(scored.anchors, found, [(fact.subject, fact.predicate) for fact in facts], names)
    # A filter asks for memories that pass it. Facts have no tags, kind or bucket.
    shown = [] if _filters(context.cue.where) else recalled_facts(context, facts, asked, names)
    # The bare name of a subject adds nothing to its facts.
    subjects = {one.fact.subject for one in shown}
    hits = tuple(hit for hit in hits if hit.node.id not in subjects or not is_bare(hit.node))
    return replace(scored, anchors=hits, facts=tuple(shown))


def _filters(where: Where) -> bool:
    return (
        bool(where.tags or where.buckets or where.kinds or where.props)
        or where.since is not None
        or where.until is not None
    )


# --- the subjects a cue names, and what it asks about them


class Mentioned(NamedTuple):
    """How a cue names a subject. `name` is the name in it, "" for the user ("I", "my") and if `whole` is True.

    `whole`: the name is the whole cue, apart from words that only ask. `sure`: it is written with a capital.
    """

    name: str
    whole: bool = False
    sure: bool = True


def mentioned_subjects(context: RecallContext, anchored: TrailAnchors) -> dict[str, Mentioned]:
    """Returns the nodes that the cue names, by id, each with how it is named; at most SUBJECTS.

    The user's own nodes and short names come first, then nodes whose name is the whole cue, then all others.
    """
    found = {id_: Mentioned("", whole=True) for id_ in sorted(anchored.topics) if anchored.titled}
    for name in anchored.names:
        for id_ in name.ids:
            found.setdefault(id_, Mentioned(name.name, sure=name.confidence == 1))
    if not anchored.literal:
        found = {**_owner_and_short_names(context), **found}
    return dict(list(found.items())[:SUBJECTS])


def _owner_and_short_names(context: RecallContext) -> dict[str, Mentioned]:
    """Returns, by id, the user's own nodes if the cue says "I" or "my", and nodes whose name is a capitalised word of
    one or two letters in the cue. The anchor stage looks up neither.
    """
    raw = context.cue.raw
    short = [name for name in _SHORT_NAME.findall(raw[:LONGEST_NAMED]) if name[0].isupper()]
    names = {norm_name(name): Mentioned(name) for name in short if name.lower() not in FUNCTION_WORDS}
    if _OF_OWNER.search(raw):
        names |= dict.fromkeys((norm_name(name) for name in (context.scope.user, *OWNERS)), Mentioned(""))
    named = context.store.named(context.scope, list(names)) if names else {}
    return {id_: one for norm, one in names.items() for id_ in named.get(norm, ())}


@dataclass(frozen=True, slots=True)
class Asked:
    """The question of a cue about one subject: its content words apart from the name, and their stems (`terms`).

    `alone`: there are no such words and the cue does not ask what was said, so all facts fit. `least` is the share of
    the terms that a fact must contain if its predicate contains one. `sure`: the subject's name is capitalised.
    """

    words: tuple[str, ...]
    terms: frozenset[str]
    alone: bool
    least: float
    sure: bool


def asked_of(context: RecallContext, mentioned: Mapping[str, Mentioned]) -> dict[str, Asked]:
    """Returns, by subject id, what the cue asks about it. Subjects that the cue asks nothing about are left out."""
    words = _content_words(context)
    raw = set(_WORD.findall(context.cue.raw.lower()))
    asked = {}
    for id_, one in mentioned.items():
        own = set(_WORD.findall(fold(one.name)))
        rest = [] if one.whole else [word for word in words if word not in own]
        least = LEAST_IF_LOWER_CASE if not one.sure else LEAST_WITH_PREDICATE if one.name else LEAST_OF_OWNER
        if not rest:
            rest = [word for asks, for_ in _ASKED_FOR.items() if asks in raw for word in for_.split()]
            least = 0.0
        terms = frozenset(term for word in rest for term in terms_of(word))
        alone = not terms and raw.isdisjoint(TELLING_WORDS)
        if alone and not one.name and not one.whole:
            alone = bool(_ASKS_WHO_I_AM.search(context.cue.raw))
        if terms or alone:
            asked[id_] = Asked(tuple(rest), terms, alone, least, one.sure)
    return asked


def _content_words(context: RecallContext) -> list[str]:
    """Returns the words of the cue in lower case, without accents, dates, function words and words that only ask."""
    query = context.cue.query
    undated = set(_WORD.findall(fold(read_dates(context.cue.raw, context.now)[1])))
    words = _WORD.findall(fold(re.sub(r"['’]s\b", "", " ".join((query.words, *query.phrases)))))
    skipped = FUNCTION_WORDS | ASKING_WORDS | CATCH_ALL_WORDS | PRESENT_WORDS
    return [word for word in dict.fromkeys(words) if word in undated and word not in skipped]


# --- reading


def read_facts(
    context: RecallContext, anchored: TrailAnchors, subjects: Sequence[str], hits: Sequence[Hit]
) -> Believed | None:
    """Returns the facts about these subjects, and ended facts that were extracted from the hits, with the current facts
    about their subjects. None if there are no facts.
    """
    store, scope = context.store, context.scope
    period = asked_period(anchored.dates, context.now)
    ids = tuple(one.node.id for hit in hits for one in (hit, *hit.more) if one.node.text)
    if not subjects and not ids:
        return None
    read = store.facts(scope, subjects, held=Around(period.end, FACTS_READ, ids))
    if not read:
        return None
    extracted = {id_: [one for one in read[id_] if one.source_ref == id_] for id_ in ids if id_ in read}
    others = sorted({one.subject for some in extracted.values() for one in some}.difference(subjects))
    about = [fact for id_ in subjects for fact in read.get(id_, ()) if fact.subject == id_]
    if others:
        more = store.facts(scope, others, held=HeldAt(period.end, FACTS_READ, "out"))
        about += [fact for id_ in others for fact in more.get(id_, ())]
    nodes = _visible(context, list(dict.fromkeys([*(fact.subject for fact in about), *others])))
    nodes = {id_: node for id_, node in nodes.items() if _is_meant(context, node, subjects)}
    found = Believed(period, nodes, extracted=extracted)
    about = [fact for fact in about if fact.subject in nodes]
    for fact in one_each(store, scope, [fact for fact in about if holds(fact, period.end)]):
        found.current.setdefault((fact.subject, fact.predicate), []).append(fact)
    for fact in about:
        if until(fact) <= period.end:
            found.ended.setdefault((fact.subject, fact.predicate), []).append(fact)
    return found


def asked_period(dates: Sequence[Span], now: int) -> Period:
    """Returns the period from the first to the last of a cue's dates. It ends now at the latest, unless it lies in the
    future. Without dates, or if the only date is today, it is the moment `now`.
    """
    dates = [span for span in dates if span.end - span.start > DAY or not span.start <= now < span.end]
    if not dates:
        return Period(now, now)
    start, end = min(span.start for span in dates), max(span.end for span in dates) - 1
    return Period(start, min(end, now) if start <= now else end)


def _is_meant(context: RecallContext, node: Node, subjects: Sequence[str]) -> bool:
    """False if a node is one of `subjects`, is called "me" or "user", and belongs to another user; else True."""
    return node.id not in subjects or node.owner == context.scope.user or norm_name(node.name or "") not in OWNERS


def _objects(context: RecallContext, found: Believed) -> dict[str, Node]:
    """Returns by id the subjects of the facts that were read, and the visible nodes that are objects of these facts."""
    facts = [fact for some in (*found.current.values(), *found.ended.values()) for fact in some]
    ids = dict.fromkeys(fact.object for fact in facts if fact.object is not None)
    return {**_visible(context, [id_ for id_ in ids if id_ not in found.nodes]), **found.nodes}


def _visible(context: RecallContext, ids: Sequence[str]) -> dict[str, Node]:
    """Returns by id the nodes with these ids. Nodes in quarantine and archived nodes are left out unless the cue's
    filter includes them.
    """
    where = Where(quarantined=context.cue.where.quarantined, archived=context.cue.where.archived)
    nodes = context.store.get(context.scope, ids) if ids else {}
    return {id_: node for id_, node in nodes.items() if where.admits(node)}


# --- which facts lead


def fitting_facts(
    context: RecallContext, anchored: TrailAnchors, asked: Mapping[str, Asked], found: Believed,
    names: Mapping[str, Node], how: Trail,
) -> dict[Fact, float]:  # fmt: skip
    """Returns the facts of the asked time that fit the cue, best first, at most `how.facts`, each with its fit.

    Facts are compared by words; only if none fits, by vectors. `names` has the nodes of subjects and objects by id.
    """
    facts = [
        fact
        for topic in dict.fromkeys((*found.current, *found.ended))
        for fact in _of_time(topic, found)
        if fact.subject in asked and (fact.object is None or fact.object in names)
    ]
    fits = {fact.id: _fit(asked[fact.subject], fact, names) for fact in facts}
    if facts and not any(fits.values()):
        fits = _cosines(context, anchored, asked, facts, names)
    facts = [fact for fact in facts if fits.get(fact.id, 0.0) > 0]
    facts.sort(key=lambda fact: (-fits[fact.id], -begins(fact) if anchored.dates else 0, *_importance(fact, found)))
    return {fact: fits[fact.id] for fact in facts[: how.facts]}


def _of_time(topic: Topic, found: Believed) -> list[Fact]:
    """Returns the facts of a topic in the asked time: those valid at its end, then those with other values that ended
    within it.
    """
    current = found.current.get(topic, [])
    known = {value_of(fact) for fact in current}
    within = [one for one in found.ended.get(topic, ()) if found.period.admits(one) and value_of(one) not in known]
    return [*current, *within]


def _importance(fact: Fact, found: Believed) -> tuple[float, int, str]:
    age = found.period.end - (fact.created if fact.last_accessed is None else fact.last_accessed)
    score = fact_score(fact.confidence, fact.source, age, fact.access_count, fact.status == "confirmed")
    return (-score, -begins(fact), fact.id)


def _fit(asked: Asked, fact: Fact, names: Mapping[str, Node]) -> float:
    """Returns how well a fact fits what is asked: 1 plus the share of the asked terms it contains if its predicate has
    one of them, else that share alone; 0 if the share is too small. If only the name is asked for, 1.
    """
    if asked.alone:
        return 1.0
    predicate = {word for word in _words_of(fact.predicate) if word not in FUNCTION_WORDS}
    in_predicate = asked.terms.intersection(terms_of(" ".join(predicate)))
    in_object = asked.terms.intersection(terms_of(_value(fact, names)))
    covered = len(in_predicate | in_object) / len(asked.terms)
    if in_predicate and covered >= asked.least:
        return 1 + covered
    return covered if covered >= max(LEAST_SHARE, asked.least) else 0.0


def _cosines(
    context: RecallContext, anchored: TrailAnchors, asked: Mapping[str, Asked], facts: Sequence[Fact],
    names: Mapping[str, Node],
) -> dict[str, float]:  # fmt: skip
    """Returns, by fact id, the cosine between a fact and what is asked about its subject, where it is high enough.

    {} without vectors or if the embedder fails.
    """
    facts = [one for one in facts if asked[one.subject].sure and len(asked[one.subject].words) <= MOST_COMPARED_WORDS]
    facts = facts[:COMPARED]
    if not facts or anchored.query_embedding is None or context.embed_texts is None:
        return {}
    import numpy as np

    told = [" ".join((*_words_of(fact.predicate), _value(fact, names))) for fact in facts]
    rests = [" ".join(asked[fact.subject].words) for fact in facts]
    try:
        vectors = context.embed_texts([*told, *rests])
    except EmbedderError:
        return {}
    if vectors is None:
        return {}
    matrix = np.frombuffer(b"".join(vectors), "<f2").reshape(len(vectors), -1).astype(np.float64)
    cosines = (matrix[: len(facts)] * matrix[len(facts) :]).sum(axis=1).round(9).tolist()
    floor = LEAST_CONTEXTUAL_COSINE if anchored.query_embedding.contextual else LEAST_COSINE
    return {fact.id: cosine for fact, cosine in zip(facts, cosines, strict=True) if cosine >= floor}


# --- facts that a cue names by their value


def _facts_of_value(context: RecallContext, anchored: TrailAnchors) -> list[RecalledFact]:
    """Returns the current facts whose value stands in the cue, if it asks nothing else or names their predicate: "who
    owns the kite shed?" finds "Kofi owns the kite shed".
    """
    content = _content_words(context)
    values = _runs_of_words(context.cue.raw, content)
    stated = context.store.facts(context.scope, sorted(values), "value") if values else {}
    subjects = list(dict.fromkeys(fact.subject for some in stated.values() for fact in some))[:SUBJECTS]
    found = read_facts(context, anchored, subjects, ()) if subjects else None
    if found is None:
        return []
    asked, fits = dict[str, Asked](), dict[Fact, float]()
    for fact in (fact for some in found.current.values() for fact in some):
        value = (fact.value or "").lower()
        if value not in values:
            continue
        own = set(_WORD.findall(fold(value)))
        rest = tuple(word for word in content if word not in own)
        terms = frozenset(term for word in rest for term in terms_of(word))
        one = Asked(rest, terms, not terms, LEAST_IF_LOWER_CASE, sure=True)
        if (fit := _fit(one, replace(fact, value=""), {})) > 0:
            asked.setdefault(fact.subject, one)
            fits[fact] = fit
    best = sorted(fits, key=lambda fact: (-len(fact.value or ""), -fits[fact], *_importance(fact, found)))
    return recalled_facts(context, {fact: fits[fact] for fact in best}, asked, found.nodes)


def _runs_of_words(text: str, content: Collection[str]) -> set[str]:
    """Returns, in lower case, the runs of up to LONGEST_RUN words of a text that have one of the content words."""
    words = [word.strip(_AROUND_WORDS) for word in text[:LONGEST_NAMED].lower().split()]
    runs = (words[at : at + size] for at in range(len(words)) for size in range(1, LONGEST_RUN + 1))
    known = set(content)
    return {" ".join(run) for run in runs if not known.isdisjoint(_WORD.findall(fold(" ".join(run))))}


# --- a fact as a line


def recalled_facts(
    context: RecallContext, facts: Mapping[Fact, float], asked: Mapping[str, Asked], names: Mapping[str, Node]
) -> list[RecalledFact]:
    """Returns the facts in the same order, each with its line for the answer, its source and its fit."""
    texts = _visible(context, [fact.source_ref for fact in facts if fact.source_ref is not None])
    return [
        _recalled(fact, names, texts.get(fact.source_ref or ""), fit, asked[fact.subject])
        for fact, fit in facts.items()
    ]


def _recalled(fact: Fact, names: Mapping[str, Node], stated_in: Node | None, fit: float, asked: Asked) -> RecalledFact:
    subject, value = _name(names[fact.subject]), _value(fact, names)
    source = None if stated_in is None else stated_in.source or stated_in.id
    since = utc_date(begins(fact))
    time = f"since {since}" if fact.status in ACTIVE and fact.valid_until is None else f"{since} to {_end(fact)}"
    said = f"from {snippet(source, LONGEST_VALUE)}" if source is not None else _SOURCES.get(fact.source, fact.source)
    why = {"asked": list(asked.words), "fit": fit, "predicate": fact.predicate}
    line = f"{subject} {_phrase(fact.predicate, value)} ({time}, {said})"
    return RecalledFact(fact, subject, value, line, source, begins(fact), fit, why)


_SOURCES = {
    "user_edit": "stated by a user",
    "conversation": "from a conversation",
    "file": "from a file",
    "system": "stated by a program",
}


def _end(fact: Fact) -> str:
    return utc_date(until(fact))


def _name(node: Node) -> str:
    return snippet(node.name or node.text or node.id, LONGEST_VALUE)


def _value(fact: Fact, names: Mapping[str, Node]) -> str:
    """Returns the object's name, or the literal value, on one line."""
    if fact.object is not None:
        return _name(names[fact.object]) if fact.object in names else ""
    return snippet(fact.value or "", LONGEST_VALUE)


def _words_of(predicate: str) -> list[str]:
    return re.split(r"[\s_/-]+", predicate.strip("_/- "))


def _phrase(predicate: str, value: str) -> str:
    """Returns predicate and value as words: a verb is followed by its object, a field by a colon.

    >>> _phrase("lives_in", "Lisbon"), _phrase("status", "draft"), _phrase("uses", "DuckDB")
    ('lives in Lisbon', 'status: draft', 'uses DuckDB')
    """
    words = _words_of(predicate)
    verb = words[0] in VERB_PREDICATES or (len(words) > 1 and words[-1] in _PREPOSITIONS)
    return f"{' '.join(words)}{'' if verb else ':'} {value}".rstrip()


# --- texts that state ended facts


def mark_outdated(
    hits: tuple[Hit, ...], found: Believed, led: Iterable[Topic], names: Mapping[str, Node]
) -> tuple[Hit, ...]:
    """Returns the hits. Those that state an ended fact get a mark, and move below the hits that state the current fact
    of the same subject and predicate; all others keep their order.

    A text states a fact if the fact was extracted from it. For the topics in `led`, whose facts begin the answer, a
    sentence with the subject's name and the value is enough.
    """
    led = list(dict.fromkeys(led))
    passages = [one.node for hit in hits for one in (hit, *hit.more)]
    outdated = {node.id: _outdated(node, found, led, names) for node in passages}
    if not any(outdated.values()):
        return hits
    hits = tuple(_current_first(hit, outdated, found, names) for hit in hits)
    ranked: list[tuple[int, bool, Hit]] = []
    for at, hit in enumerate(hits):
        facts = outdated[hit.node.id]
        marked = _marked(hit, outdated, found, names)
        if not facts:
            ranked.append((at, False, marked))
            continue
        better = [
            place
            for place, other in enumerate(hits)
            if not outdated[other.node.id] and _states_any_current(other.node, facts, found, names)
        ]
        score = min([hit.score, *(BELOW * hits[place].score for place in better)])
        ranked.append((max([at, *better]), True, replace(marked, score=score)))
    return tuple(hit for *_, hit in sorted(ranked, key=lambda one: one[:2]))


def _current_first(hit: Hit, outdated: Mapping[str, list[Fact]], found: Believed, names: Mapping[str, Node]) -> Hit:
    """Returns the hit; if it states an ended fact, the folded passage that states the current one leads instead."""
    facts = outdated[hit.node.id]
    for at, one in enumerate(hit.more if facts else ()):
        if not outdated[one.node.id] and _states_any_current(one.node, facts, found, names):
            folded = (replace(hit, score=BELOW * hit.score, more=()), *hit.more[:at], *hit.more[at + 1 :])
            return replace(one, score=hit.score, more=folded)
    return hit


def _marked(hit: Hit, outdated: Mapping[str, list[Fact]], found: Believed, names: Mapping[str, Node]) -> Hit:
    """Returns a hit with the marks of the ended facts that its text states, and those of its folded passages."""
    more = tuple(_marked(one, outdated, found, names) for one in hit.more)
    facts = outdated[hit.node.id]
    if not facts:
        return replace(hit, more=more)
    marks = dict.fromkeys(_mark(fact, found, names) for fact in facts)
    why = {**hit.why, "outdated": [fact.id for fact in facts]}
    return replace(hit, why=why, mark="; ".join(list(marks)[:MARKS]), more=more)


def _states_any_current(node: Node, facts: Iterable[Fact], found: Believed, names: Mapping[str, Node]) -> bool:
    """True if a text states the current fact of the topic of any of these."""
    return any(_states_current(node, (fact.subject, fact.predicate), found, names) for fact in facts)


def _outdated(node: Node, found: Believed, led: Iterable[Topic], names: Mapping[str, Node]) -> list[Fact]:
    """Returns the ended facts that a text states, without those whose topic's current value it states, too."""
    facts = [fact for fact in found.extracted.get(node.id, ()) if fact.subject in found.nodes and _is_over(fact, found)]
    for topic in led:
        for fact in found.ended.get(topic, ()):
            taken_back = fact.status == "superseded" or (fact.status == "retracted" and fact.source == "user_edit")
            if taken_back and _is_over(fact, found) and _says(node, fact, names):
                facts.append(fact)
    facts = [fact for fact in facts if not _states_current(node, (fact.subject, fact.predicate), found, names)]
    return list({fact.id: fact for fact in facts}.values())


def _is_over(fact: Fact, found: Believed) -> bool:
    """True if a fact ended before the asked time and no current fact of its topic has the same value.

    A superseded fact must have a current successor. False if a dream retracted the fact only because it was not used.
    """
    topic = (fact.subject, fact.predicate)
    if until(fact) > found.period.start or any(value_of(fact) == value_of(one) for one in found.current.get(topic, ())):
        return False
    if fact.status == "superseded":
        return bool(found.current.get(topic))
    age = until(fact) - (fact.created if fact.last_accessed is None else fact.last_accessed)
    return fact_score(fact.confidence, fact.source, age, fact.access_count, confirmed=False) >= FADED


def _states_current(node: Node, topic: Topic, found: Believed, names: Mapping[str, Node]) -> bool:
    """True if a text states a current fact of the topic."""
    current = found.current.get(topic, [])
    values = {value_of(fact) for fact in current}
    repeated = (fact for fact in found.extracted.get(node.id, ()) if (fact.subject, fact.predicate) == topic)
    if any(fact.source_ref == node.id for fact in current) or any(value_of(fact) in values for fact in repeated):
        return True
    return any(_names_in(node.text, fact, names) for fact in current)


def _says(node: Node, fact: Fact, names: Mapping[str, Node]) -> bool:
    """True if a sentence of the text has the subject's name, the value and a word of the predicate. That word is not
    needed if the value is capitalised and the text is from before the fact's end.
    """
    stems = [term for word in _words_of(fact.predicate) if word not in FUNCTION_WORDS for term in terms_of(word)]
    named = _value(fact, names)[:1].isupper() and node.at <= until(fact)
    return any(named or not set(stems).isdisjoint(terms_of(one)) for one in _names_in(node.text, fact, names))


def _names_in(text: str, fact: Fact, names: Mapping[str, Node]) -> list[str]:
    """Returns the sentences of a text that have the subject's name and the fact's value."""
    value = fold(_value(fact, names))
    if not value or f" {value} " not in fold_padded(text) or fact.subject not in names:
        return []
    node = names[fact.subject]
    forms = {form for name in (node.name, *node.aliases) if name for form in name_variants(name)}
    starts = [0, *sentence_ends(text)]
    sentences = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    return [one for one in sentences if f" {value} " in f" {fold(one)} " and any(mentions(one, form) for form in forms)]


def _mark(fact: Fact, found: Believed, names: Mapping[str, Node]) -> str:
    """Returns the mark of a text that states an ended fact: "superseded" with the date and the current value, or
    "retracted" with the date and the retracted value.
    """
    current = found.current.get((fact.subject, fact.predicate), [])
    replaced = fact.status == "superseded" and current
    now = current[0] if replaced else fact
    said = _short(_phrase(now.predicate, _value(now, names)))
    return f"{'superseded' if replaced else 'retracted'} {_end(fact)}: {said}"


def _short(text: str) -> str:
    """Returns a text shortened to one line, with round brackets for square ones, because these enclose the mark."""
    return snippet(text.translate(_BRACKETS), LONGEST_MARK)


# --- the render stage: facts first


def facts_first(context: RecallContext, scored: Scored, *, render: Render, part: float) -> tuple[str, Scored]:
    """Render stage: returns a text of the facts, one line each, followed by what `render` makes of the hits in the room
    that is left; and the facts and hits that are in it.

    The first fact may take the whole budget; the others are added up to the share `part` of it.
    """
    if not scored.facts:
        return render(context, scored)
    shown = [scored.facts[0]] if context.measure(scored.facts[0].line) <= context.size else []
    for one in scored.facts[1:]:
        lines = "\n".join(fact.line for fact in (*shown, one))
        if context.measure(lines) <= share(context.size, part):
            shown.append(one)
    if not shown:
        return render(context, replace(scored, facts=()))
    facts = "\n".join(one.line for one in shown)
    head = context.measure(facts + SEPARATOR)
    # The rest is measured together with the facts: a tokenizer may count more for the whole than for its parts.
    rest = replace(
        context,
        size=max(context.size - head, 0),
        measure=lambda text: context.measure(facts + SEPARATOR + text) - head if text else 0,
    )
    text, others = render(rest, scored)
    return (facts + SEPARATOR + text if text else facts), replace(others, facts=tuple(shown))
