"""Nodes are found by the first characters of their ids, within the scope and in order."""

from __future__ import annotations

import pytest

from cuetrail.model import Node, Scope
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch

ME = Scope()
MATE = Scope(user="mate", teams=("crew",), share="crew")


def filled(store: Store) -> Store:
    store.write(ME, Batch(nodes=[Node(id_, text=id_) for id_ in ("ab1", "ab2", "ab", "abé", "ac", "AB9", "b", "%")]))
    store.write(MATE, Batch(nodes=[Node("ab3", text="shared"), Node("ab1", text="shared too")]))
    return store


@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        ("ab", ["ab", "ab1", "ab2", "abé"]),
        ("ab1", ["ab1"]),
        ("AB", ["AB9"]),
        ("abc", []),
        ("%", ["%"]),
        ("_", []),
        ("\ud800", []),
    ],
)
def test_ids_that_begin_so_come_in_order(store: Store, prefix: str, found: list[str]) -> None:
    assert filled(store).ids(ME, prefix, 10) == found


def test_no_more_come_than_are_asked_for(store: Store) -> None:
    filled(store)
    assert [store.ids(ME, "ab", limit) for limit in (2, 1, 0, -1)] == [["ab", "ab1"], ["ab"], [], []]


def test_only_what_the_scope_sees_is_found(store: Store) -> None:
    filled(store)
    assert store.ids(Scope(user="stranger"), "a", 10) == []
    assert "ab3" in store.ids(Scope(teams=("crew",)), "ab", 10)
    assert "ab3" not in store.ids(ME, "ab", 10)
    store.forget(ME, ["ab2"], 1)
    assert "ab2" not in store.ids(ME, "ab", 10)
