"""The flat scan of 8-bit codes beside an HNSW graph (usearch) and an exact float32 scan (numpy), in the same run.

    python -m bench.vectors 10000 100000

- clusters: random unit vectors of 256 numbers around as many centres as the root of the size, at a cosine of about
  0.8 to their centre; queries are drawn the same way.
- texts: what the static embedder makes of the corpus and of the search benchmark's queries. Texts of random words
  have no topics, which is the worst case for a graph. Up to 100,000 unless --texts is given.

`index/s` is making the searchable form: for us from vectors already stored, for usearch adding and saving with all
cores. `store/s` is our transaction that keeps the vectors with their nodes; an index alone keeps no truth. Recall is
against the exact scan. Peak memory is that of a process that opens the finished index and answers every query.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.common import (
    MEDIUM,
    Phase,
    Result,
    Stopwatch,
    arguments,
    disk,
    emptied,
    megabytes,
    ms,
    p50,
    p95,
    percent,
    phase,
    publish,
    rate,
    timed,
    times,
    workplace,
)
from bench.corpus import BATCH, SEED, batches, write_corpus
from bench.search import make_queries
from cuetrail.embed.embedder import to_blob
from cuetrail.embed.static import StaticEmbedder
from cuetrail.model import Node, Scope, Where
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.vector_space import VectorSpace
from cuetrail.store.write import Batch

Matrix = NDArray[np.float32]
Search = Callable[[Matrix], list[int]]

DIM = 256
NOISE = 0.75
QUERIES = 200
WARM_UP = 10
LIMIT = 10
WIDE = 512
PRECISION = "f16"  # what our truth keeps, so that neither index starts from worse numbers
COLUMNS = ["engine", "store/s", "index/s", "p50", "p95", "p50 / numpy's", "recall@10", "peak memory", "on disk"]


@dataclass(frozen=True, slots=True)
class Engine:
    """How one engine is built and opened. `build` gives the seconds of storing (0: it keeps no truth) and indexing."""

    name: str
    folder: str
    build: Callable[[Path, Path], tuple[float, float]]
    open: Callable[[Path], Search]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--texts", action="store_true", help="vectors of texts at every size")
    options = parser.parse_args()
    with workplace(options.work) as work:
        for size in options.sizes:
            publish(measure(work, size, "clusters"))
            if size <= MEDIUM or options.texts:
                publish(measure(work, size, "texts"))


def measure(work: Path, size: int, kind: str) -> Result:
    place = emptied(work / f"vectors-{size}")
    phase(make_clusters if kind == "clusters" else make_texts, place, work, size)
    engines, notes = _engines()
    builds = {engine.folder: engine.build for engine in engines}
    built = {folder: phase(build, place / folder, place) for folder, build in builds.items()}
    peaks = {engine.name: phase(_answer, engine, place).peak for engine in engines}
    queries: Matrix = np.load(place / "queries.npy")
    taken, found = _race([(engine.name, engine.open(place / engine.folder)) for engine in engines], queries)
    recall = {name: _recall(answers, found["numpy"]) for name, answers in found.items()}
    rows = [
        [
            *_build_cells(engine, size, built[engine.folder]),
            *_search_cells(taken[engine.name], taken["numpy"], recall[engine.name]),
            megabytes(peaks[engine.name]),
            megabytes(disk(place / engine.folder)),
        ]
        for engine in engines
    ]
    figures = _figures(size, {folder: done.value[1] for folder, done in built.items()}, taken, recall)
    emptied(place)
    return Result(f"vectors-{kind}", size, COLUMNS, rows, figures, notes)


def _engines() -> tuple[list[Engine], list[str]]:
    ours = Engine("cuetrail", "cuetrail", build_ours, open_ours)
    exact = Engine("numpy", "numpy", build_numpy, open_numpy)
    if importlib.util.find_spec("usearch") is None:
        return [ours, exact], ["usearch is not installed, so there is no HNSW beside it: pip install usearch"]
    graph = Engine("usearch", "usearch", build_usearch, open_usearch)
    wide = Engine(f"usearch, expansion {WIDE}", "usearch", build_usearch, open_usearch_wide)
    return [ours, graph, wide, exact], []


def make_clusters(place: Path, work: Path, size: int) -> None:
    """Vectors and queries around common centres."""
    del work
    rng = np.random.default_rng([SEED, 6])
    centres = _unit(rng.standard_normal((round(size**0.5), DIM), dtype=np.float32))

    def drawn(count: int) -> Matrix:
        noise = _unit(rng.standard_normal((count, DIM), dtype=np.float32))
        return _unit(centres[rng.integers(len(centres), size=count)] + NOISE * noise)

    np.save(place / "vectors.npy", drawn(size))
    np.save(place / "queries.npy", drawn(QUERIES))


def make_texts(place: Path, work: Path, size: int) -> None:
    """Vectors of the corpus and of the search benchmark's queries."""
    embedder = StaticEmbedder()
    corpus = write_corpus(work, size)
    rows = [embedder.embed([item["text"] for item in items]) for items in batches(corpus, size)]
    np.save(place / "vectors.npy", np.concatenate(rows))
    np.save(place / "queries.npy", embedder.embed([" ".join(q.words) for q in make_queries(QUERIES, SEED)]))


def _unit(rows: Matrix) -> Matrix:
    unit: Matrix = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def build_ours(folder: Path, place: Path) -> tuple[float, float]:
    """Nodes with their vectors in transactions of 2,000, then the index from them."""
    vectors: Matrix = np.load(place / "vectors.npy", mmap_mode="r")
    store = SqliteStore(emptied(folder))
    store.vector_spaces().start(VectorSpace("bench", DIM))
    storing, indexing = Stopwatch(), Stopwatch()
    for start in range(0, len(vectors), BATCH):
        some = np.array(vectors[start : start + BATCH])
        with storing:
            blobs = {str(n): blob for n, blob in enumerate(to_blob(some), start)}
            store.write(Scope(), Batch(nodes=[Node(id=id_, text=id_) for id_ in blobs], vectors=blobs))
    with indexing:
        store.vector_index.view()
    store.close()
    return storing.seconds, indexing.seconds


def open_ours(folder: Path) -> Search:
    store, scope, where = SqliteStore(folder), Scope(), Where()

    def search(query: Matrix) -> list[int]:
        return [int(found.id) for found in store.vector(scope, to_blob(query[None, :])[0], LIMIT, where)]

    return search


def build_usearch(folder: Path, place: Path) -> tuple[float, float]:
    """Its defaults, all cores."""
    vectors: Matrix = np.load(place / "vectors.npy")
    emptied(folder)
    watch = Stopwatch()
    with watch:
        index = _usearch().Index(ndim=DIM, metric="cos", dtype=PRECISION)
        index.add(np.arange(len(vectors)), vectors)
        index.save(str(folder / "hnsw"))
    return 0.0, watch.seconds


def open_usearch(folder: Path, expansion: int | None = None) -> Search:
    index = _usearch().Index.restore(str(folder / "hnsw"))
    if expansion is not None:
        index.expansion_search = expansion

    def search(query: Matrix) -> list[int]:
        return [int(key) for key in index.search(query, LIMIT).keys]

    return search


def open_usearch_wide(folder: Path) -> Search:
    """Looks at more of the graph for each query: slower, and finds more."""
    return open_usearch(folder, WIDE)


def _usearch() -> Any:
    return importlib.import_module("usearch.index")


def build_numpy(folder: Path, place: Path) -> tuple[float, float]:
    """Nothing but a copy of the numbers."""
    vectors: Matrix = np.load(place / "vectors.npy")
    emptied(folder)
    watch = Stopwatch()
    with watch:
        np.save(folder / "matrix.npy", vectors)
    return 0.0, watch.seconds


def open_numpy(folder: Path) -> Search:
    vectors: Matrix = np.load(folder / "matrix.npy")

    def search(query: Matrix) -> list[int]:
        scores = vectors @ query
        best = np.argpartition(-scores, LIMIT)[:LIMIT]
        return [int(n) for n in best[np.argsort(-scores[best])]]

    return search


def _answer(engine: Engine, place: Path) -> None:
    search = engine.open(place / engine.folder)
    for query in np.load(place / "queries.npy"):
        search(query)


def _race(
    searches: list[tuple[str, Search]], queries: Matrix
) -> tuple[dict[str, list[float]], dict[str, list[set[int]]]]:
    """Every query through every engine, one after the other: seconds and answers."""
    for query in queries[:WARM_UP]:
        for _, search in searches:
            search(query)
    taken: dict[str, list[float]] = {name: [] for name, _ in searches}
    found: dict[str, list[set[int]]] = {name: [] for name, _ in searches}
    for query in queries:
        for name, search in searches:
            seconds, answer = timed(search, query)
            taken[name].append(seconds)
            found[name].append(set(answer))
    return taken, found


def _recall(answers: list[set[int]], exact: list[set[int]]) -> float:
    return sum(len(a & b) for a, b in zip(answers, exact, strict=True)) / sum(map(len, exact))


def _build_cells(engine: Engine, size: int, built: Phase[tuple[float, float]]) -> list[str]:
    storing, indexing = built.value
    return [engine.name, rate(size, storing) if storing else "", rate(size, indexing)]


def _search_cells(taken: list[float], exact: list[float], recall: float) -> list[str]:
    return [ms(p50(taken)), ms(p95(taken)), times(p50(taken) / p50(exact)), percent(recall)]


def _figures(
    size: int, indexing: dict[str, float], taken: dict[str, list[float]], recall: dict[str, float]
) -> dict[str, float]:
    figures = {
        "p50, ours / numpy": p50(taken["cuetrail"]) / p50(taken["numpy"]),
        "recall, ours": recall["cuetrail"],
        "indexed per second": size / indexing["cuetrail"],
    }
    if "usearch" in taken:
        figures["p50, ours / usearch"] = p50(taken["cuetrail"]) / p50(taken["usearch"])
        figures["recall, usearch"] = recall["usearch"]
        figures["index rate, ours / usearch"] = indexing["usearch"] / indexing["cuetrail"]
    return figures


if __name__ == "__main__":
    main()
