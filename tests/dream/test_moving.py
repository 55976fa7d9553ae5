"""What dreams made goes along when a memory moves, and the next dream knows it for its own."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.year import USERS, lived
from cuetrail import Memory, Scope
from cuetrail.memory import copy_memory
from cuetrail.model import DERIVED, Node
from tests.dream.test_incremental import Step, state, steps
from tests.dream.tools import MONDAY, exported, fill, idle
from tests.seeds.test_003_year import chats

Way = Literal["copy", "import"]


def moved(memory: Memory, place: Path, way: Way, scope: Scope | None = None) -> Memory:
    """The memory in another place, the old one closed."""
    old = Path(memory.address)
    if way == "import":
        memory.export(place.with_suffix(".jsonl"))
    memory.close()
    if way == "copy":
        copy_memory(old, place)
    there = Memory(place, scope=scope or Scope(), embedder=None)
    if way == "import":
        assert there.import_(place.with_suffix(".jsonl")).errors == ()
    return there


@settings(max_examples=30)
@given(st.lists(st.tuples(steps, st.none() | st.sampled_from(("dream", "dream", "copy", "import"))), max_size=14))
def test_moving_in_between_changes_nothing_in_the_end(script: list[tuple[Step, Way | Literal["dream"] | None]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = []
        places = (Path(folder) / str(number) for number in count())
        for moves in (True, False):
            memory = Memory(next(places), embedder=None)
            for step, move in script:
                step(memory)
                if not moves or move is None:
                    continue
                if move == "dream":
                    memory.dream(now=MONDAY)
                else:
                    memory = moved(memory, next(places), move)
            memory.dream(now=MONDAY)
            before = exported(memory)
            assert idle(memory.dream(now=MONDAY + 1))
            assert exported(memory) == before
            assert memory.doctor() == []
            found.append(state(memory))
            memory.close()
        assert found[0] == found[1]


@pytest.mark.parametrize("way", ["copy", "import"])
def test_a_dream_after_a_move_finds_nothing_to_change(tmp_path: Path, way: Way) -> None:
    memory = Memory(tmp_path / "old", embedder=None)
    fill(memory)
    memory.dream(now=MONDAY)
    memory = moved(memory, tmp_path / "new", way)
    before = exported(memory)
    memory.dream(now=MONDAY)
    assert exported(memory) == before
    assert idle(memory.dream(now=MONDAY))
    memory.close()


def test_storylines_and_macros_are_neither_told_again_nor_twice(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "old", scope=Scope(user=USERS[0]), embedder="none")
    lived(memory, tmp_path / "old", chats(240), 360, step=24)
    now = max(node.updated for node in _told(memory))
    memory = moved(memory, tmp_path / "new", "import", Scope(user=USERS[0]))
    before = {node.id: (node.text, node.props) for node in _told(memory)}
    assert {node.kind for node in _told(memory)} == {"storyline", "macro"}
    report = memory.dream(teller=_refuse, only=["mentions", "storylines", "macros"], now=now)
    assert report.notices == ()
    assert {node.id: (node.text, node.props) for node in _told(memory)} == before
    assert idle(memory.dream(only=["mentions", "storylines", "macros"], now=now))
    memory.close()


def _told(memory: Memory) -> list[Node]:
    records = (record for _, record in memory.store.scan(memory.scope))
    return [record for record in records if isinstance(record, Node) and record.kind in DERIVED]


def _refuse(subject: str, texts: Sequence[str]) -> str:
    raise AssertionError(f"{subject} was told already")
