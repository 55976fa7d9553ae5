"""Hits are grouped by note or conversation, and share the budget."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuetrail import Budget, Hit, Memory, Node
from cuetrail.recall.render.text import CUT_MARK, SEPARATOR, line, share_out

LONG = "The antenna of the long report was measured again and again. " * 400


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "memory", embedder=None) as opened:
        yield opened


def note(folder: Path, name: str, *sections: str) -> None:
    folder.mkdir(exist_ok=True)
    # Short sections would be joined into one passage.
    rest = " Nothing more is said here." * 20
    text = "\n\n".join(f"## Part {number}\n\n{text}{rest}" for number, text in enumerate(sections))
    (folder / f"{name}.md").write_text(f"# {name}\n\n{text}\n", "utf-8")


def test_a_note_is_one_hit_with_its_other_passages_folded_under_the_best(memory: Memory, tmp_path: Path) -> None:
    note(tmp_path / "n", "Mast", "The antenna hums in the wind.", "An antenna needs earth.", "Paint it red.")
    note(tmp_path / "n", "Boat", "The boat has an antenna as well.")
    memory.ingest(tmp_path / "n")
    found = memory.recall("antenna")
    sources = sorted(str(hit.node.source) for hit in found.hits)
    assert sources == ["n/Boat.md", "n/Mast.md"]
    folded = next(hit for hit in found.hits if hit.node.source == "n/Mast.md").more
    assert "n/Mast.md" in {one.node.source for one in folded}
    assert [hit.score for hit in found.passages] == sorted((hit.score for hit in found.passages), reverse=True)
    assert {one.node.id for hit in found.hits for one in (hit, *hit.more)} == {one.node.id for one in found.passages}
    assert all(one.node.text in found.text for one in found.passages)


def test_folded_passages_count_as_used_where_the_text_shows_them(memory: Memory, tmp_path: Path) -> None:
    note(tmp_path / "n", "Mast", "The antenna hums in the wind.", "An antenna needs earth.")
    memory.ingest(tmp_path / "n")
    found = memory.recall("antenna")
    used = [memory.get(one.node.id) for one in found.passages]
    assert len(used) > 1
    assert all(node is not None and node.life.accesses == 1 for node in used)


def test_memories_of_a_source_that_are_no_conversation_stay_apart(memory: Memory) -> None:
    memory.add("The antenna hums", source="agent")
    memory.add("An antenna needs earth", source="agent")
    assert len(memory.recall("antenna").hits) == 2


def test_one_long_memory_never_hides_the_rest_and_the_cut_is_said(memory: Memory) -> None:
    memory.add(LONG)
    for number in range(3):
        memory.add(f"Antenna number {number} stands on the roof")
    found = memory.recall("antenna", budget=Budget(tokens=2000))
    assert len(found.hits) == 4
    assert [hit.node.text == LONG for hit in found.hits if hit.cut] == [True]
    assert CUT_MARK in found.text
    assert len(found.text) > 7000, "the room that the short ones leave goes to the long one"
    assert found.notices == ("to fit the budget: 1 shown in part",)


def test_what_does_not_fit_is_counted(memory: Memory) -> None:
    for number in range(6):
        memory.add(f"Antenna {number}: " + "it hums in the wind and it needs earth. " * 10)
    found = memory.recall("antenna", budget=Budget(chars=1000))
    assert len(found.hits) < 6
    assert any(f"{6 - len(found.hits)} left out" in notice for notice in found.notices)


texts = st.text(st.sampled_from("ab é日.\n "), max_size=40).map(lambda text: "x" + text * 20)
hits = st.lists(
    st.builds(
        lambda own, others: Hit(
            Node(f"n{own[:9]}", text=own), 1.0, {}, tuple(Hit(Node("m", text=one), 0.5, {}) for one in others)
        ),
        texts,
        st.lists(texts, max_size=3),
    ),
    max_size=6,
)


@settings(max_examples=200)
@given(hits, st.integers(0, 3000))
def test_shared_text_never_exceeds_the_budget_and_shows_what_it_says(found: list[Hit], size: int) -> None:
    text, shown = share_out(found, size, len)
    assert len(text) <= size
    assert [hit.node for hit in shown] == [hit.node for hit in found[: len(shown)]]
    whole = SEPARATOR.join(line(one) for hit in shown for one in (hit, *hit.more))
    assert (text == whole) == (not any(hit.cut for hit in shown))
    if len(SEPARATOR.join(line(hit) for hit in found)) <= size:
        assert len(shown) == len(found)
        assert not any(hit.cut for hit in shown)
