"""Measures expanding a hub against nodes of ordinary degree and against the same rows by hand from SQLite.

    python -m bench.hub

One memory holds a node with 100,000 edges, one with 1,000 and one with 100; `Store.neighbours` asks each for its ten
strongest. By hand: the id's key, the degree, and the ten rows of the adjacency table with their edges, on a plain
connection. All six take turns.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from bench.common import Result, arguments, emptied, p50, publish, timed, times, workplace
from bench.corpus import SEED
from cuetrail import Memory
from cuetrail.model import Edge, Node
from cuetrail.store.write import Batch

DEGREES = (100, 1_000, 100_000)
LIMIT = 10
ROUNDS = 2_000
WARM_UP = 100
BATCH = 5_000
COLUMNS = ["degree", "cuetrail", "by hand", "ours / by hand", "ours / ours at degree 100"]
BY_HAND = """SELECT a.other_id, e.id, e.kind, e.weight, e.tags, a.outgoing
  FROM adjacency a JOIN edges e ON e.key = a.edge WHERE a.node = ? ORDER BY a.rank, a.other_id, a.edge LIMIT ?"""


def main() -> None:
    options = arguments(__doc__, sizes=False).parse_args()
    with workplace(options.work) as work:
        folder = emptied(work / "hub")
        with Memory(folder, embedder=None) as memory:
            for batch in _graph():
                memory.store.write(memory.scope, batch)
            publish(measure(memory, folder))


def _graph() -> Iterator[Batch]:
    """Three hubs over the same leaves, with random weights."""
    rng = np.random.default_rng([SEED, 5])
    yield Batch(nodes=[Node(id=_hub(degree), text="hub") for degree in DEGREES])
    leaves = [f"leaf-{n}" for n in range(max(DEGREES))]
    for start in range(0, len(leaves), BATCH):
        yield Batch(nodes=[Node(id=leaf, text="leaf") for leaf in leaves[start : start + BATCH]])
    for degree in DEGREES:
        weights = rng.uniform(0.25, 1.0, degree).tolist()
        for start in range(0, degree, BATCH):
            numbers = range(start, min(start + BATCH, degree))
            yield Batch(edges=[Edge(f"{degree}-{n}", _hub(degree), leaves[n], weight=weights[n]) for n in numbers])


def _hub(degree: int) -> str:
    return f"hub-{degree}"


def measure(memory: Memory, folder: Path) -> Result:
    def ours(id_: str) -> list[str]:
        return [step.id for step in memory.store.neighbours(memory.scope, [id_], LIMIT)[id_].neighbours]

    by_hand = _by_hand(folder)
    hubs = [_hub(degree) for degree in DEGREES]
    for hub in hubs:
        assert ours(hub) == by_hand(hub), "both ways give the same neighbours"
    taken: dict[tuple[str, str], list[float]] = {}
    for turn in range(WARM_UP + ROUNDS):
        for hub in hubs:
            for name, way in (("ours", ours), ("by hand", by_hand)):
                seconds, _ = timed(way, hub)
                if turn >= WARM_UP:
                    taken.setdefault((name, hub), []).append(seconds)
    return _result([p50(taken["ours", hub]) for hub in hubs], [p50(taken["by hand", hub]) for hub in hubs])


def _result(mine: list[float], hand: list[float]) -> Result:
    rows = [
        [f"{degree:,}", _us(ours), _us(plain), times(ours / plain), times(ours / mine[0])]
        for degree, ours, plain in zip(DEGREES, mine, hand, strict=True)
    ]
    figures = {
        "degree 100,000 / degree 100": mine[-1] / mine[0],
        "degree 100,000 / degree 1,000": mine[-1] / mine[1],
        "ours / by hand at degree 100,000": mine[-1] / hand[-1],
    }
    return Result("hub", max(DEGREES), COLUMNS, rows, figures)


def _by_hand(folder: Path) -> Callable[[str], list[str]]:
    db = sqlite3.connect(folder / "memory.db", isolation_level=None)

    def fetch(id_: str) -> list[str]:
        (key,) = db.execute("SELECT key FROM nodes WHERE id = ?", (id_,)).fetchone()
        db.execute("SELECT sum(degree) FROM degrees WHERE node = ?", (key,)).fetchone()
        return [row[0] for row in db.execute(BY_HAND, (key, LIMIT)).fetchall()]

    return fetch


def _us(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs"


if __name__ == "__main__":
    main()
