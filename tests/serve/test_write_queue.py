"""The queue of writes of one process: order, groups, and an outcome for everyone who waits."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from cuetrail import Memory
from cuetrail.errors import InputError, MemoryError_
from cuetrail.serve.memory_access import LazyMemory
from cuetrail.serve.write_queue import MOST_IN_GROUP, Pace, Write, WriteQueue
from cuetrail.store.sqlite import SqliteStore


@pytest.fixture
def memory(place: Path) -> Iterator[Memory]:
    with Memory(place, embedder=None) as memory:
        yield memory


def carried_out(memory: LazyMemory, writes: list[Write], busy: bool) -> list[Any]:
    """The outcomes of writes that arrive at the same time."""
    outcomes: list[Any] = [None] * len(writes)

    async def one(queue: WriteQueue, number: int) -> None:
        try:
            outcomes[number] = await queue.run(writes[number])
        except Exception as error:  # noqa: BLE001  # an outcome too
            outcomes[number] = error

    async def run() -> None:
        queue = WriteQueue(memory, Pace(lambda: busy, 0.01, follow=True), anyio.CapacityLimiter(1))
        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for number in range(len(writes)):
                    tasks.start_soon(one, queue, number)

    anyio.run(run)
    return outcomes


def add(text: str, memory: Memory, _progress: object) -> str:
    return memory.add(text, source="talk", confidence=7 if "bad" in text else 1).id


@pytest.mark.parametrize("busy", [True, False])
def test_writes_that_wait_are_few_transactions_and_each_has_its_outcome(memory: Memory, busy: bool) -> None:
    assert isinstance(memory.store, SqliteStore)
    statements: list[str] = []
    memory.store.db.writer.set_trace_callback(statements.append)
    texts = [f"{'bad' if number % 5 == 2 else 'good'} number {number}" for number in range(3 * MOST_IN_GROUP)]
    outcomes = carried_out(LazyMemory(lambda: memory), [Write("add", None, partial(add, one)) for one in texts], busy)
    assert [isinstance(one, InputError) for one in outcomes] == ["bad" in text for text in texts]
    nodes = memory.nodes(*(one for one in outcomes if isinstance(one, str)))
    assert [node.text for node in nodes.values()] == [text for text in texts if "good" in text]
    # In the order in which they arrived.
    assert [node.seq for node in nodes.values()] == list(range(len(nodes)))
    assert statements.count("COMMIT") < len(texts) / 2


def test_a_write_that_searches_is_alone_and_keeps_its_place(memory: Memory) -> None:
    def forget(memory: Memory, _progress: object) -> list[str]:
        return memory.forget(memory.recall("first").hits[0].node.id)

    writes = [
        Write("add", None, partial(add, "the first")),
        Write("forget", None, forget),
        Write("add", None, partial(add, "the first")),
        Write("add", None, partial(add, "the last")),
    ]
    first, forgotten, again, last = carried_out(LazyMemory(lambda: memory), writes, busy=True)
    assert forgotten == [first]
    assert "forgotten" in str(again)
    assert memory.get(last) is not None


def test_a_memory_that_cannot_be_opened_is_everyones_error(place: Path) -> None:
    place.write_text("a file is in the way")
    writes = [Write("add", None, partial(add, str(number))) for number in range(5)]
    outcomes = carried_out(LazyMemory(lambda: Memory(place, embedder=None)), writes, busy=False)
    assert [type(one) for one in outcomes] == [MemoryError_] * 5
