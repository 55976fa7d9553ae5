"""Positions in a source: a new memory without a position gets the next one, inside the transaction that stores it."""

from __future__ import annotations

import threading

from cuetrail.model import Node, Scope
from cuetrail.model.records import NEXT_IN_SOURCE
from cuetrail.store.ports import Store
from cuetrail.store.write import Batch

ME, YOU = Scope(), Scope(user="you")


def turn(id_: str, source: str = "chat", seq: int = NEXT_IN_SOURCE) -> Node:
    return Node(id_, text=f"said {id_}", source=source, seq=seq)


def put(store: Store, *nodes: Node, scope: Scope = ME) -> None:
    store.write(scope, Batch(nodes=list(nodes)))


def positions(store: Store, *ids: str, scope: Scope = ME) -> list[int]:
    return [node.seq for node in store.get(scope, ids).values()]


def test_memories_of_a_source_stand_in_the_order_of_their_arrival(store: Store) -> None:
    put(store, turn("d"), turn("b"), turn("other", "talk"), turn("a"))
    put(store, turn("c"))
    assert positions(store, "d", "b", "a", "c", "other") == [0, 1, 2, 3, 0]


def test_a_position_that_is_given_is_kept_and_the_next_follows_the_largest(store: Store) -> None:
    put(store, turn("a", seq=7), turn("b"), turn("c", seq=3), turn("d"))
    assert positions(store, "a", "b", "c", "d") == [7, 8, 3, 9]


def test_what_is_stored_again_keeps_its_position_in_its_source_only(store: Store) -> None:
    put(store, turn("a"), turn("b"), turn("c"))
    put(store, turn("b"), turn("d"), turn("a", "talk"))
    assert positions(store, "b", "d", "a") == [1, 3, 0]


def test_the_note_of_a_file_takes_no_position(store: Store) -> None:
    put(store, Node("note", kind="source", name="Chat", source="chat", seq=-1))
    put(store, turn("a"))
    assert positions(store, "a") == [0]


def test_two_users_have_their_own_positions(store: Store) -> None:
    put(store, turn("a"), turn("b"))
    put(store, turn("c"), scope=YOU)
    assert positions(store, "c", scope=YOU) == [0]


def test_two_writers_never_give_the_same_position(store: Store) -> None:
    def write(name: str) -> None:
        for number in range(8):
            put(store, turn(f"{name}{number}"))

    writers = [threading.Thread(target=write, args=(name,)) for name in "xyz"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    ids = [f"{name}{number}" for name in "xyz" for number in range(8)]
    assert sorted(positions(store, *ids)) == list(range(24))
    for name in "xyz":
        own = positions(store, *(f"{name}{number}" for number in range(8)))
        assert own == sorted(own)


def test_a_memory_stands_beside_those_directly_before_and_behind_it(store: Store) -> None:
    put(store, Node("note", kind="source", name="Chat", source="chat", seq=-1), *map(turn, "abcd"), turn("x", "talk"))
    assert store.beside(ME, ["b", "a", "x", "note", "none"]) == {"b": ["a", "c"], "a": ["b"]}
    store.forget(ME, ["c"], 1)
    assert store.beside(ME, ["b", "d"]) == {"b": ["a", "d"], "d": ["b"]}


def test_memories_at_one_position_do_not_stand_beside_each_other(store: Store) -> None:
    put(store, *(turn(id_, seq=0) for id_ in "abc"), turn("d"))
    assert store.beside(ME, ["a", "b"]) == {"a": ["d"], "b": ["d"]}
    assert store.beside(YOU, ["a", "b"]) == {}
