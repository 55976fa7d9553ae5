"""A name with a qualifier ("Agni (2004 film)", "Fort Deposit, Alabama") is found by its first part."""

from __future__ import annotations

from cuetrail.model import Node, Scope
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch

ME = Scope()
YOU = Scope(user="you")


def qualified(store: Store, scope: Scope, norms: list[str], each: int) -> dict[str, list[str]]:
    exact = store.named(scope, norms)
    both = store.named(scope, norms, each)
    assert all(both[norm][: len(ids)] == ids for norm, ids in exact.items())
    return {norm: rest for norm, ids in both.items() if (rest := ids[len(exact.get(norm, ())) :])}


def test_a_name_is_found_by_what_stands_before_a_bracket_or_a_comma(store: Store) -> None:
    names = ("Agni (2004 film)", "Agni, a god", "Agni", "Agnirva", "agni (1978 film)")
    store.write(ME, Batch(nodes=[Node(f"n{i}", name=name) for i, name in enumerate(names)]))
    assert qualified(store, ME, ["agni", "indra"], 5) == {"agni": ["n4", "n0", "n1"]}
    assert qualified(store, ME, ["agni"], 2) == {"agni": ["n4", "n0"]}


def test_only_names_in_sight_are_found_by_their_beginning(store: Store) -> None:
    store.write(YOU, Batch(nodes=[Node("hers", name="Agni (2004 film)")]))
    assert qualified(store, ME, ["agni"], 5) == {}
    assert qualified(store, YOU, ["agni"], 5) == {"agni": ["hers"]}


def test_strange_beginnings_find_nothing(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("n", name="100% (song)")]))
    assert qualified(store, ME, ["\ud800", "", "%", "'", '"'], 5) == {}
    assert qualified(store, ME, ["100%"], 5) == {"100%": ["n"]}
