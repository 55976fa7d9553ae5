"""Energy flows on every engine as the specification has it: the conformance table, and random graphs against a walk
written a second time here, without engine, index or early end."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from cuetrail.model import Activation, Claim, Edge, Node, Scope, Where
from cuetrail.recall.spread.activation import Flow, activate_seeds
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch

CONFORMANCE = """
A0-A1 .90 camp,evid,region | A0-A2 .80 camp,meth | A1-A2 .75 norm,camp | A2-A3 .85 camp,insight,region
A1-A3 .82 camp,evid | A4-A3 .70 weather,spike | A5-A3 .55 style,format | A0-A4 .60 event,spike
B0-B1 .88 supp,evid,lead | B1-B2 .72 lead,meth | B2-B3 .78 route,insight | B1-B3 .70 lead,evid
B4-B2 .58 cap,route | B5-B3 .52 style,quant | A3-B1 .35 cross
"""
TABLE: list[tuple[str, list[str], int, int, Claim, dict[str, list[float]]]] = [
    ("A0", ["camp"], 1, 2, "energy", {"A0-A2": [0.239023], "A0-A1": [0.202650]}),
    ("A0", ["camp"], 3, 2, "energy", {"A0-A2": [0.239023], "A0-A1-A3": [0.202650, 0.055165]}),
    ("A0", ["camp"], 3, 2, "frontier", {"A0-A1": [0.202650], "A0-A2-A3": [0.239023, 0.050830]}),
    ("A0", [], 1, 2, "energy", {"A0-A1": [0.467654], "A0-A2": [0.415692]}),
    ("B0", ["lead"], 3, 2, "energy", {"B0-B1-B2": [0.3432, 0.071042], "B0-B1-B3": [0.3432, 0.069069]}),
]
TAGS = ("camp", "evid", "lead", "meth", "route")
# Graphs that are not joined lie in one memory, and energy flows in many of them at once: so a server is asked little.
GRAPHS, AT_ONCE = 1_000, 25
# Sums that are equal on paper may differ in their last bits; two engines that are as near to a third as this are
# nearer than 1e-9 to each other.
NEAR = 1e-10


@pytest.mark.parametrize(("seed", "tags", "depth", "branches", "claim", "expected"), TABLE)
def test_the_conformance_table_holds(
    store: Store, seed: str, tags: list[str], depth: int, branches: int, claim: Claim, expected: dict[str, list[float]]
) -> None:
    edges = []
    for line in filter(str.strip, CONFORMANCE.replace("\n", "|").split("|")):
        ends, weight, names = line.split()
        src, dst = ends.split("-")
        edges.append(Edge(ends, src, dst, weight=float(weight), tags=tuple(names.split(","))))
    ids = sorted({id_ for edge in edges for id_ in (edge.src, edge.dst)})
    store.write(Scope(), Batch(nodes=list(map(Node, ids)), edges=edges))
    flow = Flow(depth, branches, claim=claim)
    (found,) = activate_seeds(store, Scope(), {seed: 0.9}, tags, flow, Where())
    assert found.reason == "complete"
    assert shown(found) == [(name, pytest.approx(energies, abs=1e-6)) for name, energies in expected.items()]


def shown(found: Activation) -> list[tuple[str, Any]]:
    return [("-".join(path.ids), [hop.energy for hop in path.hops]) for path in found.paths]


# --- the walk, written a second time


@dataclass(frozen=True)
class Graph:
    ids: list[str]
    edges: list[Edge]


@dataclass(frozen=True)
class Step:
    energy: float
    parent: int
    id: str
    edge: str


def steps_from(graph: Graph, parent: int, at: str, energy: float, tags: set[str], flow: Flow) -> list[Step]:
    """Every neighbour's best edge, whether or not it has been visited."""
    touching = [edge for edge in graph.edges if at in (edge.src, edge.dst)]
    best: dict[str, Step] = {}
    for edge in touching:
        own = set(edge.tags)
        fit = 1.0
        if tags:
            overlap = len(own & tags) / len(own | tags) if own else 0.0
            fit = flow.tag_sim_floor + (1 - flow.tag_sim_floor) * overlap
        passed = energy * (0.01 if edge.weight is None else edge.weight) * fit / math.sqrt(len(touching))
        other = edge.dst if edge.src == at else edge.src
        known = best.get(other)
        # Sums that are equal on paper may differ in their last bit.
        better = known is None or passed > known.energy + 1e-12
        if better or (known is not None and abs(passed - known.energy) <= 1e-12 and edge.id < known.edge):
            best[other] = Step(passed, parent, other, edge.id)
    return [step for step in best.values() if step.energy > flow.min_activation]


def shared_out(steps: list[Step], tips: int, flow: Flow) -> list[list[Step]]:
    """Who gets which neighbour, chosen one at a time."""
    got: list[list[Step]] = [[] for _ in range(tips)]
    left = list(steps)
    while True:
        free = [s for s in left if len(got[s.parent]) < flow.max_branches]
        if not free:
            return got
        if flow.claim == "energy":
            chosen = min(free, key=lambda s: (-round(s.energy, 12), s.parent, s.id))
        else:
            chosen = min(free, key=lambda s: (s.parent, -round(s.energy, 12), s.id))
        got[chosen.parent].append(chosen)
        left = [s for s in left if s.id != chosen.id]


def walked(graph: Graph, seed: str, score: float, tags: set[str], flow: Flow) -> list[tuple[str, list[float]]]:
    ended: list[tuple[str, list[float]]] = []
    tips: list[tuple[str, float, list[str], list[float]]] = [(seed, score, [seed], [])]
    visited = {seed}
    for _ in range(flow.max_depth if flow.max_branches else 0):
        steps = [
            step
            for number, (at, energy, _, _) in enumerate(tips)
            for step in steps_from(graph, number, at, energy, tags, flow)
            if step.id not in visited
        ]
        onward = []
        for (_, _, ids, energies), got in zip(tips, shared_out(steps, len(tips), flow), strict=True):
            onward += [(s.id, s.energy, [*ids, s.id], [*energies, s.energy]) for s in got]
            ended += [("-".join(ids), energies)] if not got and energies else []
        tips = onward
        visited |= {tip[0] for tip in tips}
    return ended + [("-".join(ids), energies) for _, _, ids, energies in tips if energies]


# --- random graphs


def some_graph(chance: random.Random, name: str) -> Graph:
    """Parallel edges, self-loops, missing weights and tags, and a hub; few weights, so that there are ties."""
    ids = [f"{name}n{i:02}" for i in range(chance.choice((1, 2, 4, 8, 14) if chance.random() < 0.98 else (70,)))]
    weights = [None, 0.25, 0.5, 0.5, 0.8, 1.0, chance.uniform(0.25, 1.0)]
    edges = [
        Edge(
            f"{name}e{chance.randrange(1000):03}-{number}",
            chance.choice((ids[0], chance.choice(ids))),
            chance.choice(ids),
            weight=chance.choice(weights),
            tags=tuple(chance.sample(TAGS, chance.choice((0, 1, 2, 3)))),
        )
        for number in range(chance.choice((0, len(ids), 3 * len(ids))))
    ]
    return Graph(ids, edges)


def some_flow(chance: random.Random, claim: Claim) -> Flow:
    return Flow(
        chance.choice((1, 2, 3, 5)),
        chance.choice((1, 2, 3, 20)),
        chance.choice((0.0, 0.0007, 0.005, 0.05)),
        chance.choice((0.0, 0.15, 0.15, 1.0)),
        claim,
    )


@pytest.mark.parametrize("claim", ["energy", "frontier"])
def test_energy_flows_on_random_graphs_as_a_second_walk_says(store: Store, claim: Claim) -> None:
    chance = random.Random(claim)
    graphs = [some_graph(chance, f"{number:03}") for number in range(GRAPHS // 2)]
    assert_covers(graphs)
    nodes = [Node(id_) for graph in graphs for id_ in graph.ids]
    store.write(Scope(), Batch(nodes=nodes, edges=[edge for graph in graphs for edge in graph.edges]))
    steps = 0
    for start in range(0, len(graphs), AT_ONCE):
        flow, tags = some_flow(chance, claim), set(chance.sample(TAGS, chance.choice((0, 1, 1, 3))))
        graph_of = {id_: g for g in graphs[start : start + AT_ONCE] for id_ in chance.sample(g.ids, min(3, len(g.ids)))}
        seeds = {id_: chance.choice((0.9, 1.0, 0.41)) for id_ in graph_of}
        found = {one.seed: one for one in activate_seeds(store, Scope(), seeds, sorted(tags), flow, Where())}
        for seed, score in seeds.items():
            steps += assert_flowed(found[seed], walked(graph_of[seed], seed, score, tags, flow), (seed, tags, flow))
    assert steps > GRAPHS


def assert_covers(graphs: Sequence[Graph]) -> None:
    """The graphs have what the rule treats in a way of its own, each many times."""
    edges = [edge for graph in graphs for edge in graph.edges]
    pairs = Counter(frozenset((edge.src, edge.dst)) for edge in edges)
    ends = Counter(end for edge in edges for end in {edge.src, edge.dst})
    parallel = sum(count > 1 for count in pairs.values())
    loops, weightless = sum(e.src == e.dst for e in edges), sum(e.weight is None for e in edges)
    assert min(parallel, loops, weightless, sum(not e.tags for e in edges)) > len(graphs) / 2
    assert ends.most_common(1)[0][1] > 100


def assert_flowed(found: Activation, wanted: list[tuple[str, list[float]]], told: object) -> int:
    """The same paths in the same order with the same energies; how many steps they have."""
    assert found.reason == "complete"
    assert [name for name, _ in shown(found)] == [name for name, _ in wanted], told
    for (_, energies), (_, others) in zip(shown(found), wanted, strict=True):
        assert energies == pytest.approx(others, rel=0, abs=NEAR), told
    return sum(len(energies) for _, energies in wanted)
