"""Many incremental dreams have the same result as one."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuetrail import Memory
from cuetrail.dream.passes import cooccurrence
from cuetrail.dream.passes import mentions as mentions_pass
from cuetrail.model import Node
from tests.dream.tools import MINUTE, MONDAY, edges, episodes, exported, idle, mentions

WORDS = (
    "Ada",
    "Grace Brewster Hopper was born.",
    "Babbage",
    "the brass wheels",
    "radio",
    "engine",
    "Grace Hopper",
    "asked",
    "saw",
    "and",
    "silent relay",
)
NAMES = ("Ada", "Babbage", "Grace Hopper", "Radio", "Engine")

Step = Callable[[Memory], object]

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
tags = st.lists(st.sampled_from(("radio", "engine", "ada", "q1", "brass wheels")), max_size=2)
times = st.integers(0, 12).map(lambda quarter: MONDAY + quarter * 7 * MINUTE)
atoms = st.sampled_from([f"a{n}" for n in range(6)])
people = st.sampled_from([f"p{n}" for n in range(3)])


def adding(id_: str, text: str, tags: list[str], at: int) -> Step:
    return lambda memory: memory.add(text, id=id_, tags=tags, at=at, allow_again=True)


def naming(id_: str, name: str, aliases: list[str]) -> Step:
    return lambda memory: memory.add(
        "somebody", name=name, aliases=aliases, kind="person", id=id_, at=MONDAY, allow_again=True
    )


def forgetting(id_: str) -> Step:
    return lambda memory: memory.forget(id_) if memory.get(id_) else None


def reading(source: str, paragraphs: list[str], minute: int) -> Step:
    return lambda memory: memory.ingest_text("\n\n".join(paragraphs), source=source, now=MONDAY + minute * MINUTE)


def setting_aside(id_: str, undo: bool) -> Step:
    return lambda memory: memory.quarantine(id_, undo=undo) if memory.get(id_) else None


steps = st.one_of(
    st.builds(adding, atoms, texts, tags, times),
    st.builds(adding, atoms, texts, tags, times),
    st.builds(naming, people, st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES), max_size=1)),
    st.builds(forgetting, st.one_of(atoms, people)),
    st.builds(setting_aside, st.one_of(atoms, people), st.booleans()),
    st.builds(reading, st.sampled_from(("one.md", "two.md")), st.lists(texts, max_size=3), st.integers(0, 60)),
)
dreams = st.sampled_from(
    [(), ("infection",), ("auto_tags",), ("mentions", "cooccurrence"), ("episodes",), ("known_as",)]
)


def state(memory: Memory) -> dict[str, Any]:
    """What dreams make, without the times at which it was made and without the numbers of episodes.

    What is in quarantine keeps the tags it had; no dream looks at it.
    """
    records = [record for _, record in memory.store.scan(memory.scope)]
    atoms = [r for r in records if isinstance(r, Node) and r.kind == "atom" and r.provenance != "quarantine"]
    return {
        "tags": {atom.id: atom.tag_details for atom in atoms},
        "mentions": {pair: edge.weight for pair, edge in edges(memory, "mentions").items()},
        "co_occurs": {pair: edge.weight for pair, edge in edges(memory, "co_occurs").items()},
        "named": mentions(memory),
        "episodes": sorted(map(sorted, episodes(memory).values())),
    }


def in_the_end(memory: Memory) -> dict[str, Any]:
    """What dreams make when all is said; that they are through, and that nothing is wrong, is seen to."""
    memory.dream(now=MONDAY)
    before = exported(memory)
    assert idle(memory.dream(now=MONDAY + 1))
    assert exported(memory) == before
    assert memory.doctor() == []
    return state(memory)


# Where names are few, the ways of many texts are gone by small numbers: how many others a node chooses, and from how
# many atoms at a time on they are counted instead of kept up.
ways = st.tuples(st.sampled_from((1, 2, 10)), st.sampled_from((0, 2, 2_000)))


@settings(max_examples=20)
@given(st.lists(st.tuples(steps, st.none() | dreams), max_size=14), ways)
def test_dreaming_in_between_changes_nothing_in_the_end(
    script: list[tuple[Step, tuple[str, ...] | None]], way: tuple[int, int]
) -> None:
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(cooccurrence, "PER_NODE", way[0])
        patch.setattr(cooccurrence, "MOST", way[1])
        patch.setattr(mentions_pass, "FEW", way[1])
        found = []
        for often in (True, False):
            with Memory(Path(place) / str(often), embedder=None) as memory:
                for step, dream in script:
                    step(memory)
                    if often and dream is not None:
                        memory.dream(only=dream, now=MONDAY)
                # What was kept up must be what is counted.
                if not often:
                    patch.setattr(cooccurrence, "MOST", 0)
                found.append(in_the_end(memory))
        assert found[0] == found[1]


@pytest.mark.parametrize("leaving", [forgetting, lambda id_: setting_aside(id_, undo=False)])
def test_an_episode_that_all_its_atoms_leave_at_once_goes(tmp_path: Path, leaving: Callable[[str], Step]) -> None:
    with Memory(tmp_path, embedder=None) as memory:
        for number in range(4):
            memory.add(f"thing {number}", id=f"a{number}", at=MONDAY + number * MINUTE)
        memory.dream(now=MONDAY)
        (episode,) = episodes(memory)
        for number in range(4):
            leaving(f"a{number}")(memory)
        memory.dream(now=MONDAY)
        assert memory.get(episode) is None
        assert idle(memory.dream(now=MONDAY))


def test_a_source_with_a_text_of_its_own_is_dreamt_like_an_atom(tmp_path: Path) -> None:
    with Memory(tmp_path / "memory", embedder=None) as memory:
        memory.add(name="Ann Lee", kind="person", at=MONDAY, now=MONDAY)
        memory.add("Ann Lee painted the hull.", name="Monday", kind="source", at=MONDAY, now=MONDAY)
        memory.dream(now=MONDAY)
        source = memory.get("Monday")
        assert source is not None
        assert "ann_lee" in source.automatic_tags
        assert memory.stats().mentions == 1
        memory.edit("Monday", text="Nobody came.")
        memory.dream(now=MONDAY)
        assert memory.stats().mentions == 0
        assert memory.doctor() == []
