"""Measures text search against plain tantivy and SQLite's FTS5 on the same texts in the same run.

    python -m bench.search 10000 100000

The queries are made from a seed and are the same at every size, a quarter of each kind, in turns:

- rare: 2 or 3 words of ranks 200 to 20,000.
- question: 5 to 8 words, 3 or 4 of them among the 30 most common, the others of ranks 200 to 20,000.
- word: one word of ranks 20 to 20,000.
- tagged: 4 words of ranks 200 to 2,000, one of them also a tag, rather a much used one, so that the x2 rule for
  labels is at work.

Ranks are drawn evenly on a logarithmic scale. Every engine answers a query right after the others, ours and plain
tantivy taking turns to be first. Each query runs PASSES times; its median counts, and p50 and p95 are taken over the
queries. Plain tantivy gets the terms already analysed. FTS5 takes seconds on large corpora, so it answers fewer
queries; its ratio compares those same queries.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.common import LARGE, MEDIUM, SMALL, Result, arguments, ms, p50, p95, publish, timed, times, workplace
from bench.corpus import COMMON, RARE, SEED, tag_ranks, vocabulary, write_corpus
from bench.corpus import MEDIUM as MEDIUM_RANKS
from bench.peers import RawSearch, build, fill_fts5, fill_memory, fill_tantivy, fts5_search, is_built, raw_search
from cuetrail import Memory
from cuetrail.model import SearchHit, TextQuery, Where
from cuetrail.text.normalise import make_analyser

KINDS = ("rare", "question", "word", "tagged")
QUERIES = 400
WARM_UP = 40
PASSES = 3
LIMIT = 10
TOLERANCE = 1e-4
COLUMNS = ["queries", "cuetrail p50", "p95", "tantivy p50", "p95", "FTS5 p50", "ours / tantivy", "FTS5 / ours"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as each engine wants it."""

    kind: str
    words: tuple[str, ...]
    terms: tuple[str, ...]


@dataclass(slots=True)
class Times:
    """Medians per query, in the order of the queries. FTS5 has those of the first few."""

    ours: list[float] = field(default_factory=list)
    raw: list[float] = field(default_factory=list)
    fts5: list[float] = field(default_factory=list)

    def of(self, kind: int | None) -> Times:
        """Returns the medians of one kind of query, or of all."""
        part = slice(None) if kind is None else slice(kind, None, len(KINDS))
        return Times(self.ours[part], self.raw[part], self.fts5[part])


@dataclass(slots=True)
class Agreement:
    """How often our scores were compared with plain tantivy's, and how often they differed."""

    compared: int = 0
    different: int = 0

    def look(self, ours: list[SearchHit], raw: list[tuple[int, float]]) -> None:
        """Compare the answers to one query, unless a label doubled a score in ours."""
        if any(found.boosted for found in ours):
            return
        self.compared += 1
        alike = len(ours) == len(raw) and all(
            math.isclose(found.score, score, rel_tol=TOLERANCE) for found, (_, score) in zip(ours, raw, strict=True)
        )
        self.different += not alike

    def told(self, asked: int) -> str:
        same = self.compared - self.different
        label = f"{asked - self.compared} others have a label match"
        return f"top {LIMIT} scores equal plain tantivy's in {same} of {self.compared} queries; {label}"


def main() -> None:
    options = arguments(__doc__).parse_args()
    with workplace(options.work) as work:
        corpus = write_corpus(work, max(options.sizes))
        smallest: float | None = None
        for size in sorted(options.sizes):
            result = measure(prepare(work, corpus, size), size, smallest)
            if size == SMALL:
                smallest = result.figures["p50"]
            publish(result)


def prepare(work: Path, corpus: Path, size: int) -> Path:
    """The three indexes, made unless the ingest benchmark left them."""
    place = work / str(size)
    for name, fill in (("memory", fill_memory), ("tantivy", fill_tantivy), ("fts5", fill_fts5)):
        if not is_built(place / name):
            build(fill, place / name, corpus, size)
    return place


def measure(place: Path, size: int, smallest: float | None) -> Result:
    queries = make_queries(QUERIES, SEED)
    with Memory(place / "memory", embedder=None) as memory:

        def ours(words: tuple[str, ...]) -> list[SearchHit]:
            return memory.store.text(memory.scope, TextQuery(" ".join(words)), LIMIT, Where())

        raw, fts5 = raw_search(place / "tantivy", LIMIT), fts5_search(place / "fts5", LIMIT)
        for query in make_queries(WARM_UP, SEED + 1):
            ours(query.words)
            raw(query.terms)
        taken, agreement = _race(queries, size, ours, raw, fts5)
    rows = [_row("all", taken.of(None)), *(_row(kind, taken.of(n)) for n, kind in enumerate(KINDS))]
    figures = _figures(taken)
    notes = [agreement.told(len(queries)), f"FTS5 answered {len(taken.fts5)} of the {len(queries)} queries"]
    if agreement.different:
        figures["different scores"] = agreement.different
    if smallest is not None:
        figures[f"p50 / p50 at {SMALL}"] = figures["p50"] / smallest
        notes.append(f"p50 is {times(figures['p50'] / smallest)} that at {SMALL:,} atoms")
    return Result("search", size, COLUMNS, rows, figures, notes)


def make_queries(count: int, seed: int) -> list[Asked]:
    """The kinds in turns, so that any multiple of four is an even mix."""
    rng = np.random.default_rng([seed, 4])
    analyser = make_analyser()
    makers: tuple[Callable[[np.random.Generator], list[int]], ...] = (_rare, _question, _word, _tagged)
    found = []
    for n in range(count):
        words = tuple(vocabulary()[rank] for rank in makers[n % len(makers)](rng))
        terms = tuple(dict.fromkeys(term for word in words for term in analyser.analyze(word)))
        found.append(Asked(KINDS[n % len(KINDS)], words, terms))
    return found


def _ranks(rng: np.random.Generator, count: int, low: int, high: int) -> list[int]:
    """Different ranks, even on a logarithmic scale."""
    found: dict[int, None] = {}
    while len(found) < count:
        found[int(math.exp(rng.uniform(math.log(low), math.log(high))))] = None
    return list(found)


def _rare(rng: np.random.Generator) -> list[int]:
    return _ranks(rng, int(rng.integers(2, 4)), MEDIUM_RANKS[0], RARE[1])


def _question(rng: np.random.Generator) -> list[int]:
    common = [int(rank) for rank in rng.choice(COMMON[1], int(rng.integers(3, 5)), replace=False)]
    others = _ranks(rng, int(rng.integers(5, 9)) - len(common), MEDIUM_RANKS[0], RARE[1])
    return [int(rank) for rank in rng.permutation(common + others)]


def _word(rng: np.random.Generator) -> list[int]:
    return _ranks(rng, 1, 20, RARE[1])


def _tagged(rng: np.random.Generator) -> list[int]:
    medium = [rank for rank in tag_ranks() if rank < MEDIUM_RANKS[1]]
    tag = medium[_ranks(rng, 1, 1, len(medium))[0] - 1]
    return [tag, *(rank for rank in _ranks(rng, 4, *MEDIUM_RANKS) if rank != tag)][:4]


def _race(
    queries: list[Asked],
    size: int,
    ours: Callable[[tuple[str, ...]], list[SearchHit]],
    raw: RawSearch,
    fts5: Callable[[tuple[str, ...]], list[int]],
) -> tuple[Times, Agreement]:
    """Every query through every engine, one engine after the other."""
    taken, agreement = Times(), Agreement()
    fts5_queries, fts5_passes = fts5_share(size)
    for number, query in enumerate(queries):
        passes = Times()
        for turn in range(PASSES):
            if (number + turn) % 2:
                raw_time, raw_found = timed(raw, query.terms)
                our_time, our_found = timed(ours, query.words)
            else:
                our_time, our_found = timed(ours, query.words)
                raw_time, raw_found = timed(raw, query.terms)
            passes.ours.append(our_time)
            passes.raw.append(raw_time)
            if number < fts5_queries and turn < fts5_passes:
                passes.fts5.append(timed(fts5, query.words)[0])
        agreement.look(our_found, raw_found)
        taken.ours.append(p50(passes.ours))
        taken.raw.append(p50(passes.raw))
        taken.fts5 += [p50(passes.fts5)] if passes.fts5 else []
    return taken, agreement


def fts5_share(size: int) -> tuple[int, int]:
    """How many queries FTS5 gets, and how often each."""
    if size < MEDIUM:
        return QUERIES, PASSES
    return (100, 1) if size < LARGE else (80, 1)


def _row(label: str, taken: Times) -> list[str]:
    return [
        label,
        ms(p50(taken.ours)),
        ms(p95(taken.ours)),
        ms(p50(taken.raw)),
        ms(p95(taken.raw)),
        ms(p50(taken.fts5)),
        times(p50(taken.ours) / p50(taken.raw)),
        times(_fts5_ratio(taken)),
    ]


def _fts5_ratio(taken: Times) -> float:
    """On the queries that both answered."""
    return p50(taken.fts5) / p50(taken.ours[: len(taken.fts5)])


def _figures(taken: Times) -> dict[str, float]:
    figures = {
        "p50": p50(taken.ours),
        "p95": p95(taken.ours),
        "p50, ours / tantivy": p50(taken.ours) / p50(taken.raw),
        "p95, ours / tantivy": p95(taken.ours) / p95(taken.raw),
        "p50, FTS5 / ours": _fts5_ratio(taken),
    }
    for n, kind in enumerate(KINDS):
        part = taken.of(n)
        figures[f"p50, ours / tantivy, {kind}"] = p50(part.ours) / p50(part.raw)
    return figures


if __name__ == "__main__":
    main()
