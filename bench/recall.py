"""Measures a default recall, from the cue to the text, against the least that answering it can take.

    python -m bench.recall 10000 100000
    python -m bench.recall --notes ~/notes            # a real folder of notes instead of made texts

The texts are those of the other benchmarks, and more like real ones: each is part of a file of PER_FILE texts, names
two people, and one in PER_PERSON is about a person and has the person's name. People are drawn by Zipf's law. A cue
names a person and has three words of a text that names this person too.

- cuetrail: `Memory.recall(cue)` with all defaults and the static embedder, uses counted.
- bound: the same cue once through plain tantivy for as many candidates as a recall reads (an OR query), once embedded
  and compared with all vectors by one product of numpy matrices, and the rows of ten texts read by key by plain
  sqlite3; the sum of these times.

Every cue runs PASSES times, the two in turns; its median counts. p50 and p95 are taken over the cues.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import tantivy

from bench.common import Result, arguments, emptied, ms, p50, p95, phase, publish, timed, times, workplace
from bench.corpus import MEDIUM, SEED, batches, vocabulary, write_corpus
from bench.peers import WRITER_THREADS, is_built, open_sqlite, open_tantivy, raw_search
from cuetrail import Memory, Node
from cuetrail.embed.static import StaticEmbedder
from cuetrail.recall.trail_constants import Trail
from cuetrail.store.sqlite.index.text_index import WRITER_BYTES
from cuetrail.text.normalise import terms_of

CUES, WARM_UP, PASSES = 200, 30, 3
PER_FILE, PER_PERSON, ROWS_SHOWN = 8, 20, 10
COLUMNS = ["cues", "recall p50", "p95", "bound p50", "tantivy", "vectors", "embedding", "rows", "ours / bound"]
HOW = Trail()
PARTS = ("tantivy", "vectors", "embedding", "rows")


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--notes", type=Path, help="a folder of Markdown notes to ingest and to ask, instead of sizes")
    options = parser.parse_args()
    with workplace(options.work) as work:
        if options.notes is not None:
            place = work / "notes"
            if not is_built(place):
                phase(fill_notes, place, options.notes)
            publish(measure(place, 0))
            return
        corpus = write_corpus(work, max(options.sizes))
        for size in sorted(options.sizes):
            place = work / str(size) / "recall"
            if not is_built(place):
                phase(fill, place, corpus, size)
            publish(measure(place, size))


# --- the texts


def people(count: int) -> list[str]:
    """Returns the names of so many people, two capitalised words each, no name twice."""
    words = [word.capitalize() for word in vocabulary()[200:20_000] if len(word) > 3]
    rng = np.random.default_rng([SEED, 4])
    found = dict[str, None]()
    while len(found) < count:
        found.update((f"{words[a]} {words[b]}", None) for a, b in rng.integers(len(words), size=(count, 2)))
    return list(found)[:count]


def items(corpus: Path, count: int) -> Iterator[dict[str, Any]]:
    """Yields the texts as `add_many` takes them."""
    names = people(max(count // PER_PERSON, 2))
    rng = np.random.default_rng([SEED, 5])
    shares = 1 / np.arange(1, len(names) + 1)
    drawn = rng.choice(len(names), size=(count, 2), p=shares / shares.sum())
    texts = (item for some in batches(corpus, count) for item in some)
    for n, item in enumerate(texts):
        first, second = (names[one] for one in drawn[n])
        own = names[n // PER_PERSON] if n % PER_PERSON == 0 and n // PER_PERSON < len(names) else None
        opening = f"{own} knows {first}." if own else f"{first} was there."
        file = f"notes/{n // PER_FILE:06}.md"
        yield {**item, "name": own, "source": file, "text": f"{opening} {item['text']} So did {second}."}


def fill(place: Path, corpus: Path, count: int) -> None:
    """Makes the memory and the indexes of the bound in a folder, and marks it as complete."""
    build(place, lambda memory: memory.add_many(items(corpus, count)))


def fill_notes(place: Path, notes: Path) -> None:
    """The same of a folder of notes."""
    build(place, lambda memory: memory.ingest(notes))


def build(place: Path, add: Callable[[Memory], object]) -> None:
    emptied(place)
    with Memory(place / "memory") as memory:
        add(memory)
        memory.refresh()
        nodes = (record for _, record in memory.store.scan(memory.scope) if isinstance(record, Node))
        texts = [(node.id, node.text) for node in nodes if node.text]
    fill_bound(place, texts)
    place.with_name(f"{place.name}.complete").touch()


def fill_bound(place: Path, texts: Sequence[tuple[str, str]]) -> None:
    """Writes texts into plain tantivy and plain sqlite3, and their vectors into a file."""
    index = open_tantivy(emptied(place / "tantivy"))
    writer = index.writer(WRITER_BYTES, WRITER_THREADS)
    for key, (_, text) in enumerate(texts, 1):
        document = tantivy.Document()
        document.add_text("body", text)
        document.add_unsigned("key", key)
        writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()
    with open_sqlite(emptied(place / "sqlite") / "texts.db") as db:
        db.execute("CREATE TABLE texts (key INTEGER PRIMARY KEY, id TEXT, text TEXT)")
        db.executemany("INSERT INTO texts VALUES (?, ?, ?)", [(n, *row) for n, row in enumerate(texts, 1)])
    embedder, size = StaticEmbedder(), 10_000
    parts = [embedder.embed([text for _, text in texts[at : at + size]]) for at in range(0, len(texts), size)]
    np.save(place / "vectors.npy", np.concatenate(parts).astype(np.float32))


# --- the cues


def cues(place: Path, count: int, salt: int) -> list[str]:
    """Returns cues about texts drawn by chance: a name in the text, and three of its words, rather rare ones."""
    rng = np.random.default_rng([SEED, 6, salt])
    rare = set(vocabulary()[MEDIUM[0] :])
    found = list[str]()
    with sqlite3.connect(place / "sqlite" / "texts.db") as db:
        (last,) = db.execute("SELECT max(key) FROM texts").fetchone()
        while len(found) < count:
            (text,) = db.execute("SELECT text FROM texts WHERE key = ?", (int(rng.integers(1, last + 1)),)).fetchone()
            words = text.replace(".", " ").split()
            own = [word for word in dict.fromkeys(words) if word in rare or (word.isalpha() and len(word) > 6)]
            name = next((f"{a} {b}" for a, b in pairwise(words) if a.istitle() and b.istitle()), "")
            if len(own) >= 3:
                found.append(f"what did {name or 'I'} write about {' and '.join(rng.choice(own, 3, replace=False))}?")
    return found


# --- the race


def bound_of(place: Path) -> dict[str, Callable[[str], Any]]:
    """Returns what a recall cannot do without: each part by its name, as a function of the cue."""
    embedder, vectors = StaticEmbedder(), np.load(place / "vectors.npy")
    search = raw_search(place / "tantivy", HOW.texts)
    db = open_sqlite(place / "sqlite" / "texts.db")
    last, query = len(vectors), embedder.embed(["any question"])[0]

    def compared(_: str) -> Any:
        return np.argpartition(vectors @ query, -min(HOW.vectors, last))[-HOW.vectors :]

    def rows(cue: str) -> Any:
        start = int.from_bytes(hashlib.blake2b(cue.encode(), digest_size=4).digest(), "big") % last
        keys = [(start + 7919 * n) % last + 1 for n in range(ROWS_SHOWN)]
        return [db.execute("SELECT id, text FROM texts WHERE key = ?", (key,)).fetchone() for key in keys]

    return {
        "tantivy": lambda cue: search(terms_of(cue)),
        "vectors": compared,
        "embedding": lambda cue: embedder.embed([cue]),
        "rows": rows,
    }


def measure(place: Path, size: int) -> Result:
    asked = cues(place, CUES, 1)
    bound = bound_of(place)
    ours, least = list[float](), {part: list[float]() for part in PARTS}
    with Memory(place / "memory") as memory:
        for cue in cues(place, WARM_UP, 2):
            memory.recall(cue)
        for number, cue in enumerate(asked):
            passes, others = list[float](), {part: list[float]() for part in PARTS}
            for turn in range(PASSES):
                if (number + turn) % 2:
                    passes.append(timed(memory.recall, cue)[0])
                for part, work in bound.items():
                    others[part].append(timed(work, cue)[0])
                if not (number + turn) % 2:
                    passes.append(timed(memory.recall, cue)[0])
            ours.append(p50(passes))
            for part in PARTS:
                least[part].append(p50(others[part]))
    together = [sum(some) for some in zip(*least.values(), strict=True)]
    ratio = p50(ours) / p50(together)
    row = ["all", ms(p50(ours)), ms(p95(ours)), ms(p50(together)), *(ms(p50(least[part])) for part in PARTS)]
    figures = {"p50": p50(ours), "p95": p95(ours), "p50, ours / bound": ratio, "p95 / p50": p95(ours) / p50(ours)}
    return Result("recall", size, COLUMNS, [[*row, times(ratio)]], figures)


if __name__ == "__main__":
    main()
