"""Relationships are found by the words of their type, their description and the notes on them."""

from __future__ import annotations

from cuetrail.model import Edge, Node, Note, Scope
from cuetrail.store.graph import EdgeFilter
from cuetrail.store.ports import Store
from cuetrail.store.search import RelationQuery
from cuetrail.store.write import Batch

ANN, BOB = Scope("t", "ann"), Scope("t", "bob")
TEAM_ANN, TEAM_BOB = Scope("t", "ann", ("ops",), "ops"), Scope("t", "bob", ("ops",), "ops")
NOW = 1_000_000


def people(*ids: str) -> list[Node]:
    return [Node(id_, "person", id_) for id_ in ids]


def fill(store: Store, scope: Scope = ANN) -> None:
    edges = [
        Edge("school", "ada", "bob", type="old friend", text="Met at school in Zürich", attitude=5, updated=10),
        Edge("work", "ada", "cleo", type="colleague", text="school board, friends of the radio", updated=30),
        Edge("chess", "bob", "cleo", text="chess on Mondays", updated=20),
        Edge("ruled", "bob", "cleo", text="chess by a rule", via="dream:cooccurrence", updated=40),
    ]
    store.write(scope, Batch(nodes=people("ada", "bob", "cleo"), edges=edges))


def found(
    store: Store, *words: str, limit: int = 10, scope: Scope = ANN, now: int = NOW, ties: EdgeFilter | None = None
) -> list[str]:
    return [edge.id for edge in store.relationships(scope, RelationQuery(words, limit, now, ties or EdgeFilter()))]


def test_by_type_and_description_those_that_share_most_words_first_then_the_newer(store: Store) -> None:
    fill(store)
    assert found(store, "school") == ["work", "school"]
    assert found(store, "old", "School", "friend") == ["school", "work"]
    assert found(store, "friend", "chess") == ["work", "chess", "school"]
    assert found(store, "zurich") == found(store, "ZÜRICH") == ["school"]
    assert found(store, "friend", "chess", limit=1) == ["work"]
    assert found(store, "friend", limit=0) == found(store) == found(store, "violin") == found(store, "!?") == []


def test_edges_that_rules_made_are_no_relationships(store: Store) -> None:
    fill(store)
    assert found(store, "chess") == ["chess"]
    assert found(store, "rule") == []


def test_filters_hold_before_the_limit(store: Store) -> None:
    fill(store)
    assert found(store, "school", limit=1, ties=EdgeFilter(min_attitude=4)) == ["school"]
    assert found(store, "school", limit=1, ties=EdgeFilter(exclude_types=("colleague",))) == ["school"]


def test_by_a_note_until_its_time_is_over(store: Store) -> None:
    fill(store)
    notes = [Note("n1", "chess", "a violin was sold", "edge", 5, expires=NOW), Note("n2", "ada", "violin", "node", 5)]
    store.write(ANN, Batch(notes=notes))
    assert found(store, "violins", now=NOW - 1) == ["chess"]
    assert found(store, "violins") == []
    assert found(store, "violin", "monday", "school", now=NOW - 1)[0] == "chess"


def test_what_is_said_no_longer_finds_nothing(store: Store) -> None:
    fill(store)
    store.write(
        ANN, Batch(notes=[Note("n1", "chess", "a violin", "edge", 5), Note("n2", "school", "a flute", "edge", 5)])
    )
    store.write(ANN, Batch(notes=[Note("n1", "chess", "a drum", "edge", 6)]))
    assert (found(store, "violin"), found(store, "drum")) == ([], ["chess"])
    store.write(ANN, Batch(edges=[Edge("chess", "bob", "cleo", text="go on Mondays", updated=50)]))
    assert (found(store, "chess"), found(store, "go"), found(store, "drum")) == ([], ["chess"], ["chess"])
    store.write(ANN, Batch(remove_notes=["n1"], remove_edges=["work"]))
    assert (found(store, "drum"), found(store, "radio")) == ([], [])
    store.forget(ANN, ["ada"], NOW)
    assert (found(store, "school"), found(store, "flute"), found(store, "go")) == ([], [], ["chess"])
    assert store.doctor(False, None) == []


def test_nothing_of_another_user_is_found_and_of_a_team_what_its_members_say(store: Store) -> None:
    fill(store)
    assert found(store, "school", scope=BOB) == []
    fill(store, TEAM_ANN)
    store.write(TEAM_BOB, Batch(notes=[Note("n", "chess", "a violin", "edge", 5)]))
    assert found(store, "chess", scope=TEAM_BOB) == ["chess"]
    assert found(store, "violin", scope=TEAM_ANN) == ["chess"]
    assert found(store, "violin", scope=BOB) == []


def test_a_relationship_that_passes_to_a_successor_is_found_as_before(store: Store) -> None:
    fill(store)
    store.write(ANN, Batch(nodes=people("ada2"), successors={"ada": "ada2"}))
    (edge,) = store.relationships(ANN, RelationQuery(("zürich",), 5, NOW))
    assert (edge.src, edge.dst) == ("ada2", "bob")
