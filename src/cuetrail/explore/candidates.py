"""Candidates of an exploration: the nodes that queries and text matches find, each with one score.

A query searches by vector, a text match by names and tags; of the two the higher score counts. With several queries,
the ranks in their result lists are fused.
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
from cuetrail.store.graph import EdgeFilter
from cuetrail.store.ports import Store
from cuetrail.store.vector_space import QueryVector
from cuetrail.text.normalise import clean, folded, norm_name, norm_tag, sanitize_query
from cuetrail.text.similarity import MEASURES, token_overlap
from cuetrail.text.word_lists import STOP_WORDS

# The lowest cosine that counts as a match, unless the query sets its own.
THRESHOLD = 0.2
# Names less similar than this do not match.
LEAST_SIMILARITY = 0.6
# Without vectors, a text must contain at least this share of a query's words.
LEAST_WORD_SHARE = 0.5
CANDIDATES = {"fast": 30, "deep": 100}
# If a search is full but finds fewer than FEW nodes of that name, it is repeated with the limit MANY.
FEW, MANY = 5, 1_000
# The most queries of one exploration, and the most characters of each.
MOST_QUERIES, MOST_CHARS = 16, 2_000
Weights = tuple[float, float, float]

Expander = Callable[[str], Iterable[str]]
"""Returns further queries on the same topic: the place to plug in a language model."""


@dataclass(frozen=True, slots=True)
class Query:
    """The text of a query, and the lowest similarity at which a node counts as a match."""

    text: str
    threshold: float = THRESHOLD


def trim_query(text: str) -> str:
    """Returns a query without broken characters and outer white space, cut to MOST_CHARS."""
    return clean(text).strip()[:MOST_CHARS]


@dataclass(frozen=True, slots=True)
class ExploreContext:
    """Everything the steps of one exploration share: the store to search, the queries, and the filters.

    `embed` and `embed_texts` return vectors of a query and of short texts; None if the memory has no vectors.
    `text_matches` are texts to compare with names by the measure `fuzzy`. `granularity` says which kind is shown in
    full, `mode` how many candidates are read; `weights` are those of match, freshness and salience.
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
    ties: EdgeFilter = field(default_factory=EdgeFilter)
    where: Where = field(default_factory=Where)

    def of_kinds(self, *kinds: str) -> Where:
        """Returns the filters, restricted to nodes of these kinds."""
        return replace(self.where, kinds=kinds)


@dataclass(slots=True)
class Evidence:
    """How well one node or edge matches: its cosine and rank by query number, and its best text match: the score `text`
    and the text that `matched`.
    """

    cosines: dict[int, float] = field(default_factory=dict)
    ranks: dict[int, int] = field(default_factory=dict)
    text: float = 0.0
    matched: str | None = None

    def match(self, text: str, value: float) -> None:
        """Records a text match if it is better than the one so far."""
        if value > self.text:
            self.text, self.matched = value, text

    def is_match(self) -> bool:
        """True if any query or text matches."""
        return bool(self.cosines) or self.text > 0

    def joined(self, other: Evidence) -> Evidence:
        """Returns the better cosine per query and the better text match of the two. Ranks are left out."""
        numbers = self.cosines.keys() | other.cosines.keys()
        both = Evidence({n: max(self.cosines.get(n, 0.0), other.cosines.get(n, 0.0)) for n in sorted(numbers)})
        both.text, both.matched = max((self.text, self.matched), (other.text, other.matched), key=lambda one: one[0])
        return both

    def semantic(self, queries: int) -> float:
        """Returns the match from 0 to 1: the cosine of one query or the fused ranks of several, or the score of the
        best text match if that is higher. `queries` is the number of queries.
        """
        by_query = fused(self.ranks.values(), queries) if queries > 1 else max(self.cosines.values(), default=0.0)
        return max(by_query, self.text)


@dataclass(frozen=True, slots=True)
class EvidenceScore:
    """A score, and the parts it was computed from."""

    score: float
    why: Mapping[str, Any]


def score_evidence(context: ExploreContext, evidence: Evidence, time: int, salience: float) -> EvidenceScore:
    """Returns the weighted score of match, freshness and salience, with its parts. Freshness falls with the age of
    `time`.
    """
    semantic = evidence.semantic(len(context.queries))
    days = (context.now - time) / DAY
    why: dict[str, Any] = {
        "semantic": semantic,
        "time": freshness(days),
        "salience": salience,
        "weights": dict(zip(("semantic", "time", "salience"), context.weights, strict=True)),
        "cosines": {context.queries[n].text: value for n, value in evidence.cosines.items()},
        "ranks": {context.queries[n].text: rank for n, rank in evidence.ranks.items()},
    }
    if evidence.matched is not None:
        why["text_match"] = {"text": evidence.matched, "score": evidence.text}
    return EvidenceScore(final_score(semantic, days, salience, context.weights), why)


def find_nodes(context: ExploreContext, *kinds: str) -> list[tuple[Node, EvidenceScore]]:
    """Returns the nodes of these kinds that queries or text matches find, best first, then newer, then by id."""
    return rank_matches(context, kinds, find_matches(context, kinds))


@dataclass(frozen=True, slots=True)
class QueryMatches:
    """Search results before scoring: cosines by id for each query, best text match by id, and nodes already read."""

    by_query: tuple[Mapping[str, float], ...]
    by_text: Mapping[str, tuple[str, float]]
    known: Mapping[str, Node]


def find_matches(context: ExploreContext, kinds: Sequence[str]) -> QueryMatches:
    """Returns the nodes of these kinds that queries and text matches find, with cosines and text scores."""
    matches: dict[str, tuple[str, float]] = {}
    known: dict[str, Node] = {}
    for text in context.text_matches:
        for node, value in _by_text(context, text, kinds):
            known[node.id] = node
            if value > matches.get(node.id, ("", 0.0))[1]:
                matches[node.id] = (text, value)
    return QueryMatches(tuple(dict(_by_query(context, query, kinds)) for query in context.queries), matches, known)


def rank_matches(
    context: ExploreContext,
    kinds: Sequence[str],
    own: QueryMatches,
    also: Mapping[str, Evidence] = MappingProxyType({}),
) -> list[tuple[Node, EvidenceScore]]:
    """Returns the matching nodes with their scores, best first, then newer, then by id.

    `also` has further nodes that match for another reason, with the evidence for each.
    """
    found: dict[str, Evidence] = {}
    for number, near in enumerate(own.by_query):
        more = {id_: one.cosines[number] for id_, one in also.items() if number in one.cosines}
        best = {id_: max(value, more.pop(id_, 0.0)) for id_, value in near.items()} | more if more else near
        # Equal values keep the order of the search.
        for rank, (id_, value) in enumerate(sorted(best.items(), key=lambda pair: -pair[1]), 1):
            evidence = found.setdefault(id_, Evidence())
            evidence.cosines[number], evidence.ranks[number] = value, rank
    for id_, (text, value) in own.by_text.items():
        found.setdefault(id_, Evidence()).match(text, value)
    for id_, one in also.items():
        if one.matched is not None:
            found.setdefault(id_, Evidence()).match(one.matched, one.text)
    nodes = context.store.get(context.scope, [id_ for id_ in found if id_ not in own.known]) | dict(own.known)
    where = context.of_kinds(*kinds)
    nodes = {id_: node for id_, node in nodes.items() if id_ not in also or where.admits(node)}
    scored = [
        (node, score_evidence(context, found[id_], last_time_of(node), node.life.salience))
        for id_, node in nodes.items()
    ]
    return sorted(scored, key=lambda pair: (-pair[1].score, -pair[0].at, pair[0].id))


def last_time_of(node: Node) -> int:
    """Returns the time that freshness counts from: the last update of a person, concept or entity, else the end of an
    episode or storyline, else the node's own time.
    """
    if node.kind in SEMANTIC_KINDS:
        return node.updated
    end = node.props.get("end")
    return end if isinstance(end, int) else node.at


def _by_query(context: ExploreContext, query: Query, kinds: Sequence[str]) -> list[tuple[str, float]]:
    """Returns the ids of the nodes nearest to a query, with their cosines. For artifacts, or without vectors: those
    that contain enough of its words, with the share of these.
    """
    where, limit = context.of_kinds(*kinds), CANDIDATES[context.mode]
    embedding = None if "artifact" in kinds else context.embed(query.text)
    if embedding is not None:
        near = context.store.vector(context.scope, embedding.vector, limit, where, embedding.space)
        return [(one.id, max(one.score, 0.0)) for one in near if one.score >= query.threshold]
    words = sanitize_query(query.text)
    found = context.store.text(context.scope, TextQuery(words), limit, where, nodes=True) if words else []
    nodes = [one.node for one in found if one.node is not None]
    shared = {node.id: token_overlap(words, _words_of(node)) for node in nodes}
    kept = [(id_, value) for id_, value in shared.items() if value >= max(LEAST_WORD_SHARE, query.threshold)]
    return sorted(kept, key=lambda pair: (-pair[1], pair[0]))


def _words_of(node: Node) -> str:
    return sanitize_query(" ".join((node.name or "", *node.aliases, *node.tags, node.text)))


def _by_text(context: ExploreContext, text: str, kinds: Sequence[str]) -> list[tuple[Node, float]]:
    """Returns nodes with this name, tag or keyword, or a similar one, each with the similarity from 0 to 1."""
    limit = CANDIDATES[context.mode]
    read, found = _named_like(context, text, kinds, limit)
    return _named_like(context, text, kinds, MANY)[1] if read >= limit and len(found) < FEW else found


def _named_like(
    context: ExploreContext, text: str, kinds: Sequence[str], limit: int
) -> tuple[int, list[tuple[Node, float]]]:
    """Returns the number of nodes that searches for the text found, at most `limit` each, and those of them whose name
    is similar enough, with the similarity.
    """
    where = context.of_kinds(*kinds)
    words, norm = sanitize_query(text), norm_name(text)
    found = dict.fromkeys(context.store.named(context.scope, [norm]).get(norm, []))
    if words:
        found |= dict.fromkeys(
            one.id for one in context.store.text(context.scope, TextQuery(words, fuzzy=True), limit, where)
        )
    tag = norm_tag(text)
    if tag and "source" in kinds:
        tagged = replace(where, tags=(*where.tags, tag))
        found |= dict.fromkeys(one.id for one in context.store.text(context.scope, TextQuery(""), limit, tagged))
    if words and "source" in kinds:
        found |= dict.fromkeys(_sources_with_words(context, words, limit))
    matching = []
    for node in context.store.get(context.scope, list(found)).values():
        value = max((match_quality(text, name, context.fuzzy) for name in _names_of(node)), default=0.0)
        if value >= LEAST_SIMILARITY and where.admits(node):
            matching.append((node, value))
    return len(found), matching


def _sources_with_words(context: ExploreContext, words: str, limit: int) -> Iterable[str]:
    """Returns the ids of files with atoms that contain these words, as the keywords of a file occur in its atoms."""
    where = Where(kinds=("atom",), quarantined=context.where.quarantined, archived=context.where.archived)
    found = context.store.text(context.scope, TextQuery(words), limit, where, nodes=True)
    return [source_id(one.node.source) for one in found if one.node is not None and one.node.source is not None]


def _names_of(node: Node) -> Sequence[str]:
    """Returns the texts to compare with a text match: name and aliases of any node.

    For a source also its tags and keywords, for an artifact also its text.
    """
    names = [*([node.name] if node.name else []), *node.aliases]
    if node.kind == "source":
        names += [tag.replace("_", " ") for tag in node.tags]
        keywords = node.props.get("keywords")
        names += [word for word in keywords if isinstance(word, str)] if isinstance(keywords, list | tuple) else []
    if node.kind == "artifact":
        names.append(node.text)
    return names


def match_quality(text: str, other: str, measure: str) -> float:
    """Returns 1 if the words of `text` occur together in `other`, accents aside; else the similarity by the measure.

    >>> match_quality("Ada", "Ada Lovelace", "levenshtein"), round(match_quality("kitten", "sitting", "levenshtein"), 4)
    (1.0, 0.5714)
    >>> match_quality("Malaga", "cafés in Málaga", "levenshtein"), match_quality("🎸", "🎸", "levenshtein")
    (1.0, 1.0)
    """
    wanted, there = sanitize_query(folded(text)), sanitize_query(folded(other))
    if wanted and f" {wanted} " in f" {there} ":
        return 1.0
    # A name may be made of signs alone.
    if not wanted and norm_name(text) == norm_name(other):
        return 1.0
    # Texts of very different length cannot be similar, and comparing them by letters would take long.
    if not wanted or not there or min(len(wanted), len(there)) < LEAST_SIMILARITY * max(len(wanted), len(there)) / 2:
        return 0.0
    return MEASURES[measure](wanted, there)


def content_words(text: str) -> list[str]:
    """Returns the words of a text without stop words; all of them if there are no others.

    >>> content_words("Who is the mentor of Ada?"), content_words("to be or not")
    (['mentor', 'ada'], ['to', 'be', 'or', 'not'])
    """
    words = sanitize_query(text).split()
    return [word for word in words if word not in STOP_WORDS] or words


def query_variants(query: str) -> list[str]:
    """Returns two or three further queries on the same topic, made from templates: conversations, people and ideas.

    >>> query_variants("What did Ada decide about the job offer?")[0]
    'all conversations about: ada, job, offer'
    """
    cue = parse_cue(query, Where())
    topics = sanitize_query(nouns(cue)).split() or sanitize_query(query).split()
    names = proper_nouns(cue)
    if not topics:
        return []
    made = [f"all conversations about: {', '.join(topics)}", f"{' '.join(topics)}: ideas, goals, decisions"]
    return [made[0], f"{names}: relationship, attitude, closeness", made[1]] if names else made
