"""timeline, labels and dreams: memories by time, by label, and the reports of past dreams."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cuetrail import Memory, Scope
from cuetrail.errors import InputError
from cuetrail.store.read import Labelled

NOW = 1_700_000_000_000
DAY = 86_400_000


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=None) as memory:
        for day in range(5):
            memory.add(f"Day {day}", id=f"d{day}", tags=["log"], buckets=["field"], at=NOW + day * DAY, now=NOW)
        yield memory


def test_a_timeline_goes_on_where_it_ended(memory: Memory) -> None:
    first = memory.timeline(limit=2)
    assert [node.id for node in first.nodes] == ["d4", "d3"]
    second = memory.timeline(limit=2, after=first.more)
    assert [node.id for node in second.nodes] == ["d2", "d1"]
    last = memory.timeline(limit=2, after=second.more)
    assert ([node.id for node in last.nodes], last.more) == (["d0"], None)
    assert memory.timeline(limit=5).more is None


def test_a_look_through_the_timeline_is_no_use_of_what_is_in_it(memory: Memory) -> None:
    memory.timeline()
    assert memory.nodes("d0")["d0"].life.accesses == 0


def test_filters_narrow_a_timeline(memory: Memory) -> None:
    memory.quarantine("d4", now=NOW)
    assert [node.id for node in memory.timeline(since=NOW + 3 * DAY).nodes] == ["d3"]
    assert [node.id for node in memory.timeline(provenance="quarantine").nodes] == ["d4"]
    assert len(memory.timeline(tags=["Log"], buckets=["field"], include_quarantined=True).nodes) == 5
    assert memory.timeline(kinds=["person"]).nodes == ()


@pytest.mark.parametrize("after", ["", "x", "1", "1.2.3", "1.x"])
def test_a_place_that_is_none_is_refused(memory: Memory, after: str) -> None:
    with pytest.raises(InputError, match="after must be"):
        memory.timeline(after=after)


def test_labels_say_how_many_memories_have_them(memory: Memory) -> None:
    memory.add("more", tags=["Log book", "radio"])
    assert memory.labels() == [Labelled("log", 5), Labelled("log_book", 1), Labelled("radio", 1)]
    assert memory.labels(prefix="#Log B") == [Labelled("log_book", 1)]
    assert memory.labels("bucket") == [Labelled("field", 5)]
    with pytest.raises(InputError, match="tag or automatic or bucket"):
        memory.labels("kind")  # type: ignore[arg-type]  # the wrong word is the test


def test_what_dreams_did_is_kept_for_who_dreamt_unless_nothing_changed(memory: Memory) -> None:
    assert memory.dreams() == []
    first = memory.dream(now=NOW + 9 * DAY)
    memory.dream(dry_run=True, now=NOW + 10 * DAY)
    memory.dream(only=["temporal"], now=NOW + 10 * DAY)
    memory.add("Later", now=NOW + 11 * DAY)
    second = memory.dream(only=["temporal"], now=NOW + 11 * DAY)
    assert [(one.at, one.report) for one in memory.dreams()] == [(NOW + 11 * DAY, second), (NOW + 9 * DAY, first)]
    assert memory.scoped(Scope(user="ben")).dreams() == []


def test_of_many_dreams_the_last_ones_are_kept(memory: Memory) -> None:
    for night in range(23):
        memory.add(f"Of night {night}", now=NOW + night)
        memory.dream(only=["temporal"], now=NOW + night)
    assert [one.at for one in memory.dreams()] == [NOW + night for night in range(22, 2, -1)]
