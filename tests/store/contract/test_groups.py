"""Writes that arrive together: each has its own outcome, whatever becomes of the others."""

from __future__ import annotations

from contextlib import suppress

import pytest

from cuetrail import Memory, Scope
from cuetrail.errors import Forgotten, InputError


def test_writes_of_a_group_keep_their_order_and_see_each_other(address: str) -> None:
    with Memory(address, embedder=None) as memory:
        with memory.store.bulk("joined"):
            first = memory.add("The mast is tall.", source="talk")
            memory.edit(first.id, text="The mast is short.")
            second = memory.add("So is the aerial.", source="talk")
            memory.link(first.id, second.id)
            assert memory.get(first.id).text == "The mast is short."  # type: ignore[union-attr]
        assert [memory.get(one.id).seq for one in (first, second)] == [0, 1]  # type: ignore[union-attr]
        assert [version.text for version in memory.history(first.id)] == ["The mast is tall."]
        assert memory.neighbours(first.id).degree == 1


def test_a_write_that_fails_takes_nothing_of_its_group_with_it(address: str) -> None:
    with Memory(address, embedder=None) as memory:
        memory.add("A secret.", id="secret")
        memory.forget("secret")
        with memory.store.bulk("joined"):
            memory.add("Before.", id="before")
            with pytest.raises(Forgotten):
                memory.add("A secret.", id="secret")
            with pytest.raises(InputError):
                memory.add("Bad.", confidence=7.0)
            memory.add("After.", id="after")
        assert sorted(memory.nodes("before", "secret", "after")) == ["after", "before"]
        assert [hit.node.text for hit in memory.recall("after").hits] == ["After."]
        assert memory.doctor() == []


def test_users_of_one_group_do_not_see_each_other(address: str) -> None:
    ann, ben = Scope(user="ann"), Scope(user="ben")
    with Memory(address, embedder=None) as memory:
        with memory.store.bulk("indexed"):
            memory.scoped(ann).add("The key is under the mat.", id="key")
            memory.scoped(ben).add("The key is lost.", id="key")
            assert memory.scoped(ann).get("key").text == "The key is under the mat."  # type: ignore[union-attr]
        for scope, text in ((ann, "The key is under the mat."), (ben, "The key is lost.")):
            assert [hit.node.text for hit in memory.scoped(scope).recall("key").hits] == [text]


def test_a_group_that_ends_with_an_error_is_gone_where_the_engine_can_undo_it(address: str) -> None:
    with Memory(address, embedder=None) as memory:
        with suppress(KeyError), memory.store.bulk("joined"):
            memory.add("Never acknowledged.", id="one")
            raise KeyError
        assert (memory.get("one") is None) == ("://" not in address)
        memory.add("Acknowledged.", id="two")
        assert next(hit.node.id for hit in memory.recall("acknowledged").hits) in ("one", "two")
        assert memory.doctor() == []
