"""Activates a large graph of one's own on a Neo4j server and in Python, and compares each answer with a second walk.

    scripts/neo4j.py with python -m bench.own_graph --nodes 100000 --cases 100

The graph has hubs (ends of edges are chosen with a preference for nodes that have some), parallel edges, loops, missing
weights and tags. Prints how long an activation takes and how many of the sampled cases are equal.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from neo4j import Driver, GraphDatabase

from cuetrail import Graph
from cuetrail.graph import GraphEdge, GraphSource, NodeEdges
from cuetrail.model import Activation

TAGS = [f"tag{number}" for number in range(40)]
MAPPING = {"labels": ["Thing"], "types": ["LINKED"], "id": "uid", "weight": "w", "tags": "topics", "edge_id": "key"}
STORE = """UNWIND $rows AS r MATCH (a:Thing {uid: r[1]}) MATCH (b:Thing {uid: r[2]})
CREATE (a)-[e:LINKED {key: r[0], topics: r[4]}]->(b) SET e.w = r[3]"""
CHUNK = 10_000

Row = tuple[str, str, str, float | None, list[str]]


def make_edges(nodes: int, chance: random.Random) -> list[Row]:
    """Returns three edges per node; every second end is one that had an edge before, so that hubs grow."""
    ends = [f"n{number}" for number in range(min(nodes, 10))]
    rows: list[Row] = []
    for number in range(nodes * 3):
        src = f"n{chance.randrange(nodes)}"
        dst = chance.choice(ends) if chance.random() < 0.5 else f"n{chance.randrange(nodes)}"
        ends.append(dst)
        weight = None if chance.random() < 0.05 else round(chance.uniform(0.25, 1.0), 2)
        rows.append((f"e{number:08}", src, dst, weight, chance.sample(TAGS, chance.choice((0, 1, 2, 3)))))
    return rows


class InPython(GraphSource):
    """The same graph in dictionaries."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.around: dict[str, list[GraphEdge]] = defaultdict(list)
        for key, src, dst, weight, tags in rows:
            self.around[src].append(GraphEdge(key, dst, weight, tags))
            if dst != src:
                self.around[dst].append(GraphEdge(key, src, weight, tags, False))

    def edges(self, ids: Sequence[str], /) -> Mapping[str, NodeEdges]:
        """Returns the edges of each node."""
        return {id_: NodeEdges(self.around[id_]) for id_ in ids if id_ in self.around}


def second_walk(
    around: Mapping[str, list[GraphEdge]], seed: str, tags: set[str], depth: int, branches: int
) -> list[tuple[tuple[str, ...], float]]:
    """Returns the paths and their last energies, computed without the code under test, by the rule "energy"."""
    tips: list[tuple[float, tuple[str, ...]]] = [(0.9, (seed,))]
    visited, ended = {seed}, []
    for _ in range(depth):
        offers = []
        for place, (energy, path) in enumerate(tips):
            best: dict[str, tuple[float, str]] = {}
            edges = around.get(path[-1], [])
            for edge in edges:
                own = set(edge.tags)
                overlap = len(own & tags) / len(own | tags) if own else 0.0
                weight = 0.01 if edge.weight is None else edge.weight
                passed = energy * weight / math.sqrt(len(edges)) * ((0.15 + 0.85 * overlap) if tags else 1.0)
                if edge.other not in visited and passed > 0.005:
                    best[edge.other] = min(best.get(edge.other, (0.0, "~")), (-passed, edge.id))
            offers += [(minus, place, other) for other, (minus, _) in best.items()]
        taken: dict[int, list[tuple[float, str]]] = defaultdict(list)
        claimed: set[str] = set()
        for minus, place, other in sorted(offers, key=lambda one: (round(one[0], 12), one[1], one[2])):
            if other not in claimed and len(taken[place]) < branches:
                claimed.add(other)
                taken[place].append((-minus, other))
        ended += [(path, energy) for place, (energy, path) in enumerate(tips) if not taken[place] and len(path) > 1]
        tips = [(got, (*path, other)) for place, (_, path) in enumerate(tips) for got, other in taken[place]]
        visited |= claimed
    return ended + [(path, energy) for energy, path in tips if len(path) > 1]


def store(driver: Driver, rows: Sequence[Row], nodes: int) -> None:
    """Stores the graph as a program of somebody else would."""
    driver.execute_query("CREATE INDEX thing_uid IF NOT EXISTS FOR (n:Thing) ON (n.uid)")
    driver.execute_query("CALL db.awaitIndexes()")
    for start in range(0, nodes, CHUNK):
        ids = [f"n{number}" for number in range(start, min(start + CHUNK, nodes))]
        driver.execute_query("UNWIND $ids AS id CREATE (:Thing {uid: id})", ids=ids)
    for start in range(0, len(rows), CHUNK):
        driver.execute_query(STORE, rows=[list(row) for row in rows[start : start + CHUNK]])


def last_write(driver: Driver) -> frozenset[str]:
    """Returns the server's mark of its last transaction that wrote: a read does not move it."""
    with driver.session() as session:
        session.run("RETURN 1").consume()
        return session.last_bookmarks().raw_values


def equal(found: Activation, wanted: list[tuple[tuple[str, ...], float]]) -> bool:
    """True if paths, their order and their energies are the same, these to 1e-10."""
    got = [(path.ids, path.hops[-1].energy) for path in found.paths]
    return [one[0] for one in got] == [one[0] for one in wanted] and all(
        abs(one[1] - other[1]) < 1e-10 for one, other in zip(got, wanted, strict=True)
    )


def compare(name: str, graph: Graph, cases: Sequence[Any], walk: Callable[..., Any]) -> None:
    """Prints how many cases are equal to the second walk, and how long they took."""
    same, hops, took = 0, 0, []
    for seed, tags, depth, branches in cases:
        began = time.perf_counter()
        (found,) = graph.activate([(seed, 0.9)], tags=tags, max_depth=depth, max_branches=branches)
        took.append(1000 * (time.perf_counter() - began))
        same += found.error is None and equal(found, walk(seed, set(tags), depth, branches))
        hops += sum(len(path.hops) for path in found.paths)
    took.sort()
    print(
        f"{name}: {same} of {len(cases)} equal, {hops} hops; p50 {statistics.median(took):.1f} ms, "
        f"p95 {took[int(0.95 * len(took))]:.1f} ms",
        flush=True,
    )


def main() -> None:
    """Builds, stores and compares."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--cases", type=int, default=100)
    given = parser.parse_args()
    chance = random.Random(7)
    rows = make_edges(given.nodes, chance)
    source = InPython(rows)
    hubs = sorted(source.around, key=lambda id_: -len(source.around[id_]))[:10]
    print(f"{given.nodes} nodes, {len(rows)} edges, largest degree {len(source.around[hubs[0]])}", flush=True)
    starts = hubs + [f"n{chance.randrange(given.nodes)}" for _ in range(given.cases - len(hubs))]
    cases = [
        (seed, chance.sample(TAGS, chance.choice((0, 1, 3))), chance.choice((1, 3, 5)), chance.choice((2, 3, 10)))
        for seed in starts
    ]

    def walk(*case: Any) -> list[tuple[tuple[str, ...], float]]:
        return second_walk(source.around, *case)

    compare("in Python", Graph(source), cases, walk)
    login = (os.environ["NEO4J_USER"], os.environ["NEO4J_PASSWORD"])
    with GraphDatabase.driver(os.environ["NEO4J_URI"], auth=login) as driver:
        began = time.perf_counter()
        store(driver, rows, given.nodes)
        print(f"stored in Neo4j in {time.perf_counter() - began:.0f} s", flush=True)
        with Graph(os.environ["NEO4J_URI"], MAPPING) as graph:
            before = last_write(driver)
            compare("on Neo4j", graph, cases, walk)
            compare("on Neo4j, again", graph, cases, walk)
            print(f"fits: {graph.check().fits}; something was written: {last_write(driver) != before}")


if __name__ == "__main__":
    main()
