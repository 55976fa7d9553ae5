"""edit changes the given fields of a memory and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cuetrail import Memory, Scope
from cuetrail.errors import Forgotten, InputError, NotFound
from cuetrail.model import Tag

NOW = 1_700_000_000_000


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=None) as memory:
        yield memory


def test_what_is_not_given_stays_as_it_was(memory: Memory) -> None:
    before = memory.add(
        "The mast fell", id="a", name="Mast", aliases=["pole"], tags=["radio"], buckets=["field"], source="log",
        at=NOW - 5, provenance="external", props={"by": "Ines"}, retention="keep_forever", confidence=0.7, now=NOW,
    )  # fmt: skip
    after = memory.edit("Mast", text="The mast stands", now=NOW + 1)
    assert after == replace(before, text="The mast stands", updated=NOW + 1)
    assert memory.get("a") == after


def test_what_it_said_before_is_history_and_no_answer(memory: Memory) -> None:
    memory.add("The mast fell", id="a", now=NOW)
    memory.edit("a", text="The pole stands", now=NOW + 1)
    assert [(one.text, one.at) for one in memory.history("a")] == [("The mast fell", NOW + 1)]
    assert not memory.recall("mast").answerable
    assert memory.recall("pole").hits[0].node.id == "a"


def test_tags_of_people_change_and_tags_of_rules_stay(memory: Memory) -> None:
    node = memory.add("The mast fell", id="a", tags=["radio", "old"], now=NOW)
    found = (*node.tag_details, Tag("2023", "2023", "temporal"), Tag("mast", "mast", "auto"))
    memory.add_many([replace(node, tag_details=found)], now=NOW)
    after = memory.edit("a", tags=["Radio", "mast"], now=NOW + 1)
    assert {(tag.name, tag.origin) for tag in after.tag_details} == {
        ("radio", "user"), ("mast", "user"), ("2023", "temporal"),
    }  # fmt: skip


def test_a_new_name_takes_the_links_that_waited_for_it(memory: Memory) -> None:
    memory.ingest_text("See [[Pole]] for more.", source="note.md", now=NOW)
    memory.add(id="a", name="Mast", kind="concept", now=NOW)
    assert memory.neighbours("a").degree == 0
    memory.edit("a", name="Pole", now=NOW + 1)
    assert memory.neighbours("a").degree == 1
    assert memory.get("Pole") is not None
    assert memory.get("Mast") is None


def test_only_its_owner_corrects_a_shared_memory(tmp_path: Path) -> None:
    ann, ben = Scope(user="ann", teams=("ops",), share="ops"), Scope(user="ben", teams=("ops",))
    with Memory(tmp_path / "memory", scope=ann, embedder=None) as memory:
        memory.add("The mast fell", id="a", now=NOW)
        with pytest.raises(NotFound, match="somebody else"):
            memory.scoped(ben).edit("a", text="It did not", now=NOW)
        private = memory.scoped(replace(ann, share=None))
        assert private.edit("a", text="The mast stands", now=NOW + 1).team == "ops"
        (shown,) = memory.scoped(ben).nodes("a").values()
        assert shown.text == "The mast stands"


def test_what_was_forgotten_is_not_said_again_by_an_edit(memory: Memory) -> None:
    memory.add("The code of the vault is 4711, as ever.", id="a", now=NOW)
    memory.forget("a", now=NOW)
    memory.add("Something else", id="b", now=NOW)
    with pytest.raises(Forgotten):
        memory.edit("b", text="The code of the vault is 4711, as ever.", now=NOW + 1)
    assert memory.nodes("b")["b"].text == "Something else"
    assert memory.edit("b", text="The code of the vault is 4711, as ever.", allow_again=True, now=NOW + 1).id == "b"


def test_nothing_is_left_without_anything_to_say(memory: Memory) -> None:
    memory.add("The mast fell", id="a", now=NOW)
    with pytest.raises(InputError, match="nothing to remember"):
        memory.edit("a", text=" ", now=NOW)
    with pytest.raises(NotFound):
        memory.edit("nobody", text="x", now=NOW)
