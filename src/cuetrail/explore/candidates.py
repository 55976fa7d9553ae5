"""Candidates of an exploration: the nodes that queries and text matches find.

A query searches by vector, a text match by names and tags.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cuetrail.explore.context import ExploreContext, Query
from cuetrail.explore.score import EvidenceScore, QueryMatches, rank_matches
from cuetrail.model import Node, TextQuery, Where
from cuetrail.model.ids import source_id
from cuetrail.recall.query import nouns, parse_cue, proper_nouns
from cuetrail.text.normalise import folded, norm_name, norm_tag, sanitize_query
from cuetrail.text.similarity import MEASURES, is_misspelling, token_overlap
from cuetrail.text.word_lists import STOP_WORDS

# Names less similar than this do not match.
LEAST_SIMILARITY = 0.6
# Without vectors, a text must contain at least this share of a query's words.
LEAST_WORD_SHARE = 0.5
CANDIDATES = {"fast": 30, "deep": 100}
# If a search is full but finds fewer than FEW nodes of that name, it is repeated with the limit MANY.
FEW, MANY = 5, 1_000
# Longer texts are compared with names as a whole only, and only so many words of a name are compared one by one.
MOST_WORDS = 8


def find_nodes(context: ExploreContext, *kinds: str) -> list[tuple[Node, EvidenceScore]]:
    """Returns the nodes of these kinds that queries or text matches find, best first, then newer, then by id."""
    return rank_matches(context, kinds, find_matches(context, kinds))


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
    """Returns the nodes of these kinds whose name or alias is similar to the text, each with the similarity from 0 to
    1. Sources are also compared by tag and keyword, artifacts by their text.
    """
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
    number = len(found)
    found |= dict.fromkeys(_named_almost(context, text))
    matching = []
    for node in context.store.get(context.scope, list(found)).values():
        value = max((name_quality(text, name, context.fuzzy) for name in _names_of(node)), default=0.0)
        if value and where.admits(node):
            matching.append((node, value))
    return number, matching


def _named_almost(context: ExploreContext, text: str) -> Iterable[str]:
    """Returns the ids of nodes with a name that is spelt almost like the text, or sounds like it if that is asked for.

    Names are compared that have a word with the same first letter.
    """
    words = sanitize_query(folded(text)).split()[:MOST_WORDS]
    near = context.store.named_like(context.scope, (), {word[0] for word in words}, MANY)
    return [one.id for one in near if any(name_quality(text, n, context.fuzzy) for n in (one.name, *one.aliases))]


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


def name_quality(text: str, name: str, measure: str) -> float:
    """Returns how well a text matches a name: `match_quality` of the whole name, or the similarity to a part of it with
    as many words, 0 if neither is similar enough. A part counts if the text is a misspelling of it, or by its sound
    with the measure "phonetic".

    >>> [round(name_quality("Ana", "Anna Berg", measure), 3) for measure in ("levenshtein", "phonetic")]
    [0.75, 1.0]
    >>> name_quality("Ann", "Jon Lee", "levenshtein"), round(name_quality("Stephen", "Steven", "levenshtein"), 3)
    (0.0, 0.714)
    """
    whole = match_quality(text, name, measure)
    best = whole if whole >= LEAST_SIMILARITY else 0.0
    wanted, words = sanitize_query(folded(text)), sanitize_query(folded(name)).split()
    size = len(wanted.split())
    if best == 1.0 or not wanted or size > MOST_WORDS:
        return best
    for start in range(min(len(words), MOST_WORDS) - size + 1):
        part = " ".join(words[start : start + size])
        value = MEASURES[measure](wanted, part)
        if value > best and (measure == "phonetic" or is_misspelling(wanted, part)):
            best = value
    return best


def content_words(text: str) -> list[str]:
    """Returns the words of a text without stop words; all of them if there are no others.

    >>> content_words("Who is the mentor of Ada?"), content_words("to be or not")
    (['mentor', 'ada'], ['to', 'be', 'or', 'not'])
    """
    words = sanitize_query(text).split()
    return [word for word in words if word not in STOP_WORDS] or words


def query_variants(query: str) -> list[str]:
    """Returns two or three further queries on the same topic, made from templates: conversations, people (if the query
    has a name) and ideas. Returns [] for a query without words.

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
