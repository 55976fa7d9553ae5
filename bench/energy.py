"""Measures spreading activation from five seeds against fetching the same rows from SQLite with no scoring.

    python -m bench.energy 10000 100000 1000000
    python -m bench.energy --neo4j 10000          # the same walk in Neo4j beside it; it needs Java 17 and, once, Maven

The graphs are those of `bench.graphs`. An activation is `Memory.activate` from five nodes drawn at random, with its
defaults; half of them have three query tags. The Neo4j server is a Community one on this machine, with memory for the
whole graph and all its indexes online, and does as many activations as are timed before the first of them is.

The bound fetches, level by level, what an activation cannot do without, on a plain connection: the keys of the same
nodes by their ids, their degrees, and the rows of their adjacency with the edges, the strongest first: those that could
pass enough energy on if their tags fitted, and no more than the walk may choose of, or with tags, where a weaker edge
may fit better, 300. It asks node by node and reads all of these edges; cuetrail asks for many nodes at once, and reads
what an edge is only where energy takes it. Both take turns. Each activation runs PASSES times; its median counts.
"""

from __future__ import annotations

import contextlib
import math
import random
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench.common import SMALL, Result, arguments, ms, p50, p95, publish, timed, times, workplace
from bench.corpus import SEED
from bench.graphs import DONE, TAGS, build, node_id, on_server
from cuetrail import Memory
from cuetrail.model import Activation, Scope
from cuetrail.store.graph import Expanded, Frontier
from cuetrail.store.ports import Store

ACTIVATIONS = 200
WARM_UP = 20
PASSES = 3
SEEDS = 5
HUB = 300
MIN_ACTIVATION = 0.005
COLUMNS = ["activations", "cuetrail p50", "p95", "bound p50", "p95", "ours / bound", "Neo4j p50", "Neo4j / ours"]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--neo4j", action="store_true", help="make the same activations on a Neo4j server")
    options = parser.parse_args()
    with workplace(options.work) as work:
        first: float | None = None
        for size in sorted(options.sizes):
            folder = work / f"energy-{size}"
            if not (folder / DONE).exists():
                build(folder, size)
            server = on_server(work / f"neo4j-{size}", size) if options.neo4j else contextlib.nullcontext()
            with Memory(folder, embedder=None) as memory, server as other:
                result = measure(memory, other, folder, size, first)
            first = first or (result.figures["p50"] if size == SMALL else None)
            publish(result)


@dataclass(frozen=True, slots=True)
class Asked:
    """The seeds of an activation and the embedding of its query."""

    seeds: list[tuple[str, float]]
    tags: list[str]


Fetches = list[list[tuple[str, float, int]]]
"""Per level the nodes that are expanded, with the energy they have and how many rows of each are read at most."""


def measure(memory: Memory, other: Memory | None, folder: Path, size: int, first: float | None) -> Result:
    chance = random.Random(SEED)
    asked = [some_activation(chance, size, tagged=bool(n % 2)) for n in range(WARM_UP + ACTIVATIONS)]
    if other is not None:
        # What is compiled while it runs gets faster with use.
        for one in asked[WARM_UP:]:
            activated(other, one)
    taken, notes = _race(memory, other, folder, asked)
    ways = {"all": slice(None), "no query tags": slice(0, None, 2), "three query tags": slice(1, None, 2)}
    rows = [_row(name, {way: some[part] for way, some in taken.items()}) for name, part in ways.items()]
    ours, bound = p50(taken["ours"]), p50(taken["bound"])
    figures = {"p50": ours, "p95": p95(taken["ours"]), "p50, ours / bound": ours / bound}
    if first is not None:
        figures[f"p50 / p50 at {SMALL}"] = ours / first
    if "Neo4j" in taken:
        figures["p50, Neo4j / ours"] = p50(taken["Neo4j"]) / ours
    return Result("energy", size, COLUMNS, rows, figures, notes)


def some_activation(chance: random.Random, size: int, tagged: bool) -> Asked:
    return Asked(
        [(node_id(chance.randrange(size)), round(chance.uniform(0.5, 1.0), 3)) for _ in range(SEEDS)],
        chance.sample(TAGS[:20], 3) if tagged else [],
    )


def _race(
    memory: Memory, other: Memory | None, folder: Path, asked: list[Asked]
) -> tuple[dict[str, list[float]], list[str]]:
    """Every activation by each engine and by hand, in turns: medians, and a note on how much was expanded."""
    engine, fetch = Watched(memory.store), _by_hand(folder)
    taken: dict[str, list[float]] = {}
    nodes = levels = 0
    for number, one in enumerate(asked):
        memory.store = engine
        found = activated(memory, one)
        memory.store, fetches = engine.store, engine.told()
        ways: dict[str, Callable[[Asked], object]] = {
            "ours": partial(activated, memory),
            "bound": partial(_fetched, fetch, fetches),
        }
        if other is not None:
            assert _paths(activated(other, one)) == _paths(found), "both engines take the same paths"
            ways["Neo4j"] = partial(activated, other)
        if number >= WARM_UP:
            passes = [{way: timed(ways[way], one)[0] for way in _turned(list(ways), turn)} for turn in range(PASSES)]
            for way in ways:
                taken.setdefault(way, []).append(p50([seconds[way] for seconds in passes]))
            nodes, levels = nodes + sum(map(len, fetches)), levels + len(fetches)
    return taken, [f"on average {nodes / ACTIVATIONS:.0f} nodes expanded on {levels / ACTIVATIONS:.1f} levels"]


def _fetched(fetch: Callable[[Fetches], int], fetches: Fetches, _one: Asked) -> int:
    return fetch(fetches)


def _turned(ways: list[str], turn: int) -> list[str]:
    """The same ways, each time beginning with another one."""
    return ways[turn % len(ways) :] + ways[: turn % len(ways)]


def _paths(found: list[Activation]) -> dict[str, list[tuple[str, ...]]]:
    return {one.seed: [path.ids for path in one.paths] for one in found}


def activated(memory: Memory, one: Asked) -> list[Activation]:
    return list(memory.activate(one.seeds, tags=one.tags, record_access=False))


class Watched:
    """An engine that records which nodes it is asked to expand."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._fetches: Fetches = []

    def told(self) -> Fetches:
        """Returns the records since the last call."""
        told, self._fetches = self._fetches, []
        return told

    def expand(self, scope: Scope, level: Frontier) -> Expanded:
        limits = [HUB if level.tags else wanted for wanted in level.wanted()]
        self._fetches.append([(spark.id, spark.energy, most) for spark, most in zip(level.nodes, limits, strict=True)])
        return self.store.expand(scope, level)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


BY_HAND = """SELECT a.rank, a.other_id, a.other, a.edge, a.outgoing, e.id, e.kind, e.weight, e.tags
  FROM adjacency a JOIN edges e ON e.key = a.edge WHERE a.node = ? AND a.rank < ?
  ORDER BY a.rank, a.other_id, a.edge LIMIT ?"""


def _by_hand(folder: Path) -> Callable[[Fetches], int]:
    db = sqlite3.connect(folder / "memory.db", isolation_level=None)
    # As much cache as cuetrail gives a reader.
    db.execute("PRAGMA cache_size = -131072")

    def fetch(fetches: Fetches) -> int:
        read = 0
        for level in fetches:
            ids = [id_ for id_, _, _ in level]
            keys = dict(db.execute(f"SELECT id, key FROM nodes WHERE id IN ({_marks(ids)})", ids))
            found = list(keys.values())
            degrees = dict(db.execute(f"SELECT node, degree FROM degrees WHERE node IN ({_marks(found)})", found))
            for id_, energy, limit in level:
                rank = -MIN_ACTIVATION * math.sqrt(degrees[keys[id_]]) / energy
                read += len(db.execute(BY_HAND, (keys[id_], rank, limit)).fetchall())
        return read

    return fetch


def _marks(items: Sequence[object]) -> str:
    return ",".join("?" * len(items))


def _row(name: str, taken: dict[str, list[float]]) -> list[str]:
    ours, bound, other = taken["ours"], taken["bound"], taken.get("Neo4j")
    row = [name, ms(p50(ours)), ms(p95(ours)), ms(p50(bound)), ms(p95(bound)), times(p50(ours) / p50(bound))]
    return row + ([ms(p50(other)), times(p50(other) / p50(ours))] if other else ["", ""])


if __name__ == "__main__":
    main()
