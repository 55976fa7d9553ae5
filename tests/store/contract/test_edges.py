"""Edges, notes and mentions are the same on every engine as computed by hand."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from cuetrail.model import Edge, Life, Mention, Node, Note, Scope, Where
from cuetrail.recall.spread.traversal_pagerank import (
    PageRank,
    TraversalFilter,
    nodes_within_hops,
    personalised_pagerank,
)
from cuetrail.store.graph import EdgeFilter, StepQuery
from cuetrail.store.ports import Store
from cuetrail.store.read import PageRequest
from cuetrail.store.write import Batch

ANN, BOB = Scope("t", "ann"), Scope("t", "bob")
TEAM = Scope("t", "ann", ("red",), "red")


def graph(seed: int, nodes: int = 14, edges: int = 34) -> tuple[list[Node], list[Edge]]:
    """A random graph with everything that a filter asks for, here and there missing."""
    chance = random.Random(seed)
    made = [
        Node(
            f"n{n:02}",
            chance.choice(["person", "concept", "atom"]),
            f"name {n}",
            chance.choice(["", "a text"]),
            at=n,
            life=Life(state="archived", accesses=1) if chance.random() < 0.15 else Life(),
        )
        for n in range(nodes)
    ]
    linked = [
        Edge(
            f"e{n:02}",
            chance.choice(made).id,
            chance.choice(made).id,
            chance.choice(["relates", "knows"]),
            chance.choice([None, 0.25, 0.5, 0.5, 1.0]),
            type=chance.choice([None, "Friend", "rival"]),
            attitude=chance.choice([None, 1, 3, 5]),
            proximity=chance.choice([None, 2, 4]),
            valid_from=chance.choice([None, 5, 50]),
            valid_until=chance.choice([None, 8, 100]),
            via=chance.choice([None, None, "name:rule", "dream:pass"]),
        )
        for n in range(edges)
    ]
    return made, linked


def ties(chance: random.Random) -> EdgeFilter:
    return EdgeFilter(
        kinds=chance.choice([(), ("knows",)]),
        types=chance.choice([(), ("friend",), ("friend", "rival")]),
        exclude_types=chance.choice([(), ("rival",)]),
        min_attitude=chance.choice([None, 2]),
        max_proximity=chance.choice([None, 3]),
        stated=chance.random() < 0.3,
        undreamt=chance.random() < 0.3,
        at=chance.choice([None, 20]),
    )


@pytest.mark.parametrize("seed", range(12))
def test_steps_are_the_strongest_edges_that_pass_all_filters(store: Store, seed: int) -> None:
    nodes, edges = graph(seed)
    store.write(ANN, Batch(nodes=nodes, edges=edges))
    chance = random.Random(seed)
    by_id = {node.id: node for node in nodes}
    for direction in ("out", "in", "both"):
        filters, each = ties(chance), chance.choice([1, 2, 50])
        where = Where(
            kinds=chance.choice([(), ("person",)]), archived=chance.random() < 0.3, with_text=chance.random() < 0.3
        )
        found = store.steps(ANN, StepQuery(tuple(by_id), each, direction, filters, where))
        for id_ in by_id:
            expected = []
            for edge in edges:
                for end, other, outgoing in ((edge.src, edge.dst, True), (edge.dst, edge.src, False)):
                    if end != id_ or (edge.src == edge.dst and not outgoing):
                        continue
                    node = by_id[other]
                    seen = (
                        (where.archived or node.life.state != "archived")
                        and (not where.kinds or node.kind in where.kinds)
                        and (not where.with_text or bool(node.text))
                    )
                    if seen and filters.passes(edge) and direction in ("both", "out" if outgoing else "in"):
                        weight = 0.01 if edge.weight is None else edge.weight
                        expected.append((-weight, other, edge.id, outgoing))
            assert [(step.other, step.edge.id, step.outgoing) for step in found[id_]] == [
                one[1:] for one in sorted(expected)[:each]
            ]


def test_edges_of_others_are_no_steps(store: Store) -> None:
    store.write(ANN, Batch(nodes=[Node("a"), Node("b")], edges=[Edge("e", "a", "b")]))
    store.write(BOB, Batch(nodes=[Node("a"), Node("c")], edges=[Edge("e", "a", "c")]))
    for scope, other in ((ANN, "b"), (BOB, "c")):
        assert [step.other for step in store.steps(scope, StepQuery(("a", "gone"), 9))["a"]] == [other]


def test_notes_are_the_newest_whose_time_is_not_over(store: Store) -> None:
    notes = [Note(f"n{n}", "a", f"note {n}", created=n, expires=None if n % 2 else 20) for n in range(8)]
    notes += [Note("on edge", "e", "remark", "edge", 3)]
    store.write(ANN, Batch(nodes=[Node("a"), Node("b")], edges=[Edge("e", "a", "b")], notes=notes))
    assert [one.id for one in store.notes(ANN, ["a", "b"], "node", 10, 3)["a"]] == ["n7", "n6", "n5"]
    assert [one.id for one in store.notes(ANN, ["a"], "node", 20, 9)["a"]] == ["n7", "n5", "n3", "n1"]
    assert store.notes(ANN, ["e"], "edge", 10, 3) == {"e": [notes[-1]]}
    assert store.notes(BOB, ["a"], "node", 10, 3) == {}


@pytest.mark.parametrize(("on", "target"), [("node", "a"), ("edge", "e")])
def test_a_private_note_on_what_a_team_shares_is_told_to_nobody_else(
    store: Store, on: Literal["node", "edge"], target: str
) -> None:
    team_ann, team_bob = (replace(scope, teams=("ops",), share="ops") for scope in (ANN, BOB))
    store.write(team_ann, Batch(nodes=[Node("a"), Node("b")], edges=[Edge("e", "a", "b")]))
    private, shared = Note("p", target, "private", on, 1), Note("s", target, "shared", on, 2)
    store.write(replace(BOB, teams=("ops",)), Batch(notes=[private]))
    store.write(team_bob, Batch(notes=[shared]))
    assert store.notes(team_ann, [target], on, 3, 9) == {target: [shared]}
    assert store.notes(team_bob, [target], on, 3, 9) == {target: [shared, private]}


def test_mentions_are_told_by_source_and_by_node(store: Store) -> None:
    mentions = [Mention("s1", "ada", 5), Mention("s2", "ada", 9), Mention("s1", "bob", 5)]
    store.write(ANN, Batch(nodes=[Node(id_) for id_ in ("s1", "s2", "ada", "bob")], mentions=mentions))
    assert store.mentions(ANN, ["s1"], "source", 9) == {"s1": [mentions[0], mentions[2]]}
    assert store.mentions(ANN, ["ada", "s1"], "node", 9) == {"ada": [mentions[1], mentions[0]]}
    assert store.mentions(ANN, ["ada"], "node", 1) == {"ada": [mentions[1]]}
    assert store.mentions(TEAM, ["ada"], "node", 9)["ada"] == [mentions[1], mentions[0]]


def core(kind: str) -> PageRequest:
    return PageRequest(9, Where(kinds=(kind,)), order="salience")


def test_core_memories_are_told_by_salience(store: Store) -> None:
    lives = {"a": Life(0.7, "core", accesses=10), "b": Life(0.9, "core", accesses=10), "c": Life(1.0, "active")}
    nodes = [Node(id_, "person", life=life) for id_, life in lives.items()]
    store.write(ANN, Batch(nodes=nodes))
    store.write(BOB, Batch(nodes=nodes[:1]))
    assert [one.node.id for one in store.page(ANN, core("person"))] == ["b", "a"]
    assert store.page(ANN, core("concept")) == []


# --- walks


def full(nodes: list[Node], edges: list[Edge], seeds: list[str], damping: float) -> dict[str, float]:
    """Personalised PageRank by solving for it."""
    number = {node.id: n for n, node in enumerate(nodes)}
    hidden = {node.id for node in nodes if node.life.state == "archived"} - set(seeds)
    weights: dict[tuple[int, int], float] = defaultdict(float)
    for edge in edges:
        for src, dst in {(edge.src, edge.dst), (edge.dst, edge.src)}:
            if dst not in {node.id for node in nodes if node.life.state == "archived"}:
                weights[number[src], number[dst]] += 0.01 if edge.weight is None else edge.weight
    step = np.zeros((len(nodes), len(nodes)))
    home = np.zeros(len(nodes))
    home[[number[seed] for seed in seeds]] = 1 / len(seeds)
    for (here, there), weight in weights.items():
        step[there, here] = weight
    for column in range(len(nodes)):
        total = step[:, column].sum()
        step[:, column] = step[:, column] / total if total else home
    solved = np.linalg.solve(np.eye(len(nodes)) - damping * step, (1 - damping) * home)
    return {node.id: solved[number[node.id]] for node in nodes if node.id not in hidden}


@pytest.mark.parametrize("seed", range(12))
def test_the_walk_is_where_a_full_computation_says(store: Store, seed: int) -> None:
    nodes, edges = graph(seed)
    store.write(ANN, Batch(nodes=nodes, edges=edges))
    chance = random.Random(seed)
    seeds = sorted({chance.choice(nodes).id for _ in range(2)})
    damping = chance.choice([0.5, 0.85, 0.95])
    found = personalised_pagerank(store, ANN, seeds, TraversalFilter(), PageRank(depth=10, damping=damping, top_k=99))
    expected = full(nodes, edges, seeds, damping)
    told = {one.node.id: one.score for one in found.arrivals}
    assert told == pytest.approx({id_: expected[id_] for id_ in told}, abs=1e-8)
    assert sum(score for id_, score in expected.items() if id_ not in told) < 1e-8
    order = [(-(one.score or 0), -one.node.at, one.node.id) for one in found.arrivals]
    assert order == sorted(order)


class Counting:
    """A store that counts what it is asked."""

    def __init__(self, store: Store) -> None:
        self.store, self.asked = store, 0

    def __getattr__(self, name: str) -> object:
        self.asked += name == "steps"
        found: object = getattr(self.store, name)
        return found


def test_a_round_is_one_request_however_many_nodes(store: Store) -> None:
    nodes, edges = graph(3, 30, 90)
    store.write(ANN, Batch(nodes=nodes, edges=edges))
    counting = Counting(store)
    personalised_pagerank(counting, ANN, ["n00", "n01"], TraversalFilter(), PageRank(depth=3))  # type: ignore[arg-type]  # it has every method
    assert counting.asked <= 4
    counting.asked = 0
    nodes_within_hops(counting, ANN, ["n00", "n01"], TraversalFilter(), 3, 1000)  # type: ignore[arg-type]  # it has every method
    assert counting.asked <= 3
