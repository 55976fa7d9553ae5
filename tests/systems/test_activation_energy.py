"""Activation energy. One test per claim."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cuetrail import Budget, Memory, Scope
from cuetrail.errors import InputError, MemoryError_
from cuetrail.formulas import seed_score, tag_sim, transfer
from cuetrail.model import Activation, Edge, Node
from cuetrail.recall import recipes
from cuetrail.recall.spread.activation import Flow, merge
from cuetrail.store.graph import Expanded, Frontier
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch

EDGES = """
A0-A1 .90 camp,evid,region | A0-A2 .80 camp,meth | A1-A2 .75 norm,camp | A2-A3 .85 camp,insight,region
A1-A3 .82 camp,evid | A4-A3 .70 weather,spike | A5-A3 .55 style,format | A0-A4 .60 event,spike
B0-B1 .88 supp,evid,lead | B1-B2 .72 lead,meth | B2-B3 .78 route,insight | B1-B3 .70 lead,evid
B4-B2 .58 cap,route | B5-B3 .52 style,quant | A3-B1 .35 cross
"""
Paths = list[tuple[str, tuple[float, ...]]]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=None) as opened:
        yield opened


@pytest.fixture
def graph(memory: Memory) -> Memory:
    """The conformance graph."""
    for id_ in [f"{side}{number}" for side in "AB" for number in range(6)]:
        memory.add(f"memory {id_}", id=id_)
    for line in EDGES.replace("\n", "|").split("|"):
        if line.strip():
            ends, weight, tags = line.split()
            memory.link(*ends.split("-"), weight=float(weight), tags=tags.split(","))
    return memory


def paths(found: Activation) -> Paths:
    """Every path as its nodes and energies."""
    return [("-".join(path.ids), tuple(round(hop.energy, 6) for hop in path.hops)) for path in found.paths]


def one(memory: Memory, seed: str, *tags: str, **options: Any) -> Activation:
    (found,) = memory.activate([(seed, options.pop("score", 0.9))], tags=tags, **options)
    return found


# --- the equations


def test_the_tags_of_an_edge_fit_by_their_floored_overlap() -> None:
    edge, query = {"inventory", "advice", "analysis"}, {"demand", "stockout", "safety", "inventory"}
    assert round(tag_sim(edge, query, 0.15), 4) == 0.2917
    assert tag_sim(edge, set(), 0.15) == 1.0
    assert tag_sim(set(), query, 0.15) == tag_sim({"other"}, query, 0.15) == 0.15


def test_energy_is_passed_on_by_weight_root_of_degree_and_fit() -> None:
    sim = tag_sim({"a", "b", "c"}, {"a", "b"}, 0.15)
    assert (round(sim, 6), round(transfer(0.85, 0.9, 3, sim), 6)) == (0.716667, 0.316532)


# --- the conformance table

TABLE: list[tuple[str, list[str], int, int, Any, Paths]] = [
    ("A0", ["camp"], 1, 2, "energy", [("A0-A2", (0.239023,)), ("A0-A1", (0.202650,))]),
    ("A0", ["camp"], 3, 2, "energy", [("A0-A2", (0.239023,)), ("A0-A1-A3", (0.202650, 0.055165))]),
    ("A0", ["camp"], 3, 2, "frontier", [("A0-A1", (0.202650,)), ("A0-A2-A3", (0.239023, 0.050830))]),
    ("A0", [], 1, 2, "energy", [("A0-A1", (0.467654,)), ("A0-A2", (0.415692,))]),
    ("B0", ["lead"], 3, 2, "energy", [("B0-B1-B2", (0.3432, 0.071042)), ("B0-B1-B3", (0.3432, 0.069069))]),
]


@pytest.mark.parametrize(("seed", "tags", "depth", "branches", "claim", "expected"), TABLE)
def test_the_conformance_table(
    graph: Memory, seed: str, tags: list[str], depth: int, branches: int, claim: Any, expected: Paths
) -> None:
    found = one(graph, seed, *tags, max_depth=depth, max_branches=branches, claim=claim)
    assert (found.reason, found.error) == ("complete", None)
    assert paths(found) == expected


# --- the walk


def test_a_hop_says_by_which_edge_it_went(graph: Memory) -> None:
    hop = one(graph, "A1", "camp", max_depth=1, max_branches=1).paths[0].hops[0]
    assert (hop.src, hop.dst, hop.kind, hop.weight, hop.tags) == ("A1", "A3", "relates", 0.82, ("camp", "evid"))
    edge = graph.edge(hop.edge)
    assert edge is not None
    assert (edge.src, edge.dst, hop.outgoing) == ("A1", "A3", True)
    assert not one(graph, "A3", max_depth=1, max_branches=1).paths[0].hops[0].outgoing


def test_the_energy_a_node_received_is_what_it_passes_on(graph: Memory) -> None:
    hops = one(graph, "B0", max_depth=3, max_branches=1).paths[0].hops
    assert hops[0].energy == pytest.approx(0.9 * 0.88)
    assert hops[1].energy == pytest.approx(hops[0].energy * 0.72 / math.sqrt(4))


@pytest.mark.parametrize("claim", ["energy", "frontier"])
def test_a_neighbour_already_claimed_does_not_use_up_a_share(memory: Memory, claim: Any) -> None:
    for id_ in ("seed", "left", "right", "best", "second", "third", "fourth"):
        memory.add(id_, id=id_)
    for src, dst, weight in (
        ("seed", "left", 1.0), ("seed", "right", 0.9), ("left", "best", 1.0), ("right", "best", 0.9),
        ("right", "second", 0.5), ("right", "third", 0.4), ("right", "fourth", 0.3),
    ):  # fmt: skip
        memory.link(src, dst, weight=weight)
    found = one(memory, "seed", score=1.0, max_depth=2, max_branches=2, claim=claim)
    assert [name for name, _ in paths(found)] == ["seed-left-best", "seed-right-second", "seed-right-third"]


def test_no_node_is_visited_twice_by_one_seed(graph: Memory) -> None:
    found = one(graph, "A0", score=1.0, max_depth=9, max_branches=9, min_activation=0.0)
    reached = [hop.dst for path in found.paths for hop in path.hops]
    first = {hop.dst: hop.src for path in found.paths for hop in path.hops}
    assert "A0" not in reached
    assert {(hop.src, hop.dst) for path in found.paths for hop in path.hops} == {(s, d) for d, s in first.items()}
    assert len(first) == 11


def test_only_leaf_paths_come_out_in_the_order_they_ended(graph: Memory) -> None:
    names = [name for name, _ in paths(one(graph, "A0", max_depth=9, max_branches=3))]
    assert not any(other != name and other.startswith(f"{name}-") for name in names for other in names)
    assert [name.count("-") for name in names] == sorted(name.count("-") for name in names)


def test_the_smallest_activation_must_be_exceeded(memory: Memory) -> None:
    memory.add("a", id="a")
    memory.add("b", id="b")
    memory.link("a", "b", weight=0.5)
    assert one(memory, "a", score=0.5, min_activation=0.25).paths == ()
    assert len(one(memory, "a", score=0.5, min_activation=0.2499).paths) == 1


def test_a_missing_weight_counts_as_a_hundredth_and_every_edge_counts_in_the_degree(memory: Memory) -> None:
    memory.store.write(
        Scope(),
        Batch(
            nodes=[Node("a"), Node("b")],
            edges=[Edge("e1", "a", "b"), Edge("e2", "b", "a"), Edge("e3", "a", "a", weight=1.0)],
        ),
    )
    (path,) = one(memory, "a", score=1.0).paths
    assert path.hops[0].edge == "e1"
    assert path.hops[0].energy == pytest.approx(0.01 / math.sqrt(3))


@pytest.mark.parametrize("options", [{"max_depth": 0}, {"max_branches": 0}])
def test_no_depth_and_no_branches_give_no_paths(graph: Memory, options: dict[str, int]) -> None:
    found = list(graph.activate(["A0", "nobody"], **options))  # type: ignore[arg-type]  # whole numbers
    assert [(one.seed, one.reason, one.paths, one.depth) for one in found] == [
        ("A0", "complete", (), 0),
        ("nobody", "seed_not_found", (), 0),
    ]


def test_a_seed_without_passing_neighbours_is_complete(memory: Memory) -> None:
    memory.add("alone", id="alone")
    found = one(memory, "alone")
    assert (found.reason, found.paths, found.depth) == ("complete", (), 0)


# --- several seeds


def test_a_seed_named_twice_runs_once_with_the_larger_score(graph: Memory) -> None:
    found = list(graph.activate([("A0", 0.3), "B0", ("A0", 0.9), ("A0", 0.5)], max_depth=1))
    assert sorted((one.seed, one.score) for one in found) == [("A0", 0.9), ("B0", 1.0)]


def test_each_seed_has_its_own_visited(graph: Memory) -> None:
    apart = [paths(one(graph, seed, "camp")) for seed in ("A0", "A1", "B0")]
    together = {
        found.seed: paths(found) for found in graph.activate([(s, 0.9) for s in ("A0", "A1", "B0")], tags=["camp"])
    }
    assert [together[seed] for seed in ("A0", "A1", "B0")] == apart


def test_merged_over_seeds_the_most_counts_and_every_seed_is_kept(graph: Memory) -> None:
    found = list(graph.activate([("A0", 0.9), ("A1", 0.5), ("nobody", 1.0)], max_depth=2, max_branches=2))
    merged = {one.id: one for one in merge(found)}
    assert "nobody" not in merged
    best: dict[str, dict[str, float]] = {"A0": {"A0": 0.9}, "A1": {"A1": 0.5}}
    for activation in found:
        for path in activation.paths:
            for hop in path.hops:
                best.setdefault(hop.dst, {})[activation.seed] = hop.energy
    assert {id_: one.energy for id_, one in merged.items()} == {id_: max(by.values()) for id_, by in best.items()}
    assert {id_: set(one.paths) for id_, one in merged.items()} == {id_: set(by) for id_, by in best.items()}
    for id_, activated in merged.items():
        seed, path = next(iter(activated.paths.items()))
        assert best[id_][seed] == activated.energy
        assert (path.ids[-1] if path.hops else seed) == id_


# --- the engine is asked once per level


class Asked:
    """An engine that notes what it is asked, and fails from the n-th expansion on."""

    def __init__(self, store: Store, fails_at: int | None = None) -> None:
        self.store, self.fails_at = store, fails_at
        self.levels: list[Frontier] = []
        self.other: list[str] = []

    def expand(self, scope: Scope, level: Frontier) -> Expanded:
        self.levels.append(level)
        if self.fails_at is not None and len(self.levels) >= self.fails_at:
            raise MemoryError_("the engine stopped: start it again")
        return self.store.expand(scope, level)

    def __getattr__(self, name: str) -> Any:
        self.other.append(name)
        return getattr(self.store, name)


def asked(memory: Memory, fails_at: int | None = None) -> Asked:
    watched: Any = Asked(memory.store, fails_at)
    memory.store = watched
    return watched  # type: ignore[no-any-return]  # it is the engine


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("seeds", [["A0"], ["A0", "B0"], ["A0", "A1", "B0", "B1", "A5", "nobody"]])
def test_the_engine_is_asked_once_per_level_whatever_the_seeds(graph: Memory, depth: int, seeds: list[str]) -> None:
    engine = asked(graph)
    found = list(graph.activate(seeds, max_depth=depth, record_access=False))
    assert max(one.depth for one in found) == depth == len(engine.levels)
    assert engine.other == []


def test_a_walk_that_runs_dry_asks_once_more_and_then_never(memory: Memory) -> None:
    for id_ in "abc":
        memory.add(id_, id=id_)
    memory.link("a", "b", weight=1.0)
    memory.link("b", "c", weight=1.0)
    engine = asked(memory)
    assert one(memory, "a", max_depth=9).depth == 2
    assert len(engine.levels) == 3


# --- streaming


def test_a_seed_comes_out_before_the_next_level_is_asked_for(graph: Memory) -> None:
    graph.add("alone", id="alone")
    engine = asked(graph)
    stream = graph.activate(["A0", "alone", "nobody"], max_depth=3)
    assert engine.levels == []
    assert [next(stream).seed, next(stream).seed, len(engine.levels)] == ["alone", "nobody", 1]
    assert next(stream).seed == "A0"
    assert len(engine.levels) == 3


def test_closing_the_stream_cancels_the_rest(graph: Memory) -> None:
    graph.add("alone", id="alone")
    engine = asked(graph)
    stream = graph.activate(["A0", "alone"])
    next(stream)
    stream.close()
    assert list(stream) == []
    assert len(engine.levels) == 1


def test_told_to_stop_the_rest_comes_back_as_cancelled(graph: Memory) -> None:
    graph.add("alone", id="alone")
    stop = threading.Event()
    stream = graph.activate(["A0", "alone"], stop=stop)
    assert next(stream).seed == "alone"
    stop.set()
    assert [(one.seed, one.reason) for one in stream] == [("A0", "cancelled")]


def test_seeds_that_fail_come_back_with_the_error_and_the_others_are_kept(graph: Memory) -> None:
    graph.add("alone", id="alone")
    asked(graph, fails_at=2)
    found = list(graph.activate(["A0", "alone", "B0"]))
    assert [(one.seed, one.reason, one.error) for one in found] == [
        ("alone", "complete", None),
        ("A0", "failed", "the engine stopped: start it again"),
        ("B0", "failed", "the engine stopped: start it again"),
    ]


def test_what_came_out_is_counted_as_used_once(graph: Memory) -> None:
    list(graph.activate([("A0", 0.9), ("A1", 0.9)], tags=["camp"], max_depth=1, max_branches=2, now=7))
    used = {id_: node.life.accesses for id_, node in graph.nodes("A0", "A1", "A2", "A3", "B0").items()}
    assert used == {"A0": 1, "A1": 1, "A2": 1, "A3": 1, "B0": 0}
    list(graph.activate(["A0"], record_access=False))
    assert graph.nodes("A0")["A0"].life.accesses == 1


# --- scope and filters


def test_energy_stays_inside_the_scope(graph: Memory) -> None:
    with Memory(graph.address, scope=Scope(user="other"), embedder=None) as other:
        assert one(other, "A0").reason == "seed_not_found"
        other.add("mine", id="A0")
        assert one(other, "A0").paths == ()


def test_filters_hold_at_every_step(graph: Memory) -> None:
    assert "A3" in {hop.dst for path in one(graph, "A0", max_branches=9).paths for hop in path.hops}
    graph.quarantine("A3")
    assert "A3" not in {hop.dst for path in one(graph, "A0", max_branches=9).paths for hop in path.hops}
    asking = one(graph, "A0", max_branches=9, include_quarantined=True)
    assert "A3" in {hop.dst for path in asking.paths for hop in path.hops}
    assert one(graph, "A0", kinds=["person"]).paths == ()


# --- seeds of a query


def test_a_seed_starts_with_what_text_and_vectors_say(memory: Memory) -> None:
    assert seed_score(2.0, 0.6, 0.5, 0.5) == 0.5 * 2 * math.atan(2.0) / math.pi + 0.5 * 1.6 / 2
    memory.add("the receiver is silent", id="a", tags=["receiver"])
    memory.add("a silent receiver", id="b")
    memory.add("nothing", id="c")
    found = {one.seed: one.score for one in memory.activate("receiver", text_weight=0.5)}
    bm25 = {hit.node.id: hit.why["parts"]["bm25"] for hit in memory.recall("receiver").hits}
    assert found == pytest.approx({id_: math.atan(bm25[id_]) / math.pi for id_ in "ab"}), (
        "a tag that has the word doubles the rank, not the energy"
    )


class Axes:
    """An embedder with an axis for each of three words."""

    model, dim = "axes", 3

    def embed(self, texts: Any) -> Any:
        return np.array([self.embed_query(text) for text in texts], np.float32)

    def embed_query(self, text: str) -> Any:
        found = np.array([word in text for word in ("kite", "cloud", "stone")], np.float32)
        return found / max(float(np.linalg.norm(found)), 1.0)


def test_the_weights_of_text_and_vectors_can_be_set(tmp_path: Path) -> None:
    with Memory(tmp_path / "m", embedder=Axes()) as memory:
        memory.add("a kite below a cloud", id="both")
        memory.add("a kite", id="kite")
        by_vector = {one.seed: one.score for one in memory.activate("kite", text_weight=0, vector_weight=1)}
        assert by_vector == pytest.approx({"kite": 1.0, "both": (1 + math.sqrt(0.5)) / 2}, abs=1e-3)
        by_text = {one.seed: one.score for one in memory.activate("kite", text_weight=1, vector_weight=0)}
        halves = {one.seed: one.score for one in memory.activate("kite")}
        assert halves == pytest.approx({id_: (by_text[id_] + by_vector[id_]) / 2 for id_ in by_text})
        with pytest.raises(InputError, match="cannot both be 0"):
            memory.activate("kite", text_weight=0, vector_weight=0)


@pytest.mark.parametrize("options", [{"seeds": " "}, {"seeds": "?!"}, {"limit": 0}, {"limit": -1}])
def test_a_blank_query_and_a_limit_of_nothing_give_nothing(graph: Memory, options: dict[str, Any]) -> None:
    assert list(graph.activate(**{"seeds": "memory", **options})) == []


def test_a_query_has_at_most_five_seeds_unless_told_otherwise(graph: Memory) -> None:
    assert len(list(graph.activate("memory"))) == 5
    assert len(list(graph.activate("memory", limit=2))) == 2
    assert len(list(graph.activate("memory", limit=99))) == 12


# --- query tags


def tags_of(memory: Memory, query: str, **options: Any) -> tuple[str, ...]:
    found = next(memory.activate(query, **options))
    return found.tags


def test_a_query_is_about_the_tags_it_names(graph: Memory) -> None:
    graph.link("A0", "A5", tags=["field notes"])
    named = tags_of(graph, "memory of the Camp, the field notes, evid and lead; unheard")
    assert named == ("field_notes", "camp", "evid", "lead")


def test_tags_of_the_best_anchors_make_up_three(graph: Memory) -> None:
    graph.add("memory zero", id="A0", tags=["weather", "unheard", "camp", "spike", "style"])
    assert tags_of(graph, "camp zero") == ("camp", "weather", "spike")


def test_more_than_seven_tags_are_not_taken(graph: Memory) -> None:
    assert len(tags_of(graph, "memory camp evid region meth norm insight weather spike style format")) == 7


def test_where_no_edge_has_tags_a_query_is_about_none(memory: Memory) -> None:
    memory.add("kite", id="a", tags=["sky"])
    assert tags_of(memory, "kite sky") == ()


def test_tags_may_be_chosen_by_somebody_else_from_those_there_are(graph: Memory) -> None:
    seen: list[Any] = []

    def choose(query: str, known: Any) -> list[str]:
        seen.append((query, list(known)))
        return ["#Camp", "invented", "lead", "camp"]

    assert tags_of(graph, "memory", choose_tags=choose) == ("camp", "lead")
    assert seen == [("memory", sorted({tag for part in EDGES.split() for tag in part.split(",") if tag.isalpha()}))]


def test_tags_that_are_given_are_taken_as_they_are(graph: Memory) -> None:
    assert tags_of(graph, "memory camp", tags=["#Lead", "lead"]) == ("lead",)
    assert tags_of(graph, "memory camp", tags=[]) == ()


# --- the recipe


def test_a_recall_by_energy_shows_seeds_and_what_they_activate_with_reasons(graph: Memory) -> None:
    graph.add("the kite flies", id="A0")
    found = graph.recall("kite camp", recipe=recipes.ENERGY, budget=Budget(tokens=500))
    assert [hit.node.id for hit in found.anchors] == ["A0"]
    assert [hit.node.id for hit in found.walkers][:2] == ["A2", "A1"]
    why = found.walkers[0].why
    assert (why["anchors"], why["found_by"], why["tags"]) == (["A0"], ["energy"], ["camp"])
    assert [(hop["src"], hop["dst"]) for hop in why["path"]] == [("A0", "A2")]
    assert why["parts"]["energy"] == found.walkers[0].score == why["path"][-1]["energy"]
    assert found.text.startswith("> the kite flies [A0]\n\n> memory A2 [A2]")
    assert len(found.text) <= 2000


def test_the_numbers_of_the_recipe_can_be_changed(graph: Memory) -> None:
    graph.add("the kite flies", id="A0")
    narrow = recipes.energy(flow=Flow(max_depth=1, max_branches=1))
    found = graph.recall("kite camp", recipe=narrow)
    assert [hit.node.id for hit in found.walkers] == ["A2"]
    assert len(graph.recall("kite camp", recipe=recipes.ENERGY, limit=3).hits) == 3


def test_the_filters_of_a_recall_hold_along_the_way(graph: Memory) -> None:
    graph.add("the kite flies", id="A0", buckets=["field"])
    graph.add("memory A1", id="A1", buckets=["field"])
    found = graph.recall("kite @field", recipe=recipes.ENERGY)
    assert [hit.node.id for hit in found.hits] == ["A0", "A1"]


def test_a_recall_by_energy_says_when_the_engine_fails(graph: Memory) -> None:
    asked(graph, fails_at=1)
    with pytest.raises(MemoryError_, match="start it again"):
        graph.recall("memory", recipe=recipes.ENERGY)
