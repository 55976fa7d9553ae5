"""Changing the model of the vectors: two models are never mixed, and no vector is lost."""

from __future__ import annotations

import random

import pytest

from cuetrail.errors import EmbedderMismatch, InputError
from cuetrail.model import Node, Scope, Tag, TextQuery, Where
from cuetrail.store.ports import Store
from cuetrail.store.vector_space import NO_VECTORS, Unembedded, VectorSpace
from cuetrail.store.write import Batch
from tests.store.contract.test_records import vector

ME, OTHER = Scope(), Scope("elsewhere", "other", ("team",), "team")
OLD, NEW, THIRD = VectorSpace("old", 2), VectorSpace("new", 2), VectorSpace("third", 3)


@pytest.fixture
def filled(store: Store) -> Store:
    """Two users' memories with vectors of the old model."""
    store.vector_spaces().start(OLD)
    store.write(ME, Batch(nodes=[Node("a", text="x"), Node("b", name="y")], vectors={"a": vector(1, 0)}))
    store.write(OTHER, Batch(nodes=[Node("a", text="z")], vectors={"a": vector(0, 1)}))
    return store


def nearest(store: Store, to: bytes, space: VectorSpace | None = None) -> list[str]:
    return [found.id for found in store.vector(ME, to, 9, Where(), space)]


def said(one: Unembedded) -> str | None:
    return one.record.text or (one.record.name if isinstance(one.record, Node) else None)


def make_all(store: Store, space: VectorSpace, to: bytes) -> int:
    return store.vector_spaces().put(space, [(one, to) for one in store.vector_spaces().missing(space, 99)])


def test_searches_use_the_old_vectors_until_all_new_ones_are_there(filled: Store) -> None:
    filled.vector_spaces().start(NEW, change_over=True)
    assert (filled.vector_spaces().held, filled.vector_spaces().next) == (OLD, NEW)
    missing = filled.vector_spaces().missing(NEW, 99)
    assert [said(one) for one in missing] == ["x", "y", "z"]
    assert filled.vector_spaces().put(NEW, [(missing[0], vector(0, 1)), (missing[1], vector(0, 1))]) == 2
    assert not filled.vector_spaces().finish(NEW)
    assert nearest(filled, vector(1, 0), OLD) == ["a"]
    assert filled.vectors(ME, ["a", "b"]) == {"a": vector(1, 0)}
    assert make_all(filled, NEW, vector(1, 1)) == 1
    assert filled.vector_spaces().finish(NEW)
    assert (filled.vector_spaces().held, filled.vector_spaces().next) == (NEW, None)
    # Another process that embedded the last ones finishes too.
    assert filled.vector_spaces().finish(NEW)
    assert filled.vectors(ME, ["a", "b"], NEW) == {"a": vector(0, 1), "b": vector(0, 1)}
    assert filled.vectors(OTHER, ["a"], NEW) == {"a": vector(1, 1)}
    assert nearest(filled, vector(0, 1), NEW) == ["a", "b"]
    assert filled.doctor(False, None) == []


def test_a_change_over_goes_on_where_it_stopped(filled: Store) -> None:
    filled.vector_spaces().start(NEW, change_over=True)
    first = filled.vector_spaces().missing(NEW, 1)
    filled.vector_spaces().put(NEW, [(first[0], vector(1, 1))])
    filled.vector_spaces().start(NEW, change_over=True)
    assert [said(one) for one in filled.vector_spaces().missing(NEW, 99)] == ["y", "z"]
    assert filled.vector_spaces().missing(NEW, 99, after=first[0]) == filled.vector_spaces().missing(NEW, 99)


@pytest.mark.parametrize("other", [OLD, THIRD])
def test_one_that_is_given_up_leaves_nothing_behind(filled: Store, other: VectorSpace) -> None:
    filled.vector_spaces().start(NEW, change_over=True)
    (one, *_) = filled.vector_spaces().missing(NEW, 99)
    filled.vector_spaces().put(NEW, [(one, vector(0, 1))])
    filled.vector_spaces().start(other, change_over=True)
    assert filled.vector_spaces().next == (None if other == OLD else other)
    with pytest.raises(EmbedderMismatch, match="reembed"):
        filled.vector_spaces().put(NEW, [(one, vector(0, 1))])
    with pytest.raises(EmbedderMismatch, match="reembed"):
        filled.vector_spaces().finish(NEW)
    assert nearest(filled, vector(1, 0)) == ["a"]
    filled.vector_spaces().start(NEW, change_over=True)
    assert len(filled.vector_spaces().missing(NEW, 99)) == 3


def test_vectors_of_a_model_the_memory_does_not_take_are_refused_whole(filled: Store) -> None:
    with pytest.raises(EmbedderMismatch, match="'old'"):
        filled.write(ME, Batch(nodes=[Node("c", text="c")], vectors={"c": vector(1, 0)}, space=NEW))
    assert filled.get(ME, ["c"]) == {}
    with pytest.raises(EmbedderMismatch):
        nearest(filled, vector(1, 0), NEW)
    assert filled.vectors(ME, ["a"], NEW) == {}
    with pytest.raises(InputError, match="embed it again"):
        filled.vector_spaces().put(OLD, [(one, vector(1, 0, 0)) for one in filled.vector_spaces().missing(OLD, 9)])


def test_writes_meanwhile_go_to_the_space_they_are_of(filled: Store) -> None:
    filled.vector_spaces().start(NEW, change_over=True)
    filled.write(ME, Batch(nodes=[Node("old", text="o")], vectors={"old": vector(1, 0)}, space=OLD))
    filled.write(ME, Batch(nodes=[Node("new", text="n")], vectors={"new": vector(0, 1)}, space=NEW))
    assert nearest(filled, vector(1, 0)) == ["a", "old"]
    waiting = [one.record.id for one in filled.vector_spaces().missing(NEW, 99)]
    assert "old" in waiting
    assert "new" not in waiting
    make_all(filled, NEW, vector(1, 1))
    assert filled.vector_spaces().finish(NEW)
    assert filled.vectors(ME, ["old", "new"]) == {"old": vector(1, 1), "new": vector(0, 1)}


def test_a_node_corrected_or_removed_meanwhile_keeps_no_vector_of_what_it_said(filled: Store) -> None:
    filled.vector_spaces().start(NEW, change_over=True)
    read = filled.vector_spaces().missing(NEW, 99)
    filled.write(ME, Batch(nodes=[Node("a", text="corrected")], remove_nodes=["b"]))
    assert filled.vector_spaces().put(NEW, [(one, vector(0, 1)) for one in read]) == 1
    assert [one.record.text for one in filled.vector_spaces().missing(NEW, 99)] == ["corrected"]
    make_all(filled, NEW, vector(1, 0))
    filled.write(ME, Batch(nodes=[Node("a", text="corrected again")]))
    assert not filled.vector_spaces().finish(NEW)
    make_all(filled, NEW, vector(1, 1))
    filled.write(ME, Batch(nodes=[Node("a", text="corrected again", tag_details=(Tag("t", "t"),))]))
    assert filled.vector_spaces().finish(NEW)
    assert filled.vectors(ME, ["a"]) == {"a": vector(1, 1)}
    assert filled.doctor(False, None) == []


def test_a_node_that_says_nothing_needs_no_vector(store: Store) -> None:
    store.vector_spaces().start(OLD)
    store.write(ME, Batch(nodes=[Node("silent")]))
    assert store.vector_spaces().missing(OLD, 9) == []
    store.vector_spaces().start(NEW, change_over=True)
    assert store.vector_spaces().finish(NEW)


def test_a_memory_may_be_kept_without_vectors(filled: Store) -> None:
    filled.vector_spaces().start(NO_VECTORS, change_over=True)
    assert filled.vector_spaces().finish(NO_VECTORS)
    assert filled.vector_spaces().held == NO_VECTORS
    assert nearest(filled, vector(1, 0)) == []
    with pytest.raises(EmbedderMismatch, match="no vectors"):
        filled.write(ME, Batch(nodes=[Node("c", text="c")], vectors={"c": vector(1, 0)}, space=OLD))
    assert filled.stats(ME).vectors == 0
    filled.vector_spaces().start(OLD, change_over=True)
    make_all(filled, OLD, vector(1, 1))
    assert filled.vector_spaces().finish(OLD)
    assert nearest(filled, vector(1, 1)) == ["a", "b"]
    assert filled.doctor(False, None) == []


def test_changing_there_and_back_between_two_searches_leaves_no_old_index(filled: Store) -> None:
    assert nearest(filled, vector(1, 0)) == ["a"]
    for space in (NEW, OLD):
        filled.vector_spaces().start(space, change_over=True)
        make_all(filled, space, vector(0, 1))
        assert filled.vector_spaces().finish(space)
    assert nearest(filled, vector(0, 1)) == ["a", "b"]
    assert filled.doctor(False, None) == []


def test_the_first_model_to_come_is_the_one_that_stays(store: Store) -> None:
    assert store.vector_spaces().start(OLD) == OLD
    assert store.vector_spaces().start(NEW) == OLD
    assert (store.vector_spaces().held, store.vector_spaces().next) == (OLD, None)


@pytest.mark.parametrize("seed", range(5))
def test_whatever_happens_meanwhile_every_vector_is_of_its_model_and_its_text(store: Store, seed: int) -> None:
    """Vectors say which model made them (their sign) and of which text (their angle)."""
    chance = random.Random(seed)
    signs = {OLD: 1.0, NEW: -1.0}
    store.vector_spaces().start(OLD)
    held, coming, stale = OLD, NEW, store.vector_spaces().missing(OLD, 0)

    def meant(space: VectorSpace, text: str) -> bytes:
        return vector(signs[space], signs[space] * int(text))

    for number in range(80):
        dice = chance.random()
        if dice < 0.4:
            node = Node(f"n{chance.randint(0, 9)}", text=str(chance.randint(1, 9)), updated=number)
            space = chance.choice([held, *([coming] if store.vector_spaces().next else [])])
            store.write(ME, Batch(nodes=[node], vectors={node.id: meant(space, node.text)}, space=space))
        elif dice < 0.5:
            store.write(ME, Batch(remove_nodes=[f"n{chance.randint(0, 9)}"]))
        elif dice < 0.6:
            store.vector_spaces().start(coming, change_over=True)
        elif store.vector_spaces().next and dice < 0.75:
            stale = store.vector_spaces().missing(coming, chance.randint(1, 5))
        elif store.vector_spaces().next and dice < 0.9:
            store.vector_spaces().put(coming, [(one, meant(coming, one.record.text)) for one in stale])
        elif store.vector_spaces().next and store.vector_spaces().finish(coming):
            held, coming, stale = coming, held, []
        texts = {id_: node.text for id_, node in store.get(ME, [f"n{i}" for i in range(10)]).items()}
        for id_, blob in store.vectors(ME, sorted(texts), held).items():
            assert blob == meant(held, texts[id_])
        assert {f.id for f in store.vector(ME, vector(1, 1), 99, Where(), held)} == store.vectors(
            ME, list(texts)
        ).keys()
    assert store.doctor(False, None) == []


def test_a_change_of_vectors_alone_leaves_the_words_as_they_are(filled: Store) -> None:
    found = filled.text(ME, TextQuery("x"), 9, Where())
    filled.vector_spaces().start(NEW, change_over=True)
    make_all(filled, NEW, vector(1, 0))
    assert filled.vector_spaces().finish(NEW)
    assert filled.text(ME, TextQuery("x"), 9, Where()) == found
    assert filled.doctor(False, None) == []
