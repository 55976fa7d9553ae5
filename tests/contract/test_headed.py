"""A name with a qualifier ("Agni (2004 film)", "Fort Deposit, Alabama") is found by its first part."""

from __future__ import annotations

from cuetrail.model import Node, Scope
from cuetrail.store.ports import Batch, Store

ME = Scope()
YOU = Scope(user="you")


def test_a_name_is_found_by_what_stands_before_a_bracket_or_a_comma(store: Store) -> None:
    names = ("Agni (2004 film)", "Agni, a god", "Agni", "Agnirva", "agni (1978 film)")
    store.write(ME, Batch(nodes=[Node(f"n{i}", name=name) for i, name in enumerate(names)]))
    assert store.headed(ME, ["agni", "indra"], 5) == {"agni": ["n4", "n0", "n1"]}
    assert store.headed(ME, ["agni"], 2) == {"agni": ["n4", "n0"]}


def test_only_names_in_sight_are_found_by_their_beginning(store: Store) -> None:
    store.write(YOU, Batch(nodes=[Node("hers", name="Agni (2004 film)")]))
    assert store.headed(ME, ["agni"], 5) == {}
    assert store.headed(YOU, ["agni"], 5) == {"agni": ["hers"]}


def test_strange_beginnings_find_nothing(store: Store) -> None:
    store.write(ME, Batch(nodes=[Node("n", name="100% (song)")]))
    assert store.headed(ME, ["\ud800", "", "%", "'", '"'], 5) == {}
    assert store.headed(ME, ["100%"], 5) == {"100%": ["n"]}
