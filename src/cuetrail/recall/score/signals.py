"""The signals of TRAIL: one table. Each signal measures one thing about a candidate, from 0 to 1.

The ranker, `why`, the command line, the page, the documentation and the benchmarks read their names and meanings here.
To add a signal, add a row to SIGNALS, and train the ranker again: `python -m bench.rank`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from cuetrail.formulas import DAY, logistic
from cuetrail.model import Node
from cuetrail.model.searched_fields import searched_title
from cuetrail.recall.anchor.hybrid_search import TrailAnchors
from cuetrail.recall.anchor.term_coverage import TermCoverage, stem_forms
from cuetrail.recall.spread.trail import TrailCandidates
from cuetrail.recall.stage_types import RecallContext
from cuetrail.recall.trail_constants import is_in_note, is_named
from cuetrail.text.names import fold, fold_padded, speaker_in
from cuetrail.text.normalise import terms_of

Values = dict[str, float]
"""The values of one signal by node id; a missing id means 0."""
Signals = dict[str, Values]
"""The values of all signals by name."""

# How many of the best passages of a source make up its `place`.
BEST_IN_SOURCE = 5
# Scores of cross-encoders are from about -11 to 10; divided by this, both ends still differ from their neighbours.
READ_SCALE = 4.0
# Query words within so many characters of a text stand together.
WINDOW = 100
# How many places of one query word in a text are looked at.
MOST_PLACES = 12
# Texts of this many characters, and longer ones, have a `length` of 1.
LONG = 2_000
# This many other passages of a source among the candidates, and more, make `siblings` 1.
MANY_SIBLINGS = 20


@dataclass(frozen=True, slots=True)
class Signal:
    """A signal: its name, what it measures, a short label for people ("found by ..."), and its function.

    `of` returns its values by node id, from 0 to 1.
    """

    name: str
    measures: str
    label: str
    of: Callable[[RankInput], Values]


@dataclass(frozen=True)
class RankInput:
    """The candidates of one recall, and what their signals are computed from. The blend of a candidate, which many
    signals use, is its BM25 and cosine in one score (`reached.blend`).
    """

    context: RecallContext
    anchored: TrailAnchors
    reached: TrailCandidates

    @property
    def nodes(self) -> Mapping[str, Node]:
        """Returns the candidates by id."""
        return self.reached.nodes

    @property
    def coverage(self) -> TermCoverage:
        """Returns which query terms each candidate contains."""
        return self.reached.coverage

    def has_text(self, id_: str) -> bool:
        """True if a candidate has a text. Titles and bare names have none."""
        return id_ in self.nodes and bool(self.nodes[id_].text)

    @cached_property
    def cover(self) -> Values:
        """Returns, by candidate, the weight of the query terms it contains as a share of the weight of all of them."""
        return {id_: self.coverage.share(self.coverage.terms[id_]) for id_ in self.nodes}

    @cached_property
    def cue(self) -> str:
        """Returns the cue, folded: in lower case, without accents, padded with spaces."""
        return f" {fold(self.context.cue.raw)} "

    @cached_property
    def sources(self) -> list[list[str]]:
        """Returns the ids of the candidates of each file or conversation."""
        found: dict[tuple[str, str | None, str], list[str]] = {}
        for id_, node in self.nodes.items():
            if node.source is not None:
                found.setdefault((node.owner, node.team, node.source), []).append(id_)
        return list(found.values())

    @cached_property
    def title_terms(self) -> dict[str, frozenset[str]]:
        """Returns the terms in the title, names and aliases of each candidate that has any."""
        titles = {id_: searched_title(node.name, node.aliases, node.props) for id_, node in self.nodes.items()}
        terms = {title: frozenset(terms_of(title)) for title in set(titles.values()) if title}
        return {id_: terms[title] for id_, title in titles.items() if title}


def signals_of(given: RankInput) -> Signals:
    """Returns the values of each signal by its name and the node's id."""
    return {signal.name: signal.of(given) for signal in SIGNALS}


# --- words and meaning


def _ranks(values: Mapping[str, float]) -> Values:
    """Returns 1 for the largest value, 1/2 for the next, 1/3 ...; equal values have the same rank."""
    ranks: dict[float, int] = {}
    for rank, value in enumerate(sorted(values.values(), reverse=True), 1):
        ranks.setdefault(value, rank)
    return {id_: 1 / ranks[value] for id_, value in values.items()}


def _together(given: RankInput) -> Values:
    """Returns the weight of the query terms that stand together in a text, as a share of all query terms."""
    coverage = given.coverage
    total = coverage.total()
    return {
        id_: _most_together(fold_padded(given.nodes[id_].text), terms, coverage.weights) / total
        if terms and total
        else 0.0
        for id_, terms in coverage.terms.items()
    }


def _most_together(text: str, terms: Iterable[str], weights: Mapping[str, float]) -> float:
    """Returns the largest weight of terms that stand in a folded text within WINDOW characters."""
    places = sorted((at, term) for term in sorted(terms) for at in _places(term, text))
    best, begin, inside = 0.0, 0, dict[str, int]()
    for at, term in places:
        inside[term] = inside.get(term, 0) + 1
        while at - places[begin][0] > WINDOW:
            left = places[begin][1]
            inside[left] -= 1
            begin += 1
        if inside[term] == 1:
            best = max(best, math.fsum([weights[one] for one, count in inside.items() if count]))
    return best


def _places(term: str, text: str) -> Iterable[int]:
    """Yields where words with a stem stand in a folded text, at most MOST_PLACES of each form."""
    for form in stem_forms(term):
        at = -1
        for _ in range(MOST_PLACES):
            at = text.find(form, at + 1)
            if at < 0:
                break
            yield at


def _in_title(given: RankInput) -> Values:
    """Returns the share of a title's terms that the query contains."""
    asked = given.coverage.weights.keys()
    return {id_: len(terms & asked) / len(terms) for id_, terms in given.title_terms.items() if terms}


def _by_title(given: RankInput) -> Values:
    """Returns the share of the query terms that a title contains."""
    coverage = given.coverage
    return {id_: coverage.share(terms & coverage.weights.keys()) for id_, terms in given.title_terms.items()}


# --- the source


def _near(given: RankInput) -> Values:
    """Returns the blends of the two nodes on each side in a source; the direct neighbours count three times as much.

    Several nodes at one position are no neighbours of each other; the best of them counts as the neighbour of others.
    """
    nodes, blend, found = given.nodes, given.reached.blend, Values()
    for ids in given.sources:
        blends: dict[int, float] = {}
        for id_ in ids:
            blends[nodes[id_].seq] = max(blends.get(nodes[id_].seq, 0.0), blend.get(id_, 0.0))
        for id_ in ids:
            seq = nodes[id_].seq
            beside = blends.get(seq - 1, 0.0) + blends.get(seq + 1, 0.0)
            farther = blends.get(seq - 2, 0.0) + blends.get(seq + 2, 0.0)
            found[id_] = min((beside + farther / 3) / 2, 1.0)
    return found


def _place(given: RankInput) -> Values:
    """Returns the sum of the BEST_IN_SOURCE best blends in the source of a node, divided by BEST_IN_SOURCE."""
    blend, found = given.reached.blend, Values()
    for ids in given.sources:
        best = sorted((blend.get(id_, 0.0) for id_ in ids), reverse=True)[:BEST_IN_SOURCE]
        found |= dict.fromkeys(ids, sum(best) / BEST_IN_SOURCE)
    return found


def _whole(given: RankInput) -> Values:
    """Returns the share of the query terms that the candidates of a node's source contain together."""
    coverage, found = given.coverage, Values()
    for ids in given.sources:
        found |= dict.fromkeys(ids, coverage.share(frozenset[str]().union(*[coverage.terms[id_] for id_ in ids])))
    return found


def _support(given: RankInput) -> Values:
    """Returns the best blend of another candidate with a text in the same source."""
    blend, found = given.reached.blend, Values()
    for every in given.sources:
        ids = [id_ for id_ in every if given.has_text(id_)]
        best = sorted(ids, key=lambda id_: (-blend.get(id_, 0.0), id_))[:2]
        for id_ in ids if len(ids) > 1 else ():
            found[id_] = blend.get(best[1] if id_ == best[0] else best[0], 0.0)
    return found


def _siblings(given: RankInput) -> Values:
    """Returns how many other candidates with a text are of the same source, by logarithm: 1 for MANY_SIBLINGS or
    more.
    """
    most, found = math.log1p(MANY_SIBLINGS), Values()
    for every in given.sources:
        ids = [id_ for id_ in every if given.has_text(id_)]
        found |= dict.fromkeys(ids, min(math.log1p(len(ids) - 1) / most, 1.0) if ids else 0.0)
    return found


def _reply(given: RankInput) -> Values:
    """Returns the share of the query terms in the node before, if that is a question; {} for a query of one term."""
    nodes, found = given.nodes, Values()
    for ids in given.sources if len(given.coverage.weights) > 1 else ():
        by_seq = {nodes[id_].seq: id_ for id_ in ids}
        for id_ in ids:
            before = by_seq.get(nodes[id_].seq - 1)
            if before is not None and nodes[before].text.rstrip().endswith("?"):
                found[id_] = given.cover[before]
    return found


def speaker_of(node: Node) -> str:
    """Returns the speaker of a turn: the property `speaker`, or in a text with a source the name before its first
    colon; "" if there is none.
    """
    speaker = node.props.get("speaker")
    if speaker is None and node.source is not None:
        speaker = speaker_in(node.text)
    return speaker.strip() if isinstance(speaker, str) else ""


def _spoken(given: RankInput) -> Values:
    """Returns 1 for the turns whose speaker the cue names, by the full or the first name."""
    speakers = {id_: fold(speaker) for id_, node in given.nodes.items() if (speaker := speaker_of(node))}
    named = {name: any(f" {part} " in given.cue for part in (name, name.split(" ")[0])) for name in speakers.values()}
    return {id_: 1.0 for id_, name in speakers.items() if named[name]}


# --- time


def _when(given: RankInput) -> Values:
    dates = given.anchored.dates
    return {id_: max(span.nearness(node.at) for span in dates) for id_, node in given.nodes.items() if dates}


def _ahead(given: RankInput) -> Values:
    """Returns 1 for turns of a conversation dated more than a day after `now`. Notes have the dates of their files, and
    other nodes may be plans.
    """
    until = given.context.now + DAY
    later = ((id_, node) for id_, node in given.nodes.items() if node.source is not None and node.at > until)
    return {id_: 1.0 for id_, node in later if not is_in_note(node)}


def _length(given: RankInput) -> Values:
    most = math.log1p(LONG)
    return {id_: min(math.log1p(len(node.text)) / most, 1.0) for id_, node in given.nodes.items()}


# --- the table


def _second_hop(name: str) -> Callable[[RankInput], Values]:
    return lambda given: {id_: getattr(hop, name) for id_, hop in given.reached.second_hops.items()}


def _match(name: str) -> Callable[[RankInput], Values]:
    return lambda given: dict(getattr(given.reached.matches, name))


def _match_rank(name: str) -> Callable[[RankInput], Values]:
    return lambda given: _ranks(
        {id_: value for id_, value in getattr(given.reached.matches, name).items() if given.has_text(id_)}
    )


SIGNALS: tuple[Signal, ...] = (
    Signal(
        "blend", "its words and its meaning match the cue: BM25 and cosine together",
        "words and meaning", lambda given: dict(given.reached.blend),
    ),
    Signal("words", "BM25, as a share of the best", "words", _match("words")),
    Signal("words_rank", "1 / its rank by BM25 among texts", "rank by words", _match_rank("words")),
    Signal("meaning", "the cosine of its vector, scaled to the range found", "meaning", _match("meaning")),
    Signal("meaning_rank", "1 / its rank by cosine among texts", "rank by meaning", _match_rank("meaning")),
    Signal(
        "cover", "the share of the cue's words it contains; rare words count more",
        "share of your words", lambda given: dict(given.cover),
    ),
    Signal(
        "together", "the share of the cue's words that stand together in it, within 100 characters",
        "your words together", _together,
    ),
    Signal("in_title", "the share of its title's words that the cue contains", "its title in the cue", _in_title),
    Signal("by_title", "the share of the cue's words in its title", "your words in its title", _by_title),
    Signal("rest", "BM25 for the cue without its names, as a share of the best", "words beside names", _match("rest")),
    Signal(
        "rest_meaning", "its cosine with the cue without its names", "meaning beside names",
        _match("rest_meaning"),
    ),
    Signal(
        "named", "the cue contains its name; rare names count more, names in lower case less", "its name in the cue",
        lambda given: dict(given.reached.named),
    ),
    Signal(
        "walk", "the square root of the energy that reached it", "a link from another result",
        lambda given: dict(given.reached.activation),
    ),
    Signal("link", "one of the best results mentions it", "a mention in a top result", _second_hop("link")),
    Signal(
        "hop", "it shares a rare name with one of the best results and matches the cue without its names",
        "a distinctive name it shares", _second_hop("hop"),
    ),
    Signal(
        "left", "it shares a rare name with one of the best results and contains words of the cue which that one lacks",
        "words that the top results miss", _second_hop("left"),
    ),
    Signal(
        "further", "a follow-up search finds it: names in one of the best results, and words of the cue it lacks",
        "a follow-up search", _second_hop("further"),
    ),
    Signal("near", "its neighbours in the same file or conversation match the cue", "its neighbours", _near),
    Signal("place", "the best five passages of its file or conversation match", "the best of its source", _place),
    Signal(
        "whole", "the share of the cue's words anywhere in its file or conversation", "your words in its source", _whole
    ),
    Signal("support", "how well another passage of its source matches", "another passage of its source", _support),
    Signal("siblings", "how many other candidates are of the same source", "other results of its source", _siblings),
    Signal("reply", "it follows a question that has words of the cue", "the question before it", _reply),
    Signal("spoken", "the cue names its speaker", "its speaker", _spoken),
    Signal(
        "when", "its time is one the cue names; halves with each day of distance, or up to 14 days if no day is named",
        "its time", _when,
    ),
    Signal(
        "ahead", "it is part of a conversation and was said more than a day after `now`", "a date after now",
        _ahead,
    ),
    Signal(
        "article", "1 if it has a name or a title of its own and is no passage of a note", "its own name",
        lambda given: {id_: 1.0 for id_, node in given.nodes.items() if is_named(node) and not is_in_note(node)},
    ),
    Signal(
        "note", "1 if it is a note or a passage of one", "being of a note",
        lambda given: {id_: 1.0 for id_, node in given.nodes.items() if is_in_note(node)},
    ),
    Signal("length", "the length of its text, by logarithm; 1 from 2,000 characters", "its length", _length),
)  # fmt: skip
READ_BY: tuple[Signal, ...] = (
    Signal("read", "the score of a reranker, which reads cue and text together", "the reranker", lambda _: {}),
    Signal("read_rank", "1 / its rank by that score", "rank by the reranker", lambda _: {}),
)
"""The signals of the optional reranker. Only the candidates that it read have them."""
NAMES: tuple[str, ...] = tuple(signal.name for signal in SIGNALS)
LABELS: dict[str, str] = {signal.name: signal.label for signal in (*SIGNALS, *READ_BY)}
"""The label of each signal by its name."""


def read_signals(logits: Mapping[str, float]) -> Signals:
    """Returns the signals of the reranker from its scores by id, which may be any numbers; 0 means as likely as not.

    >>> read_signals({"a": 0.0, "b": 1e9})
    {'read': {'a': 0.5, 'b': 1.0}, 'read_rank': {'a': 0.5, 'b': 1.0}}
    """
    return {"read": {id_: logistic(logit / READ_SCALE) for id_, logit in logits.items()}, "read_rank": _ranks(logits)}
