"""Relationships are found by the meaning of their description and notes, without a common word."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path

import pytest

from cuetrail.errors import EmbedderMismatch
from cuetrail.model import Edge, Life, Node, Note, Scope, Where
from cuetrail.store.graph import EdgeFilter
from cuetrail.store.ports import Store
from cuetrail.store.search import RelationQuery
from cuetrail.store.shared.copy import copy
from cuetrail.store.sqlite import SqliteStore
from cuetrail.store.vector_space import NO_VECTORS, VectorSpace
from cuetrail.store.write import Batch
from tests.store.contract.conftest import Engine
from tests.store.contract.test_records import vector
from tests.store.contract.test_relationships_by_words import ANN, BOB, NOW, TEAM_ANN, TEAM_BOB, people
from tests.store.contract.test_relationships_by_words import found as by_words

SPACE, NEXT = VectorSpace("test", 2), VectorSpace("next", 2)
EAST, NORTH, BETWEEN = vector(1, 0), vector(0, 1), vector(3, 4)


def fill(store: Store, scope: Scope = ANN) -> None:
    store.vector_spaces().start(SPACE)
    edges = [
        Edge("east", "ada", "bob", type="friend", text="east", attitude=5, updated=10),
        Edge("between", "ada", "cleo", type="rival", text="between", updated=30),
        Edge("north", "bob", "cleo", text="north", updated=20),
        Edge("silent", "bob", "cleo", updated=20),
        Edge("ruled", "bob", "cleo", text="east", via="dream:cooccurrence", updated=40),
    ]
    vectors = {"east": EAST, "between": BETWEEN, "north": NORTH}
    store.write(scope, Batch(nodes=people("ada", "bob", "cleo"), edges=edges, edge_vectors=vectors))


def found(
    store: Store, to: bytes = EAST, limit: int = 10, scope: Scope = ANN, now: int = NOW, ties: EdgeFilter | None = None,
    where: Where | None = None, space: VectorSpace | None = None,
) -> list[str]:  # fmt: skip
    query = RelationQuery((), limit, now, ties or EdgeFilter(), where or Where(), (to,), space)
    return [edge.id for edge in store.relationships(scope, query)]


def test_the_nearest_come_first_then_the_newer_then_by_id(store: Store) -> None:
    assert found(store) == []
    fill(store)
    assert found(store) == ["east", "between", "north"]
    assert found(store, NORTH, limit=2) == ["north", "between"]
    more = [Edge("b", "ada", "bob", text="b", updated=10), Edge("a", "ada", "bob", text="a", updated=10)]
    newer = Edge("z", "ada", "bob", text="z", updated=11)
    store.write(ANN, Batch(edges=[*more, newer], edge_vectors=dict.fromkeys("abz", EAST)))
    assert found(store, limit=3) == ["z", "a", "b"]
    assert found(store, limit=0) == []
    (first, *_) = store.relationships(ANN, RelationQuery((), 1, NOW, vectors=(BETWEEN,)))
    assert (first.id, first.src, first.dst, first.text) == ("between", "ada", "cleo", "between")


def test_filters_on_edges_and_on_both_their_ends_hold_before_the_limit(store: Store) -> None:
    fill(store)
    hidden = [
        Node("old", "person", "old", at=-5), Node("asleep", "person", "asleep", life=Life(state="archived")),
        Node("bad", "person", "bad", provenance="quarantine"), Node("atom", text="atom"),
    ]  # fmt: skip
    more = [Edge(f"to {node.id}", "ada", node.id, text="east", updated=99) for node in hidden]
    store.write(ANN, Batch(nodes=hidden, edges=more, edge_vectors={edge.id: EAST for edge in more}))
    of_people = Where(kinds=("person",), since=0)
    assert found(store, limit=1, where=of_people) == ["east"]
    assert found(store, limit=1, where=of_people, ties=EdgeFilter(exclude_types=("friend",))) == ["between"]
    assert found(store, NORTH, limit=1, where=of_people, ties=EdgeFilter(min_attitude=4)) == ["east"]
    assert found(store, limit=3, where=Where(kinds=("person",))) == ["to old", "east", "between"]
    every = Where(quarantined=True, archived=True)
    assert found(store, limit=4, where=every) == ["to asleep", "to atom", "to bad", "to old"]


def test_by_a_note_until_its_time_is_over_and_by_the_nearest_of_several(store: Store) -> None:
    fill(store)
    notes = [
        Note("n1", "north", "east", "edge", 5, expires=NOW), Note("n2", "silent", "between", "edge", 5),
        Note("n3", "silent", "north", "edge", 5), Note("n4", "ada", "east", "node", 5),
    ]  # fmt: skip
    store.write(ANN, Batch(notes=notes, note_vectors={"n1": EAST, "n2": BETWEEN, "n3": NORTH}))
    assert found(store, now=NOW - 1) == ["north", "east", "between", "silent"]
    assert found(store) == ["east", "between", "silent", "north"]
    assert found(store, NORTH) == ["north", "silent", "between", "east"]


def test_edges_that_rules_made_and_those_without_description_are_not_found(store: Store) -> None:
    fill(store)
    assert {"ruled", "silent"}.isdisjoint(found(store))
    assert [one.record.id for one in store.vector_spaces().missing(SPACE, 99)] == ["ada", "bob", "cleo"]


def test_what_is_said_no_longer_finds_nothing(store: Store) -> None:
    fill(store)
    notes = [Note("n1", "north", "x", "edge", 5), Note("n2", "east", "y", "edge", 5)]
    store.write(ANN, Batch(notes=notes, note_vectors={"n1": EAST, "n2": NORTH}))
    # What is written again as it is keeps its vector, though none comes along.
    store.write(ANN, Batch(edges=[Edge("east", "ada", "bob", text="east", updated=11)], notes=notes))
    assert found(store, limit=2) == ["north", "east"]
    assert store.vectors(ANN, ["east", "north", "n1"], of="edge") == {"east": EAST, "north": NORTH}
    assert store.vectors(ANN, ["n1", "n2"], of="note") == {"n1": EAST, "n2": NORTH}
    store.write(ANN, Batch(notes=[Note("n1", "north", "another", "edge", 6)]))
    assert found(store, limit=2) == ["east", "between"]
    store.write(ANN, Batch(edges=[Edge("between", "ada", "cleo", text="another")]))
    assert found(store, vector(3, 4)) == ["north", "east"]
    assert store.vectors(ANN, ["between"], of="edge") == {}
    store.write(ANN, Batch(remove_notes=["n2"], remove_edges=["north"]))
    assert found(store, NORTH) == ["east"]
    store.forget(ANN, ["bob"], NOW)
    assert found(store) == []
    assert store.doctor(False, None) == []


def test_nothing_of_another_user_is_found_and_of_a_team_what_its_members_say(store: Store) -> None:
    fill(store)
    assert found(store, scope=BOB) == []
    fill(store, TEAM_ANN)
    store.write(TEAM_BOB, Batch(notes=[Note("n", "silent", "x", "edge", 5)], note_vectors={"n": EAST}))
    assert found(store, scope=TEAM_BOB, limit=2) == ["silent", "east"]
    assert found(store, scope=TEAM_ANN, limit=1) == ["silent"]
    assert found(store, scope=BOB) == []
    # What somebody says in private of what a team shares stays with him.
    private = replace(TEAM_BOB, share=None)
    edge, note = Edge("own", "ada", "bob", text="x"), Note("m", "silent", "y", "edge", 5)
    store.write(private, Batch(edges=[edge], notes=[note], edge_vectors={"own": EAST}, note_vectors={"m": NORTH}))
    assert found(store, scope=private, limit=9, ties=EdgeFilter(exclude_types=("friend",)))[:2] == ["silent", "own"]
    assert set(found(store, NORTH, limit=1, scope=private)) == {"north"}
    assert "own" not in found(store, scope=TEAM_ANN)
    assert found(store, NORTH, scope=TEAM_ANN)[0] == "north"
    # Whose it is not cannot give it another meaning.
    store.write(TEAM_BOB, Batch(edge_vectors={"north": EAST}))
    assert store.vectors(TEAM_BOB, ["north"], of="edge") == {"north": NORTH}


def test_what_others_say_in_private_takes_the_place_of_nothing(store: Store) -> None:
    fill(store, TEAM_ANN)
    others = [Edge(f"{n}", "ada", "bob", text="east", updated=99) for n in range(5)]
    notes = [Note(f"n{n}", f"{n}", "north", "edge", 5) for n in range(5)]
    vectors = {edge.id: EAST for edge in others}, {note.id: NORTH for note in notes}
    batch = Batch(edges=others, notes=notes)
    batch.edge_vectors, batch.note_vectors = vectors
    store.write(replace(TEAM_BOB, share=None), batch)
    assert [found(store, to, 1, TEAM_ANN) for to in (EAST, NORTH)] == [["east"], ["north"]]


def test_a_shared_relationship_with_what_is_private_is_found_by_its_owner_alone(store: Store) -> None:
    store.vector_spaces().start(SPACE)
    store.write(replace(TEAM_ANN, share=None), Batch(nodes=people("secret")))
    shared = Edge("e", "ada", "secret", text="violin")
    store.write(TEAM_ANN, Batch(nodes=people("ada"), edges=[shared], edge_vectors={"e": EAST}))
    for scope, seen in ((TEAM_ANN, ["e"]), (TEAM_BOB, [])):
        assert found(store, scope=scope) == by_words(store, "violin", scope=scope) == seen


def test_a_relationship_that_passes_to_a_successor_is_found_as_before(store: Store) -> None:
    fill(store)
    store.write(ANN, Batch(nodes=people("ada2"), successors={"ada": "ada2"}))
    (edge, *_) = store.relationships(ANN, RelationQuery((), 5, NOW, vectors=(EAST,)))
    assert (edge.src, edge.dst) == ("ada2", "bob")


def test_a_change_over_makes_theirs_too_and_no_two_models_are_mixed(store: Store) -> None:
    fill(store)
    store.write(ANN, Batch(notes=[Note("n", "silent", "x", "edge", 5)]))
    with pytest.raises(EmbedderMismatch):
        found(store, space=NEXT)
    store.vector_spaces().start(NEXT, change_over=True)
    missing = store.vector_spaces().missing(NEXT, 99)
    assert sorted(one.record.id for one in missing) == ["ada", "between", "bob", "cleo", "east", "n", "north"]
    assert store.vector_spaces().missing(NEXT, 99, after=missing[2]) == missing[3:]
    assert [
        one for at in range(7) for one in store.vector_spaces().missing(NEXT, 1, missing[at - 1] if at else None)
    ] == missing
    store.write(ANN, Batch(edges=[Edge("east", "ada", "bob", text="corrected")]))
    assert store.vector_spaces().put(NEXT, [(one, NORTH) for one in missing]) == 6
    assert not store.vector_spaces().finish(NEXT)
    assert found(store, space=SPACE) == ["between", "north"]
    (left,) = store.vector_spaces().missing(NEXT, 99)
    store.vector_spaces().put(NEXT, [(left, EAST)])
    assert store.vector_spaces().finish(NEXT)
    assert found(store, space=NEXT) == ["east", "between", "north", "silent"]
    assert store.doctor(False, None) == []
    store.vector_spaces().start(NO_VECTORS, change_over=True)
    assert store.vector_spaces().finish(NO_VECTORS)
    assert found(store) == []


def test_a_copy_finds_the_same(store: Store, tmp_path: Path) -> None:
    fill(store)
    store.write(ANN, Batch(notes=[Note("n", "silent", "x", "edge", 5)], note_vectors={"n": EAST}))
    beside = SqliteStore(tmp_path / "beside")
    copy(store, beside)
    assert found(beside) == found(store) == ["silent", "east", "between", "north"]
    assert beside.vectors(ANN, ["n"], of="note") == {"n": EAST}
    beside.close()


@pytest.mark.parametrize("seed", range(20))
def test_it_is_what_comparing_all_of_them_gives(engine: Engine, seed: int) -> None:
    store, chance = engine(), random.Random(seed)
    store.vector_spaces().start(SPACE)
    store.write(ANN, Batch(nodes=people("ada", "bob", "cleo")))
    said: dict[str, tuple[float, float]] = {}
    edges: dict[str, Edge] = {}
    for round_ in range(6):
        for _ in range(chance.randint(1, 15)):
            id_ = f"e{chance.randrange(40)}"
            said[id_] = (chance.randint(-9, 9), chance.randint(1, 9))
            attitude, updated = chance.choice([None, 1, 5]), chance.randrange(3)
            edges[id_] = Edge(id_, "ada", "bob", text=str(said[id_]), attitude=attitude, updated=updated)
            store.write(ANN, Batch(edges=[edges[id_]], edge_vectors={id_: vector(*said[id_])}))
        gone = [id_ for id_ in edges if chance.random() < 0.1]
        store.write(ANN, Batch(remove_edges=gone))
        for id_ in gone:
            del edges[id_], said[id_]
        to, ties, limit = (
            (1.0, float(round_)),
            EdgeFilter(min_attitude=chance.choice([None, 2])),
            chance.choice([1, 3, 99]),
        )
        order = sorted(
            (one for one in edges.values() if ties.passes(one)),
            key=lambda one: (-round(cosine(to, said[one.id]), 3), -one.updated, one.id),
        )
        asked = found(store, vector(*to), limit, ties=ties)
        # Halves are not exact: equal to the third digit counts as equal.
        near = [round(cosine(to, said[id_]), 3) for id_ in asked]
        assert near == pytest.approx([round(cosine(to, said[one.id]), 3) for one in order][:limit], abs=2e-3)
    assert store.doctor(False, None) == []


def cosine(one: tuple[float, float], other: tuple[float, float]) -> float:
    return (one[0] * other[0] + one[1] * other[1]) / (math.hypot(*one) * math.hypot(*other))
