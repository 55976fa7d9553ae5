"""Expanding one level of an activation returns what reading every edge would return, in a total order."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from cuetrail.model import Claim, Edge, Life, Node, Scope, Tag, Where
from cuetrail.store.graph import Candidate, Expanded, Frontier, FrontierNode, share_out
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch
from tests.store.contract.test_search import passes

ME = Scope()
EVERYTHING = Where(quarantined=True, archived=True)
TAGS = ("camp", "evid", "lead", "meth", "route")


def from_one(id_: str, energy: float = 0.9, **options: object) -> Frontier:
    return Frontier((FrontierNode(id_, energy, 0),), (frozenset({id_}),), **options)  # type: ignore[arg-type]  # fields of Level


def steps(expanded: Expanded) -> list[list[tuple[str, str]]]:
    return [[(one.id, one.edge) for one in some] for some in expanded.candidates]


# --- the rule, by looking at everything


def energy_of(edge: Edge, energy: float, degree: int, level: Frontier) -> float:
    own = set(edge.tags)
    sim = level.tag_sim_floor
    if not level.tags:
        sim = 1.0
    elif own:
        sim += (1 - level.tag_sim_floor) * len(own & level.tags) / len(own | level.tags)
    return energy * (0.01 if edge.weight is None else edge.weight) / math.sqrt(degree) * sim


def by_looking_at_all(nodes: dict[str, Node], edges: Sequence[Edge], level: Frontier) -> list[list[Candidate]]:
    found = []
    for node in level.nodes:
        own = [edge for edge in edges if node.id in (edge.src, edge.dst)]
        best: dict[str, tuple[float, str, str, Edge]] = {}
        for edge in own:
            other = edge.dst if edge.src == node.id else edge.src
            passed = energy_of(edge, node.energy, len(own), level)
            open_ = other not in level.visited[node.seed] and passes(nodes[other], level.where)
            if open_ and passed > level.min_activation:
                best[other] = min(best.get(other, (math.inf,)), (-passed, other, edge.id, edge))  # type: ignore[assignment]  # of equal energy the edges' ids decide
        most = level.max_branches * sum(other.seed == node.seed for other in level.nodes)
        found.append([candidate(node, *one) for one in sorted(best.values(), key=lambda one: one[:3])[:most]])
    return found


def candidate(node: FrontierNode, energy: float, other: str, edge_id: str, edge: Edge) -> Candidate:
    return Candidate(other, -energy, edge_id, edge.kind, edge.weight, edge.tags, edge.src == node.id)


# --- random graphs


def some_graph(chance: random.Random) -> tuple[dict[str, Node], list[Edge]]:
    """Few nodes and weights, so that there are parallel edges, self-loops and ties of every kind; one is a hub."""
    ids = [f"n{i:02}" for i in range(chance.choice((2, 5, 25)))]
    nodes = {
        id_: Node(
            id_,
            kind=chance.choice(("atom", "atom", "person")),
            text=chance.choice(("", "word")),
            at=chance.choice((1, 2, 3)),
            tag_details=tuple(Tag(tag, tag) for tag in chance.sample(TAGS, chance.choice((0, 1, 2)))),
            buckets=tuple(chance.sample(("work", "home"), chance.choice((0, 1)))),
            provenance=chance.choice(("internal", "internal", "external", "quarantine")),
            life=Life(state=chance.choice(("candidate", "candidate", "archived"))),
        )
        for id_ in ids
    }
    weights = (None, 0.25, 0.5, 0.5, 0.75, 1.0, round(chance.uniform(0.25, 1), 3))
    ends = [(chance.choice((ids[0], chance.choice(ids))), chance.choice(ids)) for _ in range(len(ids) * 4)]
    edges = [
        Edge(
            f"e{chance.randrange(10**6):06}-{i}",
            *pair,
            kind=chance.choice(("relates", "mentions")),
            weight=chance.choice(weights),
            tags=tuple(chance.sample(TAGS, chance.choice((0, 0, 1, 2, 3)))),
        )
        for i, pair in enumerate(ends)
    ]
    return nodes, edges


def some_level(chance: random.Random, ids: Sequence[str]) -> Frontier:
    seeds = range(chance.choice((1, 1, 3)))
    visited = [set(chance.sample(ids, chance.randrange(len(ids) // 2 + 1))) for _ in seeds]
    nodes = []
    for seed in seeds:
        for id_ in chance.sample(ids, chance.choice((1, 2, min(len(ids), 4)))):
            nodes.append(FrontierNode(id_, chance.choice((0.9, 0.3, 0.05, chance.uniform(0.01, 1))), seed))
            visited[seed].add(id_)
    return Frontier(
        tuple(nodes),
        tuple(map(frozenset, visited)),
        frozenset(chance.sample((*TAGS, "unheard"), chance.choice((0, 1, 2, 4)))),
        chance.choice((0, 1, 2, 3, 50)),
        chance.choice((0.0, 0.005, 0.05, 1.0)),
        chance.choice((0.0, 0.15, 1.0)),
        chance.choice(
            (
                EVERYTHING,
                EVERYTHING,
                Where(),
                replace(EVERYTHING, tags=("camp",)),
                replace(EVERYTHING, buckets=("work", "home")),
                replace(EVERYTHING, kinds=("person",), since=2, until=2),
                replace(EVERYTHING, with_text=True),
            )
        ),
    )


@pytest.mark.parametrize("seed", range(30))
def test_an_expansion_gives_what_looking_at_every_edge_gives(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    nodes, edges = some_graph(chance)
    store.write(ME, Batch(nodes=list(nodes.values()), edges=edges))
    for _ in range(20):
        level = some_level(chance, sorted(nodes))
        found = store.expand(ME, level)
        wanted = by_looking_at_all(nodes, edges, level)
        for some, other in zip(found.candidates, wanted, strict=True):
            assert [one._replace(energy=0.0) for one in some] == [one._replace(energy=0.0) for one in other], level
            assert [one.energy for one in some] == pytest.approx([one.energy for one in other], abs=1e-12)
        assert found.missing == frozenset()


@pytest.mark.parametrize("claim", ["energy", "frontier"])
def test_a_rule_leaves_each_spark_what_it_takes_of_all_it_is_offered(store: Store, claim: Claim) -> None:
    chance = random.Random(claim)
    nodes, edges = max((some_graph(chance) for _ in range(9)), key=lambda graph: len(graph[0]))
    store.write(ME, Batch(nodes=list(nodes.values()), edges=edges))
    fewer = 0
    for _ in range(12):
        level = replace(some_level(chance, sorted(nodes)), max_branches=2, min_activation=0.0)
        offered = store.expand(ME, level).candidates
        taken = store.expand(ME, replace(level, claim=claim)).candidates
        assert taken == tuple(map(tuple, share_out(offered, replace(level, claim=claim)))), level
        assert all(len(some) <= 2 for some in taken)
        fewer += taken != offered
    assert fewer > 3


def test_what_a_level_made_known_changes_nothing_on_the_next(store: Store) -> None:
    edges = [Edge(f"{a}{b}", a, b, weight=0.5) for a, b in ("ab", "bc", "cd", "bd")]
    store.write(ME, Batch(nodes=list(map(Node, "abcd")), edges=edges))
    first = store.expand(ME, from_one("a"))
    level = replace(from_one("b", 0.6), visited=(frozenset("ab"),))
    assert store.expand(ME, replace(level, known=first.known)) == store.expand(ME, level)
    store.write(ME, Batch(remove_nodes=["b"]))
    gone = store.expand(ME, replace(level, known=first.known))
    assert steps(gone) == [[]]
    store.write(ME, Batch(nodes=[Node("b")], edges=edges))
    assert steps(store.expand(ME, level)) == [[("c", "bc"), ("d", "bd")]]


@pytest.mark.parametrize("seed", range(6))
def test_a_hub_gives_what_looking_at_every_edge_gives(store: Store, seed: int) -> None:
    chance = random.Random(seed)
    nodes = {id_: Node(id_) for id_ in ("hub", *(f"n{i:03}" for i in range(700)))}
    weights = chance.choice(((0.5,), (None, 0.25, 0.5, 0.75), tuple(chance.uniform(0.25, 1) for _ in range(300))))
    edges = [
        Edge(
            f"e{chance.randrange(10**6):06}-{i}",
            "hub",
            chance.choice(list(nodes)),
            weight=chance.choice(weights),
            tags=tuple(chance.sample(TAGS, chance.choice((0, 1, 2, 3)))),
        )
        for i in range(1_000)
    ]
    store.write(ME, Batch(nodes=list(nodes.values()), edges=edges))
    for _ in range(12):
        visited = frozenset({"hub", *chance.sample(list(nodes), chance.choice((0, 50)))})
        tags = frozenset(chance.sample((*TAGS, "unheard"), chance.choice((0, 1, 1, 2, 4))))
        floor = chance.choice((0.0, 0.15, 0.15, 1.0))
        level = Frontier(
            (FrontierNode("hub", 0.9, 0),), (visited,), tags, chance.choice((1, 3, 40, 900)), 0.0005, floor
        )
        (wanted,) = by_looking_at_all(nodes, edges, level)
        (found,) = store.expand(ME, level).candidates
        assert [one._replace(energy=0.0) for one in found] == [one._replace(energy=0.0) for one in wanted], level
        assert [one.energy for one in found] == pytest.approx([one.energy for one in wanted], abs=1e-12)


# --- one rule at a time


def test_a_spark_that_is_not_there_is_told_apart_from_one_without_edges(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("a"), Node("b"), Node("alone")], edges=[Edge("e", "a", "b", weight=1.0)]))
    ids = ("gone", "alone", "a", "\ud800")
    level = Frontier(
        tuple(FrontierNode(id_, 0.9, n) for n, id_ in enumerate(ids)), tuple(frozenset({id_}) for id_ in ids)
    )
    found = store.expand(ME, level)
    assert steps(found) == [[], [], [("b", "e")], []]
    assert found.missing == {"gone", "\ud800"}
    none = store.expand(ME, replace(level, max_branches=0))
    assert (steps(none), none.missing) == ([[], [], [], []], found.missing)
    assert store.expand(ME, Frontier((), ())) == Expanded(())


def test_the_smallest_activation_is_not_enough(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("a"), Node("b")], edges=[Edge("e", "a", "b", weight=0.5)]))
    assert steps(store.expand(ME, from_one("a", 0.5, min_activation=0.25))) == [[]]
    assert steps(store.expand(ME, from_one("a", 0.5, min_activation=math.nextafter(0.25, 0)))) == [[("b", "e")]]


def test_an_edge_without_weight_lets_a_hundredth_through(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("a"), Node("b")], edges=[Edge("e", "b", "a")]))
    ((step,),) = store.expand(ME, from_one("a", 1.0)).candidates
    assert step == Candidate("b", 0.01, "e", "relates", None, (), False)


def test_of_parallel_edges_the_best_is_used_and_of_equals_the_lower_id(store: Store) -> None:
    edges = [
        Edge("z", "a", "b", weight=0.9, tags=("other",)),
        Edge("y", "b", "a", weight=0.5, tags=("camp",)),
        Edge("x", "a", "b", kind="k", weight=0.5, tags=("camp",)),
        Edge("loop", "a", "a", weight=1.0, tags=("camp",)),
    ]
    store.write(ME, Batch(nodes=[Node("a"), Node("b")], edges=edges))
    ((step,),) = store.expand(ME, from_one("a", 1.0, tags=frozenset({"camp"}))).candidates
    assert (step.edge, step.energy) == ("x", 0.5 / 2)
    ((step,),) = store.expand(ME, from_one("a", 1.0)).candidates
    assert (step.edge, step.energy) == ("z", 0.9 / 2)


def test_each_spark_gets_as_many_candidates_as_all_of_its_seed_could_take(store: Store) -> None:
    leaves = [f"n{i:03}" for i in range(50)]
    edges = [Edge(f"{hub}{leaf}", hub, leaf, weight=0.5) for hub in ("a", "b", "c") for leaf in leaves]
    store.write(ME, Batch(nodes=list(map(Node, ("a", "b", "c", *leaves))), edges=edges))
    nodes = (FrontierNode("a", 1.0, 0), FrontierNode("b", 1.0, 0), FrontierNode("a", 0.5, 1))
    level = Frontier(nodes, (frozenset("ab"), frozenset({"a", "n000"})), max_branches=2)
    found = store.expand(ME, level)
    assert steps(found) == [
        [(leaf, f"a{leaf}") for leaf in leaves[:4]],
        [(leaf, f"b{leaf}") for leaf in leaves[:4]],
        [(leaf, f"a{leaf}") for leaf in leaves[1:3]],
    ]


def test_a_hub_of_equals_is_shared_out_by_id_and_a_tagged_edge_of_it_is_found(store: Store) -> None:
    leaves = [f"n{i:05}" for i in range(3_000)]
    edges = [Edge(f"e{leaf}", "hub", leaf, weight=0.35) for leaf in leaves]
    edges[2_500] = replace(edges[2_500], tags=("camp", "lead"))
    edges[2_600] = replace(edges[2_600], tags=("camp",), weight=0.25)
    edges[2_700] = replace(edges[2_700], weight=0.8)
    store.write(ME, Batch(nodes=[Node("hub"), *map(Node, leaves)], edges=edges))
    plain = store.expand(ME, from_one("hub", min_activation=0.0))
    assert steps(plain) == [[("n02700", "en02700"), ("n00000", "en00000"), ("n00001", "en00001")]]
    tagged = store.expand(ME, from_one("hub", min_activation=0.0, tags=frozenset({"camp"}), max_branches=4))
    assert [step.id for step in tagged.candidates[0]] == ["n02600", "n02500", "n02700", "n00000"]


def test_the_tags_of_edges_in_sight_are_known_by_name(store: Store) -> None:
    assert store.edge_tags(ME) == store.edge_tags(ME, ["camp"]) == []
    edges = [Edge("e", "a", "b", tags=("lead", "camp")), Edge("f", "b", "a", tags=("camp",))]
    store.write(ME, Batch(nodes=[Node("a", tag_details=(Tag("node", "node"),)), Node("b")], edges=edges))
    other = Scope(user="other")
    store.write(other, Batch(nodes=[Node("c")], edges=[Edge("g", "c", "c", tags=("theirs", "camp"))]))
    assert store.edge_tags(ME) == ["camp", "lead"]
    assert store.edge_tags(other) == ["camp", "theirs"]
    assert store.edge_tags(ME, ["lead", "theirs", "node", "unheard", "lead", "\ud800"]) == ["lead"]
    assert store.edge_tags(ME, []) == []
    store.write(ME, Batch(remove_edges=["e"]))
    assert store.edge_tags(ME) == ["camp"]


# --- scope


def test_energy_flows_where_the_scope_sees_and_strangers_do_not_thin_it(store: Store) -> None:
    ann = Scope(user="ann", teams=("ops",), share="ops")
    bob, eve = Scope(user="bob", teams=("ops",)), Scope(user="eve")
    store.write(ann, Batch(nodes=[Node("x"), Node("y")], edges=[Edge("e", "x", "y", weight=0.5)]))
    store.write(bob, Batch(nodes=[Node("y")], edges=[Edge("e", "x", "y", weight=0.5), Edge("f", "y", "x", weight=1.0)]))
    store.write(eve, Batch(nodes=[Node("x"), Node("z")], edges=[Edge("g", "x", "z", weight=1.0)]))
    (own,) = store.expand(ann, from_one("x", 1.0)).candidates
    assert [(one.id, one.edge, one.energy) for one in own] == [("y", "e", 0.5)]
    (both,) = store.expand(bob, from_one("x", 1.0)).candidates
    # Bob's own `y` is what the id means to him; ann's is called after her, and so is her edge.
    assert [(one.id, one.edge) for one in both] == [("y", "f"), ("y@@ann/ops", "e@@ann/ops")]
    assert [one.energy for one in both] == pytest.approx([1 / math.sqrt(3), 0.5 / math.sqrt(3)])
    seen = replace(from_one("x", 1.0), visited=(frozenset({"x", "y@@ann/ops"}),))
    assert steps(store.expand(bob, seen)) == [[("y", "f")]]
    assert steps(store.expand(eve, from_one("x"))) == [[("z", "g")]]
    assert store.expand(Scope(tenant="else"), from_one("x")).missing == {"x"}


def test_an_edge_to_a_node_out_of_sight_counts_but_leads_nowhere(store: Store) -> None:
    ann, bob = Scope(user="ann", teams=("ops",), share="ops"), Scope(user="bob", teams=("ops",))
    store.write(ann, Batch(nodes=[Node("theirs")]))
    store.write(bob, Batch(nodes=[Node("a"), Node("b")]))
    edges = [Edge("e", "a", "theirs", weight=1.0), Edge("f", "a", "b", weight=1.0)]
    store.write(bob, Batch(edges=edges))
    ((step,),) = store.expand(Scope(user="bob"), from_one("a", 1.0)).candidates
    assert (step.id, step.energy) == ("b", 1 / math.sqrt(2))
