"""A graph in any store is activated and traversed in place by a small class: here networkx, and plain dictionaries."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from cuetrail import Graph, Node
from cuetrail.errors import InputError, NotFound
from cuetrail.graph import GraphEdge, GraphSource, NodeEdges
from cuetrail.model import Edge
from cuetrail.recall.render.graph import ids_of, to_context
from tests.store.contract import test_activation as reference

EXAMPLE = Path(__file__).parents[2] / "examples" / "graph_in_networkx.py"


class Plain(GraphSource):
    """A graph as a list of edges; it notes what it is asked."""

    def __init__(self, edges: Sequence[Edge], ids: Sequence[str] = ()) -> None:
        self.around: dict[str, list[GraphEdge]] = {id_: [] for id_ in ids}
        self.asked: list[list[str]] = []
        for edge in edges:
            for here, other, out in {(edge.src, edge.dst, True), (edge.dst, edge.src, edge.src == edge.dst)}:
                self.around.setdefault(here, []).append(
                    GraphEdge(edge.id, other, edge.weight, edge.tags, out, edge.kind)
                )

    def edges(self, ids: Sequence[str], /) -> Mapping[str, NodeEdges]:
        self.asked.append(list(ids))
        return {id_: NodeEdges(self.around[id_]) for id_ in ids if id_ in self.around}


def conformance() -> list[Edge]:
    edges = []
    for line in filter(str.strip, reference.CONFORMANCE.replace("\n", "|").split("|")):
        ends, weight, tags = line.split()
        src, dst = ends.split("-")
        edges.append(Edge(ends, src, dst, weight=float(weight), tags=tuple(tags.split(","))))
    return edges


def networkx_graph() -> Graph:
    scope: dict[str, Any] = {"__name__": "example"}
    exec(compile(EXAMPLE.read_text("utf-8"), str(EXAMPLE), "exec"), scope)
    made = nx.Graph()
    for edge in conformance():
        made.add_edge(edge.src, edge.dst, weight=edge.weight, tags=edge.tags)
    return Graph(scope["NetworkxGraph"](made))


@pytest.mark.parametrize("case", reference.TABLE)
def test_the_conformance_table_is_exact_on_networkx(case: Any) -> None:
    seed, tags, depth, branches, claim, expected = case
    (found,) = networkx_graph().activate([(seed, 0.9)], tags=tags, max_depth=depth, max_branches=branches, claim=claim)
    assert [("-".join(path.ids), [round(hop.energy, 6) for hop in path.hops]) for path in found.paths] == list(
        expected.items()
    )


def test_the_example_runs() -> None:
    done = subprocess.run([sys.executable, str(EXAMPLE)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "A0 -> A1 0.329", "A0 -> A2 0.076", "['The receiver went silent', 'The tea ran out']"
    ]  # fmt: skip


@pytest.mark.parametrize("claim", ["energy", "frontier"])
def test_energy_flows_on_random_graphs_as_a_second_walk_says(claim: Any) -> None:
    chance, steps = random.Random(claim), 0
    for number in range(200):
        graph, flow = reference.some_graph(chance, f"{number:03}"), reference.some_flow(chance, claim)
        tags = set(chance.sample(reference.TAGS, chance.choice((0, 1, 3))))
        seed = chance.choice(graph.ids)
        (found,) = Graph(Plain(graph.edges, graph.ids)).activate(
            [(seed, 0.9)], tags=tags, max_depth=flow.max_depth, max_branches=flow.max_branches,
            min_activation=flow.min_activation, tag_sim_floor=flow.tag_sim_floor, claim=claim,
        )  # fmt: skip
        steps += reference.assert_flowed(found, reference.walked(graph, seed, 0.9, tags, flow), (seed, tags, flow))
    assert steps > 200


def test_the_source_is_asked_once_per_level_for_all_nodes_of_the_level() -> None:
    source = Plain(conformance())
    found = list(Graph(source).activate(["A0", "B0", "nobody"], max_depth=3))
    assert {one.seed: one.reason for one in found} == {"A0": "complete", "B0": "complete", "nobody": "seed_not_found"}
    assert len(source.asked) == 3
    assert all(len(set(ids)) == len(ids) for ids in source.asked)


def test_a_random_walk_is_where_a_full_computation_says() -> None:
    source = Plain(conformance())
    found = Graph(source).traverse(["A0"], mode="ppr", depth=10, top_k=99)
    ids = sorted(source.around)
    step = np.zeros((len(ids), len(ids)))
    for id_, edges in source.around.items():
        for edge in edges:
            step[ids.index(edge.other), ids.index(id_)] += edge.weight or 0
    home = np.array([float(id_ == "A0") for id_ in ids])
    solved = np.linalg.solve(np.eye(len(ids)) - 0.85 * step / step.sum(0), 0.15 * home)
    assert {one.node.id: one.score for one in found.arrivals} == pytest.approx(
        dict(zip(ids, solved, strict=True)), abs=1e-8
    )


def test_a_traversal_follows_directions_and_types() -> None:
    edges = [Edge("1", "a", "b", "knows", 0.5), Edge("2", "c", "a", "likes", 0.9), Edge("3", "b", "d", "knows", 0.1)]
    graph = Graph(Plain(edges))
    assert [node.id for node in graph.traverse("a").nodes] == ["c", "b"]
    assert [node.id for node in graph.traverse("a", direction="out", max_hops=2).nodes] == ["b", "d"]
    assert [node.id for node in graph.traverse("a", relationship_filters={"relationship_types": ["LIKES"]}).nodes] == [
        "c"
    ]
    with pytest.raises(NotFound, match="'nobody'"):
        graph.traverse("nobody")
    with pytest.raises(InputError, match="relationship_types"):
        graph.traverse("a", relationship_filters={"min_attitude": 3})


def test_results_show_the_names_of_a_source_that_has_them() -> None:
    class Named(Plain):
        def nodes(self, ids: Sequence[str], /) -> Mapping[str, Node]:
            return {id_: Node(id_, name=f"memory {id_}") for id_ in ids}

    with Graph(Named(conformance())) as graph:
        found = list(graph.activate([("A0", 0.9)], max_depth=1, max_branches=1))
        assert to_context(found, graph.nodes(*ids_of(found))) == "[A0] memory A0 -relates 0.468-> [A1] memory A1"


@pytest.mark.parametrize("weight", [float("nan"), "heavy", None, 7, -1])
def test_weights_that_are_none_count_as_missing_or_the_nearest_allowed(weight: Any) -> None:
    (found,) = Graph(Plain([Edge("1", "a", "b", weight=weight)])).activate(["a"])
    energy = [hop.energy for path in found.paths for hop in path.hops]
    assert energy == {7: [1.0], -1: []}.get(weight, [0.01])
    assert Graph(Plain([Edge("1", "a", "b", weight=weight)])).traverse("a", mode="ppr").arrivals


def test_a_source_that_fails_ends_its_seeds_as_failed_with_the_reason() -> None:
    class Broken(Plain):
        def edges(self, ids: Sequence[str], /) -> Mapping[str, NodeEdges]:
            if len(self.asked) == 1:
                raise KeyError("lost")
            return super().edges(ids)

    (found,) = Graph(Broken(conformance())).activate(["A0"])
    assert (found.reason, found.error) == ("failed", "`edges` of the graph failed (KeyError: 'lost'): mend the source")

    class Wrong(Plain):
        def edges(self, ids: Sequence[str], /) -> Any:
            return {id_: [("A1", 0.5)] for id_ in ids}

    (found,) = Graph(Wrong([])).activate(["A0"])
    assert found.error == "`edges` must return a NodeEdges for each id, not [('A1', 0.5)] for 'A0'"


def test_wrong_uses_say_what_to_do_instead() -> None:
    graph = Graph(Plain(conformance()))
    for wrong, said in (
        (lambda: Graph("notes/"), "is no address of a graph"),
        (
            lambda: Graph("bolt://localhost", {"weight_scale": 0}),
            "weight_scale of the mapping must be a number above 0",
        ),
        (lambda: Graph("bolt://localhost", {"label": "x"}), "did you mean labels"),
        (lambda: Graph("bolt://localhost", "nowhere.toml"), "nowhere.toml: this file cannot be read"),
        (lambda: Graph(3), "GraphSource with a method `edges`"),  # type: ignore[arg-type]  # it is wrong
        (lambda: Graph(Plain([]), {"id": "x"}), "leave it out"),
        (lambda: graph.activate("why silent?"), "cannot be searched: give ids"),
        (graph.check, "only a graph on a Neo4j server"),
        (lambda: graph.to_cypher([]), "use to_graph or to_context"),
        (lambda: graph.activate(["A0"], max_depth=-1), "max_depth must be 0 or more"),
    ):
        with pytest.raises(InputError, match=said):
            wrong()
