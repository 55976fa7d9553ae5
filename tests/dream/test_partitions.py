"""Each partition dreams separately: nothing private and nothing of one user reaches anyone else."""

from __future__ import annotations

from pathlib import Path

from cuetrail import Memory, Scope
from cuetrail.dream.passes import mentions, tag_propagation
from tests.dream.tools import MINUTE, MONDAY, counts, edges, episodes, idle, of_origin, origins

ANN = Scope("acme", "ann")
ANN_RED = Scope("acme", "ann", ("red",), "red")
BOB_RED = Scope("acme", "bob", ("red",), "red")
OTHER = Scope("other", "ann")


def at(tmp_path: Path, scope: Scope) -> Memory:
    return Memory(tmp_path / "memory", scope=scope, embedder="none")


def fill(tmp_path: Path, scope: Scope, name: str) -> None:
    """A person, and three atoms that name all of the four."""
    with at(tmp_path, scope) as memory:
        memory.add(name=name, kind="person", id=f"person {name}", at=MONDAY)
        for n in range(3):
            memory.add(
                f"Ann_private Ann_shared Bob_shared Other_private met, {name} {n}",
                id=f"{name} {n}",
                tags=[f"tag of {name}"],
                at=MONDAY + n * MINUTE,
            )


BY_NAME = ("infection", "mentions", "cooccurrence")
WHO = {"Ann_private": ANN, "Ann_shared": ANN_RED, "Bob_shared": BOB_RED, "Other_private": OTHER}


def test_names_and_tags_stay_in_their_place(tmp_path: Path) -> None:
    for name, scope in WHO.items():
        fill(tmp_path, scope, name)
    for name, scope in WHO.items():
        with at(tmp_path, scope) as memory:
            memory.dream(only=BY_NAME)
            for n in range(3):
                assert of_origin(memory, f"{name} {n}", "infected") == {name.lower()}
            assert {dst for _, dst in edges(memory, "mentions", scope)} >= {f"person {name}"}
            assert edges(memory, "co_occurs", scope) == {}


def test_a_user_dreams_in_all_places_of_its_own_and_in_no_other(tmp_path: Path) -> None:
    for name, scope in WHO.items():
        fill(tmp_path, scope, name)
    with at(tmp_path, ANN) as memory:
        report = memory.dream()
        assert counts(report)["temporal"] == (6, 36, 0)
    with at(tmp_path, BOB_RED) as memory:
        assert "2026" not in origins(memory, "Bob_shared 0")
        assert "2026" in origins(memory, "Ann_shared 0")
    with at(tmp_path, OTHER) as memory:
        assert "2026" not in origins(memory, "Other_private 0")


def test_dreaming_for_everyone_is_each_dreaming_for_himself(tmp_path: Path) -> None:
    for name, scope in WHO.items():
        fill(tmp_path, scope, name)
    with at(tmp_path, ANN) as memory:
        assert counts(memory.dream(everyone=True, only=BY_NAME))["infection"] == (12, 12, 0)
        assert idle(memory.dream(everyone=True, only=BY_NAME))
        # What was changed in one place behind another is no reason to look there again.
        for place in memory.store.partitions(None):
            for module in (tag_propagation, mentions):
                assert memory.store.dream_pass(place, module.NAME).state(module.VERSION) == "idle"
    for name, scope in WHO.items():
        with at(tmp_path, scope) as memory:
            assert idle(memory.dream(only=BY_NAME))
            assert of_origin(memory, f"{name} 0", "infected") == {name.lower()}


def test_episodes_are_of_one_place(tmp_path: Path) -> None:
    for scope, id_ in ((ANN, "a"), (ANN_RED, "b"), (BOB_RED, "c")):
        with at(tmp_path, scope) as memory:
            memory.add(f"something {id_}", id=id_, at=MONDAY)
    with at(tmp_path, ANN) as memory:
        memory.dream(everyone=True)
        assert episodes(memory) == {}


def test_the_same_id_in_two_places_is_two_atoms(tmp_path: Path) -> None:
    for scope, text in ((ANN, "the radio is private"), (ANN_RED, "the relay is shared")):
        with at(tmp_path, scope) as memory:
            memory.add(text, id="same", at=MONDAY)
            memory.add("keeps a tag", id="tagged", tags=[text.split()[1]], at=MONDAY)
    with at(tmp_path, ANN) as memory:
        memory.dream()
        assert of_origin(memory, "same", "infected") == {"radio"}
    with at(tmp_path, ANN_RED) as memory:
        assert of_origin(memory, "same", "infected") == {"relay"}
        assert memory.doctor() == []


def test_an_empty_memory_dreams_of_nothing(memory: Memory) -> None:
    assert idle(memory.dream())
    assert idle(memory.dream(everyone=True, dry_run=True))
