"""Text search on the server's full-text index: BM25, OR over the terms, x2 if a tag or bucket has a query's word.

With field weights a score is the weighted sum of the BM25 of each field, and nothing is doubled.

Texts are analysed before they are stored, by the analyser both engines share, and filters are words of the index too:
so the index itself returns the exact best of what passes them, however large the memory is. Any document of the true
best by the x2 rule is among the best by plain BM25 or among the best of those with a matching label.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from cuetrail.model import FieldWeights, SearchHit, TextQuery, Where
from cuetrail.store.neo4j.connection import Row, Tx, chunks, rows
from cuetrail.store.neo4j.ids import RecordId
from cuetrail.store.neo4j.index.text_index import (
    FIELDS,
    Corpus,
    CorpusCache,
    IndexOutdated,
    IndexState,
    index_state,
)
from cuetrail.store.neo4j.reader import BY_KIND, HAS_KEY, Reader, node_filter
from cuetrail.store.neo4j.rows import mark, moment
from cuetrail.store.search import Factors
from cuetrail.store.shared.text_ranking import FILTER_SCORE, LABEL_BOOST, TIE, sides_by_factor, top_with_ties
from cuetrail.text.normalise import terms_of, word_beginnings
from cuetrail.text.typos import edits, words_to_correct

# The server refuses a query of more than 1,024 clauses; filters need some.
MOST_TERMS = 900
KEYS_AT_ONCE = 300
# So many more hits than wanted are requested, because those that tie with the last one belong to the answer.
SPARE = 10
# The server leaves out the constant k1 + 1 of BM25.
SCALE = 2.2
# The weight of a completed or corrected word, relative to an exact one.
NEAR, BEGUN = 0.2, 0.5

_SEARCH = """CALL db.index.fulltext.queryNodes($index, $query, {limit: $limit}) YIELD node AS n, score
RETURN n.key, n.id, n.part, n.at, score"""
_KNOWN = """UNWIND $asked AS one CALL (one) {
  CALL db.index.fulltext.queryNodes($index, $filters + one[1], {limit: 1}) YIELD node
  RETURN count(node) AS found } WITH one, found WHERE found > 0 RETURN one[0]"""


def any_of(field: str, words: Sequence[str]) -> str:
    """Returns a clause of the index's query language: documents with one of these words in the field."""
    # Quoted, so that no word acts as an operator.
    return "(" + " ".join(f'{field}:"{word}"' for word in words) + ")"


def must(query: str) -> str:
    """Returns a clause that documents must match, made of a query, and that adds nothing to their score."""
    return f"+({query})^0"


def clauses(parts: Sequence[int], where: Where) -> list[str]:
    """Returns the filters, and the partitions, as clauses of the index's query language."""
    found = [must(any_of("marks", [f"p{part}" for part in parts]))]
    found += [must(any_of("marks", [mark("t", tag)])) for tag in where.tags]
    for letter, names in (("b", where.buckets), ("k", where.kinds)):
        if names:
            found.append(must(any_of("marks", [mark(letter, name) for name in names])))
    if where.since is not None or where.until is not None:
        low = moment(-(2**63) if where.since is None else where.since)
        high = moment(2**63 if where.until is None else where.until)
        found.append(must(f"moment:[{low} TO {high}]"))
    if not where.quarantined:
        found.append("-marks:xquarantine")
    if not where.archived:
        found.append("-marks:xarchived")
    if not where.kinds:
        found.append("-marks:xderived")
    if where.with_text:
        found.append("-marks:xbare")
    return found


class Match(NamedTuple):
    """A found node, its time and score, and whether a label doubled the score. `holds_all`, true if the node has all
    terms, is set only among equal scores.
    """

    record: RecordId
    at: int
    score: float
    boosted: bool
    holds_all: bool = False


class TextSearch:
    """Searches in what a reader sees. `internal` restricts them to memories of the provenance internal (True), or to
    all others (False).

    With `corpora` scores are computed from these, otherwise they are the index's own. Without `weights`, the body is
    searched and labels double a score.
    """

    def __init__(
        self,
        reader: Reader,
        where: Where,
        internal: bool | None = None,
        index: IndexState | None = None,
        corpora: Mapping[str, Corpus] | None = None,
        weights: FieldWeights | None = None,
    ) -> None:
        self.reader = reader
        self.tx = reader.tx
        self.index = index or index_state(reader.tx)
        self.corpora = corpora
        self.doubles = weights is None
        by_field = asdict(weights or FieldWeights())
        self.fields = {field: by_field[field] for field in FIELDS if by_field[field] > 0}
        self.where = where
        self.filters = clauses(reader.parts, where)
        self.condition, self.given = node_filter(where)
        if internal is not None:
            self.filters.append("-marks:xexternal" if internal else must("marks:xexternal"))
            self.condition += f" AND n.provenance {'=' if internal else '<>'} 'internal'"
        self.narrowed = bool(where.tags or where.buckets or where.kinds)

    def run(self, query: TextQuery, limit: int) -> list[Match]:
        """Returns the best `limit` matches and all that tie with the last of them. Without words: the newest `limit`
        nodes that pass the filters on tags, buckets or kinds; none without such filters.
        """
        if limit <= 0 or not self.reader.parts or not self.fields:
            return []
        phrases = [words for words in map(terms_of, query.phrases) if words]
        most = MOST_TERMS // max(len(self.fields), 1)
        terms = list(dict.fromkeys(terms_of(query.words) + [w for p in phrases for w in p]))[:most]
        more = [must(" ".join(self._in_fields(f'"{" ".join(p)}"'))) for p in phrases]
        options = self._options(query, terms)
        if not options:
            return self._newest(limit) if self.narrowed and not query.words.strip() else []
        limit = min(limit, self.index.living + 1)
        # Completed or corrected words count by the index's own score.
        by_hand = self.corpora if len(options) == len(terms) * len(self.fields) else None
        said = [f"+({' '.join(options)})", *self.filters, *more]
        plain = self._collect(said, limit, terms, by_hand)
        labelled = [*said, must(any_of("labels", terms))]
        boosted = self._collect(labelled, limit, terms, by_hand) if terms and plain and self.doubles else []
        return self._best(plain, boosted, limit, terms)

    def _options(self, query: TextQuery, terms: Sequence[str]) -> list[str]:
        """Returns clauses for a query's words, also completed and misspelt; a document must match one of them."""
        options = [option for term in terms for option in self._in_fields(f'"{term}"')]
        if query.prefix and (begun := self._begun(query.words)):
            options += self._in_fields(f"{begun}*", BEGUN)
        near = self._misspelt(query, terms)
        options += [option for word in near if word not in terms for option in self._in_fields(f'"{word}"')]
        return options + [option for word in near for option in self._in_fields(f"{word}~{edits(word)}", NEAR)]

    def _in_fields(self, words: str, share: float = 1.0) -> list[str]:
        """Returns a clause for each searched field, weighted by the field's weight times `share`."""
        return [f"({field}:{words})^{weight * share:.9f}" for field, weight in self.fields.items()]

    def _begun(self, text: str) -> str:
        """Returns the unfinished last word of a text, if any visible text has a word that begins with it; else ""."""
        for start in word_beginnings(text):
            begun = " ".join(self._in_fields(f"{start}*"))
            everything = clauses(self.reader.parts, Where(quarantined=True, archived=True))
            if self._search(" ".join([f"+({begun})", *everything]), 1):
                return start
        return ""

    def _misspelt(self, query: TextQuery, terms: Sequence[str]) -> list[str]:
        """Returns the words to match with typos: if the query is `fuzzy` all that are long enough, with `mend` those of
        them that no visible document has, otherwise none.
        """
        most = MOST_TERMS // 20 if query.fuzzy else None
        return words_to_correct(terms, query.words, most, self._unknown) if query.fuzzy or query.mend else []

    def _unknown(self, words: Sequence[str]) -> list[str]:
        """Returns those of these words that no visible text contains, neither as they are nor in analysed form."""
        forms = {word: {word, *terms_of(word)} for word in words}
        asked = sorted(set().union(*forms.values())) if forms else []
        everything = " ".join(clauses(self.reader.parts, Where(quarantined=True, archived=True)))
        given = {"index": self.index.name, "filters": everything}
        options = [[word, " +(" + " ".join(self._in_fields(f'"{word}"')) + ")"] for word in asked]
        known = {row[0] for some in chunks(options) for row in rows(self.tx, _KNOWN, asked=some, **given)}
        return [word for word in words if known.isdisjoint(forms[word])]

    def _search(self, query: str, limit: int) -> list[Row]:
        return rows(self.tx, _SEARCH, index=self.index.name, query=query, limit=limit)

    def _collect(
        self, said: Sequence[str], limit: int, terms: Sequence[str], corpora: Mapping[str, Corpus] | None
    ) -> list[Match]:
        """Returns at least the `limit` best matches of the clauses `said`, and all that tie with the last of them. With
        `corpora`, returns all matches, scored by these.
        """
        query, size = " ".join(said), limit + SPARE
        if corpora is not None:
            every = self._search(query, self.index.living + SPARE)
            scores = [sum(w * corpora[field].score(hit[0], terms) for field, w in self.fields.items()) for hit in every]
            return [
                Match(RecordId(*hit[:3]), hit[3], score * SCALE, False)
                for hit, score in zip(every, scores, strict=True)
            ]
        while True:
            hits = self._search(query, size)
            if len(hits) < size or hits[-1][4] < hits[limit - 1][4] * (1 - 2 * TIE):
                return [Match(RecordId(*hit[:3]), hit[3], hit[4] * SCALE, False) for hit in hits]
            size *= 8

    def _best(self, plain: list[Match], boosted: list[Match], limit: int, terms: Sequence[str]) -> list[Match]:
        """Merges the matches by plain BM25 with those whose score is doubled. Returns the `limit` best and all that tie
        with the last of them.
        """
        found = {match.record.handle: match for match in plain}
        found |= {m.record.handle: m._replace(score=m.score * LABEL_BOOST, boosted=True) for m in boosted}
        best = top_with_ties({key: match.score for key, match in found.items()}, limit)
        kept = [found[key]._replace(score=score) for score, key in best]
        tied = [m.record.handle for pair in pairwise(kept) if pair[0].score == pair[1].score for m in pair]
        full = self._holding_all(terms, tied) if len(terms) > 1 else set()
        return [match._replace(holds_all=match.record.handle in full) for match in kept]

    def _holding_all(self, terms: Sequence[str], keys: Sequence[int | str]) -> set[int | str]:
        """Returns the keys of those of these nodes that contain every term."""
        said = " + ' ' + ".join(f"coalesce(n.{field}, '')" for field in self.fields)
        query = f"UNWIND $keys AS key MATCH (n:CueNode {{key: key}}) RETURN key, {said}"
        found = (row for some in chunks(list(dict.fromkeys(keys))) for row in rows(self.tx, query, keys=some))
        return {key for key, words in found if set(terms) <= set(words.split())}

    def _newest(self, limit: int) -> list[Match]:
        """Returns the newest `limit` nodes that pass the filters, for a search without words."""
        by_kind, has_key = (BY_KIND, f" AND {HAS_KEY}") if "w_kinds" in self.given else ("", "")
        query = (
            f"MATCH (n:CueNode) {by_kind} WHERE n.part IN $parts{has_key}{self.condition}"
            " RETURN n.key, n.id, n.part, n.at ORDER BY n.at DESC, n.id LIMIT $limit"
        )
        found = rows(self.tx, query, parts=self.reader.parts, limit=limit, **self.given)
        return [Match(RecordId(*row[:3]), row[3], FILTER_SCORE, False) for row in found]

    def holding_any(self, query: TextQuery, keys: Sequence[int]) -> set[int]:
        """Returns the keys of those of these nodes that contain a word of the query."""
        terms = list(dict.fromkeys(terms_of(" ".join((query.words, *query.phrases)))))[:MOST_TERMS]
        options = self._options(query, terms)
        found: set[int] = set()
        for start in range(0, len(keys) if options else 0, KEYS_AT_ONCE):
            some = keys[start : start + KEYS_AT_ONCE]
            for at in range(0, len(options), MOST_TERMS - KEYS_AT_ONCE):
                asked = " ".join(options[at : at + MOST_TERMS - KEYS_AT_ONCE])
                both = f"+({asked}) {must(any_of('marks', [f'n{key}' for key in some]))}"
                found.update(row[0] for row in self._search(both, len(some)))
        return found


def keys_with_names(tx: Tx, part: int, names: Collection[str]) -> set[int]:
    """Returns the keys of a partition's atoms and sources that contain the words of one of these names in sequence."""
    now = index_state(tx)
    phrases = [f'body:"{" ".join(words)}"' for words in map(terms_of, names) if words]
    filters = clauses([part], Where(kinds=("atom", "source"), quarantined=True, archived=True))
    found: set[int] = set()
    for start in range(0, len(phrases), KEYS_AT_ONCE):
        query = " ".join([f"+({' '.join(phrases[start : start + KEYS_AT_ONCE])})", *filters])
        found.update(row[0] for row in rows(tx, _SEARCH, index=now.name, query=query, limit=max(now.living, 1)))
    return found


def search(
    reader: Reader, query: TextQuery, limit: int, where: Where, factors: Factors, with_nodes: bool,
    corpora: CorpusCache, anyway: bool,
) -> list[SearchHit]:  # fmt: skip
    """Returns the `limit` nodes with the highest BM25 score times `factors` (one factor for internal memories, one for
    all others). Raises IndexOutdated if the index must be rebuilt first, unless `anyway`.
    """
    now = index_state(reader.tx)
    if now.is_outdated() and not anyway:
        raise IndexOutdated
    texts = corpora.read(reader.tx) if now.is_small() else None
    matches = [
        (match, factor)
        for internal, factor in sides_by_factor(factors)
        for match in TextSearch(reader, where, internal, now, texts, query.fields).run(query, limit)
    ]
    names = reader.ids.names(match.record for match, _ in matches)
    order = [
        (-m.score * factor, not m.holds_all, -m.at, names[m.record.handle], m, factor) for m, factor in matches
    ]  # fmt: skip
    best = sorted(order, key=itemgetter(0, 1, 2, 3))[:limit]
    found = [SearchHit(id_, -score, m.boosted, factor) for score, _, _, id_, m, factor in best]
    if not with_nodes:
        return found
    nodes = reader.plain_nodes([int(m.record.handle) for *_, m, _ in best])
    keys = [int(m.record.handle) for *_, m, _ in best]
    return [
        replace(one, node=replace(nodes[key], id=one.id)) for one, key in zip(found, keys, strict=True) if key in nodes
    ]
