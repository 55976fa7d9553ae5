"""Measures how long an exploration takes, and how that grows with the memory.

    python -m bench.explore 10000 100000 1000000

Of the nodes one in ten is a person, concept or entity, one in twenty a source, one in two hundred a storyline, one in a
thousand a macro, one in two hundred an artifact; the others are atoms. Names are of two words of the corpus, texts of
six. Each person, concept and entity is related to three others; sources are part of storylines and mention five nodes
each, storylines are part of macros. Vectors, also those of the relationships, are unit vectors of 256 dimensions drawn
at random, and so are those of the queries: none is easy to find.

An exploration has one query without a threshold and one name to match; granularities take turns. Each runs PASSES
times, the sizes in turns; its median counts. A traversal is a personalised PageRank from one node with its defaults.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bench.common import SMALL, Result, arguments, emptied, ms, p50, p95, publish, timed, times, workplace
from bench.corpus import SEED, vocabulary
from cuetrail import Memory
from cuetrail.embed.embedder import to_blob
from cuetrail.model import Edge, Life, Mention, Node
from cuetrail.store.vector_space import VectorSpace
from cuetrail.store.write import Batch

DIM = 256
BATCH = 20_000
ASKED, WARM_UP, PASSES = 120, 15, 3
DONE = "built"
NOW = 1_768_831_200_000
DAY = 86_400_000
SEMANTIC = ("person", "concept", "entity")
COLUMNS = ["what", "p50", "p95"]


class Drawn:
    """An embedder whose vectors are drawn at random, the same for the same text."""

    model, dim = "drawn", DIM

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([self.embed_query(text) for text in texts], np.float32).reshape(len(texts), DIM)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        drawn = random.Random(f"{SEED} {text}")
        vector = np.array([drawn.gauss(0, 1) for _ in range(DIM)], np.float32)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


def main() -> None:
    options = arguments(__doc__).parse_args()
    with workplace(options.work) as work, contextlib.ExitStack() as opened:
        memories: dict[int, Memory] = {}
        for size in sorted(options.sizes):
            folder = work / f"explore-{size}"
            if not (folder / DONE).exists():
                with Memory(emptied(folder), embedder=Drawn()) as memory:
                    fill(memory, size)
                (folder / DONE).touch()
            memories[size] = opened.enter_context(Memory(folder, embedder=Drawn()))
        explored, walked = _raced(memories, explore), _raced(memories, traverse)
    small = p50(explored[SMALL]) if SMALL in explored else None
    for size in memories:
        publish(result(size, explored[size], walked[size], small if size != SMALL else None))


def result(size: int, taken: list[float], walks: list[float], small: float | None) -> Result:
    rows = [["explore", ms(p50(taken)), ms(p95(taken))]]
    rows += [[f"  granularity {n + 1}", ms(p50(taken[n::3])), ms(p95(taken[n::3]))] for n in range(3)]
    rows.append(["traverse, PageRank", ms(p50(walks)), ms(p95(walks))])
    figures = {"p50": p50(taken), "p95": p95(taken), "traverse p50": p50(walks)}
    notes = []
    if small is not None:
        figures[f"p50 / p50 at {SMALL}"] = p50(taken) / small
        notes.append(f"{times(p50(taken) / small)} its p50 at {SMALL:,}")
    return Result("explore", size, COLUMNS, rows, figures, notes)


Ask = Callable[[Memory, int, int], object]


def explore(memory: Memory, size: int, number: int) -> object:
    words, chance = vocabulary(), random.Random(f"{SEED} {size} {number}")
    query = {"query": " ".join(words[200 + number : 203 + number]), "threshold": 0.0}
    name = name_of(chance.randrange(size) // 10 * 10)
    return memory.explore([query], text_matches=[name], granularity=number % 3 + 1, now=NOW, record_access=False)


def traverse(memory: Memory, size: int, number: int) -> object:
    return memory.traverse([node_id(number * 10 % size)], mode="ppr", now=NOW, record_access=False)


def _raced(memories: dict[int, Memory], ask: Ask) -> dict[int, list[float]]:
    """The median time of each call in each memory. They take turns, so that noise hits all alike."""
    taken: dict[int, list[float]] = {size: [] for size in memories}
    for number in range(WARM_UP + ASKED):
        passes: dict[int, list[float]] = {size: [] for size in memories}
        for _ in range(PASSES):
            for size, memory in memories.items():
                passes[size].append(timed(partial(ask, memory, size), number)[0])
        if number >= WARM_UP:
            for size, seconds in passes.items():
                taken[size].append(p50(seconds))
    return taken


# --- the memory


def fill(memory: Memory, size: int) -> None:
    """Write the nodes with their vectors, then what joins them."""
    space = VectorSpace(Drawn.model, DIM)
    memory.store.vector_spaces().start(space)
    rng = np.random.default_rng([SEED, 11])
    with memory.store.bulk():
        for start in range(0, size, BATCH):
            nodes = [made(n) for n in range(start, min(start + BATCH, size))]
            vectors = drawn_for([node.id for node in nodes], rng)
            memory.store.write(memory.scope, Batch(nodes=nodes, vectors=vectors, space=space))
        for edges, mentions in joined(size):
            vectors = drawn_for([edge.id for edge in edges if edge.text], rng)
            memory.store.write(memory.scope, Batch(edges=edges, mentions=mentions, edge_vectors=vectors, space=space))
    memory.refresh()


def drawn_for(ids: Sequence[str], rng: np.random.Generator) -> dict[str, bytes]:
    drawn = rng.standard_normal((len(ids), DIM), dtype=np.float32)
    return dict(zip(ids, to_blob(drawn / np.linalg.norm(drawn, axis=1, keepdims=True)), strict=True))


def kind_of(number: int) -> str:
    if number % 10 == 0:
        return SEMANTIC[number // 10 % 3]
    if number % 20 == 1:
        return "source"
    return {2: "storyline", 3: "artifact"}.get(number % 200, "macro" if number % 1000 == 4 else "atom")


def made(number: int) -> Node:
    words, kind = vocabulary(), kind_of(number)
    chance = random.Random(number)
    time = NOW - number * 7919 % (365 * DAY)
    text = " ".join(words[int(chance.paretovariate(0.6)) % len(words)] for _ in range(6))
    life = Life(chance.choice((0.3, 0.5, 0.8)), "active", accesses=1, last_access=time) if number % 10 == 0 else Life()
    name = name_of(number) if kind != "atom" else None
    return Node(node_id(number), kind, name, text, at=time, created=time, updated=time, life=life)


def joined(size: int) -> Iterator[tuple[list[Edge], list[Mention]]]:
    chance = random.Random(SEED)
    edges: list[Edge] = []
    mentions: list[Mention] = []
    for number in range(size):
        kind, id_ = kind_of(number), node_id(number)
        if kind in SEMANTIC:
            others = [node_id(chance.randrange(size) // 10 * 10) for _ in range(3)]
            edges += [
                Edge(
                    f"r{number}-{n}", id_, other, "relates", chance.choice((0.3, 0.6, 0.9)), text=name_of(number + n),
                    type="friend", attitude=chance.randint(1, 5), proximity=chance.randint(1, 5), updated=NOW,
                )
                for n, other in enumerate(others)
                if other != id_
            ]  # fmt: skip
        elif kind == "source":
            story = node_id(number // 200 * 200 + 2)
            edges.append(Edge(f"s{number}", id_, story, "part_of", 0.35, via="bench"))
            named = {node_id(chance.randrange(size) // 10 * 10) for _ in range(5)}
            mentions += [Mention(id_, other, NOW) for other in sorted(named)]
        elif kind == "storyline":
            edges.append(Edge(f"m{number}", id_, node_id(number // 1000 * 1000 + 4), "part_of", 0.35, via="bench"))
        if len(edges) >= BATCH:
            yield edges, mentions
            edges, mentions = [], []
    yield edges, mentions


def name_of(number: int) -> str:
    words = vocabulary()
    return f"{words[500 + number * 31 % 40_000]} {words[500 + number * 17 // 10 % 40_000]}".title()


def node_id(number: int) -> str:
    return f"n{number:07}"


if __name__ == "__main__":
    main()
