"""A successor takes over the facts, notes and caller-made edges of the node it replaces."""

from __future__ import annotations

from dataclasses import replace

from cuetrail.model import Edge, Fact, Node, Note, Scope
from cuetrail.model.ids import fact_id, stated_edge_id
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch
from tests.store.contract.test_records import records

ME = Scope()
ANN = Scope("acme", "ann", ("ops",), "ops")
BOB = Scope("acme", "bob", ("ops",))


def nodes(*ids: str) -> list[Node]:
    return [Node(id_, text=f"text of {id_}") for id_ in ids]


def succeed(store: Store, scope: Scope = ME, **successors: str) -> None:
    store.write(scope, Batch(nodes=nodes(*set(successors.values())), successors=successors))


def steps(store: Store, id_: str, scope: Scope = ME) -> list[tuple[str, str, bool]]:
    found = store.neighbours(scope, [id_], 50)[id_]
    assert found.degree == len(found.neighbours)
    return [(step.id, step.kind, step.outgoing) for step in found.neighbours]


def test_a_successor_takes_over_and_the_old_node_is_gone(store: Store) -> None:
    note = Note("o", "old", "a remark", created=5)
    facts = [
        Fact("f1", "old", "is", value="x"),
        Fact("f2", "other", "is", object="old"),
        Fact("f3", "old", "is", "old"),
    ]
    edges = [
        Edge("e1", "old", "other", "relates", 0.5, tags=("red", "blue"), text="why"),
        Edge("e2", "other", "old", "relates"),
        Edge("e3", "old", "old", "self", 0.3, tags=("red",)),
    ]
    store.write(ME, Batch(nodes=nodes("old", "other"), edges=edges, facts=facts, notes=[note]))
    on_edge = Note("oe", "e1", "on the edge", "edge", 6)
    store.write(ME, Batch(notes=[on_edge]))
    succeed(store, old="new")
    assert store.get(ME, ["old", "new"]).keys() == {"new"}
    assert records(store, Note) == [replace(note, target="new"), on_edge]
    assert records(store, Fact) == [
        replace(facts[0], subject="new"),
        replace(facts[1], object="new"),
        replace(facts[2], subject="new", object="new"),
    ]
    assert records(store, Edge) == [
        replace(edges[0], src="new"),
        replace(edges[1], dst="new"),
        replace(edges[2], src="new", dst="new"),
    ]
    assert steps(store, "new") == [
        ("other", "relates", True),
        ("new", "self", True),
        ("other", "relates", False),
    ]
    assert steps(store, "other") == [("new", "relates", False), ("new", "relates", True)]
    assert store.doctor(False, None) == []


def test_edges_that_a_rule_made_go_with_the_old_node(store: Store) -> None:
    store.write(ME, Batch(nodes=nodes("old", "other"), edges=[Edge("e", "old", "other", "links", 0.6, via="name:x")]))
    succeed(store, old="new")
    assert (records(store, Edge), steps(store, "other"), steps(store, "new")) == ([], [], [])
    assert store.doctor(False, None) == []


def test_an_id_that_tells_the_ends_tells_the_new_ones(store: Store) -> None:
    """So that stating the same again is the same edge and the same fact."""
    edge = Edge(stated_edge_id("old", "other", "relates"), "old", "other", "relates")
    fact = Fact(fact_id("old", "status", None, "x"), "old", "status", value="x")
    before = Fact("first", "old", "status", value="y", status="superseded", superseded_by=fact.id)
    store.write(ME, Batch(nodes=nodes("old", "other"), edges=[edge], facts=[fact, before]))
    succeed(store, old="new")
    [moved] = records(store, Edge)
    assert moved.id == stated_edge_id("new", "other", "relates")
    stated = {fact.value: fact for fact in records(store, Fact)}
    assert stated["x"].id == stated["y"].superseded_by == fact_id("new", "status", None, "x")


def test_two_nodes_with_one_successor_say_what_both_said_once(store: Store) -> None:
    edges = [Edge(stated_edge_id(i, "other", "relates"), i, "other", "relates", created=n) for n, i in enumerate("ab")]
    between = Edge("between", "a", "b", "relates")
    facts = [Fact(fact_id(i, "is", None, "x"), i, "is", value="x", created=n) for n, i in enumerate("ab")]
    batch = Batch(
        nodes=nodes("a", "b", "other"), edges=[*edges, between], facts=[*facts, Fact("f", "b", "is", "other")]
    )
    store.write(ME, batch)
    succeed(store, a="new", b="new")
    assert [(edge.src, edge.dst, edge.created) for edge in records(store, Edge)] == [("new", "other", 0)]
    assert sorted((fact.subject, fact.value, fact.object) for fact in records(store, Fact) if fact.value) == [
        ("new", "x", None)
    ]
    assert len(records(store, Fact)) == 2
    assert (steps(store, "new"), steps(store, "other")) == ([("other", "relates", True)], [("new", "relates", False)])
    assert store.doctor(False, None) == []


def test_an_edge_between_two_old_nodes_joins_their_successors(store: Store) -> None:
    store.write(ME, Batch(nodes=nodes("a", "b"), edges=[Edge("e", "a", "b", "relates", 0.5, tags=("red",))]))
    succeed(store, a="a2", b="b2")
    assert [(edge.src, edge.dst) for edge in records(store, Edge)] == [("a2", "b2")]
    assert (steps(store, "a2"), steps(store, "b2")) == ([("b2", "relates", True)], [("a2", "relates", False)])
    assert store.doctor(False, None) == []


def test_a_successor_that_was_kept_out_inherits_nothing(store: Store) -> None:
    store.write(ME, Batch(nodes=nodes("old", "new", "other")))
    store.forget(ME, ["new"], 1)
    store.write(ME, Batch(facts=[Fact("f", "old", "is", value="x")], edges=[Edge("e", "old", "other")]))
    written = store.write(ME, Batch(nodes=nodes("new"), successors={"old": "new"}))
    assert (written.forgotten, written.removed) == (("new",), 1)
    assert (records(store, Fact), records(store, Edge)) == ([], [])
    assert [node.id for node in records(store, Node)] == ["other"]


def test_the_file_of_which_nothing_is_left_goes_with_the_old_nodes(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("old", source="a.md")]))
    new = Node("new", source="b.md")
    store.write(ME, Batch(nodes=[new], successors={"old": "new"}, remove_sources=["a.md"]))
    assert store.atoms_of(ME, ["a.md", "b.md"]) == {"a.md": [], "b.md": [new]}
    assert store.ingested(ME, "").files == {}


def test_what_a_teammate_said_passes_on_and_stays_the_teammates(store: Store) -> None:
    store.write(ANN, Batch(nodes=nodes("old")))
    private = Batch(nodes=nodes("mine"), facts=[Fact("f", "old", "is", value="x")], notes=[Note("o", "old", "remark")])
    store.write(BOB, replace(private, edges=[Edge("e", "mine", "old")]))
    succeed(store, ANN, old="new")
    assert [(fact.subject, fact.value) for fact in records(store, Fact, BOB)] == [("new", "x")]
    assert [note.target for note in records(store, Note, BOB)] == ["new"]
    assert steps(store, "new", BOB) == [("mine", "relates", False)]
    assert (records(store, Fact, ANN), steps(store, "new", ANN)) == ([], [])
    assert store.doctor(False, None) == []


def test_nobody_decides_on_the_successor_of_anothers_node(store: Store) -> None:
    store.write(ANN, Batch(nodes=nodes("old"), facts=[Fact("f", "old", "is", value="x")]))
    succeed(store, BOB, old="new")
    assert store.get(ANN, ["old"]).keys() == {"old"}
    assert [fact.subject for fact in records(store, Fact, ANN)] == ["old"]
