"""The first half of exploring: what queries and texts find, and one score for each of it.

A query finds by meaning, a text match by names and tags. What both find counts by the better of the two; what several
queries find, by its ranks in their lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from cuetrail.formulas import DAY, final_score, freshness, fused
from cuetrail.model import Node, Scope, TextQuery, Where
from cuetrail.model.ids import source_id
from cuetrail.model.records import SEMANTIC_KINDS
from cuetrail.recall.query import nouns, parse_cue, proper_nouns
from cuetrail.store.graph import Ties
from cuetrail.store.ports import Store
from cuetrail.store.vector_space import QueryVector
from cuetrail.text.normalise import clean, folded, norm_name, norm_tag, sanitize_query
from cuetrail.text.similarity import MEASURES, token_overlap
from cuetrail.text.word_lists import STOP_WORDS

# A query finds nothing that is less like it than this, unless it says otherwise.
THRESHOLD = 0.2
# Of names that are less alike than this nobody would think.
LEAST_LIKE = 0.6
# Where there are no vectors, what has at least so many of a query's words is found by them.
LEAST_WORDS = 0.5
CANDIDATES = {"fast": 30, "deep": 100}
# Where many speak of a name, and fewer than FEW of them are called so, so many are looked at.
FEW, MANY = 5, 1_000
# A question has as many sides as a person can think of; more would only dilute each other.
MOST_QUERIES, MOST_CHARS = 16, 2_000
Weights = tuple[float, float, float]

Expander = Callable[[str], Iterable[str]]
"""From a query to others that ask for the same from other sides: the place for a language model."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query, and the lowest similarity that counts as a match."""

    text: str
    threshold: float = THRESHOLD


def trim_query(text: str) -> str:
    """Returns a query without broken characters and outer white space, cut to MOST_CHARS."""
    return clean(text).strip()[:MOST_CHARS]


@dataclass(frozen=True, slots=True)
class Quest:
    """One exploration: whom to ask, what for, and what counts.

    `embed` and `embed_texts` give vectors of a query and of short texts, None where there is nothing to compare with.
    """

    store: Store
    scope: Scope
    queries: tuple[Query, ...]
    text_matches: tuple[str, ...]
    now: int
    embed: Callable[[str], QueryVector | None]
    embed_texts: Callable[[Sequence[str]], list[bytes] | None]
    granularity: int = 1
    mode: str = "fast"
    weights: Weights = (0.3, 0.3, 0.4)
    fuzzy: str = "levenshtein"
    ties: Ties = field(default_factory=Ties)
    where: Where = field(default_factory=Where)

    def of_kinds(self, *kinds: str) -> Where:
        """The filters, for nodes of these kinds."""
        return replace(self.where, kinds=kinds)


@dataclass(slots=True)
class Evidence:
    """What speaks for something: how near which query is, its rank in that query's list, how well a text matches."""

    cosines: dict[int, float] = field(default_factory=dict)
    ranks: dict[int, int] = field(default_factory=dict)
    text: float = 0.0
    matched: str | None = None

    def match(self, text: str, value: float) -> None:
        """Take in a text that matches."""
        if value > self.text:
            self.text, self.matched = value, text

    def speaks(self) -> bool:
        """True if there is any evidence."""
        return bool(self.cosines) or self.text > 0

    def joined(self, other: Evidence) -> Evidence:
        """Returns the evidence of both, combined."""
        numbers = self.cosines.keys() | other.cosines.keys()
        both = Evidence({n: max(self.cosines.get(n, 0.0), other.cosines.get(n, 0.0)) for n in sorted(numbers)})
        both.text, both.matched = max((self.text, self.matched), (other.text, other.matched), key=lambda one: one[0])
        return both

    def semantic(self, queries: int) -> float:
        """The better of what the queries and the texts say."""
        by_query = fused(self.ranks.values(), queries) if queries > 1 else max(self.cosines.values(), default=0.0)
        return max(by_query, self.text)


@dataclass(frozen=True, slots=True)
class Scored:
    """A score, and what it is made of."""

    score: float
    why: Mapping[str, Any]


def rated(quest: Quest, evidence: Evidence, time: int, salience: float) -> Scored:
    """What was found, when it was last so, and how salient it is, as one score with its parts."""
    semantic = evidence.semantic(len(quest.queries))
    days = (quest.now - time) / DAY
    why: dict[str, Any] = {
        "semantic": semantic,
        "time": freshness(days),
        "salience": salience,
        "weights": dict(zip(("semantic", "time", "salience"), quest.weights, strict=True)),
        "cosines": {quest.queries[n].text: value for n, value in evidence.cosines.items()},
        "ranks": {quest.queries[n].text: rank for n, rank in evidence.ranks.items()},
    }
    if evidence.matched is not None:
        why["text_match"] = {"text": evidence.matched, "score": evidence.text}
    return Scored(final_score(semantic, days, salience, quest.weights), why)


def gather(quest: Quest, *kinds: str) -> list[tuple[Node, Scored]]:
    """The nodes of these kinds that queries or text matches find, the best first, then newer, then by id."""
    return ranked(quest, kinds, sought(quest, kinds))


@dataclass(frozen=True, slots=True)
class Sought:
    """What was found, before it is scored: per query ids and how near they are, per id the text that matches."""

    near: tuple[Mapping[str, float], ...]
    matches: Mapping[str, tuple[str, float]]
    known: Mapping[str, Node]


def sought(quest: Quest, kinds: Sequence[str]) -> Sought:
    """What queries and text matches find of these kinds."""
    matches: dict[str, tuple[str, float]] = {}
    known: dict[str, Node] = {}
    for text in quest.text_matches:
        for node, value in _by_text(quest, text, kinds):
            known[node.id] = node
            if value > matches.get(node.id, ("", 0.0))[1]:
                matches[node.id] = (text, value)
    return Sought(tuple(dict(_by_query(quest, query, kinds)) for query in quest.queries), matches, known)


def ranked(
    quest: Quest, kinds: Sequence[str], own: Sought, also: Mapping[str, Evidence] = MappingProxyType({})
) -> list[tuple[Node, Scored]]:
    """What was found, scored, the best first, then newer, then by id. `also` are others that something speaks for."""
    found: dict[str, Evidence] = {}
    for number, near in enumerate(own.near):
        more = {id_: one.cosines[number] for id_, one in also.items() if number in one.cosines}
        best = {id_: max(value, more.pop(id_, 0.0)) for id_, value in near.items()} | more if more else near
        # As they came where they are equal.
        for rank, (id_, value) in enumerate(sorted(best.items(), key=lambda pair: -pair[1]), 1):
            evidence = found.setdefault(id_, Evidence())
            evidence.cosines[number], evidence.ranks[number] = value, rank
    for id_, (text, value) in own.matches.items():
        found.setdefault(id_, Evidence()).match(text, value)
    for id_, one in also.items():
        if one.matched is not None:
            found.setdefault(id_, Evidence()).match(one.matched, one.text)
    nodes = quest.store.get(quest.scope, [id_ for id_ in found if id_ not in own.known]) | dict(own.known)
    where = quest.of_kinds(*kinds)
    nodes = {id_: node for id_, node in nodes.items() if id_ not in also or where.admits(node)}
    scored = [(node, rated(quest, found[id_], time_of(node), node.life.salience)) for id_, node in nodes.items()]
    return sorted(scored, key=lambda pair: (-pair[1].score, -pair[0].at, pair[0].id))


def time_of(node: Node) -> int:
    """When it was last so: a person, concept or entity when it was updated, all others when they happened."""
    if node.kind in SEMANTIC_KINDS:
        return node.updated
    end = node.props.get("end")
    return end if isinstance(end, int) else node.at


def _by_query(quest: Quest, query: Query, kinds: Sequence[str]) -> list[tuple[str, float]]:
    """Ids and cosines of the nearest; artifacts, and all where there are no vectors, by the words they share."""
    where, limit = quest.of_kinds(*kinds), CANDIDATES[quest.mode]
    meant = None if "artifact" in kinds else quest.embed(query.text)
    if meant is not None:
        near = quest.store.vector(quest.scope, meant.vector, limit, where, meant.space)
        return [(one.id, max(one.score, 0.0)) for one in near if one.score >= query.threshold]
    words = sanitize_query(query.text)
    found = quest.store.text(quest.scope, TextQuery(words), limit, where, nodes=True) if words else []
    nodes = [one.node for one in found if one.node is not None]
    shared = {node.id: token_overlap(words, _words_of(node)) for node in nodes}
    kept = [(id_, value) for id_, value in shared.items() if value >= max(LEAST_WORDS, query.threshold)]
    return sorted(kept, key=lambda pair: (-pair[1], pair[0]))


def _words_of(node: Node) -> str:
    return sanitize_query(" ".join((node.name or "", *node.aliases, *node.tags, node.text)))


def _by_text(quest: Quest, text: str, kinds: Sequence[str]) -> list[tuple[Node, float]]:
    """Returns nodes with this name or a similar one, each with the quality of the match."""
    limit = CANDIDATES[quest.mode]
    read, found = _called(quest, text, kinds, limit)
    return _called(quest, text, kinds, MANY)[1] if read >= limit and len(found) < FEW else found


def _called(quest: Quest, text: str, kinds: Sequence[str], limit: int) -> tuple[int, list[tuple[Node, float]]]:
    """Of so many that have words of a text, how many there are, and who is called so."""
    where = quest.of_kinds(*kinds)
    words, norm = sanitize_query(text), norm_name(text)
    found = dict.fromkeys(quest.store.named(quest.scope, [norm]).get(norm, []))
    if words:
        found |= dict.fromkeys(
            one.id for one in quest.store.text(quest.scope, TextQuery(words, fuzzy=True), limit, where)
        )
    tag = norm_tag(text)
    if tag and "source" in kinds:
        tagged = replace(where, tags=(*where.tags, tag))
        found |= dict.fromkeys(one.id for one in quest.store.text(quest.scope, TextQuery(""), limit, tagged))
    if words and "source" in kinds:
        found |= dict.fromkeys(_sources_saying(quest, words, limit))
    matching = []
    for node in quest.store.get(quest.scope, list(found)).values():
        value = max((likeness(text, said, quest.fuzzy) for said in _names_of(node)), default=0.0)
        if value >= LEAST_LIKE and where.admits(node):
            matching.append((node, value))
    return len(found), matching


def _sources_saying(quest: Quest, words: str, limit: int) -> Iterable[str]:
    """Ids of the files in whose atoms these words are; keywords are phrases of theirs."""
    where = Where(kinds=("atom",), quarantined=quest.where.quarantined, archived=quest.where.archived)
    said = quest.store.text(quest.scope, TextQuery(words), limit, where, nodes=True)
    return [source_id(one.node.source) for one in said if one.node is not None and one.node.source is not None]


def _names_of(node: Node) -> Sequence[str]:
    """What a text match looks at: names; of a source its keywords and tags too; of an artifact what it says too."""
    names = [*([node.name] if node.name else []), *node.aliases]
    if node.kind == "source":
        names += [tag.replace("_", " ") for tag in node.tags]
        keywords = node.props.get("keywords")
        names += [word for word in keywords if isinstance(word, str)] if isinstance(keywords, list | tuple) else []
    if node.kind == "artifact":
        names.append(node.text)
    return names


def likeness(text: str, said: str, measure: str) -> float:
    """1 where the text stands in what is said, word for word, whatever the accents; else how alike they are.

    >>> likeness("Ada", "Ada Lovelace", "levenshtein"), round(likeness("kitten", "sitting", "levenshtein"), 4)
    (1.0, 0.5714)
    >>> likeness("Malaga", "cafés in Málaga", "levenshtein"), likeness("🎸", "🎸", "levenshtein")
    (1.0, 1.0)
    """
    sought, there = sanitize_query(folded(text)), sanitize_query(folded(said))
    if sought and f" {sought} " in f" {there} ":
        return 1.0
    # A name may be made of signs alone.
    if not sought and norm_name(text) == norm_name(said):
        return 1.0
    # What is much longer is not nearly the same, and comparing it letter by letter would take long.
    if not sought or not there or min(len(sought), len(there)) < LEAST_LIKE * max(len(sought), len(there)) / 2:
        return 0.0
    return MEASURES[measure](sought, there)


def telling_words(text: str) -> list[str]:
    """The words of a text without those that every text has; all of them where there are no others.

    >>> telling_words("Who is the mentor of Ada?"), telling_words("to be or not")
    (['mentor', 'ada'], ['to', 'be', 'or', 'not'])
    """
    words = sanitize_query(text).split()
    return [word for word in words if word not in STOP_WORDS] or words


def complements(query: str) -> list[str]:
    """The same asked from other sides: for what happened, for people, and for ideas.

    >>> complements("What did Ada decide about the job offer?")[0]
    'all conversations about: ada, job, offer'
    """
    cue = parse_cue(query, Where())
    topics = sanitize_query(nouns(cue)).split() or sanitize_query(query).split()
    names = proper_nouns(cue)
    if not topics:
        return []
    made = [f"all conversations about: {', '.join(topics)}", f"{' '.join(topics)}: ideas, goals, decisions"]
    return [made[0], f"{names}: relationship, attitude, closeness", made[1]] if names else made
