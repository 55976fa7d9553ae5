"""A conversation by `add`: it keeps the order of arrival, and recall reads a turn with those beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuetrail import Memory
from cuetrail.errors import InputError
from cuetrail.validation.limits import MOST

TALK = ("Ann: Which boat do you like?", "Ben: The red one.", "Ann: It leaks.")


def test_turns_keep_their_order_one_by_one_and_in_batches(memory: Memory) -> None:
    assert [memory.add(text, source="chat").seq for text in TALK] == [0, 1, 2]
    memory.add_many([{"text": f"Ann: {word}", "id": word, "source": "chat"} for word in ("z", "m", "a")])
    assert [node.seq for node in memory.nodes("z", "m", "a").values()] == [3, 4, 5]


def test_the_order_stays_in_a_large_batch(memory: Memory) -> None:
    ids = [f"{number * 7919 % 1200}" for number in range(1200)]
    memory.add_many([{"text": f"turn {id_}", "id": id_, "source": "chat"} for id_ in ids])
    found = memory.nodes(*ids)
    assert [node.seq for node in found.values()] == list(range(1200))


def test_a_turn_that_is_said_or_edited_again_keeps_its_place(memory: Memory) -> None:
    first, *_ = [memory.add(text, source="chat") for text in TALK]
    assert memory.add(TALK[0], source="chat").seq == 0
    assert memory.edit(first.id, text="Ann: Which ship?").seq == 0
    assert memory.add("Ann: Bye.", source="chat").seq == 3


def test_a_memory_without_a_source_has_no_place(memory: Memory) -> None:
    assert [memory.add(text).seq for text in TALK] == [0, 0, 0]


@pytest.mark.parametrize("seq", [-1, MOST["seq"] + 1, 1.5, "2", True])
def test_a_wrong_position_is_refused(memory: Memory, seq: object) -> None:
    with pytest.raises(InputError, match="seq must be a whole number from 0 to"):
        memory.add("text", source="chat", seq=seq)  # type: ignore[arg-type]  # that is what is tested
    with pytest.raises(InputError, match="item 1: seq must be a whole number from 0 to"):
        memory.add_many([{"text": "text", "source": "chat", "seq": seq}])


def test_an_export_carries_the_order(memory: Memory, tmp_path: Path) -> None:
    for text in TALK:
        memory.add(text, source="chat")
    memory.export(tmp_path / "all.jsonl")
    with Memory(tmp_path / "other", embedder=None) as other:
        other.import_(tmp_path / "all.jsonl")
        found = {hit.node.text: hit.node.seq for hit in other.recall("Ann Ben").passages}
        assert found == {text: place for place, text in enumerate(TALK)}
        assert other.add("Ben: Bye.", source="chat").seq == 3


def test_an_answer_is_found_by_the_question_before_it(memory: Memory) -> None:
    memory.add_many([{"text": text, "source": "chat"} for text in TALK])
    memory.add_many([{"text": f"Ben: We saw a whale of {number} metres.", "source": "trip"} for number in range(9)])
    found = memory.recall("which boat do you like?").passages
    assert {hit.node.text for hit in found[:2]} == set(TALK[:2])
    answer = next(hit for hit in found if hit.node.text == TALK[1])
    assert answer.why["parts"]["near"] > 0


@pytest.mark.parametrize("as_property", [False, True])
def test_who_speaks_is_known_from_the_text_or_from_a_property(memory: Memory, as_property: bool) -> None:
    for who, said in (("Ann", "I painted the boat."), ("Ben", "I painted the mast.")):
        given = {"text": said, "props": {"speaker": who}} if as_property else {"text": f"{who}: {said}"}
        memory.add(**given, source="chat", id=who)
    found = memory.recall("what has Ben painted?").passages
    assert [(hit.node.id, "spoken" in hit.why["parts"]) for hit in found] == [("Ben", True), ("Ann", False)]
