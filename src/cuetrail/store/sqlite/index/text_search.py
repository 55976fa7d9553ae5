"""Exact top-k text search on the index: BM25, OR over the query's terms, x2 if a tag or bucket has a query's word.

With field weights a score is the weighted sum of the BM25 of each field, and nothing is doubled.

Two ideas keep it exact and fast.

Common words are optional. A document without any of the rarer words can score at most the sum of what the common words
can give. If the k-th best document with a rarer word scores more, no other document can enter the top k, so the long
posting lists of common words are only probed, never scanned. If not, the search runs again over all words.

The x2 rule needs two lists, not a scan. Any document of the true top k is in the top k by plain BM25, or in the top k
of those with a matching label.

A search in fields uses neither: few posting lists of titles and headings are long, so it takes about as long as one of
the body that scans all words.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple, cast

import tantivy
from tantivy import Occur, Query

from cuetrail.model import FieldWeights, Label, Node, SearchHit, TextQuery, Where
from cuetrail.model.records import maker
from cuetrail.model.searched_fields import searched_heading, searched_title
from cuetrail.store.search import Factors
from cuetrail.store.shared.text_ranking import FILTER_SCORE, LABEL_BOOST, TIE, sides_by_factor, top_with_ties
from cuetrail.store.sqlite.connection import chunks
from cuetrail.store.sqlite.reader import CheckedFiles, Index, Reader
from cuetrail.text.normalise import Terms, analysable, clean, searchable_text, word_beginnings
from cuetrail.text.typos import FUZZY_SHARE, edits, words_to_correct

K1 = 1.2
MOST_TERMS = 1024
# Skipping a posting list pays only if it is long: for terms that one document in ten has.
COMMON_IDF = 2.3
# Running a search in another thread costs as much as scanning this many postings.
BESIDE_FROM = 100_000
# If labels are common, enough of the best documents have one: this many are tested instead of a second search.
DEEPEST = 1_000
# Skipping from one labelled document to the next in a posting list costs as much as scanning this many postings: if
# labels are rare, each word is sought among their documents instead.
LEAP = 8
# Requesting a few more hits costs little; searching again because the last ones tie costs a search.
SPARE = 10
# The rounding error of a term's weight in single precision.
SINGLE = 1e-6
PREFIX_TERMS = 50
# A few words of a long query decide for most documents whether they match; the others are tested only for the rest.
WORDS_AT_ONCE = 32
# A whole folder may be ingested at the same time; so many nodes of equal time are ordered by id.
MOST_TIED = 200

Filters = list[tuple[Occur, Query]]
Hits = list[tuple[float, tantivy.DocAddress]]
Leaf = tuple[str, str]
"""A field, and a term in it."""
Lists = tuple[Hits, Hits]
"""The best documents by BM25, and the best of those whose score a label doubles."""


@dataclass(frozen=True, slots=True)
class Match:
    """A found document: its node key, its score, and whether a label doubled the score."""

    key: int
    score: float
    boosted: bool


class Matches(NamedTuple):
    """The best documents. `tied` are keys of those with equal scores; of these, ones with all `terms` come first."""

    found: list[Match]
    tied: Sequence[int] = ()
    terms: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class TextView:
    """The text index after one change, on which searches work.

    `documents` counts deleted documents too, as the index's statistics do. `flags` are the flags that any document has.
    """

    epoch: str
    seq: int
    files: CheckedFiles
    searcher: tantivy.Searcher
    schema: tantivy.Schema
    analyser: tantivy.TextAnalyzer
    documents: int
    flags: frozenset[str]


class _Wanted(NamedTuple):
    """The terms of a query that occur in the index.

    `weights` has, for each field and term, the idf times the field's weight, largest first. `postings` is the total
    length of their posting lists. `quoted` are the terms that are a phrase of one word, None if the query has no
    phrases.
    """

    weights: dict[Leaf, float]
    postings: int
    quoted: Collection[str] | None


class _Labelled(NamedTuple):
    """A query for documents with a query's word in a label, None if there are none, and the most there can be."""

    query: Query | None
    most: int


_match = maker(Match)


class TextSearch:
    """Searches on one view of the index, in the partitions `parts` (None: all).

    `internal` restricts them to memories of the provenance internal (True), or to all others (False). Without `fields`,
    the body is searched and labels double a score.
    """

    def __init__(
        self,
        view: TextView,
        parts: Sequence[int] | None,
        where: Where,
        internal: bool | None = None,
        fields: FieldWeights | None = None,
    ) -> None:
        self.view = view
        self.doubles = fields is None
        weights = fields or FieldWeights()
        known = {"body": weights.body, "title": weights.title, "heading": weights.heading}
        self.fields = {field: weight for field, weight in known.items() if weight > 0}
        self.searcher = view.searcher
        self.schema = view.schema
        self.analyser = view.analyser
        self.filters = self._filters(parts, where)
        if internal is not None:
            others = Query.term_query(self.schema, "flag", "external")
            self.filters.append((Occur.MustNot, others) if internal else (Occur.Must, _silent(others)))
        self.narrowed = bool(where.tags or where.buckets or where.kinds)

    def words(self, text: str) -> list[str]:
        """Returns the index terms of a text (analysed words), in order, with repeats."""
        return self.analyser.analyze(analysable(clean(text)))

    def run(self, query: TextQuery, limit: int) -> Matches:
        """Returns the best `limit` documents and all that tie with the last of them. Without words: the newest ones
        that pass the filters (see `_newest`); none if there are no filters on tags, buckets or kinds.
        """
        phrases = [words for words in map(self.words, query.phrases) if words]
        if not all(self._is_known(word) for words in phrases for word in words):
            return Matches([])
        terms = list(dict.fromkeys(self.words(query.words) + [w for p in phrases for w in p]))
        filters = self.filters + [(Occur.Must, _silent(self._phrase(p))) for p in phrases]
        if query.prefix:
            terms = self._with_completions(query.words, terms)
        # Tantivy allocates as many hits as are requested.
        limit = min(limit, self.searcher.num_docs + 1)
        if limit <= 0 or not terms:
            alone = limit > 0 and self.narrowed and not query.words.strip()
            return Matches(self._newest(limit) if alone else [])
        near = self._misspelt(query, terms)
        if near:
            return Matches(self._fuzzy(terms, near, filters, limit))
        wanted = self._wanted(terms, {words[0] for words in phrases if len(words) == 1} if phrases else None)
        if not wanted.weights:
            return Matches([])
        kept = self._best(*self._lists(wanted, filters, self._labelled(terms), limit), limit)
        found = {term for _, term in wanted.weights}
        return Matches(kept, _tied(kept) if len(found) == len(terms) > 1 else (), terms)

    def _filters(self, parts: Sequence[int] | None, where: Where) -> Filters:
        schema = self.schema
        found: Filters = []
        if parts is not None:
            found.append((Occur.Must, _silent(Query.term_set_query(schema, "part", list(parts)))))
        tags = [Query.term_query(schema, "tag", clean(tag)) for tag in where.tags]
        found += [(Occur.Must, _silent(tag)) for tag in tags]
        for field, names in (("bucket", where.buckets), ("kind", where.kinds)):
            if names:
                found.append((Occur.Must, _silent(Query.term_set_query(schema, field, list(map(clean, names))))))
        if where.since is not None or where.until is not None:
            times = (_storable_time(where.since), _storable_time(where.until))
            found.append((Occur.Must, _silent(Query.range_query(schema, "at", tantivy.FieldType.Integer, *times))))
        for flag, wanted in (
            ("quarantine", where.quarantined),
            ("archived", where.archived),
            ("derived", bool(where.kinds)),
            ("bare", not where.with_text),
        ):
            if not wanted and flag in self.view.flags:
                found.append((Occur.MustNot, Query.term_query(schema, "flag", flag)))
        return found

    def _is_known(self, term: str) -> bool:
        """True if any document has the term in one of the searched fields."""
        return any(self.searcher.doc_freq(field, term) for field in self.fields)

    def _leaf(self, leaf: Leaf) -> Query:
        """Returns a query for one term in one field, scored by BM25 times the field's weight."""
        query, weight = Query.term_query(self.schema, *leaf, "freq"), self.fields[leaf[0]]
        return query if weight == 1.0 else Query.boost_query(query, weight)

    def _term(self, term: str) -> Query:
        """Returns a query for a term in any of the searched fields, scored by BM25 and field weights."""
        return _any([self._leaf((field, term)) for field in self.fields])

    def _phrase(self, words: list[str]) -> Query:
        if len(words) == 1:
            return self._term(words[0])
        return _any([Query.phrase_query(self.schema, field, list(words)) for field in self.fields])

    def _with_completions(self, text: str, terms: list[str]) -> list[str]:
        for start in word_beginnings(text):
            some = [self.searcher.terms_with_prefix(field, start, limit=PREFIX_TERMS) for field in self.fields]
            if more := [term for found in some for term, _ in found]:
                return list(dict.fromkeys(terms + more))
        return terms

    def _newest(self, limit: int) -> list[Match]:
        """Returns the newest `limit` documents that pass the filters and all with the time of the last, for a search
        without words. Of more than MOST_TIED with that time, those that were stored first.
        """
        query = Query.boolean_query([(Occur.Must, Query.all_query()), *self.filters])
        times = self.searcher.search(query, limit, count=False, order_by_field="at").hits
        if not times:
            return []
        # All with the time of the last one, so that the caller can order them by id.
        last = times[-1][0]
        moment = Query.range_query(self.schema, "at", tantivy.FieldType.Integer, last, last)
        tied = Query.boolean_query([(Occur.Must, moment), (Occur.Must, query)])
        most = max(limit, MOST_TIED)
        hits = self.searcher.search(tied, most, count=False, order_by_field="key", order=tantivy.Order.Asc).hits
        newer = self._keys([(1.0, address) for at, address in times if at > last])
        return [Match(key, FILTER_SCORE, False) for key in (*newer, *(key for key, _ in hits))]

    def _lists(self, wanted: _Wanted, filters: Filters, labelled: _Labelled, limit: int) -> Lists:
        """Returns at least the `limit` best by BM25, and the `limit` best of those with a matching label; in parallel
        if that takes long.
        """
        if labelled.query is None:
            return self._top(wanted, filters, limit), []
        narrowed = [*filters, (Occur.Must, _silent(labelled.query))]
        weights = wanted.weights
        if wanted.quoted is None and len(weights) * labelled.most * LEAP < wanted.postings:
            each = _any([Query.boolean_query([(Occur.Must, self._leaf(leaf)), *narrowed]) for leaf in weights])
            return self._top(wanted, filters, limit), self._collect([(Occur.Must, each)], limit)
        if wanted.postings < BESIDE_FROM:
            return self._top(wanted, filters, limit), self._top(wanted, narrowed, limit)
        deep = 3 * limit * self.searcher.num_docs // labelled.most
        if deep <= DEEPEST:
            hits = self._top(wanted, filters, deep)
            doubled = self._marked(hits, labelled.query)
            if len(hits) < deep or len(doubled) >= limit:
                return hits, doubled
        boosted = _helpers().submit(self._top, wanted, narrowed, limit)
        return self._top(wanted, filters, limit), boosted.result()

    def _wanted(self, terms: Sequence[str], quoted: Collection[str] | None) -> _Wanted:
        """Returns the query terms that occur in the index, with statistics. Of more than MOST_TERMS the rarest are
        kept.
        """
        total = self.view.documents
        leaves = ((field, term) for term in terms for field in self.fields)
        counts = {leaf: count for leaf in leaves if (count := self.searcher.doc_freq(*leaf))}
        weights = {
            leaf: self.fields[leaf[0]] * math.log(1 + (total - n + 0.5) / (n + 0.5)) for leaf, n in counts.items()
        }
        known = sorted(weights, key=lambda leaf: (-weights[leaf], leaf[1], leaf[0]))
        return _Wanted({leaf: weights[leaf] for leaf in known[:MOST_TERMS]}, sum(counts.values()), quoted)

    def _labelled(self, terms: Sequence[str]) -> _Labelled:
        """Returns a query for documents with one of these terms in a tag or bucket. It is None if no label has one, or
        if labels do not count.
        """
        if not self.doubles:
            return _Labelled(None, 0)
        counts = {term: count for term in terms if (count := self.searcher.doc_freq("labels", term))}
        # For a set of terms tantivy scans its dictionary; a few single terms are looked up.
        known = [Query.term_query(self.schema, "labels", term, "basic") for term in counts]
        return _Labelled(_any(known) if known else None, sum(counts.values()))

    def _top(self, wanted: _Wanted, filters: Filters, limit: int) -> Hits:
        """Returns at least the `limit` best documents by BM25, and all that tie with the last of them."""
        weights, leaves = wanted.weights, list(wanted.weights)
        if wanted.quoted is not None:
            # Only documents with the phrases can match: posting lists of words are probed for these, not scanned.
            terms = list(dict.fromkeys(term for _, term in leaves))
            scored = [(Occur.Must if term in wanted.quoted else Occur.Should, self._term(term)) for term in terms]
            return self._collect([*scored, *filters], limit)
        cut = _essential(weights) if self.doubles else len(leaves)
        if cut < len(leaves):
            ceiling = sum(weights[leaf] for leaf in leaves[cut:]) * (K1 + 1)
            rare = _any([self._leaf(leaf) for leaf in leaves[:cut]])
            common = [(Occur.Should, self._leaf(leaf)) for leaf in leaves[cut:]]
            hits = self._collect([(Occur.Must, rare), *common, *filters], limit)
            if len(hits) >= limit and hits[limit - 1][0] > ceiling * (1 + 2 * TIE) + SINGLE * len(common):
                return hits
        every = _any([self._leaf(leaf) for leaf in leaves])
        return self._collect([(Occur.Must, every), *filters], limit)

    def _marked(self, hits: Hits, query: Query) -> Hits:
        """Returns those of the hits that match a query."""
        keys = self._keys(hits)
        marked = set(self._those_of(keys, query)) if keys else set()
        return [hit for hit, key in zip(hits, keys, strict=True) if key in marked]

    def _collect(self, clauses: Filters, limit: int) -> Hits:
        query = clauses[0][1] if len(clauses) == 1 else Query.boolean_query(clauses)
        size = limit + SPARE
        while True:
            hits = self.searcher.search(query, size, count=False).hits
            if len(hits) < size or hits[-1][0] < hits[limit - 1][0] * (1 - 2 * TIE):
                return hits
            size *= 8

    def _best(self, plain: Hits, boosted: Hits, limit: int) -> list[Match]:
        """Merges the hits by plain BM25 with those whose score is doubled. Returns the `limit` best and all that tie
        with the last of them.
        """
        hits = [(score * LABEL_BOOST, address) for score, address in boosted]
        places = {(address.segment_ord, address.doc) for _, address in boosted}
        hits += [hit for hit in plain if (hit[1].segment_ord, hit[1].doc) not in places] if places else plain
        best = top_with_ties({number: score for number, (score, _) in enumerate(hits)}, limit)
        keys = self._keys([hits[number] for _, number in best])
        return [_match(key, score, number < len(boosted)) for key, (score, number) in zip(keys, best, strict=True)]

    def _keys(self, hits: Hits) -> list[int]:
        """Returns the node keys of hits, in one call, because a call costs as much as a short search."""
        if not hits:
            return []
        # Every document has a key, which is an integer.
        return cast(list[int], self.searcher.fast_field_values("key", [address for _, address in hits]))

    def searched_text(self, node: Node) -> str:
        """Returns the text of a node that is searched: body, title and heading, as far as they have a weight."""
        text = searchable_text(node.name, node.aliases, node.text) if "body" in self.fields else ""
        if "title" in self.fields:
            text = f"{searched_title(node.name, node.aliases, node.props)}\n{text}"
        return f"{searched_heading(node.props)}\n{text}" if "heading" in self.fields else text

    def holding_all(self, terms: Sequence[str], keys: Sequence[int]) -> set[int]:
        """Returns the keys of those of these documents that contain every term."""
        found: set[int] = set()
        for some in chunks(keys):
            these = _any([Query.term_query(self.schema, "key", key, "basic") for key in some])
            clauses = [(Occur.Must, these), *((Occur.Must, self._term(term)) for term in terms)]
            found.update(self._keys(self.searcher.search(Query.boolean_query(clauses), len(some), count=False).hits))
        return found

    def holding_any(self, query: TextQuery) -> Callable[[Sequence[int]], set[int]]:
        """Returns a function that gets keys and returns the keys, of all it ever got, of documents that contain a word
        of the query. It tests no document twice.
        """
        words = [_any(list(some)) for some in chunks(self._matching(query), WORDS_AT_ONCE)]
        asked, found = set[int](), set[int]()

        def held(keys: Sequence[int]) -> set[int]:
            new = [key for key in keys if key not in asked]
            asked.update(new)
            for some in chunks(new):
                left = list(some)
                for option in words:
                    if left:
                        found.update(self._those_of(left, option))
                        left = [key for key in left if key not in found]
            return found

        return held

    def mean_matches(self, query: TextQuery) -> float:
        """Returns how many of a query's words a document contains on average."""
        terms = set(self.words(" ".join((query.words, *query.phrases))))
        return sum(self.searcher.doc_freq("body", term) for term in terms) / max(self.searcher.num_docs, 1)

    def _those_of(self, keys: Sequence[int], query: Query) -> list[int]:
        """Returns the keys of those of these documents that match a query."""
        these = _any([Query.term_query(self.schema, "key", key, "basic") for key in keys])
        both = Query.boolean_query([(Occur.Must, these), (Occur.Must, query)])
        # Sorted by key: tantivy then computes no scores, and returns the keys with the hits.
        return [key for key, _ in self.searcher.search(both, len(keys), count=False, order_by_field="key").hits]

    def saying(self, names: Iterable[str]) -> set[int]:
        """Returns the keys of all documents that contain the words of one of these names in sequence."""
        said = [words for words in map(self.words, names) if words]
        counts = {word: self.searcher.doc_freq("body", word) for words in said for word in words}
        known = [words for words in said if all(counts[word] for word in words)]
        found: set[int] = set()
        for some in chunks(known):
            most = min(sum(min(counts[word] for word in words) for words in some), self.searcher.num_docs)
            clauses = [(Occur.Must, _any([self._phrase(words) for words in some])), *self.filters]
            hits = self.searcher.search(Query.boolean_query(clauses), most, count=False, order_by_field="key").hits
            found.update(key for key, _ in hits)
        return found

    def carriers(self, labels: Iterable[Label], unlike: TextQuery) -> list[int]:
        """Returns the keys of all documents that have one of these labels and contain no word of the query `unlike`."""
        named = [(label.what, clean(label.name)) for label in labels]
        carrying = _any([Query.term_query(self.schema, what, name, "basic") for what, name in named])
        words = self._matching(unlike)
        clauses = [(Occur.Must, carrying), *([(Occur.MustNot, _any(words))] if words else [])]
        most = max(min(sum(self.searcher.doc_freq(*one) for one in named), self.searcher.num_docs), 1)
        hits = self.searcher.search(Query.boolean_query(clauses), most, count=False, order_by_field="key").hits
        return [key for key, _ in hits]

    def _matching(self, query: TextQuery) -> list[Query]:
        """Returns queries for one word in one field each, such that every document that a search for `query` could
        return matches one of them. Of many words, the most common come first; misspelt ones come last.
        """
        terms = list(dict.fromkeys(self.words(" ".join((query.words, *query.phrases)))))
        near = self._misspelt(query, terms)
        if query.prefix:
            terms = self._with_completions(query.words, terms)
        if len(terms) > WORDS_AT_ONCE:
            terms.sort(key=lambda term: -sum(self.searcher.doc_freq(field, term) for field in self.fields))
        options = [Query.term_query(self.schema, field, term, "basic") for term in terms for field in self.fields]
        return options + [self._near(term) for term in near]

    def _misspelt(self, query: TextQuery, terms: Sequence[str]) -> list[str]:
        """Returns the words to match with typos: if the query is `fuzzy` all that are long enough, with `mend` those of
        them that no document has, otherwise none.
        """

        def unknown(words: list[str]) -> Iterable[str]:
            known = {term for term in terms if self._is_known(term)}
            return (word for word in words[:MOST_TERMS] if known.isdisjoint((word, *self.words(word))))

        most = MOST_TERMS if query.fuzzy else None
        return words_to_correct(terms, query.words, most, unknown) if query.fuzzy or query.mend else []

    def _near(self, word: str) -> Query:
        distance = edits(word)
        return _any([Query.fuzzy_term_query(self.schema, field, word, distance=distance) for field in self.fields])

    def _fuzzy(self, terms: Sequence[str], near: Sequence[str], filters: Filters, limit: int) -> list[Match]:
        """Returns the best matches with typos allowed: a word that occurs exactly counts by BM25, one of `near` that
        differs in a letter or two by the fixed score FUZZY_SHARE.
        """
        options = [self._term(term) for term in dict.fromkeys([*terms, *near])][:MOST_TERMS]
        options += [Query.const_score_query(self._near(word), FUZZY_SHARE) for word in near]
        clauses = [(Occur.Must, _any(options)), *filters]
        labelled = self._labelled(terms).query
        boosted = self._collect([*clauses, (Occur.Must, _silent(labelled))], limit) if labelled is not None else []
        return self._best(self._collect(clauses, limit), boosted, limit)


@cache
def _helpers() -> ThreadPoolExecutor:
    """Returns a pool of threads for second searches. Tantivy releases Python's lock, so two run in parallel."""
    return ThreadPoolExecutor(thread_name_prefix="cuetrail-search")


def _any(queries: list[Query]) -> Query:
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, q) for q in queries])


def _silent(query: Query) -> Query:
    """Returns the query as a condition: documents must match it, but it adds nothing to their score."""
    return Query.const_score_query(query, 0.0)


def _essential(weights: Mapping[Any, float]) -> int:
    """Returns how many of the rarest terms are essential: a first search reads only documents with one of them.
    `weights` has all terms, the rarest first.

    The other terms together can give about as much as one occurrence of each essential one. The caller checks that no
    other document can be among the best.
    """
    idfs = list(weights.values())
    ceiling, floor = 0.0, sum(idfs)
    cut = len(idfs)
    while cut > 1 and idfs[cut - 1] < COMMON_IDF:
        ceiling += idfs[cut - 1] * (K1 + 1)
        floor -= idfs[cut - 1]
        if ceiling >= floor:
            break
        cut -= 1
    return cut


def _tied(matches: Sequence[Match]) -> list[int]:
    """Returns the keys of matches that have the same score as the match before or after them."""
    pairs = [(a.key, b.key) for a, b in itertools.pairwise(matches) if a.score == b.score]
    return list(dict.fromkeys(itertools.chain.from_iterable(pairs)))


def _storable_time(at: int | None) -> int | None:
    return None if at is None else max(-(2**63), min(at, 2**63 - 1))


# If at most so many more nodes match than are wanted, all are read at once.
FEW_MORE = 10

_found = maker(SearchHit)


def search(
    reader: Reader, index: Index[TextView], query: TextQuery, limit: int, where: Where, factors: Factors, nodes: bool
) -> list[SearchHit]:
    """Returns the best nodes by BM25 times the factor of their provenance, then newer, then by id; with `nodes`, each
    hit has its node.

    Of equal scores, nodes that contain all terms come first.
    """
    view = reader.current_view(index)
    parts = None if reader.all else reader.parts
    # Without external memories one search is enough.
    sides = sides_by_factor(factors if "external" in view.flags else (factors[0], factors[0]))
    rows: list[tuple[float, bool, int, str, int, SearchHit]] = []
    for internal, factor in sides:
        texts = TextSearch(view, parts, where, internal, query.fields)
        matches = texts.run(query, limit)
        keys = [match.key for match in matches.found]
        whole = reader.nodes_by_key(keys) if nodes and len(keys) <= limit + FEW_MORE else {}
        shown = {key: (node.id, node.at) for key, node in whole.items()} if whole else reader.shown(keys)
        full = _full(texts, matches, whole)
        for match in (match for match in matches.found if match.key in shown):
            (id_, at), score = shown[match.key], match.score * factor
            found = _found(id_, score, match.boosted, factor, whole.get(match.key), match.key)
            rows.append((-score, match.key not in full, -at, id_, match.key, found))
    best = sorted(rows, key=itemgetter(0, 1, 2, 3))[:limit]
    return _with_nodes(best, reader) if nodes and not all(row[5].node for row in best) else [row[5] for row in best]


def _full(texts: TextSearch, matches: Matches, nodes: Mapping[int, Node]) -> set[int]:
    """Returns the keys of those tied matches that contain every term. `nodes` are the nodes read already; if there are
    none, the index is asked.
    """
    if not matches.tied:
        return set()
    if not nodes:
        return texts.holding_all(matches.terms, matches.tied)
    terms = Terms(matches.terms)
    tied = ((key, nodes[key]) for key in matches.tied if key in nodes)
    return {key for key, node in tied if terms.all_in(texts.searched_text(node))}


def _with_nodes(rows: list[tuple[float, bool, int, str, int, SearchHit]], reader: Reader) -> list[SearchHit]:
    missing = reader.nodes_by_key([key for *_, key, found in rows if found.node is None])
    return [replace(found, node=missing[key]) if key in missing else found for *_, key, found in rows]
