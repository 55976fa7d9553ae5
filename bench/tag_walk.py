"""Measures a whole tag walk, from the cue to the text, against plain tantivy's search for the same words.

    python -m bench.tag_walk 10000 100000

The queries are those of `bench.search`: rare words, questions, single words, and words that are tags. A walk is
`Memory.tag_walk` with its defaults: anchors by exact BM25 with the x2 rule, their tags and buckets harvested, the exact
best of all memories that share them and hold no word of the cue, text within 8,000 characters, uses counted. Tags are
drawn by Zipf's law; at a million atoms the most used one is on 340,000 of them, and each bucket on 200,000.

Each walk follows the raw search of its query or goes before it, in turns. Each runs PASSES times; its median counts.
Odd cues (300 words, other scripts, a megabyte of garbage, thousands of tags or phrases) are timed beside them. Of the
phrase of 3,000 words both ends are read, of which each has one quote: it asks for 300 frequent words. The peak
memory is that of a process which does nothing but walk. The label index is made by the first walk; `index` is how
long that takes.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field
from pathlib import Path

from bench.common import Result, arguments, megabytes, ms, p50, p95, phase, publish, timed, times, workplace
from bench.corpus import SEED, vocabulary, write_corpus
from bench.peers import build, fill_memory, fill_tantivy, is_built, raw_search
from bench.search import KINDS, Asked, make_queries
from cuetrail import Memory, Recollection
from cuetrail.model import Rank

QUERIES = 400
WARM_UP = 40
PASSES = 3
LIMIT = 10
ODD_PASSES = 15
PEAK_QUERIES = 100
COLUMNS = ["cues", "tag walk p50", "p95", "tantivy p50", "p95", "ours / tantivy"]


@dataclass(slots=True)
class Times:
    """Medians per query, in the order of the queries."""

    ours: list[float] = field(default_factory=list)
    raw: list[float] = field(default_factory=list)

    def of(self, kind: int | None) -> Times:
        part = slice(None) if kind is None else slice(kind, None, len(KINDS))
        return Times(self.ours[part], self.raw[part])


def main() -> None:
    options = arguments(__doc__).parse_args()
    with workplace(options.work) as work:
        corpus = write_corpus(work, max(options.sizes))
        for size in sorted(options.sizes):
            publish(measure(prepare(work, corpus, size), size))


def prepare(work: Path, corpus: Path, size: int) -> Path:
    """The memory and the plain index, made unless another benchmark left them."""
    place = work / str(size)
    for name, fill in (("memory", fill_memory), ("tantivy", fill_tantivy)):
        if not is_built(place / name):
            build(fill, place / name, corpus, size)
    return place


def measure(place: Path, size: int) -> Result:
    queries = make_queries(QUERIES, SEED)
    with Memory(place / "memory", embedder=None) as memory:
        memory.refresh()
        first, _ = timed(memory.tag_walk, " ".join(queries[0].words))
        taken = _race(memory, place, queries)
        odd = {name: _odd(memory, cue) for name, cue in odd_cues().items()}
        gravity = [timed(lambda cue: _walk(memory, cue, "gravity"), " ".join(q.words))[0] for q in queries[:80]]
    peak = phase(walk_alone, place / "memory").peak
    ordinary = p95(taken.ours)
    rows = [_row("all", taken), *(_row(kind, taken.of(n)) for n, kind in enumerate(KINDS))]
    rows += [[name, ms(p50(some)), ms(p95(some)), "", "", ""] for name, some in odd.items()]
    rows.append(["ranked by gravity", ms(p50(gravity)), ms(p95(gravity)), "", "", ""])
    figures = {
        "p50": p50(taken.ours),
        "p95": ordinary,
        "p50, ours / tantivy": p50(taken.ours) / p50(taken.raw),
        "p95, ours / tantivy": ordinary / p95(taken.raw),
        "odd p95 / ordinary p95": max(p95(some) for some in odd.values()) / ordinary,
        "peak": float(peak),
        "first walk": first,
    }
    notes = [f"peak memory of a process that only walks: {megabytes(peak)}", f"the first walk took {ms(first)}"]
    return Result("tag_walk", size, COLUMNS, rows, figures, notes)


def _race(memory: Memory, place: Path, queries: list[Asked]) -> Times:
    """Every query as a walk and as a raw search, in turns."""
    raw = raw_search(place / "tantivy", LIMIT)
    for query in make_queries(WARM_UP, SEED + 1):
        _walk(memory, " ".join(query.words))
        raw(query.terms)
    taken = Times()
    for number, query in enumerate(queries):
        cue, passes = " ".join(query.words), Times()
        for turn in range(PASSES):
            if (number + turn) % 2:
                passes.raw.append(timed(raw, query.terms)[0])
            passes.ours.append(timed(lambda cue: _walk(memory, cue), cue)[0])
            if not (number + turn) % 2:
                passes.raw.append(timed(raw, query.terms)[0])
        taken.ours.append(p50(passes.ours))
        taken.raw.append(p50(passes.raw))
    return taken


def _walk(memory: Memory, cue: str, rank: Rank = "idf") -> Recollection:
    return memory.tag_walk(cue, rank=rank)


def _odd(memory: Memory, cue: str) -> list[float]:
    return [timed(lambda cue: _walk(memory, cue), cue)[0] for _ in range(ODD_PASSES)]


def odd_cues() -> dict[str, str]:
    """Cues that break parsers."""
    chance = random.Random(SEED)
    words = vocabulary()[200:20_000]
    return {
        "300 words": " ".join(chance.sample(words, 300)),
        "emoji": "🦅 🪁 🌊 " + words[0],
        "Chinese and Arabic": "鳥は来た العصفور في السماء " + words[1],
        "signs": 'AND OR NEAR ( " * : ^ ' + words[2],
        "NULs": "\x00".join(chance.sample(words, 5)),
        "1 MB of garbage": chance.randbytes(1 << 20).decode("utf-8", "replace"),
        "1 MB of signs": "".join(chance.choices('ab"*:^()#@ \x00', k=1 << 20)),
        "5,000 times a tag": "#tag1 " * 5_000 + words[3],
        "5,000 tags": " ".join(f"#tag{n}" for n in range(5_000)),
        "5,000 buckets": " ".join(f"@bucket{n}" for n in range(5_000)),
        "3,000 phrases": " ".join(f'"{first} {second}"' for first, second in itertools.pairwise(words[:3_001])),
        "a phrase of 3,000 words": f'"{" ".join(words[:3_000])}"',
        "a phrase of 1,000 words": f'"{" ".join(words[:1_000])}"',
        "a phrase of common words": f'"{" ".join(vocabulary()[:4] * 250)}"',
        "3,000 unknown words": " ".join(f"zq{n}x" for n in range(3_000)),
        "7,000 openings": "so " * 7_000 + words[4],
        "5,000 Chinese letters": "鳥は来た東京" * 833,
        "a letter with 9,000 accents": "a" + "\u0301" * 9_000,
    }


def walk_alone(folder: Path) -> int:
    """Runs some walks in a process of their own; returns how many found something."""
    with Memory(folder, embedder=None) as memory:
        queries = make_queries(PEAK_QUERIES, SEED)
        return sum(_walk(memory, " ".join(query.words)).answerable for query in queries)


def _row(label: str, taken: Times) -> list[str]:
    ours, raw = taken.ours, taken.raw
    return [label, ms(p50(ours)), ms(p95(ours)), ms(p50(raw)), ms(p95(raw)), times(p50(ours) / p50(raw))]


if __name__ == "__main__":
    main()
