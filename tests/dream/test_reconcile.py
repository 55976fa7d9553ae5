"""The results of dreams are kept when a memory is copied or imported, and the next dream updates them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.year import USERS, lived
from cuetrail import Memory, Scope
from cuetrail.memory import copy_memory
from cuetrail.model import STORYLINE_KINDS, Node
from cuetrail.store.write import Batch
from tests.dream.test_incremental import NAMES, Step, in_the_end, state, steps
from tests.dream.tools import MINUTE, MONDAY, episodes, exported, fill, idle
from tests.systems.test_explore_year import chats

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
            found.append(in_the_end(memory))
            memory.close()
        assert found[0] == found[1]


merges = st.sampled_from(("dream", "import", "import"))
shared = st.lists(st.sampled_from(range(8)), min_size=3, max_size=8, unique=True)


@settings(max_examples=30)
@given(st.tuples(shared, shared), st.lists(st.tuples(st.booleans(), st.one_of(steps, merges)), max_size=8))
def test_of_what_two_memories_dreamt_of_the_same_atoms_one_thing_stays(
    first: tuple[list[int], list[int]], script: list[tuple[bool, Step | str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        two = [Memory(place / name, embedder=None) for name in ("one", "two")]
        for memory, numbers in zip(two, first, strict=True):
            for number in numbers:
                text = " ".join(NAMES[(number + other) % len(NAMES)] for other in range(number % 4))
                at = MONDAY + number * 10 * MINUTE
                memory.add(f"{text} {number}", id=f"a{number}", at=at, now=MONDAY)
                memory.add("somebody", id=f"p{number % 3}", name=NAMES[number % 3], kind="person", at=MONDAY)
            memory.dream(now=MONDAY)
        for second, what in (*script, (False, "import"), (True, "import")):
            memory, other = two[second], two[not second]
            if what == "import":
                other.export(place / "export.jsonl")
                assert memory.import_(place / "export.jsonl").errors == ()
            elif what == "dream":
                memory.dream(now=MONDAY)
            elif callable(what):
                what(memory)
        for number, memory in enumerate(two):
            memory.dream(now=MONDAY)
            before = exported(memory)
            assert idle(memory.dream(now=MONDAY + 1))
            assert exported(memory) == before
            with Memory(place / f"anew{number}", embedder=None) as anew:
                (place / "undreamt.jsonl").write_bytes(
                    b"".join(line for line in before.splitlines(True) if _is_undreamt(line))
                )
                assert anew.import_(place / "undreamt.jsonl").errors == ()
                anew.dream(now=MONDAY)
                # Tags of origin auto are of files and of dreams.
                assert {**state(memory), "tags": 0} == {**state(anew), "tags": 0}
            assert _counts(memory) == {id_: len(atoms) for id_, atoms in episodes(memory).items()}
            memory.close()


def _is_undreamt(line: bytes) -> bool:
    record = json.loads(line)
    is_edge = str(record.get("via")).startswith("dream:")
    return not is_edge and record.get("type") != "mention" and record.get("kind") not in ("episode", *STORYLINE_KINDS)


def _counts(memory: Memory) -> dict[str, int]:
    """How many atoms each episode says it has."""
    nodes = (record for _, record in memory.store.scan(memory.scope) if isinstance(record, Node))
    return {node.id: node.props["atoms"] for node in nodes if node.kind == "episode"}


def test_what_an_import_brought_before_it_was_stopped_is_known_to_the_next_dream(tmp_path: Path) -> None:
    with Memory(tmp_path / "old", embedder=None) as memory:
        fill(memory)
        memory.dream(now=MONDAY)
        memory.forget("a0")
        memory.export(tmp_path / "export.jsonl")
        memory.dream(now=MONDAY)
        wanted = state(memory)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with Memory(tmp_path / "new", embedder=None) as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.import_(tmp_path / "export.jsonl", progress=stop)
        memory.dream(now=MONDAY)
        assert state(memory) == wanted
        assert idle(memory.dream(now=MONDAY))


def test_an_episode_of_atoms_that_are_all_archived_stays_through_a_move(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "old", embedder=None)
    fill(memory)
    memory.dream(now=MONDAY)
    nodes = [record for _, record in memory.store.scan(memory.scope) if isinstance(record, Node)]
    archived = [replace(node, life=replace(node.life, state="archived")) for node in nodes if node.kind == "atom"]
    memory.store.write(memory.scope, Batch(nodes=archived))
    before = episodes(memory)
    memory = moved(memory, tmp_path / "new", "copy")
    memory.dream(only=["episodes"], now=MONDAY)
    assert episodes(memory) == before
    memory.close()


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
    return [record for record in records if isinstance(record, Node) and record.kind in STORYLINE_KINDS]


def _refuse(subject: str, texts: Sequence[str]) -> str:
    raise AssertionError(f"{subject} was told already")
