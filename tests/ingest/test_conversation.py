"""Messages of a chat in one call: what is kept, in which order, and what a repeated call does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from cuetrail import AsyncMemory, Memory
from cuetrail.errors import InputError
from cuetrail.model import Node

NOW = 1_750_000_000_000
MARCH_4 = 1_741_046_400_000
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "I live in Oslo."},
    {"role": "assistant", "content": "I live in the cloud. How is the boat?"},
    {"role": "user", "content": "It leaks."},
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=None) as opened:
        yield opened


def turns(memory: Memory, source: str = "talk") -> list[Node]:
    """The messages of a conversation, in order."""
    nodes = [node for node in memory.store.atoms_of(memory.scope, [source])[source] if node.kind == "atom"]
    return sorted(nodes, key=lambda node: node.seq)


def nested(depth: int) -> list[Any]:
    """A text in a part of a part, so deep."""
    value: Any = "hello"
    for _ in range(depth):
        value = [{"type": "text", "text": value}]
    return list(value)


def said(memory: Memory, source: str = "talk") -> list[str]:
    return [node.text for node in turns(memory, source)]


def test_messages_are_kept_in_order_with_speaker_and_time(memory: Memory) -> None:
    report = memory.chat(TALK, source="talk", at="2025-03-04", now=NOW)
    assert (report.added, report.known, report.left_out) == (3, 0, ())
    found = turns(memory)
    assert [node.text for node in found] == [
        "user: I live in Oslo.", "assistant: I live in the cloud. How is the boat?", "user: It leaks.",
    ]  # fmt: skip
    assert [node.id for node in found] == list(report.ids)
    assert [node.seq for node in found] == [0, 1, 2]
    assert {node.at for node in found} == {MARCH_4}


def test_facts_are_read_from_what_people_say_and_from_nothing_else(memory: Memory) -> None:
    report = memory.chat([*TALK, {"role": "user", "name": "Ann", "content": "I work at Acme."}], source="talk", now=NOW)
    assert report.facts == 2
    assert [(fact.predicate, fact.value) for fact in memory.facts("user")] == [("lives_in", "Oslo")]
    assert [(fact.predicate, fact.value) for fact in memory.facts("Ann")] == [("works_at", "Acme")]


def test_a_repeated_call_adds_nothing_and_a_longer_history_adds_what_is_new(memory: Memory) -> None:
    first = memory.chat(TALK, source="talk", now=NOW)
    again = memory.chat(TALK, source="talk", at="2026-01-01", now=NOW + 1)
    assert (again.added, again.known, again.ids) == (0, 3, first.ids)
    longer = memory.chat([*TALK, {"role": "user", "content": "It leaks."}], source="talk", now=NOW + 2)
    assert (longer.added, longer.known) == (1, 3)
    assert (
        said(memory)
        == ["user: I live in Oslo.", "assistant: I live in the cloud. How is the boat?"] + ["user: It leaks."] * 2
    )


def test_a_short_answer_may_be_given_again_and_a_window_on_the_history_overlaps_it(memory: Memory) -> None:
    yes = {"role": "user", "content": "yes"}
    memory.chat([{"role": "assistant", "content": "Shall I book it?"}, yes, *TALK], source="talk", now=NOW)
    memory.chat([yes, {"role": "assistant", "content": "Then it is booked."}], source="talk", now=NOW)
    memory.chat([{"role": "assistant", "content": "Then it is booked."}, yes], source="talk", now=NOW)
    assert said(memory)[-4:] == ["user: It leaks.", "user: yes", "assistant: Then it is booked.", "user: yes"]


def test_ids_and_times_of_messages_tell_equal_ones_apart(memory: Memory) -> None:
    hello = {"role": "user", "content": "hello"}
    for more in ({"id": 1}, {"id": 2}, {"id": 1}, {"timestamp": 1_741_046_400}, {"created_at": "2025-03-05T10:00Z"}):
        memory.chat([{**hello, **more}], source="talk", now=NOW)
    assert [node.at for node in turns(memory)] == [NOW, NOW, MARCH_4, MARCH_4 + 34 * 3_600_000]


def test_later_calls_append_and_never_remove(memory: Memory) -> None:
    for number in range(4):
        memory.chat([{"role": "user", "content": f"Line {number} of four."}], source="talk", now=NOW + number)
    assert [node.seq for node in turns(memory)] == [0, 1, 2, 3]


@pytest.mark.parametrize("at", [date(2025, 3, 4), datetime(2025, 3, 4), datetime(2025, 3, 4, tzinfo=UTC), MARCH_4])
def test_a_time_may_be_given_in_every_form(memory: Memory, at: object) -> None:
    memory.chat([{"role": "user", "content": "hello", "at": at}], source="talk", now=NOW)
    assert turns(memory)[0].at == MARCH_4


def test_texts_of_parts_are_kept_and_everything_else_is_named(memory: Memory) -> None:
    parts = [{"type": "text", "text": "Look at the mast."}, {"type": "image_url", "image_url": {"url": "x"}}]
    report = memory.chat(
        [
            {"role": "system", "content": "Be kind."}, {"role": "user", "content": parts},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}, {"role": "tool", "content": "42"},
            {"role": "user", "content": ""},
        ],
        source="talk", now=NOW,
    )  # fmt: skip
    assert said(memory) == ["user: Look at the mast."]
    assert report.ids == (None, turns(memory)[0].id, None, None, None)
    assert report.left_out == (
        "message 1 (system): only what users and assistants say is kept", "message 2: image_url",
        "message 3: tool_calls", "message 4 (tool): only what users and assistants say is kept",
        "message 5: it has no text",
    )  # fmt: skip


def test_a_long_message_becomes_several_passages_and_is_known_again(memory: Memory) -> None:
    long = "\n\n".join(f"Paragraph {number} tells of the boat. " + "It is old. " * 30 for number in range(6))
    message = {"role": "assistant", "content": long}
    memory.chat([*TALK, message], source="talk", now=NOW)
    count = len(turns(memory))
    assert count > 4
    end = {"role": "user", "content": "Thank you very much."}
    assert memory.chat([message, end], source="talk", now=NOW).added == 1
    assert len(turns(memory)) == count + 1


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        (["hello"], 'message 1 must be a mapping such as {"role": "user"'),
        ([TALK[0], {"content": "hello"}], "message 2 must say who speaks"),
        ([{**TALK[0], "at": "soonish"}], "message 1: 'soonish' is no time"),
        ([{**TALK[0], "at": True}], "message 1: at must be a time"),
        ([{"role": "user", "content": nested(900)}], "message 1 is too large: its parts cannot be read"),
        ("hello", "messages must be a list of messages"),
        (TALK[0], "messages must be a list of messages"),
    ],
)
def test_what_is_no_message_is_refused_and_nothing_is_added(memory: Memory, messages: Any, message: str) -> None:
    with pytest.raises(InputError) as error:
        memory.chat(messages, source="talk")
    assert message in str(error.value)
    assert not memory.stats().nodes


def test_other_verbs_refuse_messages_and_name_this_one(memory: Memory) -> None:
    with pytest.raises(InputError, match="add it with chat"):
        memory.add_many(TALK)
    with pytest.raises(InputError, match="chat takes the messages of a chat"):
        memory.add(TALK)  # type: ignore[arg-type]  # that is what is tested


def test_a_conversation_needs_a_name(memory: Memory) -> None:
    with pytest.raises(InputError, match="name the conversation"):
        memory.chat(TALK, " ")


def test_an_ingested_file_is_no_conversation(memory: Memory) -> None:
    memory.ingest_text("# Notes\n\nThe antenna fell.", source="notes.md")
    with pytest.raises(InputError, match="is an ingested file"):
        memory.chat(TALK, source="notes.md")


def test_a_forgotten_conversation_stays_forgotten_and_may_begin_anew(memory: Memory) -> None:
    memory.chat(TALK, source="talk", now=NOW)
    assert set(memory.forget(source="talk", dry_run=True)) > {node.id for node in turns(memory)}
    memory.forget(source="talk")
    report = memory.chat([*TALK, {"role": "user", "content": "I work at Acme."}], source="talk", now=NOW)
    assert (report.added, report.ids[:3]) == (1, (None, None, None))
    assert report.left_out[0] == "message 1 was forgotten before: allow_again (--allow-again) adds it"
    assert [fact.value for fact in memory.facts("user")] == ["Acme"]
    assert memory.chat(TALK, source="talk", allow_again=True, now=NOW).added == 3


async def _told(place: Path) -> int:
    async with AsyncMemory(place, embedder=None) as memory:
        return (await memory.chat(TALK, source="talk")).added


def test_the_async_memory_takes_messages_too(tmp_path: Path) -> None:
    import asyncio

    assert asyncio.run(_told(tmp_path / "memory")) == 3
