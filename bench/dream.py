"""Measures how long a memory dreams, and how much slower tag infection is than finding the names alone.

    python -m bench.dream 10000 100000

The texts of the corpus name 0 to 3 of 20,000 names, drawn by Zipf's law: three in four are of two words, the others of
one, and none is a word of the vocabulary. The names are nodes; the texts have no tags of their own and come in
sittings.

- bare matcher: the same automaton of the same 20,000 names, built and run over the same texts, which are in memory.
  They are brought into the form it reads (case, punctuation); nothing is read from disk, looked up or written.
- by pages: the same, over as many texts at once as infection reads at once, in the way it does.
- automaton alone: the same without building it, over texts that are in that form already.
- infection: the whole pass over a memory that has never dreamt: reading names and texts, finding, writing tags, in
  transactions that are on disk when they are acknowledged.
- the other passes: a first dream after that. indexing: the text index brought up to date with the new tags.
- unchanged: a dream after that. 100 changed: a dream after 100 texts were corrected. 10 new names: a dream after 10
  nodes were added, whose names are looked for in all texts, by the text index.

Bare matcher and infection take turns, each round on a fresh copy of the memory; their medians are compared.
"""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.common import (
    LARGE,
    Result,
    Stopwatch,
    arguments,
    emptied,
    megabytes,
    ms,
    percent,
    phase,
    publish,
    workplace,
)
from bench.corpus import SEED, Item, batches, vocabulary, write_corpus
from cuetrail import Memory
from cuetrail.dream.context import BATCH
from cuetrail.dream.vocabulary import TagWords
from cuetrail.dream.word_matcher import WordMatcher, fold_text, join_texts, pad_words
from cuetrail.model import DreamReport

COLUMNS = ["what", "atoms read", "written", "time", "atoms/s", "peak memory"]
NAMES = 20_000
MOST_NAMES = 3
ENDINGS = ("ik", "ova", "sen", "ette", "ander", "imov")
CHANGED, NEW = 100, 10
# So many texts, a minute apart, are a sitting; then there is a break of so many milliseconds.
SITTING, BREAK = 20, 3_600_000


@dataclass(frozen=True, slots=True)
class Row:
    """One step: the atoms it read, what it wrote, how long it took."""

    what: str
    read: int
    wrote: int
    seconds: float
    peak: int = 0

    def cells(self) -> list[str]:
        rate = f"{self.read / self.seconds:,.0f}" if self.read else ""
        peak = megabytes(self.peak) if self.peak else ""
        return [self.what, f"{self.read:,}", f"{self.wrote:,}", ms(self.seconds), rate, peak]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, help="turns of matcher and infection (3 below 1,000,000, else 1)")
    options = parser.parse_args()
    with workplace(options.work) as work:
        corpus = write_corpus(work, max(options.sizes))
        for size in options.sizes:
            publish(measure(work / str(size), corpus, size, options.rounds or (3 if size < LARGE else 1)))


def measure(place: Path, corpus: Path, size: int, rounds: int) -> Result:
    folder = place / "named"
    phase(fill, folder, corpus, size)
    turns = []
    for _ in range(rounds):
        matched = phase(matching, folder)
        copy = emptied(place / "dreaming")
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        infected = phase(infecting, copy)
        turns.append((matched, infected))
    bare, paged, alone = (statistics.median(matched.value[n] for matched, _ in turns) for n in range(3))
    first = statistics.median(infected.value.seconds for _, infected in turns)
    (matched, infected) = turns[-1]
    rest = phase(dreaming, copy)
    rows = [
        Row("bare matcher", size, 0, bare, matched.peak),
        Row("by pages", size, 0, paged),
        Row("automaton alone", size, 0, alone),
        Row("infection", size, infected.value.wrote, first, infected.peak),
        *rest.value,
    ]
    unchanged = next(row for row in rows if row.what == "unchanged")
    corrected = next(row for row in rows if row.what == f"{CHANGED} changed")
    figures = {
        "infection / bare matcher": bare / first,
        "infection / bare matcher, by pages": paged / first,
        "infection / automaton alone": alone / first,
        "atoms read, unchanged": float(unchanged.read),
        f"atoms read, {CHANGED} changed": float(corrected.read),
    }
    speeds = (
        f"{percent(bare / first)} of the speed of the bare matcher, {percent(paged / first)} of that by pages, "
        f"{percent(alone / first)} of the automaton alone"
    )
    each = ", ".join(percent(matched.value[0] / infected.value.seconds) for matched, infected in turns)
    notes = [f"infection runs at {speeds}", f"turn by turn: {each} of the bare matcher"]
    shutil.rmtree(copy)
    return Result("dream", size, COLUMNS, [row.cells() for row in rows], figures, notes)


def names() -> list[str]:
    """The names, none of whose words is in the vocabulary."""
    rng = np.random.default_rng([SEED, 11])
    words = vocabulary()
    ordinary = set(words)
    found: dict[str, None] = {}
    while len(found) < NAMES:
        parts = [words[int(rng.integers(len(words)))] + ENDINGS[int(rng.integers(len(ENDINGS)))] for _ in range(2)]
        name = " ".join(part.capitalize() for part in parts[: 2 if len(found) % 4 else 1])
        if ordinary.isdisjoint(name.lower().split()):
            found[name] = None
    return list(found)


def named(corpus: Path, count: int) -> Iterator[Item]:
    """The texts of the corpus with names in them, without tags."""
    rng = np.random.default_rng([SEED, 12])
    known_names = names()
    number = 0
    weights = np.cumsum(1.0 / np.arange(1, NAMES + 1))
    for items in batches(corpus, count):
        for item in items:
            words = item["text"].split(" ")
            for _ in range(int(rng.integers(0, MOST_NAMES + 1))):
                drawn = int(np.searchsorted(weights, rng.random() * weights[-1]))
                words.insert(int(rng.integers(len(words) + 1)), known_names[min(drawn, NAMES - 1)])
            number += 1
            at = item["at"] + number // SITTING * BREAK
            yield Item(id=item["id"], text=" ".join(words), tags=[], buckets=item["buckets"], at=at)


def corrections() -> list[str]:
    """Returns texts without new names or shared phrases, so that a dream need not read other texts again."""
    rng = np.random.default_rng([SEED, 13])
    words = vocabulary()
    return [f"{' '.join(words[int(n)] for n in rng.integers(20_000, 50_000, 30))}." for _ in range(CHANGED)]


def fill(folder: Path, corpus: Path, count: int) -> None:
    """The memory that dreams."""
    with Memory(emptied(folder), embedder="none") as memory:
        memory.add_many({"name": name, "kind": "person", "id": f"person {n}"} for n, name in enumerate(names()))
        memory.add_many(named(corpus, count))
        memory.refresh()


def matching(folder: Path) -> tuple[float, float, float]:
    """Seconds to build the automaton and run it over the texts, one by one and by pages, and to run it over texts in
    its own form.
    """
    with Memory(folder, embedder="none") as memory:
        (place,) = memory.store.partitions(None)
        dreaming = memory.store.dream_pass(place, "bench")
        words = TagWords()
        words.renew(dreaming.names(), dreaming.tags())
        texts = [text for _, text in dreaming.texts(0, 1 << 62)]
    build, run, paged, alone = Stopwatch(), Stopwatch(), Stopwatch(), Stopwatch()
    with build:
        dictionary = WordMatcher(words.matcher.values)
        automaton = dictionary.automaton
    with run:
        for text in texts:
            automaton.find_matches_as_indexes(pad_words(fold_text(text)), overlapping=True)
    with paged:
        for start in range(0, len(texts), BATCH):
            dictionary.search(join_texts(texts[start : start + BATCH]))
    ready = [pad_words(fold_text(text)) for text in texts]
    with alone:
        for data in ready:
            automaton.find_matches_as_indexes(data, overlapping=True)
    return build.seconds + run.seconds, build.seconds + paged.seconds, alone.seconds


def infecting(folder: Path) -> Row:
    """The first infection, without the indexes."""
    with Memory(folder, embedder="none") as memory:
        (one,) = memory.dream(only=["infection"]).passes
    return Row(one.name, one.read, one.wrote, one.seconds)


def dreaming(folder: Path) -> list[Row]:
    """The other passes for the first time, and then dreams after little or nothing changed."""
    with Memory(folder, embedder="none") as memory:
        first = memory.dream()
        rows = [Row(one.name, one.read, one.wrote, one.seconds) for one in first.passes if one.name != "infection"]
        rows.append(Row("indexing", 0, 0, first.seconds - sum(one.seconds for one in first.passes)))
        rows.append(_whole("unchanged", memory))
        (place,) = memory.store.partitions(None)
        some = [
            atom.id for atom in memory.store.dream_pass(place, "bench").atoms(range(NAMES + 1, NAMES + CHANGED + 1))
        ]
        memory.add_many({"id": id_, "text": text} for id_, text in zip(some, corrections(), strict=True))
        rows.append(_whole(f"{CHANGED} changed", memory))
        memory.add_many({"name": word.capitalize(), "kind": "person"} for word in vocabulary()[900 : 900 + NEW])
        rows.append(_whole(f"{NEW} new names", memory))
    return rows


def _whole(what: str, memory: Memory) -> Row:
    """One dream. Every pass may read the same atom; it counts once."""
    start = time.perf_counter()
    report: DreamReport = memory.dream()
    seconds = time.perf_counter() - start
    return Row(what, max(one.read for one in report.passes), sum(one.wrote for one in report.passes), seconds)


if __name__ == "__main__":
    main()
