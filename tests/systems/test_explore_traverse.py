"""Explore: traverse by hops and by personalised PageRank. One test per claim."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail import Memory, Scope
from cuetrail.errors import InputError, NotFound
from cuetrail.model import Edge, Node
from cuetrail.store.write import Batch

DAY = 86_400_000
NOW = 1_768_831_200_000


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Memory]:
    """A -> B -> C -> D -> E, with people at the ends of each."""
    with Memory(tmp_path / "memory", embedder="none") as memory:
        for n, name in enumerate("ABCDE"):
            memory.add(name=name, id=name, kind="person" if name != "C" else "concept", at=NOW + n, now=NOW)
        for n, (src, dst) in enumerate(zip("ABCD", "BCDE", strict=True)):
            memory.link(src, dst, weight=0.5, type="friend" if n else "rival", attitude=n + 1, proximity=3, now=NOW)
        yield memory


def reached(memory: Memory, *start: str, **options: object) -> list[tuple[str, int]]:
    found = memory.traverse(list(start), **options)  # type: ignore[arg-type]  # options of the verb
    return [(one.node.id, one.hops) for one in found.arrivals]


def test_hops_go_out_in_or_both_ways(line: Memory) -> None:
    assert reached(line, "C", direction="out") == [("D", 1)]
    assert reached(line, "C", direction="in") == [("B", 1)]
    assert sorted(reached(line, "C")) == [("B", 1), ("D", 1)]


def test_hops_go_as_far_as_three(line: Memory) -> None:
    assert reached(line, "A", max_hops=3) == [("B", 1), ("C", 2), ("D", 3)]
    for wrong in (0, 4):
        with pytest.raises(InputError, match="max_hops must be from 1 to 3"):
            line.traverse("A", max_hops=wrong)


def test_an_arrival_has_its_path(line: Memory) -> None:
    last = line.traverse("A", max_hops=2).arrivals[-1]
    assert last.path == ("A", "B", "C")
    edges = [line.edge(id_) for id_ in last.edges]
    assert [(edge.src, edge.dst) for edge in edges if edge] == [("A", "B"), ("B", "C")]


def test_a_start_may_be_a_name_and_is_never_a_query(line: Memory) -> None:
    line.add(name="Ada Lovelace", id="x1", kind="person")
    line.link("x1", "A")
    assert reached(line, "ada lovelace") == [("A", 1)]
    with pytest.raises(NotFound):
        line.traverse("MATCH (n) RETURN n")


def test_filters_hold_on_edges_and_on_nodes_along_the_way(line: Memory) -> None:
    assert reached(line, "A", max_hops=3, relationship_filters={"exclude_relationship_types": ["rival"]}) == []
    assert reached(line, "B", max_hops=3, kinds=["person"]) == [("A", 1)]
    assert reached(line, "B", direction="out", max_hops=3, relationship_filters={"max_attitude": 3}) == [
        ("C", 1),
        ("D", 2),
    ]


def test_pagerank_of_a_line_is_what_it_should_be(line: Memory) -> None:
    found = line.traverse(["A"], mode="ppr", depth=4, top_k=5)
    scores = {one.node.id: one.score for one in found.arrivals}
    # Solved for: p = .15 s + .85 P p on the path of five nodes.
    expected = {"A": 0.290052, "B": 0.329534, "C": 0.19527, "D": 0.129925, "E": 0.055218}
    assert scores == pytest.approx(expected, abs=1e-6)


def test_pagerank_gives_the_top_k_within_the_depth(line: Memory) -> None:
    assert {id_ for id_, _ in reached(line, "A", mode="ppr", depth=2)} == {"A", "B", "C"}
    assert len(reached(line, "A", mode="ppr", top_k=2)) == 2
    with pytest.raises(InputError, match=r"damping must be from 0 to 0\.99"):
        line.traverse("A", mode="ppr", damping=1.0)


def test_by_default_pagerank_goes_3_deep_with_a_damping_of_85_hundredths_and_gives_20(line: Memory) -> None:
    plain = line.traverse("A", mode="ppr", record_access=False).arrivals
    given = line.traverse("A", mode="ppr", depth=3, damping=0.85, top_k=20, record_access=False).arrivals
    assert plain == given
    assert {one.node.id for one in plain} == set("ABCD")
    for n in range(30):
        line.add(name=f"leaf {n}", id=f"leaf{n}", kind="person", now=NOW)
        line.link("A", f"leaf{n}", now=NOW)
    assert len(line.traverse("A", mode="ppr").arrivals) == 20


def test_by_default_a_traversal_goes_one_hop_both_ways(line: Memory) -> None:
    assert sorted(reached(line, "B")) == sorted(reached(line, "B", mode="hops", direction="both", max_hops=1))
    assert sorted(reached(line, "B")) == [("A", 1), ("C", 1)]


def test_what_is_reached_is_touched_once(line: Memory) -> None:
    line.traverse(["A", "B"], max_hops=3)
    used = {id_: node.life.accesses for id_, node in line.nodes(*"ABCDE").items()}
    assert used == {"A": 0, "B": 0, "C": 1, "D": 1, "E": 1}
    line.traverse("A", record_access=False)
    assert line.nodes("B")["B"].life.accesses == 0


def test_nothing_of_another_user_is_reached(tmp_path: Path) -> None:
    for user in ("ann", "bob"):
        with Memory(tmp_path / "memory", scope=Scope(user=user), embedder="none") as memory:
            memory.add(name="Shared", id="s")
            memory.add(name=f"{user}'s", id=user)
            memory.link("s", user)
            assert reached(memory, "s", max_hops=3) == [(user, 1)]


def test_all_neighbours_of_a_hub_are_told_if_so_many_are_asked_for(tmp_path: Path) -> None:
    with Memory(tmp_path / "hub", embedder="none") as memory:
        names = [f"n{n:04}" for n in range(1_010)]
        nodes = [Node(name, "person", name) for name in ("hub", *names)]
        edges = [Edge(f"to {name}", "hub", name, "relates", 0.5) for name in names]
        memory.store.write(memory.scope, Batch(nodes=nodes, edges=edges))
        every = memory.traverse("hub", limit=2_000)
        assert (len(every.arrivals), every.cut) == (1_010, False)
        some = memory.traverse("hub", limit=1_005)
        assert (len(some.arrivals), some.cut) == (1_005, True)


def test_a_walk_that_would_hardly_ever_go_home_is_refused(line: Memory) -> None:
    assert line.traverse("A", mode="ppr", damping=0.99).arrivals
    for wrong in (-0.1, 0.999999, 1):
        with pytest.raises(InputError, match=r"damping must be from 0 to 0\.99"):
            line.traverse("A", mode="ppr", damping=wrong)
