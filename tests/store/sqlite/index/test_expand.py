"""Reading the neighbours of a hub costs in proportion to the answer, not to the number of edges."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cuetrail.model import Edge, Node, Scope
from cuetrail.store.graph import Frontier, FrontierNode
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.sqlite.index.expand import expand
from cuetrail.store.sqlite.reader import Reader
from cuetrail.store.write import Batch

ME = Scope("t", "me", ("red",))
MATE = Scope("t", "mate", ("red",), "red")
STRANGER = Scope("t", "stranger")
DEGREE = 20_000
TAGS = ((), ("camp",), ("camp", "lead"), ("camp", "lead", "route"), ("route",))


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    """A hub of DEGREE edges of random weight, half of them a teammate's, beside a stranger's own memory."""
    store = SqliteStore(tmp_path_factory.mktemp("hub"))
    chance = random.Random(1)
    weights = [0.25 + 0.75 * chance.random() for _ in range(DEGREE)]
    spokes = [Node(f"n{i:05}") for i in range(DEGREE)]
    edges = [Edge(f"e{i:05}", "hub", f"n{i:05}", weight=weights[i], tags=chance.choice(TAGS)) for i in range(DEGREE)]
    half = DEGREE // 2
    store.write(MATE, Batch(nodes=[Node("hub"), *spokes[:half]], edges=edges[:half]))
    store.write(ME, Batch(nodes=[*spokes[half:], Node("small")], edges=[*edges[half:], Edge("s", "small", "n00001")]))
    store.write(STRANGER, Batch(nodes=[Node("x")]))
    yield store
    store.close()


def steps_of(store: SqliteStore, id_: str, limit: int) -> int:
    """How many instructions SQLite's virtual machine runs to read the neighbours of a node, counted in tens."""
    return counted(store, lambda reader: reader.neighbours([id_], limit))


def counted(store: SqliteStore, read: Callable[[Reader], object]) -> int:
    """How many instructions SQLite's virtual machine runs for a read, counted in tens."""
    count = 0

    def tick() -> int:
        nonlocal count
        count += 1
        return 0

    with store.db.reading() as db:
        db.set_progress_handler(tick, 10)
        try:
            read(Reader(db, ME, store.db.path))
        finally:
            db.set_progress_handler(None, 0)
    return count


def test_a_hub_is_read_no_further_than_asked(hub: SqliteStore) -> None:
    around = hub.neighbours(ME, ["hub"], 10)["hub"]
    assert around.degree == DEGREE
    assert len(around.neighbours) == 10
    few, more = steps_of(hub, "hub", 10), steps_of(hub, "hub", 100)
    # Reading all the edges takes over 20,000 steps; ten rows more cost what ten rows cost.
    assert few < 300
    assert more - few < 10 * few
    assert steps_of(hub, "hub", DEGREE) > DEGREE
    assert few < 8 * steps_of(hub, "small", 10) + 300


@pytest.mark.parametrize("tags", [(), ("camp",), ("lead",), ("camp", "lead", "route"), ("unheard",)])
def test_energy_from_a_hub_reads_no_further_than_it_matters(hub: SqliteStore, tags: tuple[str, ...]) -> None:
    level = Frontier((FrontierNode("hub", 1.0, 0),), (frozenset({"hub"}),), frozenset(tags), min_activation=0.0)
    everything = counted(hub, lambda reader: expand(reader, replace(level, max_branches=DEGREE)))
    assert counted(hub, lambda reader: expand(reader, level)) < everything / 100
    few = hub.expand(ME, level).candidates[0]
    assert few == hub.expand(ME, replace(level, max_branches=DEGREE)).candidates[0][: len(few)]
    assert len(few) == 3


def test_the_strongest_edges_of_a_hub_come_first(hub: SqliteStore) -> None:
    every = hub.neighbours(ME, ["hub"], DEGREE)["hub"].neighbours
    weights = [step.weight or 0 for step in every]
    assert weights == sorted(weights, reverse=True)
    assert len({step.edge for step in every}) == DEGREE
    assert hub.neighbours(ME, ["hub"], 25)["hub"].neighbours == every[:25]


def test_an_expansion_needs_no_sort(hub: SqliteStore) -> None:
    with hub.db.reading() as db:
        reader = Reader(db, ME, hub.db.path)
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {reader.expansion()}", (1,))]
    assert plan[0].startswith("SEARCH a USING PRIMARY KEY (node=?)"), plan
    assert not any("TEMP B-TREE" in step or step.startswith("SCAN") for step in plan), plan


def test_a_teammate_outside_the_team_sees_neither_hub_nor_degree(hub: SqliteStore) -> None:
    assert hub.neighbours(STRANGER, ["hub"], 10) == {}
    assert hub.neighbours(MATE, ["hub"], 10)["hub"].degree == DEGREE // 2


def test_a_hub_can_lose_its_edges_and_itself(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    spokes = [f"n{i}" for i in range(1200)]
    nodes = [Node("hub"), *map(Node, spokes)]
    store.write(ME, Batch(nodes=nodes, edges=[Edge(f"e{i}", "hub", i, weight=0.5) for i in spokes]))
    store.write(ME, Batch(remove_edges=[f"e{i}" for i in spokes[:700]]))
    assert store.neighbours(ME, ["hub"], 1)["hub"].degree == 500
    store.write(ME, Batch(remove_nodes=["hub"]))
    assert {around.degree for around in store.neighbours(ME, spokes, 5).values()} == {0}
    assert store.stats(ME).edges == 0
    assert store.doctor(False, None) == []
    store.close()
